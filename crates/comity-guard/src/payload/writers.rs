//! What only a tool that writes would be given, whatever its name: an output, something to write, a mode, an option.

use serde_json::{Map, Value};

use super::options::words_of_line;
use super::verbs::{Verb, is_act};
use super::words::{ArgumentRole, is_one_of, role, words};

/// Where something goes.
const OUTPUTS: &str = "out output outputs outfile outpath outdir destination dest dst sink";
/// Names that mean a destination if they are all of the argument's name.
const ENDS: &str = "to into";
/// These say something about an output or a content, and are none.
const ABOUT: &str = "format mode type types limit max min encoding length size style schema level tokens chars lines count filter";
/// What is written. As a flag, such a name asks to be shown it.
const CONTENTS: &str =
    "content contents replacement patch diff edits changes new insertion payload bytes base64 blob cells";
/// What is written, unless it is what is searched for.
const TEXTS: &str = "text texts data body value values string str code";
/// What to do.
const FLAGS: &str = "overwrite append write save fix autofix apply inplace replace insert truncate";
/// What to do, if it is all of a name, or its value is `true`: in `run_id` it is about something else.
const ACTS: &str = "delete remove update put set exec execute prune drop create move rename force purge clean restore reset sync mirror";
/// Arguments that say what to do, or how to open a file.
const WAYS: &str = "mode modes flag flags access action operation op method verb do command";
/// Where something comes from; a file named next to it is where it goes.
const ORIGINS: &str = "url urls uri remote href origin from";
const PLACES: &str = "target local log file filename filepath path";

/// Whether any argument, however deep, is one for a tool that writes.
pub(super) fn is_for_writers(input: &Map<String, Value>, verb: Verb) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let has = |names: &str| {
        input.iter().any(|(name, value)| {
            is_text(value) && matches!(&words(name)[..], [word] if is_one_of(word, names))
        })
    };
    (has(ORIGINS) && has(PLACES))
        || input.iter().any(|(name, value)| says(name, value, verb) || is_inside(role(name), value, verb))
}

/// Whether an argument asks for an act on everything that the tool is given: `delete: true`, `exec: "rm"`.
pub(super) fn acts_on_everything(input: &Map<String, Value>) -> bool {
    input.iter().any(|(name, value)| asks_for_an_act(&words(name), value))
}

fn asks_for_an_act(words: &[String], value: &Value) -> bool {
    let is_on = !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("");
    is_on
        && match words {
            [word] => is_one_of(word, ACTS),
            words => value == &Value::Bool(true) && words.iter().any(|word| is_one_of(word, ACTS)),
        }
}

/// The files that an SQL statement writes to, if it does.
pub(super) fn sql_outputs(text: &str) -> Vec<&str> {
    let words: Vec<String> = words(text);
    let at = |word: &str| words.iter().position(|other| other == word);
    let follows = |first: &str, then: &str| at(first).zip(at(then)).is_some_and(|(first, then)| first < then);
    let writes = follows("vacuum", "into")
        || follows("copy", "to")
        || follows("into", "outfile")
        || follows("into", "dumpfile")
        || follows("export", "database")
        || at("attach").is_some();
    // Every other piece is quoted.
    let quoted = |mark: char| text.split(mark).skip(1).step_by(2);
    if writes {
        quoted('\'').chain(quoted('"')).filter(|text| !text.is_empty()).collect()
    } else {
        Vec::new()
    }
}

fn is_inside(role: ArgumentRole, value: &Value, verb: Verb) -> bool {
    match value {
        Value::Object(fields) => is_for_writers(fields, verb),
        Value::Array(values) => {
            let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            names_output(role, &texts) || values.iter().any(|value| is_inside(role, value, verb))
        }
        Value::String(text) if !sql_outputs(text).is_empty() => true,
        Value::String(text) => {
            let words = words_of_line(text);
            names_output(role, &words.iter().map(|word| &**word).collect::<Vec<_>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether an argument's own name says that something is written.
fn says(name: &str, value: &Value, verb: Verb) -> bool {
    let words = words(name);
    let has = |list: &str| words.iter().any(|word| is_one_of(word, list));
    let is_given = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    };
    if has(WAYS) && texts(value).any(|text| is_mode(text) || is_act(text)) {
        return true;
    }
    let is_about = has(ABOUT);
    let is_flag = has(FLAGS) || (has("in") && has("place"));
    let is_on = !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("");
    let is_act = asks_for_an_act(&words, value);
    let is_text = has(TEXTS) && verb != Verb::Searches;
    let is_way = matches!(&words[..], [word] if is_one_of(word, ENDS))
        && texts(value).any(|text| text.contains(['/', '.']));
    (((is_flag && is_on) || is_act) && !is_about)
        || (is_given && !is_about && (has(OUTPUTS) || has(CONTENTS) || is_text))
        || is_way
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let one = value.as_str();
    let several = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(several)
}

/// Whether a file mode is for writing: `w`, `rb+`, `O_RDWR`.
fn is_mode(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    let is_short = text.len() <= 4 && text.chars().all(|c| "rwaxbtu+".contains(c));
    let flags = "o_wronly o_rdwr o_creat o_append o_trunc wronly rdwr rw readwrite writable writeonly";
    (is_short && text.contains(['w', 'a', 'x', '+']))
        || text.split(['|', ',', ' ', '-']).any(|word| is_one_of(word.trim(), flags))
        || words(&text).iter().any(|word| is_one_of(word, "write append overwrite create"))
}

/// Whether a list of arguments has an option that names an output or asks to write.
fn names_output(argument: ArgumentRole, line: &[&str]) -> bool {
    // What is searched for may look like an option.
    if matches!(argument, ArgumentRole::Text | ArgumentRole::Pattern) {
        return false;
    }
    line.iter().any(|word| {
        let redirects = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        if redirects.starts_with('>') {
            return true;
        }
        let Some(option) = word.strip_prefix('-') else { return word.starts_with("of=") };
        match option.strip_prefix('-') {
            Some(long) => {
                let words = words(long.split(['=', ':']).next().unwrap_or_default());
                let has = |list: &str| words.iter().any(|word| is_one_of(word, list));
                !has(ABOUT) && (has(OUTPUTS) || has(FLAGS) || (has("in") && has("place")))
            }
            None => {
                option.starts_with(['o', 'O'])
                    || is_one_of(option.split('=').next().unwrap_or_default(), OUTPUTS)
            }
        }
    })
}
