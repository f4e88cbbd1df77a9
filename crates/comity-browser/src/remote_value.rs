//! Converts script values from Firefox into JSON.

use serde_json::{Map, Value, json};

/// Depth of nested values.
const DEPTH_MAX: usize = 64;

/// A value as JSON; what JSON cannot express becomes a text that names it.
pub(crate) fn to_json(remote: &Value) -> Value {
    convert(remote, DEPTH_MAX)
}

fn convert(remote: &Value, depth: usize) -> Value {
    let kind = remote["type"].as_str().unwrap_or_default();
    let value = &remote["value"];
    if depth == 0 {
        return Value::String(format!("[{kind}]"));
    }
    match kind {
        "null" | "undefined" => Value::Null,
        "string" | "boolean" | "date" => value.clone(),
        "number" => number(value),
        "bigint" => {
            let text = value.as_str().unwrap_or_default();
            text.parse::<i64>().map_or_else(|_| value.clone(), Value::from)
        }
        "array" | "set" | "nodelist" | "htmlcollection" => match value.as_array() {
            Some(items) => items.iter().map(|item| convert(item, depth - 1)).collect(),
            None => Value::String(format!("[{kind}]")),
        },
        "object" | "map" => match value.as_array() {
            Some(entries) => Value::Object(entries.iter().filter_map(|entry| pair(entry, depth)).collect()),
            None => Value::String(format!("[{kind}]")),
        },
        "regexp" => {
            let part = |name: &str| value[name].as_str().unwrap_or_default();
            Value::String(format!("/{}/{}", part("pattern"), part("flags")))
        }
        "node" => node(value),
        "window" => json!({ "window": value["context"] }),
        other => Value::String(format!("[{other}]")),
    }
}

fn pair(entry: &Value, depth: usize) -> Option<(String, Value)> {
    let key = match &entry[0] {
        Value::String(key) => key.clone(),
        remote => match convert(remote, depth - 1) {
            Value::String(key) => key,
            other => other.to_string(),
        },
    };
    Some((key, convert(entry.get(1)?, depth - 1)))
}

/// Numbers that JSON lacks come as text: `NaN`, `-0`, `Infinity`.
fn number(value: &Value) -> Value {
    match value.as_str() {
        Some("-0") => json!(0),
        _ => value.clone(),
    }
}

fn node(value: &Value) -> Value {
    let mut told = Map::new();
    let name = value["localName"].as_str().unwrap_or("node");
    told.insert("node".into(), name.into());
    if let Some(attributes) = value["attributes"].as_object().filter(|attributes| !attributes.is_empty()) {
        told.insert("attributes".into(), Value::Object(attributes.clone()));
    }
    if let Some(text) = value["nodeValue"].as_str().filter(|text| !text.is_empty()) {
        told.insert("text".into(), text.into());
    }
    Value::Object(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(remote: Value, expected: Expect) {
        expected.assert_eq(&to_json(&remote).to_string());
    }

    #[test]
    fn every_value_has_a_form_in_json() {
        check(json!({ "type": "undefined" }), expect!["null"]);
        check(json!({ "type": "number", "value": 1.5 }), expect!["1.5"]);
        check(json!({ "type": "number", "value": "NaN" }), expect![[r#""NaN""#]]);
        check(json!({ "type": "number", "value": "-0" }), expect!["0"]);
        check(json!({ "type": "bigint", "value": "12" }), expect!["12"]);
        check(
            json!({ "type": "bigint", "value": "123456789012345678901234567890" }),
            expect![[r#""123456789012345678901234567890""#]],
        );
        check(json!({ "type": "regexp", "value": { "pattern": "a", "flags": "g" } }), expect![[r#""/a/g""#]]);
        check(json!({ "type": "function", "handle": "1" }), expect![[r#""[function]""#]]);
        check(json!({ "type": "object", "handle": "1" }), expect![[r#""[object]""#]]);
        check(
            json!({ "type": "map", "value": [[{ "type": "number", "value": 1 }, { "type": "null" }]] }),
            expect![[r#"{"1":null}"#]],
        );
        check(
            json!({ "type": "object", "value": [["a", { "type": "array", "value": [{ "type": "boolean", "value": true }] }]] }),
            expect![[r#"{"a":[true]}"#]],
        );
        check(
            json!({ "type": "node", "value": { "localName": "a", "attributes": { "href": "/" }, "nodeType": 1 } }),
            expect![[r#"{"attributes":{"href":"/"},"node":"a"}"#]],
        );
        let mut deep = json!({ "type": "null" });
        for _ in 0..100 {
            deep = json!({ "type": "array", "value": [deep] });
        }
        assert!(to_json(&deep).to_string().contains("[array]"));
    }
}
