//! How each door spells a call that a text suggests: as a command, as a tool with its arguments, or as a request.

use std::borrow::Cow;

use comity_core::display::shell_word;
use comity_core::next_call::{Argument, NextCall, spell};
use serde_json::{Map, Value};

use crate::catalog::{self, CatalogEntry, entry_of, name_of};
use crate::operation::{Audience, Effect};
use crate::operations::inbox::AnswerInbox;
use crate::operations::tasks::TaskUpdate;

/// Precedes refusals for a model, which may take any no for a malfunction.
pub const REFUSED: &str = "Comity refused this; nothing is broken: ";

/// The MCP tool that calls any operation by its name.
pub const ANY_TOOL: &str = "call";

/// A door's way to spell calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wording {
    Commands,
    Tools,
    Requests,
}

impl Wording {
    /// A text with its calls spelled for this door.
    pub fn spell(self, text: &str) -> Cow<'_, str> {
        spell(text, |call| self.say(call))
    }

    /// A refusal and its hint; for a model, with who says it.
    pub fn refused(self, text: &str) -> String {
        match self {
            Wording::Tools => format!("{REFUSED}{}", self.spell(text)),
            Wording::Commands | Wording::Requests => self.spell(text).into_owned(),
        }
    }

    /// JSON with all calls in its texts spelled for this door; copied only if there are any.
    pub fn spell_json<'a>(self, json: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
        let json = json.into();
        if matches!(spell(&json, |_| String::new()), Cow::Borrowed(_)) {
            return json;
        }
        let Ok(mut value) = serde_json::from_str(&json) else { return json };
        self.spell_value(&mut value);
        Cow::Owned(value.to_string())
    }

    fn spell_value(self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(spelled) = self.spell(text) {
                    *text = spelled;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.spell_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.spell_value(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn say(self, call: &NextCall) -> String {
        let Some(entry) = catalog::find(&call.operation) else { return call.as_function(&call.operation) };
        debug_assert_eq!(
            unknown_field(entry, call),
            None,
            "a text names a field that {} has not",
            entry.name
        );
        match self {
            Wording::Commands => command(entry, call),
            Wording::Requests => request(entry, call),
            Wording::Tools => match entry.audience {
                Audience::Agents | Audience::Browsing => call.as_function(entry.tool),
                Audience::People if !is_a_persons(entry) => answer(entry, call)
                    .or_else(|| update(entry, call))
                    .unwrap_or_else(|| by_name(entry, call)),
                // No agent may do it, so this addresses the person reading along.
                Audience::People | Audience::Internal => format!("`{}` in a shell", command(entry, call)),
            },
        }
    }
}

/// Whether only a person may do it: no tool helps an agent there.
fn is_a_persons(entry: &CatalogEntry) -> bool {
    entry.feature() == "people" && entry.effect != Effect::Reads
}

/// A field of a call that the operation does not take.
fn unknown_field<'c>(entry: &CatalogEntry, call: &'c NextCall) -> Option<&'c str> {
    let schema = (entry.input)();
    let is_unknown = |field: &&str| schema["properties"].get(field).is_none();
    call.arguments.iter().map(|(field, _)| field.as_str()).find(is_unknown)
}

/// `answer(entry="p12", answer="allow")`: answering an inbox entry needs no tool of its own.
fn answer(entry: &CatalogEntry, call: &NextCall) -> Option<String> {
    if let Some((entry, answer)) = &call.answer {
        return Some(answering(entry.clone(), answer, call));
    }
    let (prefix, word) = entry.answers?;
    let id = call.values("id").into_iter().chain(call.values("request")).next()?;
    Some(answering(format!("{prefix}{id}"), word, call))
}

fn answering(entry: String, answer: &str, call: &NextCall) -> String {
    let mut arguments = vec![("entry", entry.into()), ("answer", answer.into())];
    let reasons = ["reason", "feedback", "to"].into_iter().flat_map(|field| call.values(field));
    arguments.extend(reasons.map(|reason| ("reason", reason.into())));
    let call = NextCall::of(name_of::<AnswerInbox>(), arguments);
    call.as_function(entry_of::<AnswerInbox>().tool)
}

/// `TaskUpdate(id="t1", status="done", evidence="TEXT")`: one tool for all changes of a task.
fn update(entry: &CatalogEntry, call: &NextCall) -> Option<String> {
    let (field, given) = entry.updates?;
    let given = if given.is_empty() { call.values("to").join(" ") } else { given.to_owned() };
    let mut arguments = vec![("id", call.values("id").into_iter().next()?.into()), (field, given.into())];
    let others = call.arguments.iter().filter(|(field, _)| field != "id" && field != "to");
    arguments.extend(others.map(|(field, value)| (field.as_str(), value.clone())));
    let update = entry_of::<TaskUpdate>();
    Some(NextCall::of(update.name, arguments).as_function(update.tool))
}

/// `call(operation=NAME, input={"trash":true})`: for operations without a tool of their own.
fn by_name(entry: &CatalogEntry, call: &NextCall) -> String {
    let input: Map<String, Value> =
        call.arguments.iter().map(|(field, value)| (field.clone(), json(value))).collect();
    match input.is_empty() {
        true => format!("{ANY_TOOL}(operation={:?})", entry.name),
        false => format!("{ANY_TOOL}(operation={:?}, input={})", entry.name, Value::Object(input)),
    }
}

/// `comity lock src/a.rs --wait 60s`.
fn command(entry: &CatalogEntry, call: &NextCall) -> String {
    let mut words = format!("comity {}", entry.command());
    let mut add = |word: &str| {
        words.push(' ');
        words.push_str(word);
    };
    for operand in entry.operands() {
        for value in call.values(operand) {
            add(&shell_word(&value));
        }
    }
    for (field, value) in &call.arguments {
        if entry.operands().any(|operand| operand == field) {
            continue;
        }
        match short_flag(field) {
            Some(short) => add(&format!("-{short}")),
            None => add(&format!("--{}", flag(field))),
        }
        if *value != Argument::Yes {
            call.values(field).iter().for_each(|value| add(&shell_word(value)));
        }
    }
    words
}

/// `POST /api/coordination/locks {"paths":["src/a.rs"],"wait":"60s"}`.
fn request(entry: &CatalogEntry, call: &NextCall) -> String {
    let (mut path, mut rest) = (entry.route.path.to_owned(), Map::new());
    for (field, value) in &call.arguments {
        let place = format!("{{{field}}}");
        match path.contains(&place) {
            true => path = path.replace(&place, &call.values(field).join(",")),
            false => {
                rest.insert(field.clone(), json(value));
            }
        }
    }
    let method = entry.route.method;
    match (method, rest.is_empty()) {
        (_, true) => format!("{method} {path}"),
        (catalog::POST, false) => format!("{method} {path} {}", Value::Object(rest)),
        (_, false) => {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let query: Vec<String> =
                rest.iter().map(|(field, value)| format!("{field}={}", text(value))).collect();
            format!("{method} {path}?{}", query.join("&"))
        }
    }
}

fn json(value: &Argument) -> Value {
    match value {
        Argument::Text(text) => text.as_str().into(),
        Argument::List(items) => items.clone().into(),
        Argument::Number(number) => (*number).into(),
        Argument::Yes => true.into(),
    }
}

/// The flag for a field: `tabId` and `depends_on` become `tab-id` and `depends-on`.
pub fn flag(field: &str) -> String {
    match field {
        // One word for why, everywhere.
        "rationale" | "feedback" => "reason".to_owned(),
        field => kebab(field),
    }
}

/// The short flag for a field: everybody expects `-m` for a message.
pub fn short_flag(field: &str) -> Option<char> {
    (field == "message").then_some('m')
}

/// `tab-id` of `tabId`, and `depends-on` of `depends_on`.
pub fn kebab(field: &str) -> String {
    let mut kebab = String::new();
    for c in field.chars() {
        match c {
            '_' => kebab.push('-'),
            c if c.is_uppercase() => kebab.extend(['-'].into_iter().chain(c.to_lowercase())),
            c => kebab.push(c),
        }
    }
    kebab
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(operation: &str, arguments: &[(&str, Argument)], expect: Expect) {
        let call = NextCall::of(operation, arguments.iter().cloned()).to_string();
        let each = [Wording::Commands, Wording::Tools, Wording::Requests];
        let said = each.map(|wording| wording.spell(&call).into_owned());
        expect.assert_eq(&said.join("\n"));
    }

    #[test]
    fn each_door_has_its_words() {
        let paths = || ("paths", ["src/a b.rs", "c"].into());
        check(
            "lock",
            &[paths(), ("wait", "60s".into())],
            expect![[r#"
                comity lock 'src/a b.rs' c --wait 60s
                lock(paths=["src/a b.rs", "c"], wait="60s")
                POST /api/coordination/locks {"paths":["src/a b.rs","c"],"wait":"60s"}"#]],
        );
        check(
            "mail_send",
            &[("to", ["ann"].into()), ("message", "TEXT".into())],
            expect![[r#"
                comity mail send ann -m TEXT
                SendMessage(to=["ann"], message="TEXT")
                POST /api/mail {"message":"TEXT","to":["ann"]}"#]],
        );
        check(
            "worktree_list",
            &[("trash", Argument::Yes)],
            expect![[r#"
                comity worktree list --trash
                call(operation="worktree_list", input={"trash":true})
                GET /api/worktrees?trash=true"#]],
        );
        check(
            "permission_deny",
            &[("id", "12".into()), ("reason", "WHY".into())],
            expect![[r#"
                comity permission deny 12 --reason WHY
                answer(entry="p12", answer="deny", reason="WHY")
                POST /api/permissions/12/deny {"reason":"WHY"}"#]],
        );
        check(
            "task_done",
            &[("id", "t1".into()), ("evidence", "TEXT".into())],
            expect![[r#"
                comity task done t1 --evidence TEXT
                TaskUpdate(id="t1", status="done", evidence="TEXT")
                POST /api/tasks/t1/done {"evidence":"TEXT"}"#]],
        );
        check(
            "task_assign",
            &[("id", "t1".into()), ("to", "ann".into())],
            expect![[r#"
                comity task assign t1 ann
                TaskUpdate(id="t1", owner="ann")
                POST /api/tasks/t1/assign {"to":"ann"}"#]],
        );
        check(
            "token_create",
            &[("name", "ci".into())],
            expect![[r#"
                comity token create ci
                `comity token create ci` in a shell
                POST /api/tokens {"name":"ci"}"#]],
        );
        check(
            "task_get",
            &[("id", "t1".into())],
            expect![[r#"
                comity task show t1
                TaskGet(id="t1")
                GET /api/tasks/t1"#]],
        );
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "a field that lock has not")]
    fn a_field_that_nobody_takes_is_found() {
        Wording::Tools.spell(&NextCall::of("lock", [("path", "src/a.rs".into())]).to_string());
    }

    #[test]
    fn flags_are_spelled_as_the_command_line_has_them() {
        assert_eq!(["tabId", "depends_on", "feedback"].map(flag), ["tab-id", "depends-on", "reason"]);
        assert_eq!(["message", "reason"].map(short_flag), [Some('m'), None]);
    }

    #[test]
    fn json_is_spelled_in_its_texts() {
        let call = NextCall::of("task_get", [("id", "t\"1".into())]);
        let json = serde_json::json!({ "a": [format!("see: {call}")], "b": 1 }).to_string();
        assert_eq!(Wording::Tools.spell_json(&json), r#"{"a":["see: TaskGet(id=\"t\\\"1\")"],"b":1}"#);
        let plain = r#"{ "a" : 1 }"#;
        assert_eq!(Wording::Tools.spell_json(plain), plain, "nothing is written anew for nothing");
    }
}
