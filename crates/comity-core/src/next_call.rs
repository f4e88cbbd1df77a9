//! Calls that texts suggest, as data: each door spells them in its own way.
//!
//! A call stands in its text between two characters that have no other meaning, so it fits wherever a string does.

use std::borrow::Cow;
use std::fmt;

const BEGIN: char = '\u{f0c0}';
const END: char = '\u{f0c1}';
const ARGUMENT: char = '\u{f0c2}';
const ITEM: char = '\u{f0c3}';
const ANSWER: char = '\u{f0c4}';

/// A call that a text suggests to its reader.
#[derive(Clone, PartialEq, Debug)]
pub struct NextCall {
    pub operation: String,
    /// A text in capitals is a placeholder.
    pub arguments: Vec<(String, Argument)>,
    /// The inbox entry that the call answers, and the answer.
    pub answer: Option<(String, String)>,
}

/// The value of an argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    Text(String),
    List(Vec<String>),
    Number(u64),
    Yes,
}

/// A call of an operation, by its name in [`crate::calls`].
pub(crate) fn call<const N: usize>(operation: &str, arguments: [(&str, Argument); N]) -> NextCall {
    NextCall::of(operation, arguments)
}

/// The text with each call spelled by `say`.
pub fn spell(text: &str, mut say: impl FnMut(&NextCall) -> String) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let (mut spelled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        spelled.push_str(before);
        rest = after;
        let Some((marked, after)) = rest.split_once(END) else { continue };
        let Some(call) = NextCall::read(marked) else { continue };
        spelled.push_str(&say(&call));
        rest = after;
    }
    Cow::Owned(spelled + rest)
}

/// The text with its calls spelled plainly, for readers that come through no door.
pub fn spell_plainly(text: &str) -> Cow<'_, str> {
    spell(text, |call| call.as_function(&call.operation))
}

impl NextCall {
    /// A call of an operation by its name in the catalog.
    pub fn of<'a>(operation: &str, arguments: impl IntoIterator<Item = (&'a str, Argument)>) -> NextCall {
        let arguments = arguments.into_iter().map(|(field, value)| (field.to_owned(), value)).collect();
        NextCall { operation: operation.to_owned(), arguments, answer: None }
    }

    /// The same call, as an answer to an inbox entry.
    pub fn answering(self, entry: &str, answer: &str) -> NextCall {
        NextCall { answer: Some((entry.to_owned(), answer.to_owned())), ..self }
    }

    /// `lock(paths=["src/a.rs"], wait="1m")`.
    pub fn as_function(&self, name: &str) -> String {
        let argument = |(field, value): &(String, Argument)| format!("{field}={value}");
        format!("{name}({})", self.arguments.iter().map(argument).collect::<Vec<_>>().join(", "))
    }

    /// The values of a field as texts; empty if it is not given.
    pub fn values(&self, field: &str) -> Vec<String> {
        match self.arguments.iter().find(|(name, _)| name == field).map(|(_, value)| value) {
            Some(Argument::List(items)) => items.clone(),
            Some(Argument::Text(text)) => vec![text.clone()],
            Some(other) => vec![other.to_string()],
            None => vec![],
        }
    }

    fn read(marked: &str) -> Option<NextCall> {
        let mut parts = marked.split(ARGUMENT);
        let mut words = parts.next()?.split(ANSWER).map(str::to_owned);
        let operation = words.next()?;
        let answer = words.next().zip(words.next());
        let read = |part: &str| {
            let (field, value) = part.split_once('=')?;
            Some((field.to_owned(), Argument::read(value)?))
        };
        Some(NextCall { operation, arguments: parts.map(read).collect::<Option<_>>()?, answer })
    }
}

impl Argument {
    fn read(text: &str) -> Option<Argument> {
        match text.split_at_checked(1)? {
            ("t", text) => Some(Argument::Text(text.to_owned())),
            ("l", items) => Some(Argument::List(items.split(ITEM).skip(1).map(str::to_owned).collect())),
            ("n", number) => number.parse().ok().map(Argument::Number),
            ("y", "") => Some(Argument::Yes),
            _ => None,
        }
    }
}

impl fmt::Display for NextCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: &str| text.replace([BEGIN, END, ARGUMENT, ITEM, ANSWER], "?");
        write!(f, "{BEGIN}{}", self.operation)?;
        if let Some((entry, answer)) = &self.answer {
            write!(f, "{ANSWER}{}{ANSWER}{}", plain(entry), plain(answer))?;
        }
        for (field, value) in &self.arguments {
            write!(f, "{ARGUMENT}{field}=")?;
            match value {
                Argument::Text(text) => write!(f, "t{}", plain(text))?,
                Argument::List(items) => {
                    f.write_str("l")?;
                    items.iter().try_for_each(|item| write!(f, "{ITEM}{}", plain(item)))?;
                }
                Argument::Number(number) => write!(f, "n{number}")?,
                Argument::Yes => f.write_str("y")?,
            }
        }
        write!(f, "{END}")
    }
}

/// As in a tool call.
impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Text(text) => write!(f, "{text:?}"),
            Argument::List(items) => write!(f, "{items:?}"),
            Argument::Number(number) => number.fmt(f),
            Argument::Yes => f.write_str("true"),
        }
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Argument {
        Argument::Text(text.to_owned())
    }
}

impl From<String> for Argument {
    fn from(text: String) -> Argument {
        Argument::Text(text)
    }
}

impl From<u64> for Argument {
    fn from(number: u64) -> Argument {
        Argument::Number(number)
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Argument {
    fn from(items: [S; N]) -> Argument {
        Argument::List(items.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls;

    #[test]
    fn a_text_is_spelled_and_what_is_no_call_stays() {
        let wait = call(calls::LOCK, [("paths", ["src/a b.rs", "c"].into()), ("wait", "1m".into())]);
        let text = format!("wait: {wait}, or look: {}", call(calls::LOCKS, []));
        assert_eq!(
            spell_plainly(&text),
            r#"wait: lock(paths=["src/a b.rs", "c"], wait="1m"), or look: locks()"#
        );
        let all = call("x", [("none", [""; 0].into()), ("three", 3.into()), ("sure", Argument::Yes)]);
        assert_eq!(spell_plainly(&all.to_string()), "x(none=[], three=3, sure=true)");
        for plain in ["nothing to spell", "", "{}"] {
            assert_eq!(spell_plainly(plain), plain);
        }
        let forged = format!("{BEGIN}x{ARGUMENT}no value{END} {BEGIN}x");
        assert_eq!(spell_plainly(&forged), format!("x{ARGUMENT}no value{END} x"));
        let accept = call(calls::TASK_ACCEPT, [("id", "t1".into())]).answering("task1", "accept");
        let mut read = vec![];
        spell(&format!("do: {accept}"), |call| {
            read.push(call.clone());
            String::new()
        });
        assert_eq!(read, [accept], "what it answers is read again");
        let named = call(calls::AGENT_BYE, [("agent", format!("x{END}y{BEGIN}").into())]).to_string();
        assert_eq!(spell_plainly(&named), r#"agent_bye(agent="x?y?")"#);
    }
}
