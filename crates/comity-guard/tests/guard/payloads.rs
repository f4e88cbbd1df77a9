//! Payloads as agent programs send them, and what is understood of each.

use comity_guard::Dialect;
use comity_guard::payload::HookCall;
use expect_test::{Expect, expect};

/// Compares what is understood; the program is given by name, and recognised where it can be.
fn check(dialect: Dialect, payload: &str, expect: Expect) {
    let call = HookCall::parse(Some(dialect), payload.as_bytes()).expect("understood");
    expect.assert_eq(&told(&call));
    let recognised = HookCall::parse(None, payload.as_bytes()).expect("recognised");
    // Codex sends what Claude Code sends, so its hooks name it; both mean the same.
    if dialect != Dialect::Codex {
        assert_eq!(recognised.dialect, dialect);
    }
    assert_eq!(recognised.effects, call.effects);
}

fn told(call: &HookCall) -> String {
    let mut lines = vec![format!(
        "{:?} of {} in {} at {}",
        call.event,
        call.tool.as_deref().unwrap_or("nothing"),
        call.session.as_deref().unwrap_or("no session"),
        call.cwd.as_deref().unwrap_or("nowhere"),
    )];
    lines.extend(call.effects.writes.iter().map(ToString::to_string));
    lines.extend(
        call.effects
            .reads
            .iter()
            .map(|read| format!("read {}{}", read.path, if read.whole { "" } else { " in part" })),
    );
    lines.extend(call.effects.unknown.iter().map(|why| format!("unknown: {why}")));
    lines.join("\n")
}

#[test]
fn claude_code() {
    let call = |event: &str, tool: &str, input: &str| {
        format!(
            r#"{{"session_id":"3f0c","transcript_path":"/srv/ann/.claude/t.jsonl","cwd":"/srv/project",
            "permission_mode":"default","hook_event_name":"{event}","tool_name":"{tool}","tool_input":{input},
            "tool_use_id":"toolu_1"}}"#
        )
    };
    check(
        Dialect::ClaudeCode,
        &call("PreToolUse", "Write", r#"{"file_path":"/srv/project/src/a.rs","content":"fn a() {}\n"}"#),
        expect![[r#"
            BeforeTool of Write in 3f0c at /srv/project
            write /srv/project/src/a.rs"#]],
    );
    check(
        Dialect::ClaudeCode,
        &call(
            "PreToolUse",
            "Edit",
            r#"{"file_path":"/srv/project/src/a.rs","old_string":"a","new_string":"b"}"#,
        ),
        expect![[r#"
            BeforeTool of Edit in 3f0c at /srv/project
            edit /srv/project/src/a.rs"#]],
    );
    check(
        Dialect::ClaudeCode,
        &call("PreToolUse", "NotebookEdit", r#"{"notebook_path":"/srv/project/n.ipynb","new_source":"1"}"#),
        expect![[r#"
            BeforeTool of NotebookEdit in 3f0c at /srv/project
            edit /srv/project/n.ipynb"#]],
    );
    check(
        Dialect::ClaudeCode,
        &call("PreToolUse", "Bash", r#"{"command":"cd src && sed -i 's/a/b/' a.rs > log.txt"}"#),
        expect![[r#"
            BeforeTool of Bash in 3f0c at /srv/project
            write src/log.txt
            edit src/a.rs"#]],
    );
    check(
        Dialect::ClaudeCode,
        &call("PostToolUse", "Read", r#"{"file_path":"/srv/project/src/a.rs"}"#),
        expect![[r#"
            AfterTool of Read in 3f0c at /srv/project
            read /srv/project/src/a.rs"#]],
    );
    check(
        Dialect::ClaudeCode,
        &call("PostToolUse", "Read", r#"{"file_path":"/srv/project/src/a.rs","offset":10,"limit":5}"#),
        expect![[r#"
            AfterTool of Read in 3f0c at /srv/project
            read /srv/project/src/a.rs in part"#]],
    );
    check(
        Dialect::ClaudeCode,
        &call("PreToolUse", "mcp__github__create_issue", r#"{"title":"x"}"#),
        expect!["BeforeTool of mcp__github__create_issue in 3f0c at /srv/project"],
    );
    check(
        Dialect::ClaudeCode,
        &call("PreToolUse", "Write", r#"{"content":"no path"}"#),
        expect![[r#"
            BeforeTool of Write in 3f0c at /srv/project
            unknown: the call has no path"#]],
    );
}

#[test]
fn codex() {
    let call = |tool: &str, input: &str| {
        format!(
            r#"{{"session_id":"0199","turn_id":"1","cwd":"/srv/project","hook_event_name":"PreToolUse",
            "tool_name":"{tool}","tool_input":{input}}}"#
        )
    };
    let patch = r"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Add File: src/new.rs\n+x\n*** Delete File: old.rs\n*** End Patch";
    check(
        Dialect::Codex,
        &call("apply_patch", &format!(r#"{{"command":"{patch}"}}"#)),
        expect![[r#"
            BeforeTool of apply_patch in 0199 at /srv/project
            edit src/a.rs
            create src/new.rs
            delete old.rs"#]],
    );
    check(
        Dialect::Codex,
        &call("Bash", &format!(r#"{{"command":"apply_patch <<'EOF'\n{patch}\nEOF\n"}}"#)),
        expect![[r#"
            BeforeTool of Bash in 0199 at /srv/project
            edit src/a.rs
            create src/new.rs
            delete old.rs"#]],
    );
    check(
        Dialect::Codex,
        &call(
            "local_shell",
            r#"{"command":["bash","-lc","echo x > src/a.rs"],"workdir":"/srv/project/sub"}"#,
        ),
        expect![[r#"
            BeforeTool of local_shell in 0199 at /srv/project
            write /srv/project/sub/src/a.rs"#]],
    );
    check(
        Dialect::Codex,
        &call("apply_patch", r#"{"command":"*** Begin Patch\nnonsense"}"#),
        expect![[r#"
            BeforeTool of apply_patch in 0199 at /srv/project
            unknown: the patch is malformed: line 2: it does not end with "*** End Patch""#]],
    );
}

#[test]
fn gemini_cli() {
    let call = |event: &str, tool: &str, input: &str| {
        format!(
            r#"{{"session_id":"ge","cwd":"/srv/project","hook_event_name":"{event}","timestamp":"2026-11-01T10:00:00Z",
            "tool_name":"{tool}","tool_input":{input}}}"#
        )
    };
    check(
        Dialect::GeminiCli,
        &call("BeforeTool", "write_file", r#"{"file_path":"src/a.rs","content":"x"}"#),
        expect![[r#"
            BeforeTool of write_file in ge at /srv/project
            write src/a.rs"#]],
    );
    check(
        Dialect::GeminiCli,
        &call("BeforeTool", "replace", r#"{"file_path":"src/a.rs","old_string":"a","new_string":"b"}"#),
        expect![[r#"
            BeforeTool of replace in ge at /srv/project
            edit src/a.rs"#]],
    );
    check(
        Dialect::GeminiCli,
        &call("BeforeTool", "run_shell_command", r#"{"command":"rm -rf build","dir_path":"sub"}"#),
        expect![[r#"
            BeforeTool of run_shell_command in ge at /srv/project
            delete all below sub/build"#]],
    );
    check(
        Dialect::GeminiCli,
        &call("AfterTool", "read_many_files", r#"{"include":["a.rs","src/**/*.rs"]}"#),
        expect![[r#"
            AfterTool of read_many_files in ge at /srv/project
            read a.rs"#]],
    );
}

#[test]
fn copilot_cli() {
    check(
        Dialect::CopilotCli,
        r#"{"sessionId":"co","timestamp":1,"cwd":"/srv/project","toolName":"create",
            "toolArgs":"{\"path\":\"/srv/project/new.rs\",\"file_text\":\"x\"}"}"#,
        expect![[r#"
            BeforeTool of create in co at /srv/project
            create /srv/project/new.rs"#]],
    );
    check(
        Dialect::CopilotCli,
        r#"{"sessionId":"co","timestamp":1,"cwd":"/srv/project","toolName":"bash",
            "toolArgs":{"command":"tee -a notes.md"}}"#,
        expect![[r#"
            BeforeTool of bash in co at /srv/project
            append notes.md"#]],
    );
    check(
        Dialect::CopilotCli,
        r#"{"sessionId":"co","timestamp":1,"cwd":"/srv/project","toolName":"view",
            "toolArgs":{"path":"a.rs"},"toolResult":{"resultType":"success"}}"#,
        expect![[r#"
            AfterTool of view in co at /srv/project
            read a.rs"#]],
    );
}

#[test]
fn cursor() {
    check(
        Dialect::Cursor,
        r#"{"conversation_id":"cu","generation_id":"g","hook_event_name":"beforeShellExecution",
            "command":"mv a.rs b.rs","cwd":"/srv/project"}"#,
        expect![[r#"
            BeforeTool of nothing in cu at /srv/project
            move a.rs
            move all below b.rs or b.rs/a.rs"#]],
    );
    check(
        Dialect::Cursor,
        r#"{"conversation_id":"cu","generation_id":"g","hook_event_name":"preToolUse","tool_name":"Write",
            "tool_input":{"file_path":"/srv/project/a.rs","content":"x"},"cwd":"/srv/project"}"#,
        expect![[r#"
            BeforeTool of Write in cu at /srv/project
            write /srv/project/a.rs"#]],
    );
}

#[test]
fn opencode() {
    check(
        Dialect::OpenCode,
        r#"{"event":"tool.execute.before","session":"oc","tool":"write","cwd":"/srv/project",
            "args":{"filePath":"/srv/project/a.rs","content":"x"}}"#,
        expect![[r#"
            BeforeTool of write in oc at /srv/project
            write /srv/project/a.rs"#]],
    );
}

#[test]
fn what_is_no_payload_is_said_to_be_none() {
    for (payload, problem) in [
        ("", "EOF while parsing"),
        ("[]", "it isn't an object"),
        ("{\"a\": 1}", "nothing in it tells which program"),
        ("{\"session_id\": \"x\"", "EOF while parsing"),
    ] {
        let bad = HookCall::parse(None, payload.as_bytes()).expect_err("bad");
        assert!(bad.to_string().contains(problem), "{payload:?}: {bad}");
    }
    let bad = HookCall::parse(Some(Dialect::ClaudeCode), b"{}").expect_err("no event");
    assert!(bad.to_string().contains("names no event"), "{bad}");
}

#[test]
fn payloads_that_real_programs_sent() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    let mut files: Vec<_> =
        std::fs::read_dir(dir).expect("payloads").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    assert!(files.len() > 30);
    let understood = files.iter().map(|file| {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let dialect: Dialect = name.split('-').next().expect("a program").parse().expect("a known one");
        let payload = std::fs::read(file).expect("readable");
        let call = HookCall::parse(Some(dialect), &payload).unwrap_or_else(|bad| panic!("{name}: {bad}"));
        let recognised = HookCall::parse(None, &payload).unwrap_or_else(|bad| panic!("{name}: {bad}"));
        assert_eq!(recognised.effects, call.effects, "{name}");
        format!("{name}\n{}\n", told(&call))
    });
    expect_test::expect_file!["../payloads/understood.txt"]
        .assert_eq(&understood.collect::<Vec<_>>().join("\n"));
}
