//! Transcripts of connections on which the client gets it wrong, by mistake or on purpose.

use expect_test::expect;

use super::{check, check_bytes};
use crate::message::MESSAGE_BYTES_MAX;

#[test]
fn stateless_requests_that_are_refused() {
    check(
        r#"
        {"jsonrpc":"2.0","id":1,"method":"server/discover"}
        {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
        {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":20260728}}}
        {"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}
        "#,
        expect![[r#"
            < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"\"_meta\" must have \"io.modelcontextprotocol/protocolVersion\", a string"}}
            < {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"\"_meta\" must have \"io.modelcontextprotocol/clientCapabilities\", an object"}}
            < {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"\"_meta\" must have \"io.modelcontextprotocol/protocolVersion\", a string"}}
            < {"jsonrpc":"2.0","id":4,"error":{"code":-32022,"message":"protocol version \"2027-01-01\" is not supported","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2027-01-01"}}}
        "#]],
    );
}

#[test]
fn methods_and_params_that_are_refused() {
    check(
        r#"
        {"jsonrpc":"2.0","id":1,"method":"resources/list"}
        {"jsonrpc":"2.0","id":2,"method":"prompts/list","params":null}
        {"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}
        {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"lock"}}
        {"jsonrpc":"2.0","id":5,"method":"tools/call"}
        {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"locks","arguments":["a"]}}
        {"jsonrpc":"2.0","id":7,"method":"tools/call","params":["locks"]}
        "#,
        expect![[r#"
            < {"jsonrpc":"2.0","id":1,"result":{"resources":[]}}
            < {"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}
            < {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"there is no method \"logging/setLevel\" in 2025-11-25"}}
            < {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"there is no tool \"lock\"; the tools are: locks, claim"}}
            < {"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"\"name\" must be one of the tools: locks, claim"}}
            < {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"the arguments of locks must be an object"}}
            < {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"\"params\" must be an object"}}
        "#]],
    );
}

#[test]
fn hostile_messages() {
    check(
        r#"
        {"jsonrpc":"2.0","id":1,"method":
        hello
        "hello"
        {}
        [{"jsonrpc":"2.0","id":1,"method":"ping"}]
        {"jsonrpc":"1.0","id":1,"method":"ping"}
        {"jsonrpc":"2.0","id":1,"method":5}
        {"jsonrpc":"2.0","id":1}
        {"jsonrpc":"2.0","id":null,"method":"ping"}
        {"jsonrpc":"2.0","id":1.5,"method":"ping"}
        {"jsonrpc":"2.0","id":{"a":1},"method":"ping"}
        {"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}
        {"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}
        {"jsonrpc":"2.0","id":-9223372036854775808,"method":"ping","extra":1}
        "#,
        expect![[r#"
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: EOF while parsing a value at line 1 column 33"}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: expected value at line 1 column 1"}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be one JSON object, with no member repeated"}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"\"jsonrpc\" must be \"2.0\""}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported; send one message at a time"}}
            < {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"\"jsonrpc\" must be \"2.0\""}}
            < {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"\"method\" must be a string"}}
            < {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the message has no \"method\""}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"\"id\" must be a string or an integer"}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"\"id\" must be a string or an integer"}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"\"id\" must be a string or an integer"}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be one JSON object, with no member repeated"}}
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: trailing characters at line 1 column 42"}}
            < {"jsonrpc":"2.0","id":-9223372036854775808,"result":{}}
        "#]],
    );
}

#[test]
fn messages_too_deep_too_long_or_not_text() {
    let deep = "[".repeat(100_000);
    check_bytes(
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}"#).as_bytes(),
        expect![[r#"
            < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: recursion limit exceeded at line 1 column 176"}}
        "#]],
    );
    check_bytes(
        &vec![b'x'; MESSAGE_BYTES_MAX + 1],
        expect![[r#"
        < {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message has 4194305 bytes; the limit is 4194304"}}
    "#]],
    );
    let name = "ü".repeat(1_000_000);
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    check_bytes(
        call.as_bytes(),
        expect![[r#"
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"there is no tool \"üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü…\"; the tools are: locks, claim"}}
    "#]],
    );
    check_bytes(
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
        expect![[r#"
        < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: invalid unicode code point at line 1 column 24"}}
    "#]],
    );
    check_bytes(
        b" \r\n",
        expect![[r#"
        ! nothing
    "#]],
    );
}
