//! Shows whose mail is waiting.

use std::fmt;

use comity_core::Principal;
use comity_core::mail::may_read;
use comity_core::table::table;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Show whose mail is waiting, how much and from whom, and which letters could not be delivered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMailboxes {}

/// For whom mail waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mailboxes {
    /// One entry for each receiver.
    pub boxes: Vec<BoxView>,
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
}

impl Operation for ListMailboxes {
    type Output = Mailboxes;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Mailboxes>, Failure> {
        let world = app.engine().world();
        // Everybody may see how much waits for whom; the contents, only those who may read them.
        let sees = |owner: Principal| may_read(&world, caller.who, owner, &[]);
        let boxes = world.mail.boxes().map(|(owner, mailbox)| BoxView {
            owner: world.name_of(owner),
            letters: mailbox.letters(),
            bytes: mailbox.bytes(),
            from: match sees(owner) {
                true => mailbox.senders().map(|(from, _)| world.name_of(from)).collect(),
                false => vec![],
            },
            put_aside: mailbox.put_aside().map(|id| id.to_string()).collect(),
        });
        let mut boxes: Vec<BoxView> = boxes.collect();
        boxes.sort_by(|a, b| a.owner.cmp(&b.owner));
        Ok(Plan::Answer(Mailboxes { boxes }))
    }
}

impl fmt::Display for Mailboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.boxes.is_empty() {
            return f.write_str("no mail waits");
        }
        let row = |one: &BoxView| {
            vec![one.owner.clone(), one.letters.to_string(), one.from.join(", "), one.put_aside.join(", ")]
        };
        let rows: Vec<Vec<String>> = self.boxes.iter().map(row).collect();
        f.write_str(&table(&["FOR", "LETTERS", "FROM", "NOT DELIVERED"], &rows))
    }
}
