//! Requests to the endpoint and their responses, as one would see them on the wire.

use expect_test::{Expect, expect};

use super::*;

mod refused;

const STATELESS: &str = "MCP-Protocol-Version: 2026-07-28";

/// Sends one POST of JSON with these header lines besides, and writes down what comes back.
fn check(headers: &[&str], body: &str, response: Expect) {
    let headers = [&["Content-Type: application/json; charset=utf-8"], headers].concat();
    check_any("POST", &headers, body.as_bytes(), response);
}

fn check_any(method: &str, headers: &[&str], body: &[u8], response: Expect) {
    let server = crate::server::sample();
    let headers: Vec<(&str, &[u8])> =
        headers.iter().filter_map(|line| line.split_once(": ")).map(|(k, v)| (k, v.as_bytes())).collect();
    let seen = match receive(&server, &HttpRequest { method, headers: &headers, body }) {
        HttpStep::Respond(response) => response,
        HttpStep::Call(call) => finish(&server, &call.ticket, &ToolOutcome::answer("done")),
    };
    let headers: String = seen.headers.iter().map(|(name, value)| format!(" {name}: {value}")).collect();
    response.assert_eq(format!("{}{headers}\n{}", seen.status, seen.body).trim_end());
}

/// A stateless request with these params before `_meta`.
fn stateless(method: &str, params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

#[test]
fn handshake_versions() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"locks"}}"#;
    check(
        &["MCP-Protocol-Version: 2025-11-25"],
        call,
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":false}}"#]],
    );
    check(
        &["mcp-protocol-version: 2025-06-18", "Mcp-Session-Id: old"],
        call,
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":false}}"#]],
    );
    check(
        &[],
        call,
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":false}}"#]],
    );
    let initialize =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    check(
        &[],
        initialize,
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}"#]],
    );
    check(
        &["Mcp-Method: tools/list"],
        initialize,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Method says \"tools/list\", the body says \"initialize\""}}"#]],
    );
    let unknown = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#;
    check(
        &["MCP-Protocol-Version: 2025-11-25"],
        unknown,
        expect![[r#"
            200 content-type: application/json
            {"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}"#]],
    );
    check(
        &["MCP-Protocol-Version: 2025-01-01"],
        unknown,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"protocol version \"2025-01-01\" is not supported","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2025-01-01"}}}"#]],
    );
}

#[test]
fn stateless_requests() {
    check(
        &[STATELESS, "Mcp-Method: server/discover"],
        &stateless("server/discover", ""),
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{}},"instructions":"Claim before you edit.","ttlMs":300000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"}}}}"#]],
    );
    let call = stateless("tools/call", r#""name":"locks","#);
    check(
        &[STATELESS, "Mcp-Method: tools/call", "Mcp-Name: locks"],
        &call,
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}],"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"}}}}"#]],
    );
    check(
        &[STATELESS, "Mcp-Method: tools/call", "Mcp-Name: =?base64?bG9ja3M=?="],
        &call,
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}],"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"}}}}"#]],
    );
    let unknown_tool = stateless("tools/call", r#""name":"x","#);
    check(
        &[STATELESS, "Mcp-Method: tools/call", "Mcp-Name: x"],
        &unknown_tool,
        expect![[r#"
        200 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"there is no tool \"x\"; the tools are: locks, claim"}}"#]],
    );
    check(
        &[STATELESS, "Mcp-Method: ping"],
        &stateless("ping", ""),
        expect![[r#"
        404 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no method \"ping\" in 2026-07-28"}}"#]],
    );
}

#[test]
fn messages_that_want_no_reply() {
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    check(&["MCP-Protocol-Version: 2025-11-25"], notification, expect!["202"]);
    check(
        &["MCP-Protocol-Version: 1"],
        notification,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"protocol version \"1\" is not supported","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1"}}}"#]],
    );
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    check(&["MCP-Protocol-Version: 2025-06-18"], response, expect!["202"]);
    check(
        &[STATELESS],
        response,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"clients must not send responses in this version"}}"#]],
    );
}
