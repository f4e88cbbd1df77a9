//! Turns of a session, and what ends them.

use super::*;

/// A session in its first turn, whose agent has taken everything.
fn in_a_turn() -> AcpSession {
    let mut session =
        AcpSession::begin(AcpStart { prompt: Some("go".into()), ..AcpStart::default() }, "/r".into());
    session.receive(b"{\"id\":1,\"result\":{\"protocolVersion\":1}}\n");
    session.receive(b"{\"id\":2,\"result\":{\"sessionId\":\"s\"}}\n");
    assert!(session.is_in_turn());
    session.outbound().clear();
    session
}

#[test]
fn one_that_takes_no_answers_is_not_read_from() {
    let mut session = in_a_turn();
    let request = "{\"id\":7,\"method\":\"no/such/method\"}\n".repeat(100);
    let mut rounds = 0;
    while session.has_room() {
        session.receive(request.as_bytes());
        rounds += 1;
        assert!(rounds < 1_000_000);
    }
    assert!(session.outbound().len() < 2 * OUTBOUND_BYTES_MAX);
    session.outbound().clear();
    assert!(session.has_room());
}

#[test]
fn a_question_outside_of_a_turn_is_nobodys() {
    let mut session = in_a_turn();
    let ask = b"{\"id\":\"a\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\
        \"toolCall\":{\"toolCallId\":\"1\"},\"options\":[{\"optionId\":\"y\",\"kind\":\"allow_once\"}]}}\n";
    session.interrupt();
    session.take_news();
    session.outbound().clear();
    session.receive(ask);
    session.receive(b"{\"id\":3,\"result\":{\"stopReason\":\"cancelled\"}}\n");
    session.receive(ask);
    let ended = AcpNews::TurnEnded { how: AcpTurnEnd::Interrupted, last_words: String::new() };
    assert_eq!(session.take_news(), [ended]);
    let cancelled = r#"{"jsonrpc":"2.0","id":"a","result":{"outcome":{"outcome":"cancelled"}}}"#;
    assert_eq!(String::from_utf8_lossy(session.outbound()), format!("{cancelled}\n{cancelled}\n"));
}

#[test]
fn whoever_is_told_to_end_is_asked_nothing_more() {
    let mut session = in_a_turn();
    session.prompt("more").unwrap();
    assert!(session.end());
    session.receive(b"{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\n");
    assert!(!session.is_in_turn());
    assert_eq!(session.prompt("again"), Err(SessionRefusal::Over));
}
