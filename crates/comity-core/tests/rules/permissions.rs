//! Permissions: what is allowed, by whom, for what exactly, and how often.

use comity_core::agents::{AgentAsk, Ending};
use comity_core::limits::{PERMISSION_KEPT, PERMISSION_WAIT};
use comity_core::permissions::{
    Answer, AnswerDelivery, PermissionAsk, PermissionEvent, PlanAnswer, RequestId, RequestState, RuleEffect,
    RuleScope, ToolCall, answerer_of, mode_of,
};
use comity_core::roles::Mode;
use comity_core::{Ask, Principal, Refusal};

use crate::permission_world::{
    ANN, BOB, HUMAN, LEAD, PermissionWorld, STRANGER, allow, base, id, shell, who, write,
};

#[test]
fn an_answer_allows_this_input_once() {
    let mut stage = PermissionWorld::new();
    let (build, publish) = (shell("cargo build"), shell("cargo publish"));
    let first = stage.request(ANN, &build).expect("asked");
    let second = stage.request(ANN, &publish).expect("asked as well");
    assert_eq!(stage.request(ANN, &build), None, "it is asked once");
    assert!(stage.tries(ANN, &build).contains("asked lead (request 1), and there is no answer yet"));
    stage.answer(who(LEAD), first, &build, allow()).expect("answered");
    assert!(stage.tries(BOB, &build).contains("nobody allowed this"), "it is not bob's");
    assert!(stage.tries(ANN, &publish).contains("no answer yet"), "each answer finds its own request");
    assert_eq!(stage.tries(ANN, &build), "may");
    assert!(stage.tries(ANN, &build).contains("is used up"), "once");
    stage
        .answer(who(LEAD), second, &publish, Answer::Deny { reason: Some("not today".into()) })
        .expect("answered");
    assert!(stage.tries(ANN, &publish).contains("lead denied request 2: not today"));
    assert_eq!(stage.request(ANN, &publish), None, "a denial counts for a while");
    stage.pass(PERMISSION_KEPT);
    assert!(stage.request(ANN, &publish).is_some(), "then it may be asked again");
    stage.folds();
}

#[test]
fn another_input_is_another_call() {
    let mut stage = PermissionWorld::new();
    let asked = shell("cargo build");
    let request = stage.request(ANN, &asked).expect("asked");
    stage.answer(who(LEAD), request, &asked, allow()).expect("answered");
    assert!(stage.tries(ANN, &shell("cargo publish")).contains("nobody allowed this"));
    let same_hash = ToolCall { hash: asked.hash, ..base("Other", "cargo build") };
    assert!(
        stage.tries(ANN, &same_hash).contains("request 1"),
        "the same hash under another tool isn't an allow"
    );
    assert_eq!(stage.state(request), "allowed", "and nothing was used");
}

#[test]
fn late_second_wrong_and_unknown_answers_change_nothing() {
    let mut stage = PermissionWorld::new();
    let (call, other) = (shell("make"), shell("make install"));
    let request = stage.request(ANN, &call).expect("asked");
    let refusal = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(refusal(stage.answer(HUMAN, RequestId(99), &call, allow())).contains("no request 99"));
    assert!(refusal(stage.answer(HUMAN, request, &other, allow())).contains("about another call"));
    assert_eq!(stage.state(request), "waiting");
    stage.answer(HUMAN, request, &call, Answer::Deny { reason: None }).expect("answered");
    assert!(
        refusal(stage.answer(who(LEAD), request, &call, allow())).contains("was denied by the human already")
    );
    assert!(stage.tries(ANN, &call).contains("denied"));
    let late = stage.request(ANN, &other).expect("asked");
    stage.pass(PERMISSION_WAIT);
    assert!(refusal(stage.answer(HUMAN, late, &other, allow())).contains("too late"));
    assert!(stage.tries(ANN, &other).contains("nobody answered request 2 in time"));
    stage.folds();
}

#[test]
fn an_allow_that_is_not_used_lapses() {
    let mut stage = PermissionWorld::new();
    let call = shell("make");
    let request = stage.request(ANN, &call).expect("asked");
    stage.answer(HUMAN, request, &call, allow()).expect("answered");
    stage.pass(PERMISSION_KEPT);
    assert_eq!(stage.state(request), "lapsed");
    assert!(stage.tries(ANN, &call).contains("not used in time"));
}

#[test]
fn only_who_stands_above_answers() {
    let mut stage = PermissionWorld::new();
    let call = shell("make");
    let request = stage.request(ANN, &call).expect("asked");
    let refusal = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(refusal(stage.answer(who(ANN), request, &call, allow())).contains("decides about itself"));
    assert!(
        refusal(stage.answer(who(BOB), request, &call, allow())).contains("bob does not lead ann"),
        "a sibling"
    );
    assert!(
        refusal(stage.answer(who(STRANGER), request, &call, allow())).contains("does not lead"),
        "another lead"
    );
    assert!(refusal(stage.answer(Principal::System, request, &call, allow())).contains("nothing by itself"));
    // What ann has not got, nobody that she starts has.
    let child = stage.join(who(ANN), "child", Some("lead"), None);
    let below = stage.join(Principal::Agent(child), "below", None, None);
    let theirs = stage.request(6, &call).expect("asked");
    let no = refusal(stage.answer(Principal::Agent(child), theirs, &call, allow()));
    assert!(no.contains("was started by ann, which has no right to that"), "{no}");
    assert_eq!(answerer_of(&stage.world, below), who(LEAD), "it goes to the first who may answer");
    assert_eq!(stage.state(request), "waiting");
    stage.answer(who(LEAD), theirs, &call, allow()).expect("a leader's leader");
}

#[test]
fn whoever_starts_an_agent_allows_it_what_it_may_itself_and_no_more() {
    let mut stage = PermissionWorld::new();
    let child = stage.join(who(ANN), "child", None, None);
    let (make, call) = (shell("make"), shell("rm -rf target"));
    stage.mode(HUMAN, ANN, Mode::Full).expect("set");
    stage.mode(HUMAN, 5, Mode::Ask).expect("set");
    let asked = stage.request(5, &make).expect("asked");
    assert_eq!(stage.asked_of(asked), who(ANN), "she may run it without asking");
    stage.answer(who(ANN), asked, &make, allow()).expect("allowed");
    stage.rule(HUMAN, RuleEffect::Ask, "Bash", Some("rm *"), RuleScope::Below);
    let asked = stage.request(5, &call).expect("asked");
    assert_eq!(stage.asked_of(asked), who(LEAD), "ann would have to ask herself");
    stage.answer(who(ANN), asked, &call, allow()).expect_err("more than she may");
    assert_eq!(child, id(5));
}

#[test]
fn with_its_asker_a_request_goes_and_without_its_leader_it_is_the_humans() {
    let mut stage = PermissionWorld::new();
    let loner = stage.join(HUMAN, "loner", None, Some("red"));
    let call = shell("make");
    let theirs = stage.request(5, &call).expect("asked");
    let anns = stage.request(ANN, &call).expect("asked");
    let bobs = stage.request(BOB, &call).expect("asked");
    assert_eq!(answerer_of(&stage.world, loner), who(LEAD), "by the team");
    stage.answer(HUMAN, bobs, &call, allow()).expect("answered");
    let end = |agent: u64| {
        Ask::Agent(AgentAsk::End { agent: id(agent), ending: Ending::Failed, cause: "crashed".into() })
    };
    stage.run(HUMAN, &end(BOB)).expect("ended");
    assert_eq!(stage.state(bobs), "withdrawn", "what was allowed goes with who asked");
    let deadline = stage.world.permissions.get(theirs).expect("there").deadline;
    stage.run(HUMAN, &end(LEAD)).expect("ended");
    assert_eq!(stage.state(anns), "withdrawn", "ann ended with its leader");
    let request = stage.world.permissions.get(theirs).expect("there");
    assert_eq!((&request.state, request.deadline), (&RequestState::Waiting { to: HUMAN }, deadline));
    stage.answer(HUMAN, theirs, &call, allow()).expect("answered");
    assert_eq!(stage.tries(5, &call), "may");
    stage.folds();
}

#[test]
fn a_denial_that_comes_after_an_allow_counts() {
    let mut stage = PermissionWorld::new();
    let call = shell("make");
    let request = stage.request(ANN, &call).expect("asked");
    stage.answer(who(LEAD), request, &call, allow()).expect("answered");
    stage.rule(HUMAN, RuleEffect::Deny, "Bash", Some("make"), RuleScope::Below);
    assert!(stage.tries(ANN, &call).contains("says no"));
}

#[test]
fn a_plan_is_approved_or_rejected_by_who_is_above() {
    let mut stage = PermissionWorld::new();
    let submit =
        |content: &str| PermissionAsk::SubmitPlan { file: "plan.md".into(), content: content.into() };
    let refusal = |result: Result<Vec<PermissionEvent>, Refusal>| result.expect_err("refused").to_string();
    assert!(refusal(stage.ask(who(ANN), submit("do it"))).contains("you are in ask mode"));
    stage.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert!(refusal(stage.ask(who(ANN), submit("  "))).contains("empty"));
    stage.ask(who(ANN), submit("first")).expect("submitted");
    stage.ask(who(ANN), submit("second")).expect("submitted");
    let shown =
        r#"ann shows you a plan; answer with: plan_approve(id="2"), or: plan_reject(id="2", feedback="WHY")"#;
    stage.hears(LEAD, &[&format!("{shown}\nsecond")]);
    let plans: Vec<(RequestId, &str)> =
        stage.world.permissions.plans().map(|plan| (plan.id, plan.state.word())).collect();
    assert_eq!(plans.iter().map(|plan| plan.1).collect::<Vec<_>>(), ["withdrawn", "waiting"]);
    let plan = plans[1].0;
    let approve =
        |mode| PermissionAsk::AnswerPlan { plan, answer: PlanAnswer::Approve { mode, feedback: None } };
    assert!(refusal(stage.ask(who(ANN), approve(Mode::Ask))).contains("decides about itself"));
    assert!(refusal(stage.ask(who(BOB), approve(Mode::Ask))).contains("does not lead"));
    assert!(refusal(stage.ask(who(LEAD), approve(Mode::Full))).contains("full is wider"));
    let reject =
        |text: &str| PermissionAsk::AnswerPlan { plan, answer: PlanAnswer::Reject { feedback: text.into() } };
    assert!(refusal(stage.ask(who(LEAD), reject(" "))).contains("needs feedback"));
    assert_eq!(mode_of(&stage.world, id(ANN)), Mode::Plan);
    stage.ask(who(LEAD), approve(Mode::Ask)).expect("approved");
    assert_eq!(mode_of(&stage.world, id(ANN)), Mode::Ask);
    assert!(refusal(stage.ask(who(LEAD), reject("no"))).contains("was approved already"));
    stage
        .hears(ANN, &["you are in plan mode now, by the human", "your plan was approved; go on in ask mode"]);
    stage.hears(LEAD, &[]);
    stage.folds();
}

#[test]
fn who_went_on_is_told() {
    let mut stage = PermissionWorld::new();
    let call = shell("make");
    let ask = PermissionAsk::Request {
        call: Box::new(call.clone()),
        wait: PERMISSION_WAIT,
        hearing: AnswerDelivery::Told,
    };
    stage.ask(who(ANN), ask).expect("asked");
    stage.hears(
        LEAD,
        &[r#"ann asks for permission (Bash: make); answer with: permission_allow(id="1"), or: permission_deny(id="1", reason="WHY")"#],
    );
    stage.answer(who(LEAD), RequestId(1), &call, allow()).expect("answered");
    stage.hears(LEAD, &[]);
    stage.hears(ANN, &["request 1 (Bash: make) was allowed; try again"]);
}

#[test]
fn what_is_not_so_any_more_is_not_told() {
    let mut stage = PermissionWorld::new();
    let ask = |stage: &mut PermissionWorld, call: &ToolCall| {
        let call = Box::new(call.clone());
        let request = PermissionAsk::Request { call, wait: PERMISSION_WAIT, hearing: AnswerDelivery::Told };
        stage.ask(who(ANN), request).expect("asked");
    };
    let call = shell("make");
    ask(&mut stage, &call);
    stage.answer(who(LEAD), RequestId(1), &call, allow()).expect("answered");
    stage.hears(ANN, &["request 1 (Bash: make) was allowed; try again"]);
    assert_eq!(stage.tries(ANN, &call), "may");
    stage.hears(ANN, &[]);

    ask(&mut stage, &call);
    stage.answer(who(LEAD), RequestId(2), &call, allow()).expect("answered");
    stage.pass(PERMISSION_KEPT);
    stage.hears(ANN, &[]);

    ask(&mut stage, &call);
    assert_eq!(stage.heard(LEAD).len(), 1);
    stage.pass(PERMISSION_WAIT);
    stage.hears(LEAD, &[]);
    stage.hears(ANN, &["request 3 (Bash: make) was not answered in time; ask again"]);
    stage.folds();
}

#[test]
fn a_rule_for_a_team_is_told_to_each_of_it() {
    let mut stage = PermissionWorld::new();
    stage.rule(HUMAN, RuleEffect::Allow, "Write", Some("docs/**"), RuleScope::Team("red".into()));
    stage.rule(HUMAN, RuleEffect::Allow, "Write", Some("src/**"), RuleScope::Agent(id(BOB)));
    for member in [ANN, BOB] {
        stage.hears(member, &["a rule for all of red: allow Write docs/"]);
    }
}

#[test]
fn a_rule_for_a_team_does_not_reach_who_only_wishes_to_be_in_it() {
    let mut stage = PermissionWorld::new();
    let wisher = stage.join(Principal::Nobody, "wisher", None, Some("red"));
    let profile = &stage.world.agents.get(wisher).expect("known").profile;
    assert_eq!((profile.team.as_deref(), profile.wished_team.as_deref()), (None, Some("red")));
    let (number, write) = (stage.joined, write("docs/a.md"));
    stage.rule(HUMAN, RuleEffect::Allow, "Write", Some("docs/**"), RuleScope::Team("red".into()));
    assert_eq!(stage.tries(ANN, &write), "may");
    assert_ne!(stage.tries(number, &write), "may", "it is not in the team");
    stage.hears(number, &[]);
    stage.rule(HUMAN, RuleEffect::Allow, "Write", Some("docs/**"), RuleScope::Agent(wisher));
    assert_eq!(stage.tries(number, &write), "may", "by a rule of its own");
}

#[test]
fn everything_has_a_bound() {
    let mut stage = PermissionWorld::new();
    let huge = ToolCall { input: "x".repeat(256 * 1024 + 1).into(), ..shell("make") };
    let ask = |call: &ToolCall| PermissionAsk::Request {
        call: Box::new(call.clone()),
        wait: PERMISSION_WAIT,
        hearing: AnswerDelivery::Waits,
    };
    stage.ask(who(ANN), ask(&huge)).expect_err("too long");
    for number in 0..32 {
        stage.ask(who(ANN), ask(&shell(&format!("make {number}")))).expect("asked");
    }
    let no = stage.ask(who(ANN), ask(&shell("make more"))).expect_err("too many");
    assert_eq!(no.code(), "limit_reached");
    stage.ask(who(BOB), ask(&shell("make"))).expect("bob is not in ann's way");
    stage.ask(HUMAN, ask(&shell("make"))).expect_err("the human asks nobody");
}
