//! Rules of a team, and the hooks of agents that say they belong to it.

use serde_json::json;

use super::support::{Agent, Place};

#[test]
fn a_teams_rules_reach_a_hook_once_its_agent_was_admitted() {
    let place = Place::new();
    place.set("[guard]\npermissions = true\n");
    let (captain, lead) = (place.join(&["captain"]), place.join(&["lead", "--role", "lead"]));
    place.json_as(&captain, &["team", "create", "red"]);
    // By somebody who does not lead that team, it is a wish.
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann", "--team", "red"]));
    place.json(&["mode", "ann", "full"]);
    place.json(&["permission", "rule", "add", "deny", "Bash", "make *", "--team", "red"]);
    let asks = || {
        let payload = json!({
            "session_id": "s1", "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": "make it" },
        });
        place.run_as(&ann, &["guard", "tool", &payload.to_string(), "--client", "claude"])
    };
    let wishes = asks();
    assert!(!wishes.out.contains("deny"), "a wish binds nobody: {wishes:?}");
    place.json_as(&captain, &["team", "admit", "ann"]);
    let admitted = asks();
    assert!(admitted.out.contains("a rule of the human says no"), "{admitted:?}");
}
