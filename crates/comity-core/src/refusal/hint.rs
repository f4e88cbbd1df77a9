//! What to do next, after each refusal.

use super::Refusal;
use super::holder::next_step;
use crate::calls;
use crate::next_call::{Argument, call};
use crate::people::{CHANGES_TOKENS, PASSPHRASE_MISSING};

impl Refusal {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Refusal::Locked { path, asked, holders, .. } => match asked.is_empty() {
                true => next_step(holders, std::slice::from_ref(path)),
                false => next_step(holders, asked),
            },
            Refusal::WaitTimedOut { holders, .. } => next_step(holders, &[]),
            Refusal::WaitCancelled => "ask again when you need it".into(),
            Refusal::Deadlock(cycle) if cycle.names.len() == 1 => {
                "you have all there is; give back one of yours first".into()
            }
            Refusal::Deadlock(_) => {
                let unlock = call(calls::UNLOCK, [("paths", ["PATH"].into())]);
                format!("release what the others wait for (a lock: {unlock}), then ask again")
            }
            Refusal::NotHeld { yours, .. } if !yours.is_empty() => {
                format!("to give that up: {}", call(calls::UNLOCK, [("paths", Argument::List(yours.clone()))]))
            }
            Refusal::NotHeld { holders, .. } if holders.is_empty() => {
                format!("see what is held with: {}", call(calls::LOCKS, []))
            }
            Refusal::NotHeld { path, .. } => {
                let from = [("paths", [path.as_str()].into()), ("from", "AGENT".into())];
                let release = call(calls::RELEASE, from);
                format!("only its holder can release it; if you lead the holder, or are a person, take it with: {release}")
            }
            Refusal::StaleFence { path, .. } => {
                let lock = call(calls::LOCK, [("paths", [path.as_str()].into())]);
                format!("lock it again ({lock}) and look at what changed before you go on")
            }
            Refusal::OutsideRepository { .. } => "give a path inside the repository you are in".into(),
            Refusal::NotARepository { .. } => "go to a git repository, or make one with: git init".into(),
            Refusal::NameTaken { name, .. } => {
                format!("choose another name, or end that agent with: {}", call(calls::AGENT_BYE, [("agent", name.as_str().into())]))
            }
            Refusal::UnknownAgent { live, .. } if live.is_empty() => {
                format!("no agent is here; one joins with: {}", call(calls::AGENT_JOIN, [("name", "NAME".into())]))
            }
            Refusal::UnknownAgent { live, .. } => format!("the agents here: {}", live.join(", ")),
            Refusal::AgentEnded { .. } => format!("join again with: {}", call(calls::AGENT_JOIN, [("name", "NAME".into())])),
            Refusal::StaleRead { .. } => "read the file again, and write with that change in it".into(),
            Refusal::StaleAttempt { task, .. } => format!("see whose it is with: {}", call(calls::TASK_GET, [("id", task.as_str().into())])),
            Refusal::PoolFull(pool) => pool.next_step(),
            Refusal::Ownership { noun, name, owner, .. } => ask_owner(noun, name, owner),
            Refusal::Cycle { .. } => "leave one of these dependencies out".into(),
            Refusal::Unproven { .. } => {
                let create = call(calls::TOKEN_CREATE, [("name", "NAME".into())]);
                format!(
                    "you may look; to act, use a terminal that was open before the agents came, or set COMITY_TOKEN: an \
                     agent gets a token from its leader, a script from you with: {create}"
                )
            }
            Refusal::NotPresent { lacks, .. } if lacks == PASSPHRASE_MISSING => {
                format!("give it once in this terminal: {}", call(calls::LOGIN, []))
            }
            Refusal::NotPresent { act, .. } if *act == CHANGES_TOKENS => {
                "run it in a terminal that no agent is above; a new state directory gets its first token with: comity \
                 token first"
                    .into()
            }
            Refusal::NotPresent { .. } => {
                format!("run it in a terminal that no agent is above, or give the script a token: {}", call(calls::TOKEN_CREATE, [("name", "NAME".into())]))
            }
            Refusal::BadToken => format!("set COMITY_TOKEN to what {} gave, or unset it", call(calls::AGENT_JOIN, [("name", "NAME".into())])),
            Refusal::KeyReused => {
                "use a new key for each call, and repeat a call with its own key and the same input".into()
            }
            Refusal::OtherVersion { .. } => {
                "restart the server with the newer of the two: comity restart; agents then connect again".into()
            }
            Refusal::BadPattern { hint, .. }
            | Refusal::BadInput { hint, .. }
            | Refusal::Browser { hint, .. }
            | Refusal::NotAllowed { hint, .. }
            | Refusal::Denied { hint, .. }
            | Refusal::LimitReached { hint, .. }
            | Refusal::NotFound { hint, .. } => hint.clone(),
        }
    }
}

/// Slots are of somebody: take another, or ask.
fn ask_owner(noun: &str, name: &str, owner: &str) -> String {
    let own = match noun {
        "tab" => call(calls::TAB_OPEN, [("url", "URL".into())]),
        _ => call(calls::LEASE, [("pool", "POOL".into())]),
    };
    // Others than agents are there under their own names.
    let ask = match owner == name {
        true => String::new(),
        false => format!(": {}", call(calls::MAIL_SEND, [("to", [name].into()), ("message", "TEXT".into())])),
    };
    format!("this {noun} is {name}'s; take one of your own: {own}; or ask {name}{ask}")
}
