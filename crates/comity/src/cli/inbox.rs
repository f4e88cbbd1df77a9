//! The inbox at a terminal: short forms of its commands, and how much waits, after every other command.

use std::ffi::OsString;
use std::io::IsTerminal;

use comity_app::catalog::{CatalogEntry, name_of};
use comity_app::operations::inbox::{AnswerInbox, ListInbox};
use comity_app::operations::ledger::ListAlerts;
use comity_app::operations::mail::{Next, ReadMail};
use comity_wire::InboxCount;
use serde_json::value::RawValue;

use super::output::{self, OutputFormat};
use crate::session::{ServerAnswer, SessionError};

/// `comity inbox` lists what waits, and `comity inbox p12 allow` answers it.
pub(super) fn spell_out(arguments: &mut Vec<OsString>) {
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let first = (1..arguments.len()).find(|at| !is_flag(&arguments[*at]));
    let Some(group) = first.filter(|at| arguments[*at] == "inbox") else { return };
    let is_one_of = |words: &[&str], word: &OsString| words.iter().any(|known| word == known);
    let verb = match arguments.get(group + 1) {
        Some(word) if is_one_of(&["list", "answer", "help", "--help", "-h"], word) => return,
        Some(word) if !is_flag(word) => "answer",
        Some(_) | None => "list",
    };
    arguments.insert(group + 1, verb.into());
}

/// How much waits for the caller, after a command that has not already shown it.
pub(super) struct Waiting {
    count: InboxCount,
    is_shown: bool,
}

impl Waiting {
    /// The count that came with the answer, unless that shows the items.
    pub(super) fn after(
        answer: &Result<ServerAnswer, SessionError>,
        asked: &CatalogEntry,
        form: OutputFormat,
    ) -> Option<Waiting> {
        let count = match answer {
            Ok(ServerAnswer { inbox, .. }) | Err(SessionError::Refused { inbox, .. }) => (*inbox)?,
            Err(SessionError::Fault(_)) => return None,
        };
        let has_looked = [name_of::<ListInbox>(), name_of::<AnswerInbox>()].contains(&asked.name);
        let says_it = || form == OutputFormat::Json && (asked.output)()["properties"]["inbox"].is_object();
        // These show or read what waits: a line below it would count what was just shown.
        let is_shown =
            [name_of::<ListAlerts>(), name_of::<Next>(), name_of::<ReadMail>()].contains(&asked.name);
        (!has_looked && !says_it()).then_some(Waiting { count, is_shown })
    }

    /// Adds it to a document, as `inbox`.
    pub(super) fn add_to(&self, document: &RawValue) -> Option<Box<RawValue>> {
        let fields = document.get().trim_end().strip_suffix('}')?;
        let comma = if fields.trim_end().ends_with('{') { "" } else { "," };
        RawValue::from_string(format!("{fields}{comma}\"inbox\":{}}}", self.count.count)).ok()
    }

    /// Shows it to an agent, or to a person at a terminal.
    pub(super) fn tell(&self) {
        if self.is_shown || (!self.count.is_agents && !std::io::stderr().is_terminal()) {
            return;
        }
        match self.count.count {
            0 => {}
            1 => output::complain("1 thing is waiting for you: comity inbox"),
            count => output::complain(&format!("{count} things are waiting for you: comity inbox")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, meant: &str) {
        let mut arguments: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
        spell_out(&mut arguments);
        let words: Vec<&str> = arguments.iter().map(|word| word.to_str().expect("a text")).collect();
        assert_eq!(words.join(" "), meant);
    }

    #[test]
    fn the_count_is_a_field_of_every_document() {
        let check = |document: &str, with: &str| {
            let document = RawValue::from_string(document.to_owned()).expect("JSON");
            let waiting = Waiting { count: InboxCount { count: 3, is_agents: false }, is_shown: false };
            assert_eq!(waiting.add_to(&document).expect("an object").get(), with);
        };
        check("{}", r#"{"inbox":3}"#);
        check(r#"{"locks":[]}"#, r#"{"locks":[],"inbox":3}"#);
        check(r#"{"text":"}"}"#, r#"{"text":"}","inbox":3}"#);
    }

    #[test]
    fn short_forms() {
        check("comity inbox", "comity inbox list");
        check("comity inbox --json", "comity inbox list --json");
        check("comity --json inbox --limit 3", "comity --json inbox list --limit 3");
        check("comity inbox p12 allow", "comity inbox answer p12 allow");
        check("comity inbox answer p12 allow", "comity inbox answer p12 allow");
        check("comity inbox --help", "comity inbox --help");
        check("comity lock inbox", "comity lock inbox");
    }
}
