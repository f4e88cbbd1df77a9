//! What people read is plain English: phrases that a native speaker would not use.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// A phrase, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("in the mode ", "write \"in plan mode\""),
    (" no more\"", "write \"no longer\", or \"is gone\""),
    ("in vain", "say what happened: \"gave up after 2s\""),
    (" anew", "write \"again\""),
    ("by now", "write \"now\", or what made it so: \"allowed by a newer rule\""),
    ("cannot", "write \"can't\", as everywhere else"),
    ("if left out", "write \"if omitted\""),
    (" mend ", "write \"fix\""),
];

/// Before "is no": "there is no lock" is English.
const THERE: [&str; 2] = ["there ", "There "];
/// Behind "is no": so is "is no longer held".
const LONGER: [&str; 2] = ["longer", "such"];
/// What measures and proves Comity speaks to its makers.
const OURS: [&str; 6] = [
    "xtask/",
    "crates/comity-sim/",
    "crates/comity-soak/",
    "crates/comity-fuzz/",
    "crates/comity-bench/",
    "crates/comity-skip/",
];

/// Texts in the sources, tests aside.
pub(super) fn phrases(tree: &Tree) -> Vec<Finding> {
    let product = tree.sources().filter(|(path, _)| !OURS.iter().any(|ours| path.starts_with(ours)));
    let lines = |(path, source): (&str, &Source)| -> Vec<Finding> {
        let texts = source.lines.iter().filter(|line| !line.in_test && !source.excused(line, "phrase:"));
        texts
            .flat_map(|line| {
                wrong(&line.literal).map(|(says, next)| Finding::new(path, line.number, says, next))
            })
            .collect()
    };
    product.flat_map(lines).collect()
}

fn wrong(literal: &str) -> impl Iterator<Item = (String, &'static str)> {
    let phrase = PHRASES.iter().filter(|(phrase, _)| literal.contains(phrase));
    let phrase =
        phrase.map(|(phrase, instead)| (format!("{:?} is not plain English", phrase.trim()), *instead));
    let is_no = is_no(literal).then(|| ("\"is no\" before a thing".to_owned(), "write \"isn't a\""));
    phrase.chain(is_no)
}

/// `"x" is no number`.
fn is_no(literal: &str) -> bool {
    literal.match_indices(" is no ").any(|(at, found)| {
        let (before, after) = (&literal[..=at], &literal[at + found.len()..]);
        !THERE.iter().any(|there| before.ends_with(there))
            && !LONGER.iter().any(|word| after.starts_with(word))
    })
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn texts_are_plain_english() {
        check(
            "phrases",
            "== a.rs\nlet a = \"ann is in the mode plan\";\n// in vain\nlet b = \"x is no number; there is no y, z is no longer held\";\nlet c = \"it cannot\";",
            expect![[r#"
                a.rs:1: "in the mode" is not plain English [phrases]
                a.rs:3: "is no" before a thing [phrases]
                a.rs:4: "cannot" is not plain English [phrases]"#]],
        );
        check("phrases", "== a.rs\nlet a = \"there is no y, z is no longer held\";", expect![""]);
        check("phrases", "== a.rs\nlet a = \"cannot\"; // phrase: git says it", expect![""]);
        check(
            "phrases",
            "== tests/a.rs\nlet a = \"in vain\";\n== crates/comity-sim/src/a.rs\nlet a = \"in vain\";",
            expect![""],
        );
    }
}
