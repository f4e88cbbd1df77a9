//! Transcripts of connections: `<` is what the server sends, `!` what the caller is asked to do.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::message::progress;
use crate::tool::ToolOutcome;

mod refused;

/// Plays the client's lines and writes down what the server does.
fn check(client: &str, transcript: Expect) {
    let server = Arc::new(crate::server::sample());
    let mut connection = McpConnection::new(Arc::clone(&server));
    let mut seen = String::new();
    for line in client.lines().map(str::trim).filter(|line| !line.is_empty()) {
        seen.push_str(&play(&server, &mut connection, line.as_bytes()));
    }
    transcript.assert_eq(&seen);
}

/// Like [`check`], for one message that is better built than written.
fn check_bytes(message: &[u8], answer: Expect) {
    let server = Arc::new(crate::server::sample());
    answer.assert_eq(&play(&server, &mut McpConnection::new(Arc::clone(&server)), message));
}

fn play(server: &McpServer, connection: &mut McpConnection, line: &[u8]) -> String {
    match connection.receive(line) {
        Step::Reply(reply) => {
            assert!(!reply.contains('\n'));
            format!("< {reply}\n")
        }
        Step::Call(call) => {
            let client = call.client.as_ref().map_or("someone", |client| &client.name);
            let mut seen = format!("! {client} calls {} {}\n", call.tool, json!(call.arguments));
            if let Some(token) = &call.progress_token {
                seen.push_str(&format!("< {}\n", progress(token, 1, "half\nway")));
            }
            let mut outcome = ToolOutcome::answer("line 1\nline 2");
            if call.arguments.contains_key("structured") {
                outcome.structured = Some(json!({"lines": 2}));
            }
            if call.arguments.contains_key("fail") {
                outcome = ToolOutcome::error("it is locked by ann");
            }
            seen + &format!("< {}\n", server.finish(&call.ticket, &outcome))
        }
        Step::Cancel(id) => format!("! cancel {}\n", json!(id)),
        Step::Nothing => "! nothing\n".to_owned(),
    }
}

#[test]
fn handshake_of_2025_11_25() {
    check(
        r#"
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"opencode","version":"1.18"}}}
        {"jsonrpc":"2.0","method":"notifications/initialized"}
        {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}
        {"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"locks","_meta":{"progressToken":7,"claudecode/toolUseId":"t"}}}
        {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"claim","arguments":{"structured":1}}}
        {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"claim","arguments":{"fail":1}}}
        {"jsonrpc":"2.0","id":5,"method":"ping"}
        "#,
        expect![[r#"
            < {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}
            ! nothing
            < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"locks","description":"Lists locks.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"claim","title":"Claim a path","description":"Lists locks.","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false},"_meta":{"anthropic/alwaysLoad":true}}]}}
            ! opencode calls locks {}
            < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1,"message":"half\nway"}}
            < {"jsonrpc":"2.0","id":"two","result":{"content":[{"type":"text","text":"line 1\nline 2"}],"isError":false}}
            ! opencode calls claim {"structured":1}
            < {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"line 1\nline 2"}],"structuredContent":{"lines":2},"isError":false}}
            ! opencode calls claim {"fail":1}
            < {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"it is locked by ann"}],"isError":true}}
            < {"jsonrpc":"2.0","id":5,"result":{}}
        "#]],
    );
}

#[test]
fn handshakes_of_other_versions() {
    check(
        r#"
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex","version":"0.166"}}}
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"locks","arguments":null}}
        {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}
        {"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}
        {"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}
        {"jsonrpc":"2.0","id":5,"method":"initialize"}
        "#,
        expect![[r#"
            < {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}
            ! codex calls locks {}
            < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"line 1\nline 2"}],"isError":false}}
            < {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}
            < {"jsonrpc":"2.0","id":3,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}
            < {"jsonrpc":"2.0","id":4,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}
            < {"jsonrpc":"2.0","id":5,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}
        "#]],
    );
}

#[test]
fn stateless_2026_07_28() {
    check(
        r#"
        {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1"},"io.modelcontextprotocol/clientCapabilities":{}}}}
        {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"locks","arguments":{"path":"a"},"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1"},"io.modelcontextprotocol/clientCapabilities":{}}}}
        {"jsonrpc":"2.0","id":4,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        "#,
        expect![[r#"
            < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{}},"instructions":"Claim before you edit.","ttlMs":300000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"}}}}
            < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[{"name":"locks","description":"Lists locks.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"claim","title":"Claim a path","description":"Lists locks.","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false},"_meta":{"anthropic/alwaysLoad":true}}],"ttlMs":300000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"}}}}
            ! claude-code calls locks {"path":"a"}
            < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"message":"half\nway"}}
            < {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text","text":"line 1\nline 2"}],"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"}}}}
            < {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"there is no method \"ping\" in 2026-07-28"}}
        "#]],
    );
}

#[test]
fn both_eras_on_one_connection() {
    check(
        r#"
        {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"old"}}}
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"locks","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}
        {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"locks"}}
        "#,
        expect![[r#"
            < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"},"instructions":"Claim before you edit."}}
            ! new calls locks {}
            < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"line 1\nline 2"}],"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"comity","title":"Comity","version":"0.1.0"}}}}
            ! old calls locks {}
            < {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"line 1\nline 2"}],"isError":false}}
        "#]],
    );
}

#[test]
fn cancelling() {
    check(
        r#"
        {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"two","reason":"user"}}
        {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":18446744073709551615}}
        {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}
        {"jsonrpc":"2.0","method":"notifications/cancelled"}
        {"jsonrpc":"2.0","method":"notifications/whatever"}
        {"jsonrpc":"2.0","method":"notifications/whatever","params":["never answered"]}
        {"jsonrpc":"2.0","id":9,"result":{}}
        {"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"no"}}
        "#,
        expect![[r#"
            ! cancel "two"
            ! cancel 18446744073709551615
            ! nothing
            ! nothing
            ! nothing
            ! nothing
            ! nothing
            ! nothing
        "#]],
    );
}
