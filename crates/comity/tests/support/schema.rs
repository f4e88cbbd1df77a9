//! Whether a JSON value is as a schema says: the part of JSON Schema that our documents use, and no more.

use serde_json::Value;

/// Keywords that say nothing of whether a value fits.
const NOTES: [&str; 8] =
    ["description", "title", "default", "format", "$defs", "writeOnly", "examples", "deprecated"];

/// What is wrong with a value; nothing, if it fits.
pub(crate) fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let mut problems = Vec::new();
    check(schema, schema, value, "", &mut problems);
    (!problems.is_empty()).then(|| problems.join("; "))
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    let fields = match schema {
        Value::Bool(true) => return,
        Value::Object(fields) => fields,
        other => return problems.push(format!("{at}: {other} allows nothing")),
    };
    let fits = |part: &Value| {
        let mut found = Vec::new();
        check(root, part, value, at, &mut found);
        found.is_empty()
    };
    let mut wrong = |what: String| problems.push(format!("{at}: {what}, but it is {value}"));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for (keyword, rule) in fields {
        match keyword.as_str() {
            "type" => {
                let kinds = if rule.is_array() { list(rule) } else { vec![rule.clone()] };
                if !kinds.iter().any(|kind| is_a(kind.as_str().expect("a type"), value)) {
                    wrong(format!("it has to be {rule}"));
                }
            }
            "enum" if !list(rule).contains(value) => wrong(format!("it has to be one of {rule}")),
            "const" if rule != value => wrong(format!("it has to be {rule}")),
            "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                wrong(format!("{rule} at least"))
            }
            "maximum" if value.as_f64() > rule.as_f64() && value.is_number() => {
                wrong(format!("{rule} at most"))
            }
            "required" => {
                for name in list(rule) {
                    let name = name.as_str().expect("a name");
                    if value.as_object().is_some_and(|object| !object.contains_key(name)) {
                        wrong(format!("{name} is missing"));
                    }
                }
            }
            "anyOf" if !list(rule).iter().any(fits) => wrong(format!("it has to be any of {rule}")),
            "oneOf" if list(rule).iter().filter(|part| fits(part)).count() != 1 => {
                wrong(format!("it has to be one of {rule}"));
            }
            "$ref" => {
                let name = rule.as_str().and_then(|name| name.strip_prefix('#')).expect("a reference within");
                let target = root.pointer(name).unwrap_or_else(|| panic!("{at}: {rule} leads nowhere"));
                if !fits(target) {
                    wrong(format!("it has to be {rule}"));
                }
            }
            "enum" | "const" | "minimum" | "maximum" | "anyOf" | "oneOf" => {}
            "properties" | "items" | "additionalProperties" | "allOf" => {}
            note if NOTES.contains(&note) => {}
            unknown => panic!("{at}: this test does not know the keyword {unknown}"),
        }
    }
    for part in list(&schema["allOf"]) {
        check(root, &part, value, at, problems);
    }
    if let (Some(items), Some(values)) = (fields.get("items"), value.as_array()) {
        for (number, value) in values.iter().enumerate() {
            check(root, items, value, &format!("{at}/{number}"), problems);
        }
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let part = schema["properties"].get(name).or_else(|| fields.get("additionalProperties"));
        if let Some(part) = part {
            check(root, part, value, &format!("{at}/{name}"), problems);
        }
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("this test does not know the type {other}"),
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let schema = serde_json::json!({
        "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string" }, "tags": { "type": "array", "items": { "enum": ["a", "b"] } } },
    });
    let fits = |value: Value| misfit(&schema, &value);
    assert_eq!(fits(serde_json::json!({ "name": "x", "tags": ["a"], "more": 1 })), None);
    for wrong in [
        serde_json::json!({}),
        serde_json::json!({ "name": 1 }),
        serde_json::json!({ "name": "x", "tags": ["c"] }),
        serde_json::json!([]),
    ] {
        assert!(fits(wrong.clone()).is_some(), "{wrong}");
    }
}
