//! Paths that the documentation mentions exist.

use super::Finding;
use super::tree::Tree;

const ROOT_PAGES: &[&str] = &["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"];
/// What in backticks begins like this is a path of this repository.
const ROOTS: &[&str] =
    &["crates/", "docs/", "xtask/", ".ci/", ".cargo/", "examples/", "benches/", "fuzz/", "web/", "assets/"];

/// A map that names what is gone is worse than none.
pub(super) fn doc_paths(tree: &Tree) -> Vec<Finding> {
    let next = "correct the path, or remove the sentence";
    let mut findings = Vec::new();
    let is_page =
        |path: &str| ROOT_PAGES.contains(&path) || (path.starts_with("docs/") && path.ends_with(".md"));
    for (page, text) in tree.texts().filter(|(path, _)| is_page(path)) {
        let mut in_block = false;
        for (index, line) in text.lines().enumerate() {
            in_block ^= line.trim_start().starts_with("```");
            if in_block {
                continue;
            }
            let (rest, spans) = code_spans(line);
            let spans = spans.into_iter().filter_map(|span| repository_path(&span));
            let links = link_targets(&rest).into_iter().filter_map(|target| resolve(page, target));
            for path in spans.chain(links).filter(|path| !tree.exists(path)) {
                findings.push(Finding::new(page, index + 1, format!("`{path}` does not exist"), next));
            }
        }
    }
    findings
}

/// Splits a line into its prose and what stands in backticks.
fn code_spans(line: &str) -> (String, Vec<String>) {
    let mut prose = String::new();
    let mut spans = Vec::new();
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 0 { prose.push_str(part) } else { spans.push(part.to_owned()) }
    }
    (prose, spans)
}

fn repository_path(span: &str) -> Option<String> {
    let path = span.split(['#', ':']).next().unwrap_or_default().trim_end_matches('/');
    let is_pattern =
        path.contains(['*', '<', '{', '…', ' ', '?', '$']) || path.contains("...") || path.contains("NNN");
    (ROOTS.iter().any(|root| span.starts_with(root)) && !is_pattern).then(|| path.to_owned())
}

/// The targets of `[text](target)` and `[name]: target`.
fn link_targets(prose: &str) -> Vec<&str> {
    let inline = prose.match_indices("](").map(|(start, _)| {
        let target = &prose[start + 2..];
        &target[..target.find(')').unwrap_or(target.len())]
    });
    let definition = prose.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    inline.chain(definition.map(|(_, target)| target)).collect()
}

/// A relative link as a path from the root; nothing for links that lead elsewhere.
fn resolve(page: &str, target: &str) -> Option<String> {
    let target = target.split_whitespace().next()?.trim_matches(['<', '>']);
    let target = target.split(['#', '?']).next().filter(|target| !target.is_empty())?;
    if target.contains(':') || target.starts_with('/') {
        return None;
    }
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in target.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part != ".." {
            folders.push(part);
        } else if folders.pop().is_none() {
            // Above the root: nothing of ours.
            return Some(target.to_owned());
        }
    }
    // The root itself has no name.
    (!folders.is_empty()).then(|| folders.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn mentioned_paths_exist() {
        check(
            "doc-paths",
            "
            == README.md
            `crates/a/src/b.rs:12`, `crates/a/`, `src/**`, `crates/*/x.rs`, `docs/design/NNNN-title.md`
            [guide](docs/guide/locks.md#claim) [web](https://a.example/b.md) [here](#here) [up](.)
            ```
            `crates/gone.rs` [gone](gone.md)
            ```
            == docs/guide/locks.md
            [a](../../README.md) [b](./locks.md)
            [c]: https://a.example
            == crates/a/src/b.rs
            == notes.md
            `crates/gone.rs`",
            expect![""],
        );
        check(
            "doc-paths",
            "
            == ARCHITECTURE.md
            `crates/gone.rs` and `.ci/run`
            [guide](docs/guide/gone.md#a)
            == docs/guide/locks.md
            [readme](../README.md)
            [c]: gone.md",
            expect![[r#"
                ARCHITECTURE.md:1: `crates/gone.rs` does not exist [doc-paths]
                ARCHITECTURE.md:1: `.ci/run` does not exist [doc-paths]
                ARCHITECTURE.md:2: `docs/guide/gone.md` does not exist [doc-paths]
                docs/guide/locks.md:1: `docs/README.md` does not exist [doc-paths]
                docs/guide/locks.md:2: `docs/guide/gone.md` does not exist [doc-paths]"#]],
        );
    }
}
