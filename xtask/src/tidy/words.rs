//! Words that have no place in finished code.

use super::Finding;
use super::source::{Source, has_word};
use super::tree::Tree;

const PLACEHOLDERS: &[&str] = &["todo!", "unimplemented!", "dbg!"];
const MARKERS: &[&str] = &["TODO", "FIXME", "XXX"];
/// Other sources in which a marker is looked for; prose may speak about tasks as it likes.
const MARKED_ENDINGS: &[&str] =
    &[".toml", ".sh", ".js", ".mjs", ".ts", ".css", ".html", ".sql", ".yml", ".ci/run"];

/// Lints are expected with a reason, never silenced.
pub(super) fn allow(tree: &Tree) -> Vec<Finding> {
    let next = "write #[expect(the_lint, reason = \"why it is right here\")]";
    code_findings(tree, |code| {
        let dense: String = code.split_whitespace().collect();
        let silenced = ["#[allow(", "#![allow("].iter().any(|start| dense.contains(start))
            || (dense.contains("cfg_attr(") && dense.contains(",allow("));
        silenced.then(|| ("`allow` silences a lint for ever".to_owned(), next))
    })
}

/// Nothing is left out for later, and nothing is left in from debugging.
pub(super) fn placeholders(tree: &Tree) -> Vec<Finding> {
    code_findings(tree, |code| {
        let word = PLACEHOLDERS.iter().find(|word| has_word(code, word))?;
        Some((
            format!("`{word}` is a placeholder"),
            "write the code, or return a refusal that says what is missing",
        ))
    })
}

/// No notes to ourselves: an issue is found again, a comment is not.
pub(super) fn markers(tree: &Tree) -> Vec<Finding> {
    let next = "do it now, or open an issue and remove the marker";
    let mut findings = Vec::new();
    let mut look = |path: &str, number: usize, text: &str| {
        if let Some(word) = MARKERS.iter().find(|word| has_word(text, word)) {
            findings.push(Finding::new(path, number, format!("a `{word}` marker"), next));
        }
    };
    for (path, source) in tree.sources() {
        source.lines.iter().for_each(|line| look(path, line.number, &line.comment));
    }
    for (path, text) in tree.texts().filter(|(path, _)| MARKED_ENDINGS.iter().any(|end| path.ends_with(end)))
    {
        text.lines().enumerate().for_each(|(index, line)| look(path, index + 1, line));
    }
    findings
}

fn code_findings(tree: &Tree, find: impl Fn(&str) -> Option<(String, &'static str)>) -> Vec<Finding> {
    let lines = |(path, source): (&str, &Source)| -> Vec<Finding> {
        let found = source.lines.iter().filter_map(|line| Some((line.number, find(&line.code)?)));
        found.map(|(number, (says, next))| Finding::new(path, number, says, next)).collect()
    };
    tree.sources().flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn lints_are_not_silenced() {
        check("allow", "== a.rs\n#[expect(dead_code, reason = \"r\")]\n// #[allow(dead_code)]", expect![""]);
        check("allow", "== a.rs\nlet a = \"#[allow(x)]\"; disallow(b);", expect![""]);
        check(
            "allow",
            "
            == a.rs
            #![allow(dead_code)]

            #[allow(unused)]
            #[cfg_attr(unix, allow(unused))]",
            expect![[r#"
                a.rs:1: `allow` silences a lint for ever [allow]
                a.rs:3: `allow` silences a lint for ever [allow]
                a.rs:4: `allow` silences a lint for ever [allow]"#]],
        );
    }

    #[test]
    fn placeholders_are_refused() {
        check("placeholders", "== a.rs\nlet todo = 1; todo != 2; // todo!()\nlet a = \"dbg!\";", expect![""]);
        check(
            "placeholders",
            r#"
            == a.rs
            todo!()
            unimplemented!("later")
            let a = dbg!(b);"#,
            expect![[r#"
                a.rs:1: `todo!` is a placeholder [placeholders]
                a.rs:2: `unimplemented!` is a placeholder [placeholders]
                a.rs:3: `dbg!` is a placeholder [placeholders]"#]],
        );
    }

    #[test]
    fn markers_are_refused() {
        check(
            "markers",
            r#"
            == a.rs
            let a = "TODO"; // a todo list
            == a.md
            TODO
            == b.sh
            mktemp a.XXXXXX"#,
            expect![""],
        );
        check(
            "markers",
            "
            == a.rs
            let a = 1; // TODO: later
            /// FIXME
            == web/a.js
            // XXX slow",
            expect![[r#"
                a.rs:1: a `TODO` marker [markers]
                a.rs:2: a `FIXME` marker [markers]
                web/a.js:1: a `XXX` marker [markers]"#]],
        );
    }
}
