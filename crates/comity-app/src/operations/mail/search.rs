//! Searches all mail.

use std::fmt;

use comity_core::Refusal;
use comity_core::display::{visible, visible_lines};
use comity_core::mail::may_read;

use crate::ledger::{date, local};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::search::{FoundLetter, LetterQuery};

/// The default.
const LIMIT: usize = 20;
const LIMIT_MAX: usize = 1_000;
const WORDS_BYTES_MAX: usize = 1_024;

/// Search the mail you may read, however old, for letters with all these words, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchMail {
    /// What to look for; a * at the end of a word stands for any ending
    #[serde(default)]
    pub words: Vec<String>,
    /// Only this conversation
    pub thread: Option<String>,
    /// At most this many (20)
    pub limit: Option<usize>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundMail {
    /// The newest first.
    pub messages: Vec<FoundMessage>,
}

/// One letter that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundMessage {
    pub id: String,
    pub from: String,
    pub to: String,
    pub thread: String,
    pub at: String,
    #[serde(skip)]
    at_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The part of it that was found.
    pub snippet: String,
}

impl Operation for SearchMail {
    type Output = FoundMail;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<FoundMail>, Failure> {
        let limit = self.limit.unwrap_or(LIMIT);
        if limit == 0 || limit > LIMIT_MAX {
            let problem = format!("a limit of {limit} is not possible");
            return Err(Refusal::bad_input(problem, format!("1 to {LIMIT_MAX}")).into());
        }
        let words = self.words.join(" ");
        if words.len() > WORDS_BYTES_MAX {
            let problem = format!("more than {WORDS_BYTES_MAX} bytes to look for");
            return Err(Refusal::bad_input(problem, "use fewer words").into());
        }
        if words.trim().is_empty() && self.thread.is_none() {
            return Err(Refusal::bad_input("nothing to look for", "give words, or a thread").into());
        }
        let head = app.engine().world().head;
        let wanted = LetterQuery { words: &words, thread: self.thread.as_deref(), limit };
        let may_read = |from, to: &[_]| may_read(&app.engine().world(), caller.who, from, to);
        let found = app.mail_memory().index.search(app.reader()?, head, &wanted, may_read);
        let messages = found.map_err(Failure::Fault)?.into_iter().map(FoundMessage::of).collect();
        Ok(Plan::Answer(FoundMail { messages }))
    }
}

impl FoundMessage {
    fn of(found: FoundLetter) -> FoundMessage {
        let FoundLetter { id, from, to, thread, wall_ms, subject, snippet } = found;
        FoundMessage { id, from, to, thread, at: date(wall_ms), at_ms: wall_ms, subject, snippet }
    }
}

impl fmt::Display for FoundMail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.messages.is_empty() {
            return f.write_str("nothing was found");
        }
        let found: Vec<String> = self.messages.iter().map(ToString::to_string).collect();
        f.write_str(&found.join("\n"))
    }
}

impl fmt::Display for FoundMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} to {}, {}", self.id, visible(&self.from), visible(&self.to), local(self.at_ms))?;
        if let Some(subject) = &self.subject {
            write!(f, "\n  {}", visible(subject))?;
        }
        visible_lines(&self.snippet).lines().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}
