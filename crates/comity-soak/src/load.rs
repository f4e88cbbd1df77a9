//! What all clients of a run share, and who they are.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use crate::door::{ClientDoor, Restarts, Way};
use crate::run_dir::{HUMAN, RunDir};

/// An agent that stays to the end.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) token: String,
}

impl Member {
    /// The agent that `agent join --json` told of.
    pub(crate) fn of(joined: &Value) -> Result<Member, String> {
        let text = |name: &str| {
            joined[name].as_str().map(str::to_owned).ok_or_else(|| format!("a join without {name}: {joined}"))
        };
        Ok(Member { id: text("agent")?, name: text("name")?, token: text("token")? })
    }
}

#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) place: RunDir,
    pub(crate) members: Vec<Member>,
    pub(crate) restarts: Restarts,
    pub(crate) begun: Instant,
    is_over: AtomicBool,
    /// What was granted, and was not there when its holder looked.
    missing: Mutex<Vec<String>>,
}

impl Load {
    /// Lets so many agents join.
    pub(crate) fn begin(place: RunDir, agents: usize) -> Result<Load, String> {
        let join = |number| Member::of(&place.run(&["agent", "join", &format!("agent{number:02}")])?);
        let members = (0..agents).map(join).collect::<Result<_, _>>()?;
        Ok(Load {
            place,
            members,
            restarts: Restarts::default(),
            begun: Instant::now(),
            is_over: AtomicBool::new(false),
            missing: Mutex::default(),
        })
    }

    pub(crate) fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn door<'a>(&'a self, way: Way, name: &str, token: &str) -> ClientDoor<'a> {
        ClientDoor::new(&self.place, &self.restarts, way, name, token)
    }

    /// Asks as the human, with a key that begins so.
    pub(crate) fn human(&self, name: &str) -> ClientDoor<'_> {
        self.door(Way::Socket, name, HUMAN)
    }

    pub(crate) fn not_in_effect(&self, what: String) {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    pub(crate) fn missing(&self) -> Vec<String> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The whole log.
    pub(crate) fn log(&self) -> Result<Vec<Value>, String> {
        let mut door = self.human("log");
        let (mut log, mut after) = (Vec::new(), 0);
        loop {
            let page =
                door.ask("log", &json!({ "after": after, "limit": 2000 })).map_err(|no| no.to_string())?;
            log.extend(page["entries"].as_array().into_iter().flatten().cloned());
            after = page["cursor"].as_u64().ok_or_else(|| format!("a log without a cursor: {page}"))?;
            if Some(after) >= page["head"].as_u64() {
                return Ok(log);
            }
        }
    }
}
