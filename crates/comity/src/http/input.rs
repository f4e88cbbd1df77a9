//! The input of an operation, from the body, the query and the path.

use comity_app::catalog::CatalogEntry;
use comity_core::Refusal;
use serde_json::{Map, Value};

use super::routes::PathFields;

/// Merges the input; each field may be given in only one place.
pub(super) fn merge(
    entry: &CatalogEntry,
    body: &[u8],
    query: Vec<(String, String)>,
    fields: PathFields,
) -> Result<Value, Refusal> {
    let mut input = match body.is_empty() {
        true => Map::new(),
        false => object(entry, body)?,
    };
    if query.is_empty() && fields.is_empty() {
        return Ok(Value::Object(input));
    }
    let schema = (entry.input)();
    let properties = &schema["properties"];
    for (name, value) in fields {
        // A file's path may contain commas, so a value from the path is never split.
        let value = match QueryShape::of(&properties[name]) {
            QueryShape::List => Value::Array(vec![value.into()]),
            shape => shape.read(&value),
        };
        add(&mut input, name, value)?;
    }
    for (name, value) in gathered(query) {
        let shape = QueryShape::of(&properties[&name]);
        let value = match (shape, &value[..]) {
            (QueryShape::List, values) => list(values),
            (QueryShape::Flag, [one]) if one.is_empty() => true.into(),
            // Forms send empty fields.
            (_, [one]) if one.is_empty() => continue,
            (shape, [one]) => shape.read(one),
            (_, _) => return Err(twice(&name)),
        };
        add(&mut input, &name, value)?;
    }
    Ok(Value::Object(input))
}

/// What a value looks like when it is not text.
#[derive(Clone, Copy)]
enum QueryShape {
    Text,
    List,
    Number,
    Flag,
}

impl QueryShape {
    fn of(schema: &Value) -> QueryShape {
        let takes = |kind: &str| match &schema["type"] {
            Value::Array(kinds) => kinds.iter().any(|one| one == kind),
            one => one == kind,
        };
        let shapes = [
            ("string", QueryShape::Text),
            ("array", QueryShape::List),
            ("integer", QueryShape::Number),
            ("number", QueryShape::Number),
            ("boolean", QueryShape::Flag),
        ];
        shapes.into_iter().find(|(kind, _)| takes(kind)).map_or(QueryShape::Text, |(_, shape)| shape)
    }

    /// Parses a value; what does not fit stays text, and the operation reports what is wrong with it.
    fn read(self, text: &str) -> Value {
        let read = match self {
            QueryShape::Text | QueryShape::List => None,
            QueryShape::Number => text.parse().ok().map(Value::Number),
            QueryShape::Flag => match text {
                "true" | "1" => Some(true.into()),
                "false" | "0" => Some(false.into()),
                _ => None,
            },
        };
        read.unwrap_or_else(|| text.into())
    }
}

fn object(entry: &CatalogEntry, body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let hint = "its input is described at /api/openapi.json";
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Refusal::bad_input(format!("the input of {} is an object", entry.name), hint)),
        Err(error) => Err(Refusal::bad_input(format!("the body is not JSON: {error}"), hint)),
    }
}

/// The values of each name, in order.
fn gathered(query: Vec<(String, String)>) -> Vec<(String, Vec<String>)> {
    let mut gathered: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in query {
        match gathered.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => gathered.push((name, vec![value])),
        }
    }
    gathered
}

/// A list by repetition, or by commas in a single value.
fn list(values: &[String]) -> Value {
    match values {
        [one] => one.split(',').filter(|item| !item.is_empty()).collect(),
        many => many.iter().map(String::as_str).collect(),
    }
}

fn add(input: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), Refusal> {
    match input.insert(name.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(twice(name)),
    }
}

fn twice(name: &str) -> Refusal {
    Refusal::bad_input(format!("{name:?} is given twice"), "give it once: in the path, the query or the body")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(op: &str, body: &str, query: &[(&str, &str)], fields: &[(&'static str, &str)]) -> String {
        let entry = comity_app::catalog::find(op).expect("an operation");
        let query = query.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let fields = fields.iter().map(|(name, value)| (*name, (*value).into())).collect();
        let merged = merge(entry, body.as_bytes(), query, fields);
        merged.map_or_else(|refusal| refusal.to_string(), |input| input.to_string())
    }

    #[test]
    fn values_are_read_as_the_schema_says() {
        let check =
            |op, query: &[(&str, &str)], expected: &str| assert_eq!(merged(op, "", query, &[]), expected);
        check("log", &[("limit", "5"), ("type", "1")], r#"{"limit":5,"type":"1"}"#);
        check("log", &[("agentId", ""), ("type", ""), ("limit", ""), ("since", "")], "{}");
        check("log", &[("limit", "many")], r#"{"limit":"many"}"#);
        check("log", &[("limit", "1"), ("limit", "2")], r#""limit" is given twice"#);
        check("agents", &[("all", "true")], r#"{"all":true}"#);
        check("agents", &[("all", "")], r#"{"all":true}"#);
        check("agents", &[("all", "0")], r#"{"all":false}"#);
        check("lock", &[("paths", "a,b"), ("ttl", "60")], r#"{"paths":["a","b"],"ttl":"60"}"#);
        check("lock", &[("paths", "a,b"), ("paths", "c")], r#"{"paths":["a,b","c"]}"#);
        check("lock", &[("unknown", "x")], r#"{"unknown":"x"}"#);
    }

    #[test]
    fn a_field_has_one_place() {
        let path = &[("paths", "src/a,b.rs")];
        assert_eq!(merged("unlock", "", &[], path), r#"{"paths":["src/a,b.rs"]}"#);
        assert_eq!(merged("unlock", r#"{"paths":["x"]}"#, &[], path), r#""paths" is given twice"#);
        assert_eq!(
            merged("lock", r#"{"paths":"x"}"#, &[("shared", "1")], &[]),
            r#"{"paths":"x","shared":true}"#
        );
        assert_eq!(merged("lock", "[]", &[], &[]), "the input of lock is an object");
        assert!(merged("lock", "{", &[], &[]).starts_with("the body is not JSON"));
    }
}
