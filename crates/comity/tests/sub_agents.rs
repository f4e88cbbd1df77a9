//! Agents inside agents, by what programs tell their hooks: no program is needed.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use support::mcp::Mcp;
use support::{Agent, Place, Ran};

/// Runs a hook of a program whose agent is `lead`, for the sub-agent with this id, if any.
fn hook(place: &Place, lead: &Agent, client: &str, within: Option<&str>, what: Value) -> Ran {
    let mut payload = json!({ "session_id": "s1", "cwd": place.repo });
    payload.as_object_mut().expect("an object").extend(what.as_object().expect("an object").clone());
    if let Some(within) = within {
        payload["agent_id"] = within.into();
        payload["agent_type"] = "worker".into();
    }
    let mut command = place.comity_as(lead, &["hook", client]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the hook runs");
    child.stdin.take().expect("an input").write_all(payload.to_string().as_bytes()).expect("written");
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// Before or after a whole file is written, in the words of a program.
fn write(place: &Place, client: &str, event: &str, file: &str) -> Value {
    match client {
        "codex" => {
            let patch = format!(
                "*** Begin Patch\n*** Update File: {file}\n@@\n-fn main() {{}}\n+// new\n*** End Patch"
            );
            json!({ "hook_event_name": event, "tool_name": "apply_patch", "tool_input": { "command": patch } })
        }
        _ => json!({
            "hook_event_name": event, "tool_name": "Write",
            "tool_input": { "file_path": place.repo.join(file), "content": "// new\n" },
        }),
    }
}

fn read(place: &Place, file: &str) -> Value {
    let input = json!({ "file_path": place.repo.join(file) });
    json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": input })
}

/// Why a call was denied, if it was.
fn denial(ran: &Ran) -> Option<String> {
    let said = if ran.out.is_empty() { Value::Null } else { ran.document() };
    let said = &said["hookSpecificOutput"];
    (said["permissionDecision"] == "deny")
        .then(|| said["permissionDecisionReason"].as_str().expect("a reason").to_owned())
}

fn holders(place: &Place) -> Vec<(String, String)> {
    let locks = place.json(&["locks"]);
    let locks = locks["locks"].as_array().expect("locks").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    locks.map(|lock| (text(&lock["path"]), text(&lock["holder"]))).collect()
}

#[test]
fn two_sub_agents_do_not_write_one_file() {
    for client in ["claude", "codex"] {
        let place = Place::new();
        let lead = place.join(&["lead"]);
        let before = || write(&place, client, "PreToolUse", "src/a.rs");
        let (first, second) = (Some("first"), Some("second"));
        assert_eq!(denial(&hook(&place, &lead, client, first, before())), None, "{client}");
        let no = denial(&hook(&place, &lead, client, second, before())).expect("denied");
        assert!(no.contains("src/a.rs is locked by lead.worker"), "{client}: {no}");
        let no = denial(&hook(&place, &lead, client, None, before())).expect("the main agent is another one");
        assert!(no.contains("src/a.rs is locked by lead.worker"), "{client}: {no}");
        assert_eq!(denial(&hook(&place, &lead, client, first, before())), None, "{client}: it is its own");
        let joined = place.log_of("agent_joined");
        let names: Vec<&Value> = joined.iter().map(|entry| &entry["details"]["profile"]["name"]).collect();
        assert_eq!(names, ["lead", "lead.worker", "lead.worker-2"], "{client}");
        for below in &joined[1..] {
            assert_eq!(below["details"]["profile"]["parent"], lead.id, "{client}");
        }
    }
}

#[test]
fn a_letter_reaches_whom_it_was_sent_to_after_a_call_that_only_reads() {
    for client in ["claude", "codex"] {
        let place = Place::new();
        let (lead, bob) = (place.join(&["lead"]), place.join(&["bob"]));
        hook(&place, &lead, client, Some("first"), read(&place, "src/b.rs"));
        place.json_as(&bob, &["mail", "send", "lead", "-m", "for-the-lead"]);
        place.json_as(&bob, &["mail", "send", "lead.worker", "-m", "for-the-worker"]);
        let worker = hook(&place, &lead, client, Some("first"), read(&place, "src/b.rs")).out;
        assert!(worker.contains("for-the-worker") && !worker.contains("for-the-lead"), "{client}: {worker}");
        let lead = hook(&place, &lead, client, None, read(&place, "src/b.rs")).out;
        assert!(lead.contains("for-the-lead") && !lead.contains("for-the-worker"), "{client}: {lead}");
        assert_eq!(place.json(&["mail", "boxes"])["boxes"], json!([]), "{client}: all of it was read");
    }
}

#[test]
fn what_a_sub_agent_has_locked_is_its_leads_when_it_is_done() {
    for client in ["claude", "codex"] {
        let place = Place::new();
        let lead = place.join(&["lead"]);
        let within = Some("first");
        for file in ["src/a.rs", "src/b.rs"] {
            hook(&place, &lead, client, within, write(&place, client, "PreToolUse", file));
        }
        fs::write(place.repo.join("src/a.rs"), "// new\n").expect("written");
        let stop = json!({ "hook_event_name": "SubagentStop" });
        hook(&place, &lead, client, within, stop);
        let worked_on = ("src/a.rs".to_owned(), "lead".to_owned());
        support::eventually("what is as it was is free, the rest is the lead's", || {
            holders(&place) == [worked_on.clone()]
        });
        let before = write(&place, client, "PreToolUse", "src/b.rs");
        assert_eq!(denial(&hook(&place, &lead, client, Some("second"), before)), None, "{client}");
    }
}

#[test]
fn what_one_has_read_the_other_has_not() {
    let place = Place::new();
    let lead = place.join(&["lead"]);
    let (main, worker) = (None, Some("first"));
    for (file, stale, fresh) in [("src/b.rs", main, worker), ("src/c.rs", worker, main)] {
        let reads = |within| hook(&place, &lead, "claude", within, read(&place, file));
        let writes = |within| {
            denial(&hook(&place, &lead, "claude", within, write(&place, "claude", "PreToolUse", file)))
        };
        reads(stale);
        fs::write(place.repo.join(file), format!("// for {fresh:?}\n")).expect("changed");
        reads(fresh);
        let no = writes(stale).expect("denied");
        assert!(
            no.contains("was changed after you read it"),
            "{stale:?} has not seen what {fresh:?} has read: {no}"
        );
        assert_eq!(writes(fresh), None, "{fresh:?} has");
    }
}

#[test]
fn a_lock_of_the_lead_lets_those_below_write_only_if_it_says_so() {
    let place = Place::new();
    let lead = place.join(&["lead"]);
    place.json_as(&lead, &["lock", "src/a.rs"]);
    place.json_as(&lead, &["lock", "src/b.rs", "--with-children"]);
    let writes = |file: &str| {
        let ran = hook(&place, &lead, "claude", Some("first"), write(&place, "claude", "PreToolUse", file));
        denial(&ran)
    };
    assert!(writes("src/a.rs").expect("denied").contains("src/a.rs is locked by lead"));
    assert_eq!(writes("src/b.rs"), None);
    let taken = place.log_of("lock_acquired");
    assert_eq!(taken.len(), 2, "it writes under the lead's lock: {taken:?}");
}

#[test]
fn a_refusal_names_a_tool_to_those_who_have_tools() {
    let place = Place::new();
    let (lead, bob) = (place.join(&["lead"]), place.join(&["bob"]));
    place.json_as(&bob, &["lock", "src/a.rs"]);
    let refusal = |within| {
        let before = write(&place, "claude", "PreToolUse", "src/a.rs");
        denial(&hook(&place, &lead, "claude", within, before)).expect("denied")
    };
    let (command, tool) = ("comity lock src/a.rs --wait 60s", r#"lock(paths=["src/a.rs"], wait="60s")"#);
    for within in [None, Some("first")] {
        let no = refusal(within);
        assert!(no.contains(command) && !no.contains(tool), "{no}");
    }
    let _tools = Mcp::start(&mut place.comity_as(&lead, &["mcp"]));
    for within in [None, Some("first")] {
        let no = refusal(within);
        assert!(no.contains(tool) && !no.contains(command), "{no}");
    }
}
