//! What needs somebody's decision.

use std::fmt;

use comity_core::display::visible;
use comity_core::inbox::{self, InboxItem};
use comity_core::locks::Hold;

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::inbox::{InboxEntry, ListInbox};
use crate::operations::locks::{Adopt, HandOver, Release, Rescue, named_from, project_name};

/// Show what needs a decision: yours, and locks over uncommitted work that anybody left behind.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAlerts {}

/// What needs a decision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Alerts {
    /// Work that was left, the oldest first, then what else is yours to decide, most important first.
    pub alerts: Vec<Alert>,
    /// How much is waiting for you in all.
    pub inbox: usize,
}

/// One thing that needs a decision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Alert {
    #[serde(rename = "type")]
    /// orphaned_lock, or the kind of an entry in your inbox.
    pub kind: &'static str,
    pub severity: &'static str,
    /// What, in a sentence.
    pub message: String,
    /// The repository that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub action: String,
    /// Whether that is another one than the caller's.
    #[serde(skip)]
    is_elsewhere: bool,
}

impl Operation for ListAlerts {
    type Output = Alerts;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Alerts>, Failure> {
        let now = app.engine().now();
        let place = app.projects().place(caller).ok();
        let world = app.engine().world();
        let orphaned = world.locks.iter().filter(|lock| lock.hold == Hold::Orphaned);
        let left = orphaned.map(|lock| Alert {
            project: Some(project_name(&world, lock.wanted.project)),
            is_elsewhere: place.as_ref().is_none_or(|place| place.project() != lock.wanted.project),
            kind: "orphaned_lock",
            severity: "warning",
            message: match &lock.left[..] {
                [] => lock.view(&world, now).to_string(),
                left => visible(&format!("{} in {}", lock.view(&world, now), left.join(", "))).into_owned(),
            },
            action: {
                let path = named_from(place.as_ref(), &world, lock.wanted.project, &lock.wanted.pattern);
                let paths = || ("paths", [path.as_str()].into());
                let adopt = next_call::<Adopt>([paths()]);
                let hand_over = next_call::<HandOver>([paths(), ("to", "AGENT".into())]);
                let (rescue, release) = (next_call::<Rescue>([paths()]), next_call::<Release>([paths()]));
                format!("{adopt}, {hand_over}, {rescue} (put it aside), or {release}")
            },
        });
        let items = inbox::waiting_at(&world, &caller.asker());
        let own = items.iter().filter(|item| item.needs_decision() && !matches!(item, InboxItem::Orphan(_)));
        let own = own.map(|item| Alert::of(InboxEntry::of(item, &world, (caller.who, place.as_ref()), now)));
        Ok(Plan::Answer(Alerts { alerts: left.chain(own).collect(), inbox: items.len() }))
    }
}

impl Alert {
    fn of(entry: InboxEntry) -> Alert {
        let calls: Vec<&str> = entry.answers.iter().map(|answer| &*answer.command).collect();
        Alert {
            kind: entry.kind,
            severity: "warning",
            message: entry.what,
            project: entry.project,
            action: calls.join(", or "),
            is_elsewhere: false,
        }
    }
}

impl fmt::Display for Alerts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.alerts.is_empty() {
            let inbox = next_call::<ListInbox>([]);
            return match self.inbox {
                0 => f.write_str("nothing needs a decision"),
                count => {
                    write!(
                        f,
                        "nothing needs a decision; {} waiting for you: {inbox}",
                        if count == 1 { "1 thing is".to_owned() } else { format!("{count} things are") }
                    )
                }
            };
        }
        let line = |alert: &Alert| {
            let Alert { message, action, project, is_elsewhere, .. } = alert;
            let elsewhere = project.as_ref().filter(|_| *is_elsewhere);
            let place = elsewhere.map(|project| format!("in {}: ", visible(project))).unwrap_or_default();
            format!("{place}{message}\n  {action}")
        };
        f.write_str(&self.alerts.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}
