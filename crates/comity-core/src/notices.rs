//! Notices: what an agent must be told, once.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agents::AgentTold;
use crate::commits::CommitTold;
use crate::decide::AskResult;
use crate::decisions::DecisionTold;
use crate::display::visible;
use crate::event::{Event, Record, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal};
use crate::locks::LockTold;
use crate::mail::MailTold;
use crate::people::Asker;
use crate::pools::PoolTold;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::tasks::TaskTold;
use crate::time::Timestamp;
use crate::worktrees::WorktreeTold;
use crate::world::World;
use crate::writes::WriteTold;

/// Something that happened to an agent without its doing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// Grows, so that notices can be taken up to one.
    pub id: u64,
    pub at: Timestamp,
    pub what: NoticeKind,
}

impl World {
    pub(crate) fn tell(&mut self, who: Principal, id: u64, what: impl Into<NoticeKind>) {
        let at = self.now;
        if let Principal::Agent(agent) = who {
            self.agents.notify(agent, Notice { id, at, what: what.into() });
        }
    }
}

/// Asks about notices.
#[derive(Clone, PartialEq, Debug)]
pub enum NoticeAsk {
    /// Takes the calling agent's notices.
    Take,
}

/// What happened to notices.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NoticeEvent {
    #[serde(rename = "notices_taken")]
    Taken { agent: AgentId, up_to: u64 },
}

/// The kinds of notices, by feature. Those that serde treats as untagged carry the tag themselves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum NoticeKind {
    Task(TaskTold),
    Pool(PoolTold),
    #[serde(untagged)]
    Lock(LockTold),
    #[serde(untagged)]
    Write(WriteTold),
    #[serde(untagged)]
    Commit(CommitTold),
    #[serde(untagged)]
    Mail(MailTold),
    #[serde(untagged)]
    Decision(DecisionTold),
    #[serde(untagged)]
    Agent(AgentTold),
    #[serde(untagged)]
    Worktree(WorktreeTold),
}

impl fmt::Display for NoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoticeKind::Task(told) => told.fmt(f),
            NoticeKind::Pool(told) => told.fmt(f),
            NoticeKind::Lock(told) => told.fmt(f),
            NoticeKind::Write(told) => told.fmt(f),
            NoticeKind::Commit(told) => told.fmt(f),
            NoticeKind::Mail(told) => told.fmt(f),
            NoticeKind::Decision(told) => told.fmt(f),
            NoticeKind::Agent(told) => told.fmt(f),
            NoticeKind::Worktree(told) => told.fmt(f),
        }
    }
}

macro_rules! of_features {
    ($($kind:ident($told:ident)),*) => {
        $(impl From<$told> for NoticeKind {
            fn from(told: $told) -> NoticeKind {
                NoticeKind::$kind(told)
            }
        })*
    };
}

of_features!(
    Task(TaskTold),
    Pool(PoolTold),
    Lock(LockTold),
    Write(WriteTold),
    Commit(CommitTold),
    Mail(MailTold),
    Decision(DecisionTold),
    Agent(AgentTold),
    Worktree(WorktreeTold)
);

pub(crate) fn quoted(reason: &Option<String>) -> String {
    reason.as_deref().map(|text| format!(" (\"{}\")", visible(text))).unwrap_or_default()
}

impl FeatureAsk for NoticeAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let agent = asker.who.agent().and_then(|id| world.agents.get(id));
        let taken = agent.and_then(|agent| {
            let last = agent.notices.last()?;
            Some(Event::Notice(NoticeEvent::Taken { agent: agent.id, up_to: last.id }))
        });
        Ok(Vec::from_iter(taken).into())
    }
}

event_types!(NoticeEvent {
    NoticeEvent::Taken { .. } => live("notices_taken", "notices:taken").housekeeping(),
});

impl FeatureEvent for NoticeEvent {
    fn apply(&self, world: &mut World, _: &Record) {
        let NoticeEvent::Taken { agent, up_to } = self;
        world.change_agent(*agent, |agent| agent.notices.retain(|notice| notice.id > *up_to));
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        let NoticeEvent::Taken { agent, .. } = self;
        vec![*agent]
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let NoticeEvent::Taken { agent, .. } = self;
        format!("{} was told what waited for it", telling.agent(*agent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_notices_are_read_and_written_as_ever() {
        for stored in [
            r#"{"type":"lock_expired","path":"a"}"#,
            r#"{"type":"lock_orphaned","path":"a"}"#,
            r#"{"type":"work_orphaned","path":"a","by":"ann","files":["a"]}"#,
            r#"{"type":"lock_taken","path":"a","by":"ann","reason":null}"#,
            r#"{"type":"lock_extended","path":"a","by":"ann"}"#,
            r#"{"type":"mail_undelivered","to":"ann","id":"m1","subject":"s"}"#,
            r#"{"type":"decision_settled","id":"d1","title":"t","how":"confirmed","by":"ann"}"#,
            r#"{"type":"locked_file_changed","path":"a","by":"","others":1}"#,
            r#"{"type":"locked_file_committed","files":"a","commit":"1a","by":""}"#,
            r#"{"type":"committed_past_guard","files":"a","commit":"1a","holder":"ann"}"#,
            r#"{"type":"wrote_without_lock","path":"a","holder":null,"others":0}"#,
            r#"{"type":"lock_given","path":"a","by":"ann","reason":"r"}"#,
            r#"{"type":"worker_ended","name":"ann","how":"exited","cause":"c"}"#,
            r#"{"type":"task","what":"accepted","task":"t","by":"ann"}"#,
            r#"{"type":"pool","what":"freed","slot":"tab 1","how":"closed"}"#,
            r#"{"type":"worktree_kept","slug":"s","why":"w"}"#,
        ] {
            let kind: NoticeKind = serde_json::from_str(stored).expect(stored);
            assert_eq!(serde_json::to_string(&kind).expect("JSON"), stored);
        }
        assert!(serde_json::from_str::<NoticeKind>(r#"{"type":"lock_lost","path":"a"}"#).is_err());
    }
}
