//! The inbox at a terminal: short forms of its commands, and how much waits, after every other command.

use std::ffi::OsString;
use std::io::IsTerminal;

use comity_app::catalog::{CatalogEntry, name_of};
use comity_app::operations::inbox::{AnswerInbox, ListInbox};
use comity_core::display::counted;

use super::output::{self, OutputFormat};
use crate::session::Session;

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

/// Tells a person at a terminal how much waits for them; whoever has just looked knows.
pub(super) fn tell(session: &mut Session, asked: &CatalogEntry, form: OutputFormat) {
    let has_looked = [name_of::<ListInbox>(), name_of::<AnswerInbox>()].contains(&asked.name);
    if has_looked || form != OutputFormat::Text || !std::io::stderr().is_terminal() {
        return;
    }
    let Ok(answer) = session.ask(name_of::<ListInbox>(), &serde_json::json!({ "limit": 0 })) else { return };
    let count = serde_json::from_str::<serde_json::Value>(answer.json.get())
        .ok()
        .and_then(|list| list["count"].as_u64());
    match count {
        None | Some(0) => {}
        Some(1) => output::complain("1 thing waits for you: comity inbox"),
        Some(count) => {
            output::complain(&format!("{} wait for you: comity inbox", counted(count as usize, "thing")))
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
