//! The arguments of an operation, from the schema of its input: operands as the catalog says, flags for the rest.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use comity_app::catalog::CatalogEntry;
use comity_app::span::Span;
use comity_app::wording::{flag, kebab, short_flag};
use serde_json::{Map, Value};

use super::document;
use super::help::brief;

#[derive(Clone, PartialEq, Debug)]
enum FieldShape {
    Flag,
    Number {
        is_signed: bool,
    },
    Text,
    Span,
    OneOf(Vec<PossibleValue>),
    Texts,
    /// Anything else: JSON, or a file with JSON or TOML.
    Document,
}

/// A field of an input, according to the schema.
struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    shape: FieldShape,
    is_required: bool,
}

/// Adds the arguments of an operation to its command.
pub(super) fn add(command: Command, entry: &CatalogEntry) -> Command {
    let schema = (entry.input)();
    let operands: Vec<&str> = entry.operands().collect();
    let about = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
    let mut command =
        command.about(brief(&about).to_owned()).long_about(about).after_long_help(more_help(entry));
    // In the order in which they are typed.
    for (index, name) in operands.iter().enumerate() {
        if let Some(field) = fields(&schema).find(|field| field.name == *name) {
            let operand = argument(&field).index(index + 1);
            let is_list = field.shape == FieldShape::Texts;
            command = command.arg(if is_list { operand.num_args(1..) } else { operand });
        }
    }
    let flags = fields(&schema).filter(|field| !operands.contains(&field.name) && !field.is_secret());
    flags.fold(command, |command, field| {
        let long = argument(&field).long(flag(field.name));
        let long = match field.name {
            name if flag(name) != kebab(name) => long.alias(field.name.to_owned()),
            // A shorter word, if it is free.
            "all_projects" if fields(&schema).all(|other| other.name != "all") => long.alias("all"),
            _ => long,
        };
        command.arg(match short_flag(field.name) {
            Some(short) => long.short(short),
            None => long,
        })
    })
}

/// Other words for the command, and examples.
fn more_help(entry: &CatalogEntry) -> String {
    let block = |title: &str, commands: &[&str]| match commands {
        [] => String::new(),
        commands => format!("{title}:\n  comity {}\n", commands.join("\n  comity ")),
    };
    [block("Examples", entry.examples), block("Also", entry.also)].concat().trim_end().to_owned()
}

/// The place in a file of what is refused, and what is probably meant: `plan.toml:7:15: did you mean "parser"?`
pub(super) fn place_of_refused(entry: &CatalogEntry, matches: &ArgMatches, problem: &str) -> Option<String> {
    entry.misread?;
    let schema = (entry.input)();
    let field = fields(&schema).find(|field| field.shape == FieldShape::Document)?;
    document::place_of_refused(matches.get_one::<String>(field.name)?, problem)
}

/// The input that was typed.
pub(super) fn input(entry: &CatalogEntry, matches: &ArgMatches) -> Result<Value, String> {
    let schema = (entry.input)();
    let mut input = Map::new();
    for field in fields(&schema).filter(|field| !field.is_secret()) {
        if let Some(value) = field.given(entry, matches)? {
            input.insert(field.name.to_owned(), value);
        }
    }
    Ok(Value::Object(input))
}

fn fields(schema: &Value) -> impl Iterator<Item = Field<'_>> {
    let required = schema["required"].as_array();
    schema["properties"].as_object().into_iter().flatten().map(move |(name, schema)| {
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
        Field { name, schema, shape: FieldShape::of(schema), is_required }
    })
}

fn argument(field: &Field<'_>) -> Arg {
    let help = field.schema["description"].as_str().unwrap_or_default().to_owned();
    let argument = Arg::new(field.name.to_owned()).help(help);
    if field.shape == FieldShape::Flag {
        return argument.action(ArgAction::SetTrue);
    }
    let argument = argument.required(field.is_required).value_name(value_name(field));
    match &field.shape {
        FieldShape::Number { .. } if field.name == "timeout" => argument.value_parser(milliseconds),
        FieldShape::Number { is_signed: true } => {
            argument.value_parser(value_parser!(i64)).allow_negative_numbers(true)
        }
        FieldShape::Number { is_signed: false } => argument.value_parser(value_parser!(u64)),
        FieldShape::Span => argument.value_parser(span),
        FieldShape::OneOf(values) => argument.value_parser(values.clone()),
        // One value per flag: what follows may be an operand.
        FieldShape::Texts => argument.action(ArgAction::Append),
        FieldShape::Flag | FieldShape::Text | FieldShape::Document => argument,
    }
}

/// A length of time as typed, if it is valid.
fn span(text: &str) -> Result<String, String> {
    text.parse::<Span>().map(|_| text.to_owned())
}

/// A length of time in milliseconds; a bare number already is one.
fn milliseconds(text: &str) -> Result<u64, String> {
    text.parse::<u64>().or_else(|_| text.parse::<Span>().map(|span| span.0.0))
}

/// The placeholder for the value in help: people's word for such a thing.
fn value_name(field: &Field<'_>) -> String {
    let word = match field.name {
        _ if field.shape == FieldShape::Span => "SPAN",
        _ if field.shape == FieldShape::Document => "JSON|FILE",
        "timeout" => "SPAN",
        "path" | "paths" | "files" => "PATH",
        "reason" | "message" | "description" | "evidence" | "feedback" | "purpose" | "rationale"
        | "subject" | "text" | "content" => "TEXT",
        "owner" | "with" | "agent" => "AGENT",
        "depends_on" | "client_id" | "task" => "ID",
        "tabId" => "TAB",
        "selector" | "scope" => "ELEMENT",
        "since" | "at" => "WHEN",
        "base" => "REF",
        "into" => "BRANCH",
        _ if matches!(field.shape, FieldShape::Number { .. }) && field.name != "id" => "N",
        name => return kebab(name).replace('-', "_").to_uppercase(),
    };
    word.to_owned()
}

impl Field<'_> {
    /// Whether it must not be typed where others can see it.
    fn is_secret(&self) -> bool {
        self.schema["writeOnly"] == true
    }

    fn given(&self, entry: &CatalogEntry, matches: &ArgMatches) -> Result<Option<Value>, String> {
        let one = |value: &String| Value::from(value.as_str());
        Ok(match &self.shape {
            FieldShape::Flag => matches.get_flag(self.name).then_some(true.into()),
            FieldShape::Number { is_signed: true } => matches.get_one::<i64>(self.name).map(|n| (*n).into()),
            FieldShape::Number { is_signed: false } => matches.get_one::<u64>(self.name).map(|n| (*n).into()),
            FieldShape::Text | FieldShape::Span | FieldShape::OneOf(_) => {
                matches.get_one::<String>(self.name).map(one)
            }
            FieldShape::Texts => matches.get_many::<String>(self.name).map(|all| all.map(one).collect()),
            FieldShape::Document => match matches.get_one::<String>(self.name) {
                Some(given) => Some(document::read(entry, self.name, given)?),
                None => None,
            },
        })
    }
}

impl FieldShape {
    fn of(schema: &Value) -> FieldShape {
        let takes = |schema: &Value, kind: &str| match &schema["type"] {
            Value::Array(kinds) => kinds.iter().any(|one| one == kind),
            one => one == kind,
        };
        if let Some(values) = choices(schema) {
            return FieldShape::OneOf(values);
        }
        match () {
            () if schema["format"] == "span" => FieldShape::Span,
            () if takes(schema, "string") => FieldShape::Text,
            () if takes(schema, "boolean") => FieldShape::Flag,
            () if takes(schema, "integer") || takes(schema, "number") => {
                FieldShape::Number { is_signed: schema.get("minimum").is_none() }
            }
            () if takes(schema, "array") && takes(&schema["items"], "string") => FieldShape::Texts,
            () => FieldShape::Document,
        }
    }
}

/// The words that a field accepts, if it accepts only some.
fn choices(schema: &Value) -> Option<Vec<PossibleValue>> {
    let word = |value: &Value| value.as_str().map(|word| PossibleValue::new(word.to_owned()));
    if let Some(values) = schema["enum"].as_array() {
        return Some(values.iter().filter_map(word).collect());
    }
    let parts = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array())?;
    let mut all = Vec::new();
    for part in parts.iter().filter(|part| part["type"] != "null") {
        match part.get("const").and_then(word) {
            Some(value) => all.push(match part["description"].as_str() {
                Some(help) => value.help(help.to_owned()),
                None => value,
            }),
            None => all.extend(choices(part)?),
        }
    }
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use comity_app::catalog::{CATALOG, find};

    use super::*;

    fn typed(op: &str, line: &[&str]) -> Result<String, String> {
        let entry = find(op).expect("an operation");
        let command = add(Command::new("it").no_binary_name(true), entry);
        let matches = command.try_get_matches_from(line).map_err(|error| error.kind().to_string())?;
        input(entry, &matches).map(|input| input.to_string())
    }

    #[test]
    fn what_is_typed_becomes_the_input() {
        let check = |op, line: &[&str], expected: &str| assert_eq!(typed(op, line).as_deref(), Ok(expected));
        check("lock", &["a", "b", "--ttl", "5m"], r#"{"paths":["a","b"],"ttl":"5m"}"#);
        check("lock", &["a", "--shared"], r#"{"paths":["a"],"shared":true}"#);
        check("commit", &["-m", "x"], r#"{"message":"x"}"#);
        check("log", &["--limit", "5", "--type", "mail"], r#"{"limit":5,"type":"mail"}"#);
        check("tab_scroll", &["7", "--by", "-300"], r#"{"by":-300,"tabId":7}"#);
        check(
            "tab_click",
            &["7", "e1", "--button", "right"],
            r#"{"button":"right","selector":"e1","tabId":7}"#,
        );
        let both = r#"{"depends_on":["a","b"],"title":"T"}"#;
        check("task_add", &["T", "--depends-on", "a", "--depends-on", "b"], both);
        check("task_add", &["--depends-on", "a", "--depends-on", "b", "T"], both);
        check(
            "ask_permission",
            &["Bash", r#"{"command":"ls"}"#],
            r#"{"input":{"command":"ls"},"tool":"Bash"}"#,
        );
        check(
            "ask_permission",
            &["Bash", "cargo test"],
            r#"{"input":{"command":"cargo test"},"tool":"Bash"}"#,
        );
        check("unlock", &["--all"], r#"{"all":true}"#);
        for flag in ["--reason", "--rationale"] {
            check("decide", &["T", flag, "why"], r#"{"rationale":"why","title":"T"}"#);
        }
        for (timeout, ms) in [("30s", 30_000), ("7000", 7_000)] {
            let expected = format!(r#"{{"selector":"e1","tabId":7,"timeout":{ms}}}"#);
            check("tab_click", &["7", "e1", "--timeout", timeout], &expected);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let check = |op, line: &[&str]| assert!(typed(op, line).is_err(), "{op} {line:?}");
        check("lock", &[]);
        check("lock", &["a", "--ttl", "soon"]);
        check("log", &["--limit", "many"]);
        check("log", &["--limit", "-1"]);
        check("tab_click", &["7", "e1", "--button", "left-most"]);
        check("passphrase_set", &["--passphrase", "secret"]);
        check("task_declare", &["/nowhere/tasks.toml"]);
        check("ask_permission", &["Bash", "{"]);
        // Which of them is the title?
        check("task_add", &["--depends-on", "a", "b", "T"]);
    }

    #[test]
    fn every_operand_is_a_field() {
        for entry in CATALOG {
            let schema = (entry.input)();
            for operand in entry.operands() {
                assert!(schema["properties"].get(operand).is_some(), "{}: {operand}", entry.name);
            }
        }
    }
}
