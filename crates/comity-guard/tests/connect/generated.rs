//! Whatever is in a file, and however it is laid out, it stays.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::{connected, json_files};

/// White space that may stand between any two signs.
const BLANKS: [&str; 8] = ["", "", " ", "\n", "\n  ", "\t", "\r\n", " \n\n "];
/// The events that programs know, and one that they do not.
const EVENTS: [&str; 7] =
    ["PreToolUse", "SessionStart", "BeforeTool", "preToolUse", "postToolUse", "afterFileEdit", "Stop"];

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(Value::from("echo comity-hook")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(any_key(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z\"\\\\\u{e9}]{0,6}".prop_map(String::from),
        1 => Just("command".to_owned()),
        1 => Just("matcher".to_owned()),
    ]
}

/// A file whose hooks and servers are of the right types, and everything else of any.
fn any_file() -> impl Strategy<Value = Value> {
    let lists = vec(any_value(), 0..3).prop_map(Value::from);
    let hooks = btree_map(prop::sample::select(&EVENTS[..]), lists, 0..4);
    let servers = btree_map(any_key(), any_value(), 0..3);
    let others = btree_map(any_key(), any_value(), 0..4);
    let parts = (others, prop::option::of(hooks), prop::option::of(servers), any::<bool>());
    parts.prop_map(|(others, hooks, servers, versioned)| {
        let mut members: Map<String, Value> = others.into_iter().collect();
        if let Some(hooks) = hooks {
            members.insert("hooks".to_owned(), hooks.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
        }
        if let Some(servers) = servers {
            let servers: Value = servers.into_iter().collect();
            members.insert("mcpServers".to_owned(), servers.clone());
            members.insert("mcp".to_owned(), servers);
        }
        if versioned {
            members.insert("version".to_owned(), Value::from(1));
        }
        Value::Object(members)
    })
}

/// Writes a value with white space taken from a list, over and over.
fn laid_out(value: &Value, blanks: &mut impl Iterator<Item = &'static str>, text: &mut String) {
    let mut blank = |text: &mut String| text.push_str(blanks.next().unwrap_or_default());
    match value {
        Value::Array(items) => {
            text.push('[');
            blank(text);
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                laid_out(item, blanks, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            blank(text);
            for (at, (key, value)) in members.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                    text.push_str(blanks.next().unwrap_or_default());
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(blanks.next().unwrap_or_default());
                text.push(':');
                laid_out(value, blanks, text);
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            blank(text);
            text.push_str(&value.to_string());
            blank(text);
        }
    }
}

/// Everything of the file is in the other, at its place; in lists of hooks, others may follow.
fn check_kept(before: &Value, after: &Value) {
    let (before, after) = (before.as_object().expect("an object"), after.as_object().expect("an object"));
    for (key, value) in before {
        match key.as_str() {
            "hooks" => {
                for (event, list) in value.as_object().expect("an object") {
                    let list = list.as_array().expect("a list");
                    let now = after["hooks"][event].as_array().expect("a list");
                    assert_eq!(&now[..list.len()], &list[..], "{event}");
                    assert!(now.len() - list.len() <= 1, "{event}: {now:?}");
                }
            }
            "mcpServers" | "mcp" => {
                for (name, server) in value.as_object().expect("an object") {
                    assert_eq!(&after[key][name], server, "{name}");
                }
            }
            other => assert_eq!(&after[other], value, "{other}"),
        }
    }
    let ours = ["hooks", "mcpServers", "mcp", "version", "env"];
    let new = after.keys().filter(|key| !before.contains_key(*key));
    assert!(new.clone().all(|key| ours.contains(&key.as_str())), "{:?}", new.collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn other_content_stays(file in any_file(), blanks in vec(prop::sample::select(&BLANKS[..]), 1..40)) {
        let mut text = String::new();
        laid_out(&file, &mut blanks.iter().copied().cycle(), &mut text);
        let before: Value = serde_json::from_str(&text).expect("JSON");
        for (dialect, kind) in json_files() {
            let after = connected(dialect, kind, Some(&text));
            check_kept(&before, &serde_json::from_str(&after).expect("JSON"));
        }
    }
}
