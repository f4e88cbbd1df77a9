//! Who asks on a connection.

use comity_app::{Caller, identity};
use comity_core::agents::AgentRefusal;
use comity_core::{Principal, Refusal};
use comity_wire::Request;

use super::Socket;
use crate::serve::outbox::ConnectionId;

impl Socket {
    /// Who calls: by the token, otherwise as before on this connection, otherwise by the process tree.
    pub(super) fn caller(&mut self, id: ConnectionId, request: &Request<'_>) -> Result<Caller, Refusal> {
        let Some(connection) = self.connections.get_mut(&id) else {
            return Err(Refusal::Agent(AgentRefusal::BadToken));
        };
        let lineage = connection.lineage.clone();
        let markings = comity_app::processes::markings();
        let token = request.token.as_deref().map(comity_app::tokens::hash);
        let is_looked_at = connection.looked_at == Some((markings, token));
        let is_first_token = request.token.is_some() && connection.token.is_none();
        let ended = is_first_token.then(|| identity::ended(&lineage)).flatten();
        let found = match (ended, &request.token, &connection.identity) {
            (Some(nobody), ..) => nobody,
            (None, Some(token), _) => self.app.identify(token, &lineage, is_looked_at)?,
            // Who was a person when it connected may have become an agent since, and what proved that may be taken back.
            (None, None, Some(known))
                if known.who != Principal::Human
                    || (!self.app.has_become_an_agents(&lineage, is_looked_at)
                        && self.app.still_proves(known, &lineage, connection.token.as_ref())) =>
            {
                known.clone()
            }
            (None, None, _) => self.app.recognise(&lineage),
        };
        if let Some(token) = request.token.as_deref().filter(|_| found.who != Principal::Nobody) {
            connection.token = Some(comity_app::tokens::hash(token));
            if is_first_token {
                self.app.note_use(token, &lineage);
            }
        }
        connection.looked_at = (found.who != Principal::Nobody).then_some((markings, token));
        connection.identity = Some(found.clone());
        let found = match (found.who, &request.call) {
            (Principal::Agent(agent), Some(call)) => {
                identity::Identity::agent(self.app.caller_within(agent, call))
            }
            _ => found,
        };
        let cwd = request.cwd.as_deref().map(Into::into);
        let zone = request.zone.as_deref().map(Into::into);
        Ok(Caller { lineage: Some(lineage), zone, ..Caller::identified(found, cwd) })
    }
}
