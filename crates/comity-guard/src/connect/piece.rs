//! The JSON that we write into other people's files.

use serde_json::Value;

/// A JSON value whose members keep their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Text(String),
    Number(u64),
    Flag(bool),
    List(Vec<Piece>),
    Members(Vec<(&'static str, Piece)>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Layout<'a> {
    OneLine,
    Lines {
        /// The indentation of the line that the piece begins on.
        indent: &'a str,
        /// What each level adds to it.
        unit: &'a str,
        newline: &'a str,
    },
}

impl Piece {
    pub(super) fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    pub(super) fn texts(texts: &[&str]) -> Piece {
        Piece::List(texts.iter().map(|text| Piece::text(text)).collect())
    }

    /// What a reader of the text gets.
    pub(super) fn value(&self) -> Value {
        match self {
            Piece::Text(text) => Value::from(text.as_str()),
            Piece::Number(number) => Value::from(*number),
            Piece::Flag(flag) => Value::from(*flag),
            Piece::List(items) => items.iter().map(Piece::value).collect(),
            Piece::Members(members) => {
                members.iter().map(|(key, value)| ((*key).to_owned(), value.value())).collect()
            }
        }
    }

    pub(super) fn render(&self, layout: Layout<'_>) -> String {
        match self {
            Piece::Text(text) => quoted(text),
            Piece::Number(number) => number.to_string(),
            Piece::Flag(flag) => flag.to_string(),
            Piece::List(items) => within('[', ']', layout, items, |item, inner| item.render(inner)),
            Piece::Members(members) => within('{', '}', layout, members, |(key, value), inner| {
                format!("{}{}", key_part(key, inner), value.render(inner))
            }),
        }
    }
}

/// The key of a member and what follows it, up to the value.
pub(super) fn key_part(key: &str, layout: Layout<'_>) -> String {
    match layout {
        Layout::OneLine => format!("{}:", quoted(key)),
        Layout::Lines { .. } => format!("{}: ", quoted(key)),
    }
}

pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn within<T>(
    open: char,
    close: char,
    layout: Layout<'_>,
    items: &[T],
    render: impl Fn(&T, Layout<'_>) -> String,
) -> String {
    match layout {
        Layout::Lines { indent, unit, newline } if !items.is_empty() => {
            let deeper = format!("{indent}{unit}");
            let inner = Layout::Lines { indent: &deeper, unit, newline };
            let items: Vec<String> =
                items.iter().map(|item| format!("{newline}{deeper}{}", render(item, inner))).collect();
            format!("{open}{}{newline}{indent}{close}", items.join(","))
        }
        Layout::OneLine | Layout::Lines { .. } => {
            let items: Vec<String> = items.iter().map(|item| render(item, Layout::OneLine)).collect();
            format!("{open}{}{close}", items.join(","))
        }
    }
}
