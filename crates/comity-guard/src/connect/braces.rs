//! Members of inline TOML tables, such as `{ A = "1" }`, added and removed without touching the rest.
//!
//! A space after the opening brace marks tables that were there and empty; those that we made have none.

use std::ops::Range;

use toml_edit::{InlineTable, Value};

/// The text with a member added at the end of a table.
pub(super) fn with(text: &str, table: &InlineTable, member: &str) -> Option<String> {
    let (at, lead) = match members(table)?.last() {
        Some(last) => (last.end, ", "),
        None => (table.span()?.start + 1, " "),
    };
    Some(format!("{}{lead}{member}{}", &text[..at], &text[at..]))
}

/// What to remove to remove a member.
pub(super) enum RemovedPart {
    Part(Range<usize>),
    /// The whole table: we made it.
    Table,
}

pub(super) fn without(text: &str, table: &InlineTable, key: &str) -> Option<RemovedPart> {
    let members = members(table)?;
    let at = table.iter().position(|(name, _)| name == key)?;
    let own = &members[at];
    if let Some(before) = at.checked_sub(1) {
        return Some(RemovedPart::Part(members[before].end..own.end));
    }
    if let Some(next) = members.get(1) {
        return Some(RemovedPart::Part(own.start..next.start));
    }
    let open = table.span()?.start + 1;
    Some(match text[open..].starts_with(' ') {
        true => RemovedPart::Part(open..own.end),
        false => RemovedPart::Table,
    })
}

/// The ranges of the members; `None` if one has an unusual form, such as `a.b = 1`.
fn members(table: &InlineTable) -> Option<Vec<Range<usize>>> {
    table
        .iter()
        .map(|(name, value)| {
            let is_plain = !matches!(value, Value::InlineTable(inner) if inner.is_dotted());
            let key = table.key(name).and_then(|key| key.span()).filter(|_| is_plain)?;
            Some(key.start..value.span()?.end)
        })
        .collect()
}
