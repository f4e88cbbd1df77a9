//! The walks in ARCHITECTURE.md have no more hops than they say, and none is missing.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";
/// The walks that have to be there, and how many files each may pass through.
const WALKS: [(&str, usize); 3] = [("lock", 12), ("mail send", 12), ("tab click", 18)];

/// Counts the files that the list below `### `lock`: 11 hops, at most 12` names.
pub(super) fn hops(tree: &Tree) -> Vec<Finding> {
    let Some((_, page)) = tree.texts().find(|(path, _)| *path == PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    for (walk, hops_max) in WALKS {
        let heading = format!("### `{walk}`: ");
        let mut lines = page.lines().enumerate().skip_while(|(_, line)| !line.starts_with(&heading));
        let Some((index, head)) = lines.next() else {
            let says = format!("there is no walk of `{walk}`");
            findings.push(Finding::new(PAGE, 1, says, "walk it, file by file, and list them"));
            continue;
        };
        let list = lines.map(|(_, line)| line).skip_while(|line| line.is_empty());
        let list = list.take_while(|line| !line.is_empty() && !line.starts_with('#'));
        let files: BTreeSet<&str> =
            list.flat_map(|line| line.split('`')).filter(|span| span.ends_with(".rs")).collect();
        let count = files.len();
        let says = match () {
            () if count > hops_max => format!("`{walk}` passes through {count} files; {hops_max} at most"),
            () if head != format!("{heading}{count} hops, at most {hops_max}") => {
                format!(
                    "`{walk}` passes through {count} files, of {hops_max} at most; the heading says otherwise"
                )
            }
            () => continue,
        };
        findings.push(Finding::new(
            PAGE,
            index + 1,
            says,
            "merge what is split for no reason, or correct the walk",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn hops_are_counted() {
        check(
            "hops",
            "
            == ARCHITECTURE.md
            ### `lock`: 2 hops, at most 12

            1. `a/b.rs` does it, and
               `a/c.rs` too, with a `Lock`; then `a/b.rs` again.

            ### `mail send`: 2 hops, at most 12

            1. `a/b.rs`.

            `a/c.rs` is not in the list.",
            expect![[r#"
                ARCHITECTURE.md:6: `mail send` passes through 1 files, of 12 at most; the heading says otherwise [hops]
                ARCHITECTURE.md:1: there is no walk of `tab click` [hops]"#]],
        );
        let many: String = (0..19).map(|number| format!("`{number}.rs` ")).collect();
        let walk = |name: &str, list: &str| format!("### `{name}`: 1 hops, at most 12\n\n1. {list}\n");
        let page = format!(
            "== ARCHITECTURE.md\n{}{}### `tab click`: 19 hops\n{many}",
            walk("lock", "`a.rs`"),
            walk("mail send", "`a.rs`")
        );
        check(
            "hops",
            &page,
            expect!["ARCHITECTURE.md:7: `tab click` passes through 19 files; 18 at most [hops]"],
        );
    }
}
