//! What cannot be read, in words: which name is meant, and where in a document it stands.

use serde::de::DeserializeOwned;

/// What is wrong in a document, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct DocumentProblem {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub message: String,
}

/// The form of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DocumentForm {
    Json,
    Toml,
}

impl DocumentProblem {
    fn at(text: &str, offset: usize, message: &str) -> DocumentProblem {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        DocumentProblem {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: in_words(message),
        }
    }

    /// Where a text is given as a value or a name, between quotation marks.
    pub fn place_of(text: &str, word: &str) -> Option<(usize, usize)> {
        let quoted = ['"', '\''].into_iter().filter_map(|mark| text.find(&format!("{mark}{word}{mark}")));
        let found = DocumentProblem::at(text, quoted.min()?, "");
        Some((found.line, found.column))
    }
}

/// Why a document cannot be the input of an operation, or its field that the document is for.
pub(crate) fn problem<O: DeserializeOwned>(
    field: &str,
    text: &str,
    form: DocumentForm,
) -> Option<DocumentProblem> {
    match form {
        DocumentForm::Toml => toml::from_str::<O>(text).err().map(|error| {
            let start = error.span().map_or(0, |span| span.start);
            DocumentProblem::at(text, start, error.message())
        }),
        DocumentForm::Json => {
            let (before, after) = match text.trim_start().starts_with('[') {
                true => (format!("{{\"{field}\":"), "}"),
                false => (String::new(), ""),
            };
            let whole = format!("{before}{text}{after}");
            serde_json::from_str::<O>(&whole).err().map(|error| {
                let offset = begin(&whole, error.line(), error.column()).saturating_sub(before.len());
                DocumentProblem::at(text, offset, &error.to_string())
            })
        }
    }
}

/// Where the name or value begins that JSON's reader has just read: it tells the end.
fn begin(text: &str, line: usize, column: usize) -> usize {
    let line_start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = (line_start + column.saturating_sub(1)).min(text.len());
    match text.as_bytes().get(end) {
        Some(b'"') => text.get(..end).and_then(|before| before.rfind('"')).unwrap_or(end),
        _ => end,
    }
}

/// What a reader says, with the name that is probably meant instead of all that there are.
pub(crate) fn in_words(problem: &str) -> String {
    let problem = problem.split_once(" at line ").map_or(problem, |(problem, _)| problem);
    let Some((wrong, known)) = problem.split_once(", expected ") else { return problem.to_owned() };
    if !wrong.starts_with("unknown ") {
        return problem.to_owned();
    }
    let names =
        |text: &'_ str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let (named, known) = (names(wrong), names(known));
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match named.first().and_then(|name| nearest(name, &known)) {
        Some(meant) => format!("{wrong}; did you mean `{meant}`?"),
        None => problem.to_owned(),
    }
}

/// The name that is most like this one, if it is much like it.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    similar::get_close_matches(name, known, 1, 0.6).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tasks::TaskDeclare;

    #[test]
    fn a_typo_is_named_with_its_place_and_what_is_meant() {
        let check = |form, text: &str, expected: &str| {
            let found = problem::<TaskDeclare>("tasks", text, form);
            let found = found.map(|found| format!("{}:{}: {}", found.line, found.column, found.message));
            assert_eq!(found.as_deref().unwrap_or("fine"), expected, "{text}");
        };
        let toml = DocumentForm::Toml;
        check(toml, "[[tasks]]\ntitle = \"One\"\n", "fine");
        check(toml, "[[tasks]]\nsubject = \"One\"\n", "fine");
        check(toml, "[[tasks]]\ntitel = \"One\"\n", "2:1: unknown field `titel`; did you mean `title`?");
        check(
            toml,
            "[[tasks]]\ntitle = \"Ä\"\npriority = \"hgih\"\n",
            "3:12: unknown variant `hgih`; did you mean `high`?",
        );
        check(toml, "[[task]]\ntitle = \"One\"\n", "1:3: unknown field `task`; did you mean `tasks`?");
        check(toml, "[[tasks]]\nid = \"a\"\n", "1:1: missing field `title`");
        let unquoted = problem::<TaskDeclare>("tasks", "[[tasks]]\ntitle = One\n", toml).expect("no TOML");
        assert_eq!((unquoted.line, unquoted.column), (2, 9), "{unquoted:?}");
        let json = DocumentForm::Json;
        check(json, "[{\"title\": \"One\"}]", "fine");
        check(json, "[{\"titel\": \"One\"}]", "1:3: unknown field `titel`; did you mean `title`?");
        check(json, "{\"tasks\": [\n  {\"titel\": 1}]}", "2:4: unknown field `titel`; did you mean `title`?");
        check(
            json,
            "[\n {\"title\": \"One\",\n  \"priority\": \"hgih\"}]",
            "3:15: unknown variant `hgih`; did you mean `high`?",
        );
    }

    #[test]
    fn names_that_are_like_none_are_told_all() {
        let all = "unknown field `x`, expected `title` or `id`";
        assert_eq!(in_words(all), all);
        assert_eq!(
            in_words("unknown field `titel`, expected `title` or `id` at line 1 column 2"),
            "unknown field `titel`; did you mean `title`?"
        );
    }
}
