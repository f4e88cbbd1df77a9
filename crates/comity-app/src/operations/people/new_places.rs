//! Shows what was done as the human from new places, and settles it.

use std::fmt;

use comity_core::people::{PersonAsk, Unseen};
use comity_core::table::table;
use comity_core::{Ask, Principal, Refusal};

use crate::catalog::next_call;
use crate::ledger::{date, local, plain};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::ledger::ReadLog;
use crate::operations::people::SetPassphrase;

/// Show what was done as you from places that were new to Comity. Looking at it from an older place settles it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowNewPlaces {}

/// What was done from new places.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewPlaces {
    /// The oldest first.
    pub acts: Vec<NewPlaceAct>,
    /// How many were before them, and are only in the log.
    pub left_out: usize,
    /// Whether it is settled now.
    pub settled: bool,
}

/// One act.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewPlaceAct {
    /// Its entry in the log.
    pub seq: u64,
    pub at: String,
    pub at_ms: i64,
    /// What was done first from there.
    pub act: String,
    /// The programs from the outermost one down.
    pub programs: String,
    pub terminal: Option<String>,
    /// Whether it was a window that was opened after the first agent came.
    pub window: bool,
}

impl NewPlaceAct {
    fn of(act: &Unseen) -> NewPlaceAct {
        NewPlaceAct {
            seq: act.seq,
            at: date(act.wall_ms),
            at_ms: act.wall_ms,
            act: plain(&act.act),
            programs: act.origin.lineage.to_string(),
            terminal: act.origin.terminal.as_deref().map(str::to_owned),
            window: act.origin.window.is_some(),
        }
    }
}

impl Operation for ShowNewPlaces {
    type Output = NewPlaces;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<NewPlaces>, Failure> {
        if caller.who != Principal::Human {
            let problem = "what was done as the human is shown to the human only".into();
            return Err(Refusal::NotAllowed { problem, hint: "ask the human".into() }.into());
        }
        caller.check_presence("settle what was done as you")?;
        let place =
            caller.origin.as_ref().filter(|origin| origin.is_shown_acts()).map(|origin| origin.place());
        let world = app.engine().world();
        let unsettled: Vec<&Unseen> = world.people.unsettled().collect();
        let left_out = unsettled.iter().map(|act| act.acts() - 1).sum();
        let acts: Vec<NewPlaceAct> = unsettled.iter().map(|act| NewPlaceAct::of(act)).collect();
        let (Some(place), Some(last)) = (place, acts.last()) else {
            return Ok(Plan::Answer(NewPlaces { settled: acts.is_empty(), acts, left_out }));
        };
        let up_to = last.seq;
        let recognise = Ask::Person(PersonAsk::Recognise { up_to, place });
        Ok(Plan::change(vec![recognise], move |_, world, _| {
            let settled = world.people.unsettled().all(|act| act.seq > up_to);
            NewPlaces { acts, left_out, settled }
        }))
    }
}

impl fmt::Display for NewPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.acts.is_empty() {
            return f.write_str("nothing was done as you from a new place");
        }
        let rows = self.acts.iter().map(|act| {
            let terminal = act.terminal.as_deref().unwrap_or("none");
            let window = if act.window { ", opened after the first agent" } else { "" };
            vec![local(act.at_ms), act.act.clone(), format!("{terminal}{window}"), act.programs.clone()]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        f.write_str(&table(&["WHEN", "FIRST ACT", "TERMINAL", "PROGRAMS"], &rows))?;
        if self.left_out > 0 {
            let log = next_call::<ReadLog>([("type", "acted_from_new_place".into())]);
            write!(f, "\n{} more before them: {log}", self.left_out)?;
        }
        match self.settled {
            true => write!(
                f,
                "\nYou have seen this now, and aren't asked again. If something was not you, set a passphrase: {}",
                next_call::<SetPassphrase>([])
            ),
            false => {
                f.write_str("\nThis place is as new as they are, so you are asked again at an older one.")
            }
        }
    }
}
