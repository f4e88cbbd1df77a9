//! Documents on the command line: JSON as it was typed, standard input, or a file with JSON or TOML.

use std::io::Read;

use comity_app::catalog::CatalogEntry;
use comity_app::misread::{DocumentForm, DocumentProblem, nearest};
use serde_json::Value;

/// Bytes of a document that is named on the command line.
const DOCUMENT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A document: JSON as it was typed, `-` for standard input, or a file; with the field's name around it or without.
pub(super) fn read(entry: &CatalogEntry, field: &str, given: &str) -> Result<Value, String> {
    if field == "input" && given != "-" && !looks_like_json(given) && !std::path::Path::new(given).is_file() {
        // What the tools that run commands are given.
        return Ok(serde_json::json!({ "command": given }));
    }
    let (source, text) = match given {
        "-" => {
            ("standard input", all_of(std::io::stdin()).map_err(|error| format!("standard input: {error}"))?)
        }
        typed if looks_like_json(typed) => (field, typed.to_owned()),
        file => (file, file_text(file).map_err(|error| format!("{file}: {error}"))?),
    };
    let form = form(&text);
    if let Some(DocumentProblem { line, column, message }) =
        entry.misread.and_then(|misread| misread(field, &text, form))
    {
        return Err(format!("{source}:{line}:{column}: {message}"));
    }
    parse(field, &text, form).map_err(|problem| format!("{source}: {problem}"))
}

/// Where a word that was refused stands in a file, and which of the words there is probably meant.
pub(super) fn place_of_refused(file: &str, problem: &str) -> Option<String> {
    let text = file_text(file).ok()?;
    // The last word between quotation marks is what there is not; else the last word.
    let word = problem.rsplit('"').nth(1).or_else(|| problem.rsplit(' ').next())?;
    let (line, column) = DocumentProblem::place_of(&text, word)?;
    let others: Vec<&str> = text.split(['"', '\'']).filter(|other| *other != word).collect();
    let meant = nearest(word, &others).map(|meant| format!(": did you mean {meant:?}?")).unwrap_or_default();
    Some(format!("{file}:{line}:{column}{meant}"))
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
}

fn file_text(file: &str) -> std::io::Result<String> {
    std::fs::File::open(file).and_then(all_of)
}

fn all_of(source: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    source.take(DOCUMENT_BYTES_MAX + 1).read_to_string(&mut text)?;
    match text.len() as u64 > DOCUMENT_BYTES_MAX {
        true => Err(std::io::Error::other(format!("more than {DOCUMENT_BYTES_MAX} bytes"))),
        false => Ok(text),
    }
}

/// JSON if it looks like it, else TOML.
fn form(text: &str) -> DocumentForm {
    let begin = text.trim_start();
    match begin.starts_with(['{', '"']) || begin.starts_with('[') && !begin.starts_with("[[") {
        true => DocumentForm::Json,
        false => DocumentForm::Toml,
    }
}

fn parse(field: &str, text: &str, form: DocumentForm) -> Result<Value, String> {
    let value = match form {
        DocumentForm::Json => serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?,
        DocumentForm::Toml => toml::from_str::<Value>(text).map_err(|error| format!("not TOML: {error}"))?,
    };
    Ok(match value {
        Value::Object(mut whole) if whole.len() == 1 && whole.contains_key(field) => {
            whole.remove(field).unwrap_or_default()
        }
        value => value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_every_form_say_the_same() {
        let expected = serde_json::json!([{ "title": "One" }, { "title": "Two", "depends_on": ["a"] }]);
        let forms = [
            r#"[{ "title": "One" }, { "title": "Two", "depends_on": ["a"] }]"#,
            r#" { "tasks": [{ "title": "One" }, { "title": "Two", "depends_on": ["a"] }] }"#,
            "[[tasks]]\ntitle = \"One\"\n\n[[tasks]]\ntitle = \"Two\"\ndepends_on = [\"a\"]\n",
        ];
        for text in forms {
            assert_eq!(parse("tasks", text, form(text)).as_ref(), Ok(&expected), "{text}");
        }
        assert!(parse("tasks", "{", DocumentForm::Json).is_err());
        assert!(parse("tasks", "title =", DocumentForm::Toml).is_err());
    }
}
