//! MCP over HTTP, in the versions that clients speak.

use super::*;

const STATELESS: &str = "2026-07-28";

/// Sends one request in a version; gives its result or error.
fn request(server: &Server, token: &str, version: &str, method: &str, mut params: Value) -> Value {
    let mut headers = vec![
        format!("MCP-Protocol-Version: {version}"),
        "Accept: application/json, text/event-stream".into(),
    ];
    if version == STATELESS {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        headers.push(format!("Mcp-Method: {method}"));
        if let Some(name) = params["name"].as_str() {
            headers.push(format!("Mcp-Name: {name}"));
        }
    }
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
    let answer = server.ask(token, "POST /mcp", &headers, &body);
    assert_eq!((answer.status, answer.json()["id"].clone()), (200, 7.into()), "{answer:?}");
    answer.json()["result"].clone()
}

fn call(server: &Server, token: &str, version: &str, tool: &str, arguments: Value) -> (String, bool) {
    let result =
        request(server, token, version, "tools/call", json!({ "name": tool, "arguments": arguments }));
    let text = result["content"][0]["text"].as_str().expect("text").to_owned();
    (text, result["isError"] == true)
}

#[test]
fn tools_are_listed_and_called_in_every_version() {
    for version in ["2025-06-18", "2025-11-25", STATELESS] {
        let server = Server::start();
        let (ann, bob) = (server.join("ann"), server.join("bob"));
        if version == STATELESS {
            let discovered = request(&server, &ann, version, "server/discover", json!({}));
            assert!(
                discovered["supportedVersions"].as_array().is_some_and(|all| all.contains(&version.into()))
            );
        } else {
            let initialized =
                request(&server, &ann, version, "initialize", json!({ "protocolVersion": version }));
            assert_eq!(initialized["protocolVersion"], version);
            assert_eq!(initialized["serverInfo"]["version"], "1.2.3");
        }
        let listed = request(&server, &ann, version, "tools/list", json!({}));
        let names: Vec<&str> = listed["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert!(names.contains(&"lock") && !names.contains(&"agent_join"), "{names:?}");
        let bytes = listed.to_string().len();
        assert!(bytes < 8_192, "{bytes} bytes");

        let (text, is_error) =
            call(&server, &ann, version, "lock", json!({ "paths": ["a.rs"], "reason": "login" }));
        assert!(text.starts_with("locked a.rs for ") && !is_error, "{text}");
        let (text, is_error) = call(&server, &bob, version, "lock", json!({ "paths": ["a.rs"] }));
        assert!(
            text.contains("locked by ann (\"login\")") && text.contains("\nwait for it: lock(") && is_error,
            "{text}"
        );
        let (text, is_error) = call(&server, &bob, version, "lock", json!({ "path": "a.rs" }));
        assert!(text.contains("can't read its input") && is_error, "{text}");

        server.op(HUMAN, "release", &json!({ "paths": "a.rs", "from": "ann" }));
        let (text, _) = call(&server, &ann, version, "status", json!({}));
        assert!(text.contains("\nNotice: ") && text.contains("a.rs"), "{text}");
    }
}

#[test]
fn all_tools_are_offered_on_request() {
    let server = Server::start();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let names = |request: &str| server.ask(HUMAN, request, &[], list).body;
    assert!(!names("POST /mcp").contains("\"agent_join\""));
    assert!(names("POST /mcp?tools=all").contains("\"agent_join\""));
    assert!(!names("POST /mcp?tools=all").contains("\"agent_attach\""));
    assert_eq!(server.ask(HUMAN, "POST /mcp?tools=some", &[], list).status, 400);
}

#[test]
fn there_are_no_sessions_and_no_streams() {
    let server = Server::start();
    for method in ["GET", "DELETE"] {
        let answer = server.ask(HUMAN, &format!("{method} /mcp"), &[], "");
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    }
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(server.ask(HUMAN, "POST /mcp", &[], notification).status, 202);
    assert_eq!(server.ask(HUMAN, "POST /mcp", &[], "").status, 415);
    assert_eq!(server.ask(HUMAN, "POST /mcp", &[], "{").status, 400);
}
