//! The description describes what there is.

use comity_app::catalog::CATALOG;

use super::*;

#[test]
fn every_operation_is_described() {
    let server = Server::start();
    let served = server.ask(HUMAN, "GET /api/openapi.json", &[], "").json();
    let url = served["servers"][0]["url"].as_str().expect("an address");
    assert_eq!(served, crate::http::openapi(Some(url)));
    assert_eq!(served["openapi"], "3.1.0");
    for entry in CATALOG {
        let operation = &served["paths"][entry.route.path][entry.route.method.to_ascii_lowercase()];
        assert_eq!(operation["operationId"], entry.name);
        assert_eq!(operation["summary"], entry.summary());
        assert_eq!(operation["tags"], serde_json::json!([entry.feature()]));
        for status in ["200", "400", "401", "403", "404", "409", "429", "default"] {
            assert!(operation["responses"][status].is_object(), "{}: {status}", entry.name);
        }
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert_eq!(schema["type"], "object", "{}", entry.name);
        let parameters = operation["parameters"].as_array().expect("parameters");
        let named = |place: &str| parameters.iter().filter(|one| one["in"] == place).count();
        assert_eq!(named("path"), entry.route.path.matches('{').count(), "{}", entry.name);
        let fields = (entry.input)()["properties"].as_object().map_or(0, serde_json::Map::len);
        let in_body = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
        let in_body = in_body.as_object().map_or(0, serde_json::Map::len);
        assert_eq!(named("path") + named("query") + in_body, fields, "{}", entry.name);
    }
}

#[test]
fn references_lead_somewhere_and_names_are_unique() {
    let description = crate::http::openapi(None);
    let (mut references, mut names) = (Vec::new(), Vec::new());
    visit(&description, &mut |key, value| match (key, value.as_str()) {
        ("$ref", Some(reference)) => references.push(reference.to_owned()),
        ("operationId", Some(name)) => names.push(name.to_owned()),
        _ => {}
    });
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a reference within");
        assert!(description.pointer(pointer).is_some(), "{reference}");
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

fn visit(value: &Value, see: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            see(key, value);
            visit(value, see);
        }),
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
