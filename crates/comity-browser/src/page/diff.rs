//! The difference between two outlines of a page.

use std::collections::HashMap;
use std::fmt;

use super::outline::OutlineNode;

/// The changes between two outlines.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    /// New parts, in order.
    pub added: Vec<OutlineNode>,
    /// Parts with another name, value or state, as they are now.
    pub changed: Vec<OutlineNode>,
    /// References of removed parts.
    pub removed: Vec<String>,
}

/// Compares two outlines by their references.
pub(super) fn diff(old: &[OutlineNode], new: &[OutlineNode]) -> Changes {
    let before: HashMap<&str, &OutlineNode> =
        old.iter().map(|node| (node.reference.as_str(), node)).collect();
    let after: HashMap<&str, &OutlineNode> = new.iter().map(|node| (node.reference.as_str(), node)).collect();
    let mut changes = Changes::default();
    for node in new {
        match before.get(node.reference.as_str()) {
            None => changes.added.push(node.clone()),
            Some(old) if !is_same(old, node) => changes.changed.push(node.clone()),
            Some(_) => {}
        }
    }
    let gone = old.iter().filter(|node| !after.contains_key(node.reference.as_str()));
    changes.removed = gone.map(|node| node.reference.clone()).collect();
    changes
}

/// Where a part is matters less than what it is: one that only moved is no news.
fn is_same(one: &OutlineNode, other: &OutlineNode) -> bool {
    one.role == other.role && one.name == other.name && one.value == other.value && one.state == other.state
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.added {
            writeln!(f, "+ {node}")?;
        }
        for node in &self.changed {
            writeln!(f, "~ {node}")?;
        }
        if !self.removed.is_empty() {
            writeln!(f, "- {}", self.removed.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::outline::tests::node;
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn outline(text: &str) -> Vec<OutlineNode> {
        text.split(", ").filter(|part| !part.is_empty()).map(node).collect()
    }

    fn check(old: &str, new: &str, expected: Expect) {
        expected.assert_eq(&diff(&outline(old), &outline(new)).to_string());
    }

    #[test]
    fn changes_are_told_by_reference() {
        check("0 link a e1", "0 link a e1", expect![""]);
        check(
            "",
            "0 link a e1",
            expect![[r#"
            + link "a" e1
        "#]],
        );
        check(
            "0 link a e1, 0 link b e2, 0 link c e3",
            "0 link a e1, 0 link x e2, 1 link d e4",
            expect![[r#"
            +  link "d" e4
            ~ link "x" e2
            - e3
        "#]],
        );
        check("0 link a e1, 0 link b e2", "2 link b e2, 1 link a e1", expect![""]);
    }

    proptest! {
        #[test]
        fn changes_lead_from_the_old_to_the_new(
            old in prop::collection::btree_map(0..20_u32, 0..3_u32, 0..15),
            new in prop::collection::btree_map(0..20_u32, 0..3_u32, 0..15),
        ) {
            let nodes = |of: &std::collections::BTreeMap<u32, u32>| -> Vec<OutlineNode> {
                of.iter().map(|(number, name)| node(&format!("0 link n{name} e{number}"))).collect()
            };
            let (old, new) = (nodes(&old), nodes(&new));
            let changes = diff(&old, &new);
            let mut built: Vec<OutlineNode> =
                old.into_iter().filter(|node| !changes.removed.contains(&node.reference)).collect();
            for changed in &changes.changed {
                let place = built.iter().position(|node| node.reference == changed.reference).unwrap();
                prop_assert_ne!(&built[place], changed);
                built[place] = changed.clone();
            }
            built.extend(changes.added);
            built.sort_by_key(|node| node.reference[1..].parse::<u32>().unwrap());
            prop_assert_eq!(built, new);
        }
    }
}
