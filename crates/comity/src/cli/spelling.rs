//! Synonyms of commands: `locks`, `task ls`, `lease free`.

use std::ffi::OsString;

use comity_app::catalog;

/// Replaces the typed words by the command's own.
pub(super) fn spell_out(arguments: &mut Vec<OsString>) {
    let is_before = |word: &&OsString| *word == "--json" || *word == "help";
    let start = 1 + arguments.iter().skip(1).take_while(is_before).count();
    let typed: Vec<&str> = arguments.iter().skip(start).map_while(|word| word.to_str()).collect();
    let Some((entry, count)) = catalog::spelled(&typed) else { return };
    arguments.splice(start..start + count, entry.words().map(OsString::from));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, meant: &str) {
        let words = typed.split(' ').filter(|word| !word.is_empty());
        let mut arguments: Vec<OsString> = ["comity"].into_iter().chain(words).map(OsString::from).collect();
        spell_out(&mut arguments);
        let words: Vec<&str> = arguments[1..].iter().map(|word| word.to_str().expect("a text")).collect();
        assert_eq!(words.join(" "), meant);
    }

    #[test]
    fn other_words() {
        check("locks --json", "lock list --json");
        check("lock list", "lock list");
        check("lock ./list", "lock ./list");
        check("lock --reason ls", "lock --reason ls");
        check("--json tasks", "--json task list");
        check("help tasks add", "help task add");
        check("lease free build", "lease release build");
        check("lease build", "lease build");
        check("nonsense", "nonsense");
        check("", "");
    }
}
