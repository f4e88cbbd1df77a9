//! Shows whose mail is waiting.

use std::fmt;

use comity_core::Principal;
use comity_core::display::visible;
use comity_core::mail::may_read;
use comity_core::table::table;

use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::project_scope::{ProjectScope, ScopeView};

/// Show whose mail is waiting, how much and from whom, and which letters could not be delivered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMailboxes {
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
}

/// For whom mail waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mailboxes {
    /// One entry for each receiver.
    pub boxes: Vec<BoxView>,
    #[serde(flatten)]
    pub scope: ScopeView,
}

/// One box, as it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoxView {
    pub owner: String,
    /// Letters that have not arrived.
    pub letters: usize,
    /// Bytes of these.
    pub bytes: usize,
    pub from: Vec<String>,
    /// Letters that were offered too often and never arrived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub put_aside: Vec<String>,
    /// The repository that its owner works in, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Operation for ListMailboxes {
    type Output = Mailboxes;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Mailboxes>, Failure> {
        let scope = ProjectScope::of_agents(app, caller, self.all_projects);
        let world = app.engine().world();
        // Everybody may see how much waits for whom; the contents, only those who may read them.
        let sees = |owner: Principal| may_read(&world, caller.who, owner, &[]);
        let (shown, others): (Vec<_>, Vec<_>) =
            world.mail.boxes().partition(|(owner, _)| scope.shows(*owner));
        let boxes = shown.into_iter().map(|(owner, mailbox)| BoxView {
            owner: world.name_of(owner),
            letters: mailbox.letters(),
            bytes: mailbox.bytes(),
            from: match sees(owner) {
                true => mailbox.senders().map(|(from, _)| world.name_of(from)).collect(),
                false => vec![],
            },
            put_aside: mailbox.put_aside().map(|id| id.to_string()).collect(),
            project: scope.name(&world, owner),
        });
        let mut boxes: Vec<BoxView> = boxes.collect();
        boxes.sort_by(|a, b| a.owner.cmp(&b.owner));
        Ok(Plan::Answer(Mailboxes { boxes, scope: scope.view(others.len()) }))
    }
}

impl fmt::Display for Mailboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |one: &BoxView| {
            let project = one.project.as_deref().map(visible).unwrap_or_default().into_owned();
            let (letters, from) = (one.letters.to_string(), one.from.join(", "));
            vec![one.owner.clone(), letters, from, one.put_aside.join(", "), project]
        };
        let rows: Vec<Vec<String>> = self.boxes.iter().map(row).collect();
        let headers = ["FOR", "LETTERS", "FROM", "NOT DELIVERED", "PROJECT"];
        let list = (!rows.is_empty()).then(|| table(&headers, &rows));
        f.write_str(&self.scope.whole::<ListMailboxes>(list, "no mail waits"))
    }
}
