//! Edits a JSON file as text: what is not touched stays as it is, byte for byte.
//!
//! When our members are removed, a container that was there and empty has to stay, and one that we made has to go. A
//! space after the opening bracket tells them apart: we write it into existing containers, and never into our own.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::EditProblem;
use super::comments::JsonForm;
use super::piece::{Layout, Piece, key_part};
use super::scan::{JsonContainer, JsonItem, Type, is_blank, skip_blank};

/// For files without indentation.
const UNIT: &str = "  ";

/// A JSON object as text.
pub(super) struct Document {
    text: String,
    /// The same text with blanks in place of comments and trailing commas; positions are the same in both.
    plain: String,
    newline: &'static str,
    unit: String,
    /// Whether the text has no line breaks and should get none.
    is_one_line: bool,
    state: MemberState,
}

#[derive(PartialEq, Eq)]
enum MemberState {
    /// There is no file yet.
    New,
    Filled,
    /// Everything in it was ours and is removed.
    Gone,
}

impl Document {
    pub(super) fn new() -> Document {
        Document {
            text: "{}\n".to_owned(),
            plain: "{}\n".to_owned(),
            newline: "\n",
            unit: UNIT.to_owned(),
            is_one_line: false,
            state: MemberState::New,
        }
    }

    pub(super) fn parse(text: &str, form: JsonForm) -> Result<Document, EditProblem> {
        let plain = form.plain(text).into_owned();
        serde_json::from_str::<&RawValue>(&plain).map_err(|error| not_json(&error, form))?;
        let mut document =
            Document { text: text.to_owned(), plain, state: MemberState::Filled, ..Document::new() };
        if Type::at(&document.plain, document.root_start()) != Type::Object {
            return Err(EditProblem::new(
                "the file is JSON, but no object",
                "make it an object, or move it away",
            ));
        }
        if text.contains("\r\n") {
            document.newline = "\r\n";
        }
        let root = document.root();
        document.is_one_line = !root.items.is_empty() && !text.trim().contains('\n');
        let indent = root.items.first().and_then(|first| document.indent_of(first)).unwrap_or_default();
        if !indent.is_empty() {
            document.unit = indent.to_owned();
        }
        Ok(document)
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// The text, unless everything in it was ours.
    pub(super) fn into_text_if_any(self) -> Option<String> {
        (self.state != MemberState::Gone).then_some(self.text)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.state == MemberState::Gone
    }

    pub(super) fn root(&self) -> JsonContainer {
        JsonContainer::at(&self.plain, self.root_start())
    }

    pub(super) fn inside(&self, item: &JsonItem) -> JsonContainer {
        JsonContainer::at(&self.plain, item.value.start)
    }

    pub(super) fn type_of(&self, item: &JsonItem) -> Type {
        Type::at(&self.plain, item.value.start)
    }

    pub(super) fn raw<'a>(&'a self, item: &JsonItem) -> &'a str {
        &self.plain[item.value.clone()]
    }

    /// The value of an item; `None` for JSON without a value, such as half of a surrogate pair.
    pub(super) fn value(&self, item: &JsonItem) -> Option<Value> {
        serde_json::from_str(self.raw(item)).ok()
    }

    /// Adds an item after all others.
    pub(super) fn append(&mut self, container: &JsonContainer, key: Option<&'static str>, piece: &Piece) {
        let Some(last) = container.items.last() else { return self.fill(container, key, piece) };
        let (lead, indent) = (self.lead(last), self.indent_of(last));
        let separator = match indent {
            Some(indent) => format!(",{}{indent}", self.newline),
            None => format!(",{lead}"),
        };
        let text = self.render(key, piece, indent);
        match indent.and_then(|_| self.comment_behind(last)) {
            None => self.edit(last.value.end..last.value.end, &format!("{separator}{text}")),
            // The comment belongs to the item before: ours goes after it, with a comma if that one has one.
            Some(comment) => {
                let comma = self.trailing_comma(last);
                let end = if comma.is_some() { "," } else { "" };
                let text = format!("{}{text}{end}", separator.trim_start_matches(','));
                self.edit(comment..comment, &text);
                match comma {
                    // Now it separates, and ours is the last.
                    Some(at) => {
                        self.plain.replace_range(at..=at, ",");
                        let own = comment + text.len() - 1;
                        self.plain.replace_range(own..=own, " ");
                    }
                    None => self.edit(last.value.end..last.value.end, ","),
                }
            }
        }
    }

    fn edit(&mut self, range: Range<usize>, by: &str) {
        self.text.replace_range(range.clone(), by);
        self.plain.replace_range(range, by);
    }

    /// The end of a comment that follows an item on its line.
    fn comment_behind(&self, item: &JsonItem) -> Option<usize> {
        let rest = &self.text[item.value.end..];
        let line = rest.split(['\n', '\r']).next()?;
        let closes = self.plain[item.value.end..item.value.end + line.len()].contains(['}', ']']);
        let is_comment = line.trim_start_matches([' ', '\t', ',']).starts_with("//")
            || line.trim_start_matches([' ', '\t', ',']).starts_with("/*") && line.trim_end().ends_with("*/");
        (is_comment && !closes).then_some(item.value.end + line.trim_end().len())
    }

    /// Where the comma is that stands behind the last item of a container.
    fn trailing_comma(&self, last: &JsonItem) -> Option<usize> {
        let at = skip_blank(&self.text, last.value.end);
        let is_blanked = self.plain.as_bytes().get(at) == Some(&b' ');
        (self.text.as_bytes().get(at) == Some(&b',') && is_blanked).then_some(at)
    }

    /// Puts the first item into an empty container.
    fn fill(&mut self, container: &JsonContainer, key: Option<&'static str>, piece: &Piece) {
        // Without the space we would take the container for ours when it is emptied.
        let mark = if self.state == MemberState::New { "" } else { " " };
        self.state = MemberState::Filled;
        if self.is_one_line {
            let text = self.render(key, piece, None);
            return self.edit(container.close..container.close, &format!("{mark}{text}"));
        }
        let outer = self.line_indent(container.open);
        let inner = format!("{outer}{}", self.unit);
        let text = self.render(key, piece, Some(&inner));
        let newline = self.newline;
        let filling = format!("{mark}{newline}{inner}{text}{newline}{outer}");
        self.edit(container.close..container.close, &filling);
    }

    /// Puts another value in the place of an item's.
    pub(super) fn replace(&mut self, item: &JsonItem, piece: &Piece) {
        let text = self.render(None, piece, self.indent_of(item));
        self.edit(item.value.clone(), &text);
    }

    /// Takes away the item at the end of this path of positions, and containers that we had made for it.
    pub(super) fn remove(&mut self, path: &[usize]) {
        let Some((position, above)) = path.split_last() else {
            self.state = MemberState::Gone;
            return;
        };
        let mut container = self.root();
        for step in above {
            container = self.inside(&container.items[*step]);
        }
        let item = &container.items[*position];
        if let Some(before) = position.checked_sub(1) {
            let before = container.items[before].value.end;
            if self.text[before..item.start].trim_matches(is_blank) == "," {
                return self.edit(before..item.value.end, "");
            }
            // Between the two is a comment, which stays.
            let lead = item.start - self.lead(item).len();
            let is_last = *position + 1 == container.items.len();
            return match self.trailing_comma(item) {
                _ if !is_last => {
                    let comma = item.value.end + self.plain[item.value.end..].find(',').unwrap_or_default();
                    self.edit(lead..comma + 1, "");
                }
                Some(comma) => {
                    let at = before + self.plain[before..].find(',').unwrap_or_default();
                    self.plain.replace_range(at..=at, " ");
                    self.edit(lead..comma + 1, "");
                }
                None => {
                    self.edit(lead..item.value.end, "");
                    let at = before + self.plain[before..].find(',').unwrap_or_default();
                    self.edit(at..at + 1, "");
                }
            };
        }
        if let Some(next) = container.items.get(1) {
            let comma = item.value.end + self.plain[item.value.end..].find(',').unwrap_or_default();
            let end = match self.text[item.value.end..comma].trim_matches(is_blank) {
                "" => skip_blank(&self.text, comma + 1),
                _ => next.start,
            };
            return self.edit(item.start..end, "");
        }
        match self.emptiness_before(item) {
            Some(blank) => {
                let blank = blank.to_owned();
                let lead = item.start - self.lead(item).len();
                self.edit(lead..container.close, &blank);
            }
            None => self.remove(above),
        }
    }

    /// What stood between the brackets before the first item came in; none if we made the brackets.
    fn emptiness_before(&self, item: &JsonItem) -> Option<&str> {
        let lead = self.lead(item);
        let rest = lead.rfind('\n').map_or(lead, |newline| &lead[..newline]);
        rest.strip_suffix('\r').unwrap_or(rest).strip_suffix(' ')
    }

    fn render(&self, key: Option<&str>, piece: &Piece, indent: Option<&str>) -> String {
        let layout = match indent {
            Some(indent) => Layout::Lines { indent, unit: &self.unit, newline: self.newline },
            None => Layout::OneLine,
        };
        let key = key.map(|key| key_part(key, layout)).unwrap_or_default();
        format!("{key}{}", piece.render(layout))
    }

    /// The white space before an item.
    fn lead(&self, item: &JsonItem) -> &str {
        let before = &self.text[..item.start];
        &before[before.trim_end_matches(is_blank).len()..]
    }

    /// The indentation of an item that begins a line.
    fn indent_of(&self, item: &JsonItem) -> Option<&str> {
        let lead = self.lead(item);
        lead.rfind('\n').map(|newline| &lead[newline + 1..])
    }

    fn line_indent(&self, at: usize) -> &str {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &self.text[start..at];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    fn root_start(&self) -> usize {
        skip_blank(&self.plain, 0)
    }
}

fn not_json(error: &serde_json::Error, form: JsonForm) -> EditProblem {
    if form != JsonForm::Plain {
        return EditProblem::new(
            format!("the file can't be read as JSON: {error}"),
            "fix it: the program can't read it either",
        );
    }
    EditProblem::new(
        format!("the file isn't plain JSON: {error}"),
        "take out comments and trailing commas, which an edit could lose, or connect by hand",
    )
}
