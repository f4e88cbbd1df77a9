//! Requests that are turned away, and with which status.

use expect_test::expect;

use super::{STATELESS, check, check_any, stateless};
use crate::message::MESSAGE_BYTES_MAX;

#[test]
fn headers_that_disagree_with_the_body() {
    let call = stateless("tools/call", r#""name":"locks","#);
    check(
        &["Mcp-Method: tools/call", "Mcp-Name: locks"],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header MCP-Protocol-Version is missing"}}"#]],
    );
    check(
        &["MCP-Protocol-Version: 2025-11-25"],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header MCP-Protocol-Version says \"2025-11-25\", the body says \"2026-07-28\""}}"#]],
    );
    check(
        &[STATELESS],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Method is missing"}}"#]],
    );
    check(
        &[STATELESS, "Mcp-Method: tools/list"],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Method says \"tools/list\", the body says \"tools/call\""}}"#]],
    );
    check(
        &[STATELESS, "Mcp-Method: tools/call"],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Name is missing"}}"#]],
    );
    check(
        &[STATELESS, "Mcp-Method: tools/call", "Mcp-Name: claim"],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Name says \"claim\", the body says \"locks\""}}"#]],
    );
    check(
        &[STATELESS, "Mcp-Method: tools/call", "Mcp-Name: lücke"],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Name is not plain ASCII"}}"#]],
    );
    check(
        &[STATELESS, "Mcp-Method: tools/call", "mcp-method: tools/call"],
        &call,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"the header Mcp-Method is repeated"}}"#]],
    );
}

#[test]
fn stateless_requests_without_their_meta() {
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    check(
        &[STATELESS, "Mcp-Method: tools/list"],
        bare,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"\"_meta\" must have \"io.modelcontextprotocol/protocolVersion\", a string"}}"#]],
    );
    let newer = stateless("tools/list", "").replace("2026-07-28", "2027-01-01");
    check(
        &["MCP-Protocol-Version: 2027-01-01"],
        &newer,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"protocol version \"2027-01-01\" is not supported","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2027-01-01"}}}"#]],
    );
    let mute = stateless("tools/list", "").replace("clientCapabilities", "other");
    check(
        &[STATELESS, "Mcp-Method: tools/list"],
        &mute,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"\"_meta\" must have \"io.modelcontextprotocol/clientCapabilities\", an object"}}"#]],
    );
}

#[test]
fn requests_that_are_not_messages() {
    check_any("GET", &["Accept: text/event-stream"], b"", expect!["405 allow: POST"]);
    check_any("DELETE", &["Mcp-Session-Id: 1"], b"", expect!["405 allow: POST"]);
    check_any("POST", &[], b"{}", expect!["415"]);
    check_any("POST", &["Content-Type: text/plain"], b"{}", expect!["415"]);
    check_any(
        "POST",
        &["Content-Type: application/json"],
        &vec![b' '; MESSAGE_BYTES_MAX + 1],
        expect!["413"],
    );
    check_any(
        "POST",
        &["Content-Type: application/json"],
        b"\xff",
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: expected value at line 1 column 1"}}"#]],
    );
    check(
        &[],
        "",
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: EOF while parsing a value at line 1 column 0"}}"#]],
    );
    check(
        &[],
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        expect![[r#"
        400 content-type: application/json
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported; send one message at a time"}}"#]],
    );
}
