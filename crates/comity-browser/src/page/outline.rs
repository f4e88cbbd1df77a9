//! The parts of a page, one line each.

use std::fmt;

use serde::Deserialize;

/// A part of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineNode {
    /// For commands, like `e12`; never reused in a tab.
    pub reference: String,
    /// Its depth in the outline.
    pub depth: usize,
    /// `button`, `link`, `heading`, `text` and so on.
    pub role: String,
    /// Its label or text.
    pub name: String,
    /// What is typed into it or chosen.
    pub value: String,
    /// `checked`, `disabled`, `level=2` and so on, separated by spaces.
    pub state: String,
}

impl fmt::Display for OutlineNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:1$}{2}", "", self.depth, self.role)?;
        if !self.name.is_empty() {
            write!(f, " \"{}\"", escaped(&self.name))?;
        }
        if !self.value.is_empty() {
            write!(f, " = \"{}\"", escaped(&self.value))?;
        }
        if !self.state.is_empty() {
            write!(f, " [{}]", self.state)?;
        }
        write!(f, " {}", self.reference)
    }
}

/// Escapes a page's text, so that it cannot end its quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScriptOutline {
    pub(super) nodes: Vec<ScriptNode>,
    pub(super) is_full: bool,
    pub(super) first_new: u64,
    pub(super) next: u64,
    pub(super) title: String,
    pub(super) url: String,
}

/// A part of a page as the script reports it; short names, since there may be many.
#[derive(Deserialize, Debug)]
pub(super) struct ScriptNode {
    #[serde(rename = "r")]
    pub(super) number: u64,
    #[serde(rename = "d")]
    depth: usize,
    #[serde(rename = "k")]
    role: String,
    #[serde(rename = "n", default)]
    name: String,
    #[serde(rename = "v", default)]
    value: String,
    #[serde(rename = "s", default)]
    state: String,
    /// Which of the frames that come with the outline this one is.
    #[serde(rename = "f")]
    pub(super) frame: Option<usize>,
}

impl ScriptNode {
    pub(super) fn into_node(self) -> OutlineNode {
        OutlineNode {
            reference: reference(self.number),
            depth: self.depth,
            role: self.role,
            name: self.name,
            value: self.value,
            state: self.state,
        }
    }
}

/// An element's name for commands.
pub(crate) fn reference(number: u64) -> String {
    format!("e{number}")
}

pub(crate) fn number(reference: &str) -> Option<u64> {
    let digits = reference.trim().strip_prefix('e')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

/// Truncates an outline to a number of lines and bytes; returns whether something was cut off.
pub(super) fn fit(nodes: &mut Vec<OutlineNode>, nodes_max: usize, bytes_max: usize) -> bool {
    let mut bytes = 0;
    let fits = nodes.iter().take(nodes_max).take_while(|node| {
        bytes += node.to_string().len() + 1;
        bytes <= bytes_max
    });
    // At least one part, or a reader would never get on.
    let kept = fits.count().max(1).min(nodes.len());
    let is_cut = kept < nodes.len();
    nodes.truncate(kept);
    is_cut
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use expect_test::expect;

    /// A part, written as `depth role name reference`.
    pub(in crate::page) fn node(text: &str) -> OutlineNode {
        let mut words = text.split(' ');
        let mut word = || words.next().unwrap().to_owned();
        OutlineNode {
            depth: word().parse().unwrap(),
            role: word(),
            name: word(),
            reference: word(),
            value: String::new(),
            state: String::new(),
        }
    }

    #[test]
    fn a_part_is_one_line() {
        let mut part = node("2 textbox Name e7");
        expect![[r#"  textbox "Name" e7"#]].assert_eq(&part.to_string());
        part.value = "Zoë".into();
        part.state = "required focused".into();
        expect![[r#"  textbox "Name" = "Zoë" [required focused] e7"#]].assert_eq(&part.to_string());
    }

    #[test]
    fn references_are_read_strictly() {
        for (text, expected) in
            [("e12", Some(12)), (" e12 ", Some(12)), ("12", None), ("e", None), ("e+1", None), ("x1", None)]
        {
            assert_eq!(number(text), expected, "{text}");
        }
        assert_eq!(number(&reference(7)), Some(7));
    }

    #[test]
    fn an_outline_is_cut_at_its_budget() {
        let all: Vec<OutlineNode> = (1..=9).map(|index| node(&format!("0 link a e{index}"))).collect();
        let check = |nodes_max, bytes_max, expected| {
            let mut nodes = all.clone();
            assert_eq!((fit(&mut nodes, nodes_max, bytes_max), nodes.len()), expected);
        };
        // Each line has twelve bytes with its end.
        check(9, 1000, (false, 9));
        check(4, 1000, (true, 4));
        check(9, 36, (true, 3));
        check(9, 35, (true, 2));
        check(9, 1, (true, 1));
        assert!(!fit(&mut Vec::new(), 9, 9));
    }
}
