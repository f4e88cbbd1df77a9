//! What a hook prints, and how it ends: what each program obeys.

use comity_guard::Dialect;
use comity_guard::payload::HookEvent;
use comity_guard::verdict::{HookOutput, Verdict};

const WHY: &str = "src/a.rs is locked by bob";

fn denied(dialect: Dialect, name: &str) -> HookOutput {
    Verdict::Deny { reason: WHY.into() }.said(dialect, HookEvent::BeforeTool, name)
}

#[test]
fn a_no_is_given_as_each_program_wants_it() {
    let claude = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"src/a.rs is locked by bob"}}"#;
    for (dialect, name, stdout, stderr, exit) in [
        (Dialect::ClaudeCode, "PreToolUse", claude, "", 0),
        (Dialect::Codex, "PreToolUse", claude, "", 0),
        (
            Dialect::GeminiCli,
            "BeforeTool",
            r#"{"decision":"deny","reason":"src/a.rs is locked by bob"}"#,
            "",
            0,
        ),
        (
            Dialect::CopilotCli,
            "preToolUse",
            r#"{"permissionDecision":"deny","permissionDecisionReason":"src/a.rs is locked by bob"}"#,
            "",
            0,
        ),
        (
            Dialect::Cursor,
            "preToolUse",
            r#"{"agent_message":"src/a.rs is locked by bob","permission":"deny","user_message":"src/a.rs is locked by bob"}"#,
            "",
            0,
        ),
        (Dialect::OpenCode, "before", "", WHY, 2),
    ] {
        let said = denied(dialect, name);
        assert_eq!(
            (said.stdout.trim_end(), said.stderr.trim_end(), said.exit),
            (stdout, stderr, exit),
            "{dialect}"
        );
    }
}

#[test]
fn what_could_not_be_judged_ends_with_the_code_that_all_take_for_a_no() {
    for dialect in Dialect::ALL {
        for event in [HookEvent::BeforeTool, HookEvent::AfterTool, HookEvent::Stop, HookEvent::Other] {
            let said = Verdict::Fault { reason: "no server".into() }.said(dialect, event, "x");
            assert_eq!((said.exit, said.stdout.as_str()), (2, ""), "{dialect} {event:?}");
            assert!(said.stderr.contains("no server"));
        }
    }
}

#[test]
fn a_plain_yes_prints_nothing() {
    for dialect in Dialect::ALL {
        let said = Verdict::Allow { context: None }.said(dialect, HookEvent::BeforeTool, "x");
        assert_eq!(said, HookOutput::default());
    }
}

#[test]
fn what_waits_for_the_agent_goes_where_its_program_shows_it() {
    let allow = Verdict::Allow { context: Some("your lock on a.rs has expired".into()) };
    let said = allow.said(Dialect::ClaudeCode, HookEvent::AfterTool, "PostToolUse");
    assert_eq!(
        said.stdout.trim_end(),
        r#"{"hookSpecificOutput":{"additionalContext":"your lock on a.rs has expired","hookEventName":"PostToolUse"}}"#
    );
    let said = allow.said(Dialect::CopilotCli, HookEvent::AfterTool, "postToolUse");
    assert_eq!(said.stdout.trim_end(), r#"{"additionalContext":"your lock on a.rs has expired"}"#);
    let said = allow.said(Dialect::Cursor, HookEvent::AfterTool, "afterFileEdit");
    assert_eq!(said, HookOutput::default(), "it would show it to nobody");
}

#[test]
fn what_waits_at_a_stop_begins_another_turn_where_that_can_be() {
    let allow = Verdict::Allow { context: Some("bob wrote".into()) };
    for (dialect, name, stdout) in [
        (Dialect::ClaudeCode, "Stop", r#"{"decision":"block","reason":"bob wrote"}"#),
        (Dialect::Codex, "Stop", r#"{"decision":"block","reason":"bob wrote"}"#),
        (Dialect::CopilotCli, "agentStop", r#"{"decision":"block","reason":"bob wrote"}"#),
        (Dialect::GeminiCli, "AfterAgent", ""),
        (Dialect::OpenCode, "stop", ""),
        (Dialect::Cursor, "stop", ""),
    ] {
        let said = allow.said(dialect, HookEvent::Stop, name);
        assert_eq!((said.stdout.trim_end(), &*said.stderr, said.exit), (stdout, "", 0), "{dialect}");
        assert_eq!(
            Verdict::Allow { context: None }.said(dialect, HookEvent::Stop, name),
            HookOutput::default()
        );
    }
}

#[test]
fn words_of_others_are_shown_and_bounded() {
    let reason = format!("\u{1b}[2Jx\u{202e}{}", "y".repeat(20_000));
    let said = Verdict::Deny { reason }.said(Dialect::OpenCode, HookEvent::BeforeTool, "before");
    assert!(!said.stderr.contains(['\u{1b}', '\u{202e}']), "nothing steers a terminal");
    assert!(said.stderr.len() <= 10_010, "{}", said.stderr.len());
}
