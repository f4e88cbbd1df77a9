//! The OpenAPI description of REST, from the catalog.

use comity_app::catalog::{CATALOG, CatalogEntry};
use serde_json::{Map, Value, json};

use super::SESSION;
use super::rest::{CWD, KEY, ZONE};
use super::routes::BY_NAME;

/// OpenAPI 3.1: every operation of the catalog at its route.
pub(crate) fn openapi(url: Option<&str>) -> Value {
    let mut paths = Map::new();
    for entry in CATALOG {
        add(&mut paths, entry.route.path, entry.route.method, operation(entry));
    }
    for (path, method, summary, kind) in OTHERS {
        let content = json!({ *kind: { "schema": {} } });
        let parameters = if *path == "/api/events" { stream_parameters() } else { json!([]) };
        let answer = json!({
            "summary": summary, "parameters": parameters,
            "operationId": operation_id(path), "tags": ["server"],
            "responses": with_errors(json!({ "description": "What was asked for.", "content": content })),
        });
        add(&mut paths, path, method, answer);
    }
    add(&mut paths, BY_NAME.path, BY_NAME.method, by_name());
    add(&mut paths, SESSION, "POST", session());
    let server = json!({
        "url": url.unwrap_or("http://127.0.0.1:{port}"),
        "description": "The server on this machine; comity status says where it is.",
    });
    let server = match url {
        Some(_) => server,
        None => {
            let mut server = server;
            server["variables"] = json!({ "port": { "default": "0", "description": "See: comity status" } });
            server
        }
    };
    let mut features: Vec<&str> = CATALOG.iter().map(CatalogEntry::feature).collect();
    features.dedup();
    json!({
        "servers": [server],
        "tags": features.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "openapi": "3.1.0",
        "info": {
            "title": "Comity",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Lets several coding agents share one repository without stepping on each other. \
                Who acts is known by the token; nothing in a request changes that.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": components(),
    })
}

/// What is not an operation: path, method, summary, type of the answer.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    (
        "/api/events",
        "GET",
        "Every event from a cursor on: a WebSocket, or server-sent events.",
        "text/event-stream",
    ),
    ("/api/openapi.json", "GET", "This description.", "application/json"),
    ("/metrics", "GET", "Counters for Prometheus.", "text/plain"),
    ("/mcp", "POST", "The operations as MCP tools (streamable HTTP).", "application/json"),
];

fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    item[method.to_ascii_lowercase()] = operation;
}

fn operation(entry: &CatalogEntry) -> Value {
    let mut input = (entry.input)();
    let mut parameters = vec![header("cwd"), header("zone"), header("key")];
    let in_path: Vec<&str> =
        entry.route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    for name in &in_path {
        let schema = take(&mut input, name);
        // A path contains a single value, even if the body takes a list.
        let one = given(if schema["type"] == "array" { &schema["items"] } else { &schema });
        parameters.push(json!({
            "name": name, "in": "path", "required": true, "description": described(&schema), "schema": one,
        }));
    }
    let mut operation = json!({
        "operationId": entry.name,
        "tags": [entry.feature()],
        "summary": entry.summary(),
        "responses": with_errors(json!({
            "description": "It happened.",
            "headers": { "Comity-Notices": { "$ref": "#/components/headers/Notices" } },
            "content": { "application/json": { "schema": (entry.output)() } },
        })),
    });
    if entry.route.method == "GET" {
        parameters.extend(query(&input));
    } else {
        let is_needed = input["required"].as_array().is_some_and(|required| !required.is_empty());
        operation["requestBody"] =
            json!({ "required": is_needed, "content": { "application/json": { "schema": input } } });
    }
    operation["parameters"] = parameters.into();
    operation
}

/// The schema without null: a part of a path cannot be omitted.
fn given(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some([kind]) = schema["type"]
        .as_array()
        .map(|kinds| kinds.iter().filter(|kind| *kind != "null").cloned().collect::<Vec<_>>())
        .as_deref()
    {
        schema["type"] = kind.clone();
    }
    schema
}

/// The fields of an input as query parameters.
fn query(input: &Value) -> Vec<Value> {
    let required =
        |name: &str| input["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = input["properties"].as_object().into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| {
        json!({
            "name": name, "in": "query", "required": required(name), "description": described(schema),
            "schema": schema,
        })
    };
    properties.map(parameter).collect()
}

/// Removes a field from an input.
fn take(input: &mut Value, name: &str) -> Value {
    if let Some(required) = input["required"].as_array_mut() {
        required.retain(|one| one != name);
    }
    input["properties"].as_object_mut().and_then(|properties| properties.remove(name)).unwrap_or_default()
}

fn described(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

fn by_name() -> Value {
    let names: Vec<&str> = CATALOG.iter().map(|entry| entry.name).collect();
    let mut name = json!({ "name": "name", "in": "path", "required": true, "schema": { "enum": names } });
    name["description"] = "The operation.".into();
    json!({
        "operationId": "call",
        "summary": "Any operation by its name, with its whole input as the body.",
        "parameters": [name, header("cwd"), header("zone"), header("key")],
        "requestBody": { "content": { "application/json": { "schema": { "type": "object" } } } },
        "tags": ["server"],
        "responses": with_errors(
            json!({ "description": "It happened.", "content": { "application/json": { "schema": {} } } }),
        ),
    })
}

fn session() -> Value {
    let token =
        json!({ "type": "object", "required": ["token"], "properties": { "token": { "type": "string" } } });
    json!({
        "operationId": "session",
        "tags": ["people"],
        "summary": "Exchange the code in the link of a login, sent as the bearer token, for a token. It works once.",
        "responses": with_errors(
            json!({ "description": "The token.", "content": { "application/json": { "schema": token } } }),
        ),
    })
}

/// An id for what is not an operation of the catalog.
fn operation_id(path: &str) -> String {
    let words = path.split(['/', '.']).filter(|word| !word.is_empty() && *word != "api" && *word != "json");
    words.collect::<Vec<_>>().join("_")
}

/// The possible answers: the output, and errors.
fn with_errors(good: Value) -> Value {
    let mut responses = Map::from_iter([("200".to_owned(), good)]);
    for (status, _) in ERRORS {
        let name = format!("#/components/responses/{status}");
        responses.insert((*status).to_owned(), json!({ "$ref": name }));
    }
    responses.insert("default".into(), error());
    responses.into()
}

/// Statuses of refusals, and their meaning.
const ERRORS: &[(&str, &str)] = &[
    ("400", "The request can't be understood."),
    ("401", "The request has no token, or one that is nobody's."),
    ("403", "Whoever the token belongs to may not do this."),
    ("404", "There is no such thing."),
    ("409", "Somebody else is in the way, or the world has changed."),
    ("429", "A limit is reached."),
];

fn stream_parameters() -> Value {
    let parameter = |name: &str, kind: &str, description: &str| json!({ "name": name, "in": "query", "description": description, "schema": { "type": kind } });
    json!([
        parameter("after", "integer", "Only events after this number; from now on if omitted."),
        parameter("type", "string", "Only these types, such as lock:acquired,lock:expired."),
    ])
}

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

fn error() -> Value {
    json!({ "$ref": "#/components/responses/error" })
}

fn error_responses() -> Value {
    let response = |description: &str| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
        })
    };
    let all = ERRORS.iter().map(|(status, description)| ((*status).to_owned(), response(description)));
    all.chain([("error".to_owned(), response("Nothing was changed."))]).collect::<Map<_, _>>().into()
}

fn components() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        "parameters": {
            "cwd": {
                "name": CWD.as_str(), "in": "header", "schema": text,
                "description": "The directory that relative paths are meant from; for an agent, where it joined.",
            },
            "zone": {
                "name": ZONE.as_str(), "in": "header", "schema": text,
                "description": "The time zone of times without one, such as Europe/Vienna; the server's if omitted.",
            },
            "key": {
                "name": KEY.as_str(), "in": "header", "schema": { "type": "string", "maxLength": 128 },
                "description": "The same request sent twice with one key is done once.",
            },
        },
        "headers": {
            "Notices": { "schema": text, "description": "A JSON array of notices for you." },
        },
        "responses": error_responses(),
        "schemas": {
            "Error": {
                "type": "object",
                "required": ["error"],
                "properties": { "error": {
                    "type": "object",
                    "required": ["code", "message", "hint"],
                    "properties": {
                        "code": { "type": "string", "description": "A stable word for programs." },
                        "message": { "type": "string", "description": "What is wrong, in a sentence." },
                        "hint": { "type": "string", "description": "What to do next." },
                        "holders": { "type": "array", "items": { "type": "object" }, "description": "Who stands in the way." },
                    },
                } },
            },
        },
    })
}
