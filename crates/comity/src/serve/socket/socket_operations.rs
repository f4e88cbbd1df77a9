//! What only the local door offers.

use comity_app::catalog::name_of;
use comity_app::operations::people::Whoami;
use comity_app::{Caller, Failure};
use comity_core::next_call::NextCall;
use comity_core::{Principal, Refusal};
use comity_wire::Request;

use super::{Socket, StopReason};
use crate::http::{ToolSet, tool_list};
use crate::serve::connection::Follow;
use crate::serve::outbox::ConnectionId;

impl Socket {
    /// What only this door offers: being an agent's own connection, its tools, following the log, stopping the
    /// server.
    pub(super) fn own_request(
        &mut self,
        id: ConnectionId,
        request: &Request<'_>,
        own: &str,
        caller: &Caller,
    ) -> Result<comity_app::Rendered, Failure> {
        let Some(connection) = self.connections.get_mut(&id) else { return Err(Failure::fault("gone")) };
        match (own, caller.who) {
            ("link", Principal::Agent(agent)) => {
                connection.link = Some(agent);
                self.app.has_tools(agent);
                self.app.watch().goes_on(agent);
            }
            ("tools", _) => {
                let set = request.input.and_then(|input| serde_json::from_str::<String>(input.get()).ok());
                let offer = set.and_then(|set| ToolSet::named(&set)).unwrap_or(ToolSet::Usual);
                let json = tool_list(offer).get().to_owned();
                return Ok(comity_app::Rendered { json, text: None, receipt: None });
            }
            ("goodbye", Principal::Agent(agent)) => self.app.watch().said_goodbye(agent),
            ("follow", _) => {
                #[derive(serde::Deserialize, Default)]
                struct From {
                    after: Option<u64>,
                }
                let given = request.input.and_then(|input| serde_json::from_str::<From>(input.get()).ok());
                let head = self.app.engine().feed().head();
                let cursor = given.unwrap_or_default().after.unwrap_or(head);
                connection.follow = Some(Follow { request: request.id, cursor, who: caller.who });
            }
            ("stop", Principal::Human) => {
                // Stopping a server that knows nobody loses nothing.
                if comity_app::log::knows_anybody(&self.app.engine().world()) {
                    caller.check_presence("stop the server")?;
                }
                #[derive(serde::Deserialize, Default)]
                struct StopInput {
                    #[serde(default)]
                    unless_used: bool,
                }
                let how = request.input.and_then(|input| serde_json::from_str::<StopInput>(input.get()).ok());
                if how.unwrap_or_default().unless_used {
                    self.check_unused()?;
                }
                self.stop = Some(StopReason::Asked);
            }
            ("stop", Principal::Nobody) => return Err(caller.unproven().into()),
            ("stop", _) => {
                let you = self.app.engine().world().name_of(caller.who);
                return Err(Refusal::NotAllowed {
                    problem: format!("you are {you} to comity, and an agent may not stop the server"),
                    hint: format!(
                        "see why with: {}; you stop it from a terminal that no agent is above",
                        NextCall::of(name_of::<Whoami>(), [])
                    ),
                }
                .into());
            }
            _ => return Err(Refusal::bad_input(format!("there is no ${own}"), "use an operation").into()),
        }
        Ok(comity_app::Rendered { json: "{}".into(), text: None, receipt: None })
    }

    /// Refuses to stop while somebody would lose something by it.
    fn check_unused(&self) -> Result<(), Failure> {
        let uses = self.uses();
        if uses.is_empty() {
            return Ok(());
        }
        Err(Refusal::NotAllowed {
            problem: format!("the server is in use: {}", uses.join("; ")),
            hint: "try again later, or restart it anyway with: comity restart".into(),
        }
        .into())
    }

    /// Who would lose what by a restart, in words.
    fn uses(&self) -> Vec<String> {
        let world = self.app.engine().world();
        let mut uses: Vec<String> = world
            .locks
            .waits()
            .map(|wait| {
                let paths: Vec<String> = wait.wants.iter().map(|want| want.pattern.to_string()).collect();
                format!("{} waits for {}", world.name_of(wait.who), paths.join(", "))
            })
            .collect();
        let parked: usize = self.connections.values().map(|connection| connection.parked.len()).sum();
        let others = parked.saturating_sub(uses.len());
        let tabs = world.pools.get(comity_core::pools::TABS).map_or(0, |pool| pool.slots().count());
        let long = self.app.long_operations();
        let counted =
            [(others, "calls that wait"), (long, "operations that run"), (tabs, "tabs that are open")];
        uses.extend(
            counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
        );
        uses
    }
}
