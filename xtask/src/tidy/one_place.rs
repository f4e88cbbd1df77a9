//! What is known in one place: what git says of a worktree, and how its unfinished states look, is read there only.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// What a source would need for it in its code and in a literal, and where alone that may stand.
const PLACES: &[(&str, &str, &str)] = &[
    ("call(", "\"status\"", "crates/comity-git/src/status.rs"),
    ("", "\"rebase-merge", "crates/comity-git/src/unfinished.rs"),
    ("", "\"CHERRY_PICK_HEAD", "crates/comity-git/src/unfinished.rs"),
];

/// A second reader of the same would understand it differently.
pub(super) fn one_place(tree: &Tree) -> Vec<Finding> {
    let product = tree.sources().filter(|(path, _)| path.starts_with("crates/") && path.contains("/src/"));
    let lines = |(path, source): (&str, &Source)| -> Vec<Finding> {
        let lines = source.lines.iter().filter(|line| !line.in_test);
        let found = lines.flat_map(|line| {
            let stands =
                |code: &str, literal: &str| line.code.contains(code) && line.literal.contains(literal);
            let elsewhere =
                PLACES.iter().filter(move |(code, literal, place)| *place != path && stands(code, literal));
            elsewhere
                .map(|(.., place)| Finding::new(path, line.number, format!("{place} knows this"), "ask it"))
        });
        found.collect()
    };
    product.flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn what_is_known_in_one_place_is_asked_there() {
        check(
            "one-place",
            "
            == crates/comity-git/src/status.rs
            let call = git.call(\"status\");
            == crates/comity-git/src/other.rs
            let call = git.call(\"status\");
            let file = dir.join(\"CHERRY_PICK_HEAD\");
            let call = git.call(\"show\");
            #[cfg(test)]
            mod tests {
                const HEAD: &str = \"CHERRY_PICK_HEAD\";
            }",
            expect![[r#"
                crates/comity-git/src/other.rs:1: crates/comity-git/src/status.rs knows this [one-place]
                crates/comity-git/src/other.rs:2: crates/comity-git/src/unfinished.rs knows this [one-place]"#]],
        );
    }
}
