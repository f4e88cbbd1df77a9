//! Permissions: what is allowed, by whom, for what exactly, and how often.

use comity_core::agents::{Ending, Process, Profile};
use comity_core::limits::{PERMISSION_KEPT, PERMISSION_WAIT};
use comity_core::permissions::{
    Answer, Call, Class, Commands, Effect, File, Hearing, Kept, Pattern, PermissionAsk, PermissionEvent,
    PlanAnswer, RequestId, RuleId, Scope, State, answerer_of, mode_of,
};
use comity_core::roles::{Mode, Role, Roles};
use comity_core::snapshot::Snapshot;
use comity_core::world::Patience;
use comity_core::{
    AgentId, Ask, CaseRule, ContentHash, Event, Millis, PathPattern, Principal, ProjectId, Record, Refusal,
    Timestamp, TokenHash, World, expire, invariants, run,
};

/// A world with a leader, two workers below it, and somebody else.
pub(crate) struct Desk {
    pub(crate) world: World,
    log: Vec<Record>,
    now: Timestamp,
    joined: u64,
}

pub(crate) const HUMAN: Principal = Principal::Human;

fn id(number: u64) -> AgentId {
    AgentId::from_bits(number)
}

fn who(number: u64) -> Principal {
    Principal::Agent(id(number))
}

pub(crate) const LEAD: u64 = 1;
const ANN: u64 = 2;
const BOB: u64 = 3;
const STRANGER: u64 = 4;

impl Desk {
    pub(crate) fn new() -> Desk {
        let mut desk =
            Desk { world: World::new(Patience::default()), log: vec![], now: Timestamp(0), joined: 0 };
        let mut roles = Roles::default();
        roles.define("free", Role { mode: Mode::Full, ..Role::default() });
        desk.world.roles = std::sync::Arc::new(roles);
        desk.join(HUMAN, "lead", Some("lead"), Some("red"));
        desk.join(who(LEAD), "ann", None, Some("red"));
        desk.join(who(LEAD), "bob", None, Some("red"));
        desk.join(HUMAN, "stranger", Some("lead"), None);
        desk
    }

    fn join(&mut self, by: Principal, name: &str, role: Option<&str>, team: Option<&str>) -> AgentId {
        self.joined += 1;
        let mut token = [0; 32];
        token[0] = u8::try_from(self.joined).expect("few");
        let profile = Profile {
            name: name.into(),
            role: role.map(Into::into),
            team: team.map(Into::into),
            // Watched, so that silence does not end it.
            process: Some(Process { pid: 1, start: self.joined }),
            ..Profile::default()
        };
        let agent = id(self.joined);
        let ask = Ask::Join { agent, token: TokenHash(token), profile: Box::new(profile) };
        self.run(by, &ask).expect("joined");
        agent
    }

    fn run(&mut self, by: Principal, ask: &Ask) -> Result<Vec<PermissionEvent>, Refusal> {
        let outcome = run(&mut self.world, by, ask, None, self.now, 0)?;
        let events = outcome.records.iter().filter_map(|record| match &record.event {
            Event::Permission(event) => Some(event.clone()),
            _ => None,
        });
        let events = events.collect();
        self.log.extend(outcome.records);
        invariants::check(&self.world).expect("a good world");
        Ok(events)
    }

    pub(crate) fn ask(&mut self, by: Principal, ask: PermissionAsk) -> Result<Vec<PermissionEvent>, Refusal> {
        self.run(by, &Ask::Permission(ask))
    }

    fn request(&mut self, agent: u64, call: &Call) -> Option<RequestId> {
        let ask = PermissionAsk::Request {
            call: Box::new(call.clone()),
            wait: PERMISSION_WAIT,
            hearing: Hearing::Waits,
        };
        let events = self.ask(who(agent), ask).expect("taken");
        events.iter().find_map(|event| match event {
            PermissionEvent::Asked { request, .. } => Some(*request),
            _ => None,
        })
    }

    /// Tries to make the call: what it says, in a word or a sentence.
    fn tries(&mut self, agent: u64, call: &Call) -> String {
        match self.ask(who(agent), PermissionAsk::Use { call: Box::new(call.clone()) }) {
            Ok(_) => "may".into(),
            Err(no) => no.to_string(),
        }
    }

    fn answer(
        &mut self,
        by: Principal,
        request: RequestId,
        call: &Call,
        answer: Answer,
    ) -> Result<(), Refusal> {
        let (tool, hash) = (call.tool.clone(), call.hash);
        self.ask(by, PermissionAsk::Answer { request, tool, hash, answer }).map(drop)
    }

    fn pass(&mut self, span: Millis) {
        self.now = self.now.plus(span);
        self.log.extend(expire(&mut self.world, self.now, 0));
        invariants::check(&self.world).expect("a good world");
    }

    fn state(&self, request: RequestId) -> &'static str {
        self.world.permissions.get(request).expect("a request").state.word()
    }

    fn rule(
        &mut self,
        by: Principal,
        effect: Effect,
        tool: &str,
        pattern: Option<&str>,
        scope: Scope,
    ) -> RuleId {
        let class = class_of(tool);
        let project = Some((ProjectId::from_bits(1), CaseRule::Exact));
        let pattern = pattern.map(|text| Pattern::parse(class, text, project).expect("a pattern"));
        let ask = PermissionAsk::AddRule { scope, effect, tool: tool.into(), class, pattern };
        let events = self.ask(by, ask).expect("added");
        events
            .iter()
            .find_map(|event| match event {
                PermissionEvent::RuleAdded { rule } => Some(rule.id),
                _ => None,
            })
            .expect("a rule")
    }

    fn mode(&mut self, by: Principal, agent: u64, mode: Mode) -> Result<(), Refusal> {
        self.ask(by, PermissionAsk::SetMode { agent: id(agent), mode }).map(drop)
    }

    /// The log folds to the same world, and so does a snapshot.
    fn folds(&self) {
        let mut again = World::new(Patience::default());
        self.log.iter().for_each(|record| again.apply(record));
        assert_eq!(Snapshot::of(&again), Snapshot::of(&self.world), "the log folds to the same world");
        let text = serde_json::to_string(&Snapshot::of(&self.world)).expect("JSON");
        let back: Snapshot = serde_json::from_str(&text).expect("a snapshot");
        let back = back.restore(Patience::default());
        assert_eq!(Snapshot::of(&back), Snapshot::of(&self.world), "and the snapshot to the same");
        assert_eq!(back.next_deadline(), self.world.next_deadline(), "with its deadlines");
    }
}

fn class_of(tool: &str) -> Class {
    match tool {
        "Bash" | "shell" => Class::Shell,
        "Write" | "Edit" => Class::Edit,
        "Read" => Class::Read,
        _ => Class::Other,
    }
}

fn base(tool: &str, input: &str) -> Call {
    let mut hash = [0_u8; 32];
    for (at, byte) in tool.bytes().chain([0]).chain(input.bytes()).enumerate() {
        hash[at % 32] = hash[at % 32].wrapping_mul(31) ^ byte;
    }
    Call {
        tool: tool.into(),
        class: class_of(tool),
        hash: ContentHash(hash),
        input: input.into(),
        summary: input.into(),
        project: Some(ProjectId::from_bits(1)),
        writes: vec![],
        reads: vec![],
        outside: vec![],
        is_all: true,
        commands: None,
        reads_only: false,
    }
}

/// A command line; `;` joins commands, `$X` is a word that nobody knows.
pub(crate) fn shell(line: &str) -> Call {
    let word = |word: &str| (!word.starts_with('$')).then(|| word.into());
    let parts: Vec<Vec<Option<Box<str>>>> =
        line.split(';').map(|part| part.split_whitespace().map(word).collect()).collect();
    let single = match &parts[..] {
        [only] => only.iter().cloned().collect(),
        _ => None,
    };
    let reads_only = line.split(';').all(|part| part.trim().starts_with("ls"));
    Call { commands: Some(Commands { single, parts, is_all: true }), reads_only, ..base("Bash", line) }
}

fn write(path: &str) -> Call {
    let path = PathPattern::parse(path, CaseRule::Exact).expect("a path");
    let writes = vec![File { project: ProjectId::from_bits(1), path: path.clone() }];
    Call { writes, ..base("Write", path.as_str()) }
}

pub(crate) fn allow() -> Answer {
    Answer::Allow { kept: None }
}

fn below(path: &str) -> Pattern {
    let project = Some((ProjectId::from_bits(1), CaseRule::Exact));
    Pattern::parse(Class::Edit, path, project).expect("a pattern")
}

fn always(for_team: bool, pattern: Option<Pattern>) -> Answer {
    Answer::Allow { kept: Some(Kept { for_team, pattern }) }
}

#[test]
fn an_answer_allows_this_input_once() {
    let mut desk = Desk::new();
    let (build, publish) = (shell("cargo build"), shell("cargo publish"));
    let first = desk.request(ANN, &build).expect("asked");
    let second = desk.request(ANN, &publish).expect("asked as well");
    assert_eq!(desk.request(ANN, &build), None, "it is asked once");
    assert!(desk.tries(ANN, &build).contains("asked lead (request 1), and there is no answer yet"));
    desk.answer(who(LEAD), first, &build, allow()).expect("answered");
    assert!(desk.tries(BOB, &build).contains("nobody allowed this"), "it is not bob's");
    assert!(desk.tries(ANN, &publish).contains("no answer yet"), "each answer finds its own request");
    assert_eq!(desk.tries(ANN, &build), "may");
    assert!(desk.tries(ANN, &build).contains("is used up"), "once");
    desk.answer(who(LEAD), second, &publish, Answer::Deny { reason: Some("not today".into()) })
        .expect("answered");
    assert!(desk.tries(ANN, &publish).contains("lead denied request 2: not today"));
    assert_eq!(desk.request(ANN, &publish), None, "a denial counts for a while");
    desk.pass(PERMISSION_KEPT);
    assert!(desk.request(ANN, &publish).is_some(), "then it may be asked again");
    desk.folds();
}

#[test]
fn another_input_is_another_call() {
    let mut desk = Desk::new();
    let asked = shell("cargo build");
    let request = desk.request(ANN, &asked).expect("asked");
    desk.answer(who(LEAD), request, &asked, allow()).expect("answered");
    assert!(desk.tries(ANN, &shell("cargo publish")).contains("nobody allowed this"));
    let same_hash = Call { hash: asked.hash, ..base("Other", "cargo build") };
    assert!(
        desk.tries(ANN, &same_hash).contains("request 1"),
        "the same hash under another tool is no allow"
    );
    assert_eq!(desk.state(request), "allowed", "and nothing was used");
}

#[test]
fn late_second_wrong_and_unknown_answers_change_nothing() {
    let mut desk = Desk::new();
    let (call, other) = (shell("make"), shell("make install"));
    let request = desk.request(ANN, &call).expect("asked");
    let said = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.answer(HUMAN, RequestId(99), &call, allow())).contains("no request 99"));
    assert!(said(desk.answer(HUMAN, request, &other, allow())).contains("about another call"));
    assert_eq!(desk.state(request), "waiting");
    desk.answer(HUMAN, request, &call, Answer::Deny { reason: None }).expect("answered");
    assert!(
        said(desk.answer(who(LEAD), request, &call, allow())).contains("was denied by the human already")
    );
    assert!(desk.tries(ANN, &call).contains("denied"));
    let late = desk.request(ANN, &other).expect("asked");
    desk.pass(PERMISSION_WAIT);
    assert!(said(desk.answer(HUMAN, late, &other, allow())).contains("too late"));
    assert!(desk.tries(ANN, &other).contains("nobody answered request 2 in time"));
    desk.folds();
}

#[test]
fn an_allow_that_is_not_used_lapses() {
    let mut desk = Desk::new();
    let call = shell("make");
    let request = desk.request(ANN, &call).expect("asked");
    desk.answer(HUMAN, request, &call, allow()).expect("answered");
    desk.pass(PERMISSION_KEPT);
    assert_eq!(desk.state(request), "lapsed");
    assert!(desk.tries(ANN, &call).contains("not used in time"));
}

#[test]
fn only_who_stands_above_answers() {
    let mut desk = Desk::new();
    let call = shell("make");
    let request = desk.request(ANN, &call).expect("asked");
    let said = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.answer(who(ANN), request, &call, allow())).contains("decides about itself"));
    assert!(
        said(desk.answer(who(BOB), request, &call, allow())).contains("bob does not lead ann"),
        "a sibling"
    );
    assert!(
        said(desk.answer(who(STRANGER), request, &call, allow())).contains("does not lead"),
        "another lead"
    );
    assert!(said(desk.answer(Principal::System, request, &call, allow())).contains("nothing by itself"));
    // What ann has not got, nobody that she starts has.
    let child = desk.join(who(ANN), "child", Some("lead"), None);
    let below = desk.join(Principal::Agent(child), "below", None, None);
    let theirs = desk.request(6, &call).expect("asked");
    let no = said(desk.answer(Principal::Agent(child), theirs, &call, allow()));
    assert!(no.contains("was started by ann, which has no right to that"), "{no}");
    assert_eq!(answerer_of(&desk.world, below), who(LEAD), "it goes to the first who may answer");
    assert_eq!(desk.state(request), "waiting");
    desk.answer(who(LEAD), theirs, &call, allow()).expect("a leader's leader");
}

#[test]
fn with_its_asker_a_request_goes_and_without_its_leader_it_is_the_humans() {
    let mut desk = Desk::new();
    let loner = desk.join(HUMAN, "loner", None, Some("red"));
    let call = shell("make");
    let theirs = desk.request(5, &call).expect("asked");
    let anns = desk.request(ANN, &call).expect("asked");
    let bobs = desk.request(BOB, &call).expect("asked");
    assert_eq!(answerer_of(&desk.world, loner), who(LEAD), "by the team");
    desk.answer(HUMAN, bobs, &call, allow()).expect("answered");
    let end = |agent: u64| Ask::End { agent: id(agent), ending: Ending::Failed, cause: "crashed".into() };
    desk.run(HUMAN, &end(BOB)).expect("ended");
    assert_eq!(desk.state(bobs), "withdrawn", "what was allowed goes with who asked");
    let deadline = desk.world.permissions.get(theirs).expect("there").deadline;
    desk.run(HUMAN, &end(LEAD)).expect("ended");
    assert_eq!(desk.state(anns), "withdrawn", "ann ended with its leader");
    let request = desk.world.permissions.get(theirs).expect("there");
    assert_eq!((&request.state, request.deadline), (&State::Waiting { to: HUMAN }, deadline));
    desk.answer(HUMAN, theirs, &call, allow()).expect("answered");
    assert_eq!(desk.tries(5, &call), "may");
    desk.folds();
}

#[test]
fn deny_beats_ask_beats_allow() {
    use Effect::{Allow, Ask as AskRule, Deny};
    let (status, both) = (shell("git status"), shell("git status; rm -rf /"));
    let hidden = shell("$CMD -rf /");
    let ask = "asks";
    for (rules, call, expected) in [
        (vec![(Allow, "Bash", Some("git status"))], &status, "may"),
        (vec![(Allow, "Bash", Some("git *"))], &both, ask),
        (vec![(Allow, "Bash", None)], &both, "may"),
        (vec![(Allow, "Bash", None), (Deny, "Bash", Some("rm *"))], &both, "says no"),
        (vec![(Deny, "Bash", Some("rm")), (Allow, "Bash", Some("git status"))], &status, "may"),
        (vec![(Deny, "Bash", Some("rm")), (Allow, "Bash", None)], &hidden, ask),
        (vec![(Deny, "shell", Some("git"))], &status, "says no"),
        (vec![(Allow, "shell", Some("git *"))], &status, ask),
        (vec![(AskRule, "Bash", Some("git status")), (Allow, "Bash", Some("git *"))], &status, ask),
        (vec![(AskRule, "*", None), (Allow, "Bash", Some("git *"))], &status, ask),
        (vec![(Deny, "*", None), (Allow, "Bash", Some("git *")), (AskRule, "*", None)], &status, "says no"),
        (vec![(Allow, "*", None)], &status, "may"),
        (vec![(AskRule, "Bash", Some("ls"))], &shell("ls -l"), ask),
        (vec![], &shell("ls -l"), "may"),
        (vec![], &shell("ls; rm x"), ask),
    ] {
        for turned in [false, true] {
            let mut desk = Desk::new();
            let mut rules = rules.clone();
            if turned {
                rules.reverse();
            }
            for (effect, tool, pattern) in &rules {
                desk.rule(who(LEAD), *effect, tool, *pattern, Scope::Below);
            }
            let escalated = desk.request(ANN, call).is_some();
            let said = if escalated { ask.to_owned() } else { desk.tries(ANN, call) };
            assert!(said.contains(expected), "{rules:?} to {}: {said}", call.summary);
        }
    }
}

#[test]
fn files_are_allowed_by_all_rules_together_and_forbidden_by_any() {
    let mut two = write("src/a.rs");
    two.writes.extend(write("docs/b.md").writes);
    let mut by_shell = shell("cp x src/a.rs");
    by_shell.writes = write("src/a.rs").writes;
    let unknown = Call { is_all: false, ..write("src/a.rs") };
    for (rules, call, expected) in [
        (vec![(Effect::Allow, "Write", "src/**")], write("src/a.rs"), "may"),
        (vec![(Effect::Allow, "Edit", "src/**")], write("src/a.rs"), "asks"),
        (vec![(Effect::Allow, "Write", "src/**")], unknown.clone(), "asks"),
        (vec![(Effect::Allow, "Write", "src/**")], two.clone(), "asks"),
        (vec![(Effect::Allow, "Write", "src/"), (Effect::Allow, "Write", "docs/*.md")], two.clone(), "may"),
        (vec![(Effect::Allow, "Write", "**"), (Effect::Deny, "Edit", "docs/")], two.clone(), "says no"),
        (vec![(Effect::Deny, "Write", "src/")], by_shell.clone(), "says no"),
        (vec![(Effect::Allow, "Write", "/etc/**")], write("src/a.rs"), "asks"),
    ] {
        let mut desk = Desk::new();
        for (effect, tool, pattern) in &rules {
            desk.rule(HUMAN, *effect, tool, Some(pattern), Scope::Below);
        }
        let said = if desk.request(ANN, &call).is_some() { "asks".into() } else { desk.tries(ANN, &call) };
        assert!(said.contains(expected), "{rules:?} to {}: {said}", call.summary);
    }
}

#[test]
fn what_a_mode_says() {
    let outside = Call {
        writes: vec![],
        outside: vec![PathPattern::parse("etc/passwd", CaseRule::Exact).expect("a path")],
        ..base("Write", "/etc/passwd")
    };
    for (call, said) in [
        (shell("ls"), ["may", "may", "may", "may"]),
        (shell("make"), ["plan mode", "asks", "asks", "may"]),
        (write("src/a.rs"), ["plan mode", "asks", "may", "may"]),
        (write(".git/hooks/pre-commit"), ["plan mode", "asks", "asks", "may"]),
        (write("sub/.Claude/settings.json"), ["plan mode", "asks", "asks", "may"]),
        (outside, ["plan mode", "asks", "asks", "may"]),
        (base("mcp__x__y", "{}"), ["plan mode", "asks", "asks", "may"]),
    ] {
        for (mode, expected) in [Mode::Plan, Mode::Ask, Mode::AcceptEdits, Mode::Full].into_iter().zip(said) {
            let mut desk = Desk::new();
            desk.mode(HUMAN, ANN, mode).expect("set");
            let found =
                if desk.request(ANN, &call).is_some() { "asks".into() } else { desk.tries(ANN, &call) };
            assert!(found.contains(expected), "{} in {}: {found}", call.summary, mode.word());
        }
    }
    let mut desk = Desk::new();
    desk.rule(HUMAN, Effect::Allow, "*", None, Scope::Below);
    desk.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert!(desk.tries(ANN, &shell("make")).contains("plan mode"), "no rule lets a planner act");
    let mut desk = Desk::new();
    desk.rule(HUMAN, Effect::Deny, "Bash", Some("make"), Scope::Below);
    desk.mode(HUMAN, ANN, Mode::Full).expect("set");
    assert!(desk.tries(ANN, &shell("make")).contains("says no"), "no mode lets pass what is denied");
}

#[test]
fn a_mode_is_widened_by_who_is_above_and_not_beyond_its_own() {
    let mut desk = Desk::new();
    let said = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.mode(who(ANN), ANN, Mode::Full)).contains("may not widen it yourself"));
    desk.mode(who(ANN), ANN, Mode::Plan).expect("narrower");
    assert!(said(desk.mode(who(ANN), ANN, Mode::Ask)).contains("may not widen"), "not even back");
    assert!(said(desk.mode(who(BOB), ANN, Mode::Ask)).contains("does not lead"));
    assert!(said(desk.mode(who(LEAD), ANN, Mode::Full)).contains("you are in the mode ask yourself"));
    desk.mode(who(LEAD), ANN, Mode::Ask).expect("as wide as its own");
    desk.mode(HUMAN, ANN, Mode::Full).expect("the human may");
    assert_eq!(mode_of(&desk.world, id(ANN)), Mode::Full);
    desk.mode(HUMAN, BOB, Mode::Plan).expect("narrowed");
    let freed = desk.join(who(BOB), "freed", Some("free"), None);
    assert_eq!(mode_of(&desk.world, freed), Mode::Plan, "a child has no wider mode than who started it");
    let by_human = desk.join(HUMAN, "by-human", Some("free"), None);
    assert_eq!(mode_of(&desk.world, by_human), Mode::Full);
    desk.folds_with_roles();
}

#[test]
fn always_is_for_the_asker_alone_unless_it_is_broadcast() {
    let call = write("src/ui/a.rs");
    let elsewhere = write("src/ui/b.rs");
    for (answer, ann, ann_elsewhere, bob) in [
        (always(false, None), true, false, false),
        (always(false, Some(below("src/ui/"))), true, true, false),
        (always(true, Some(below("src/ui/"))), true, true, true),
    ] {
        let mut desk = Desk::new();
        let bobs = desk.request(BOB, &call).expect("asked");
        let request = desk.request(ANN, &call).expect("asked");
        let modes = |desk: &Desk| [LEAD, ANN, BOB, STRANGER].map(|agent| mode_of(&desk.world, id(agent)));
        let before = modes(&desk);
        desk.answer(who(LEAD), request, &call, answer.clone()).expect("answered");
        assert_eq!(modes(&desk), before, "no mode changes");
        assert_eq!(desk.state(bobs), if bob { "allowed" } else { "waiting" }, "who waits is looked at again");
        assert_eq!(desk.tries(ANN, &call), "may");
        assert_eq!(desk.tries(ANN, &call) == "may", ann, "and another time: {answer:?}");
        assert_eq!(desk.tries(ANN, &elsewhere) == "may", ann_elsewhere, "{answer:?}");
        assert_eq!(desk.tries(BOB, &call) == "may", bob, "{answer:?}");
        assert!(
            desk.tries(STRANGER, &call) != "may" && desk.tries(LEAD, &call) != "may",
            "nobody else: {answer:?}"
        );
        desk.folds();
    }
    let mut desk = Desk::new();
    let both = shell("make; make install");
    let request = desk.request(ANN, &both).expect("asked");
    let no = desk.answer(HUMAN, request, &both, always(false, None)).expect_err("no rule can be made of it");
    assert!(no.to_string().contains("not one plain command"), "{no}");
    let wrong = always(false, Pattern::parse(Class::Shell, "ls *", None).ok());
    let no = desk.answer(HUMAN, request, &both, wrong).expect_err("another command");
    assert!(no.to_string().contains("does not allow what was asked for"), "{no}");
    assert_eq!(desk.state(request), "waiting");
}

#[test]
fn who_waits_is_looked_at_again_when_rules_or_modes_change() {
    let call = shell("make");
    let mut desk = Desk::new();
    let request = desk.request(ANN, &call).expect("asked");
    let rule = desk.rule(who(LEAD), Effect::Allow, "Bash", Some("make"), Scope::Agent(id(ANN)));
    assert_eq!(desk.state(request), "allowed");
    desk.ask(who(LEAD), PermissionAsk::RemoveRule { rule }).expect("removed");
    assert!(desk.tries(ANN, &call).contains("allowed no more"), "what the rule allowed went with it");
    let request = desk.request(ANN, &call).expect("asked again");
    desk.rule(HUMAN, Effect::Deny, "Bash", Some("make"), Scope::Below);
    assert_eq!(desk.state(request), "denied");
    let other = shell("cargo run");
    let request = desk.request(ANN, &other).expect("asked");
    desk.mode(HUMAN, ANN, Mode::Full).expect("set");
    assert_eq!(desk.state(request), "allowed");
    assert_eq!(desk.tries(ANN, &other), "may");
    let third = shell("cargo bench");
    desk.mode(HUMAN, ANN, Mode::Ask).expect("set");
    let request = desk.request(ANN, &third).expect("asked");
    desk.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert_eq!(desk.state(request), "denied");
    desk.folds();
}

#[test]
fn a_denial_that_comes_after_an_allow_counts() {
    let mut desk = Desk::new();
    let call = shell("make");
    let request = desk.request(ANN, &call).expect("asked");
    desk.answer(who(LEAD), request, &call, allow()).expect("answered");
    desk.rule(HUMAN, Effect::Deny, "Bash", Some("make"), Scope::Below);
    assert!(desk.tries(ANN, &call).contains("says no"));
}

#[test]
fn rules_are_for_those_below_and_end_with_their_owner() {
    let mut desk = Desk::new();
    let make = shell("make");
    desk.rule(who(STRANGER), Effect::Allow, "Bash", None, Scope::Below);
    assert!(desk.request(ANN, &make).is_some(), "the stranger does not lead ann");
    for by in [ANN, BOB] {
        let (tool, class) = ("Bash".into(), Class::Shell);
        let (scope, effect, pattern) = (Scope::Below, Effect::Allow, None);
        let ask = PermissionAsk::AddRule { scope, effect, tool, class, pattern };
        desk.ask(who(by), ask).expect_err("a worker makes no rules");
    }
    let loner = desk.join(HUMAN, "loner", Some("free"), Some("red"));
    let denied = desk.rule(who(LEAD), Effect::Deny, "Bash", Some("rm"), Scope::Team("red".into()));
    desk.rule(who(LEAD), Effect::Allow, "Bash", Some("make"), Scope::Team("red".into()));
    assert!(desk.tries(5, &shell("rm x")).contains("says no"));
    let end = Ask::End { agent: id(LEAD), ending: Ending::Exited, cause: "done".into() };
    desk.run(HUMAN, &end).expect("ended");
    assert_eq!(mode_of(&desk.world, loner), Mode::Full);
    assert!(
        desk.tries(5, &shell("rm x")).contains("a rule of the human says no"),
        "what was forbidden stays so"
    );
    assert_eq!(desk.world.permissions.rule(denied).map(|rule| rule.owner), Some(HUMAN));
    assert_eq!(desk.world.permissions.rules().filter(|rule| rule.effect == Effect::Allow).count(), 1);
    desk.ask(who(STRANGER), PermissionAsk::RemoveRule { rule: denied }).expect_err("the human's");
    desk.folds_with_roles();
}

#[test]
fn a_plan_is_approved_or_rejected_by_who_is_above() {
    let mut desk = Desk::new();
    let submit =
        |content: &str| PermissionAsk::SubmitPlan { file: "plan.md".into(), content: content.into() };
    let said = |result: Result<Vec<PermissionEvent>, Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.ask(who(ANN), submit("do it"))).contains("you are in the mode ask"));
    desk.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert!(said(desk.ask(who(ANN), submit("  "))).contains("empty"));
    desk.ask(who(ANN), submit("first")).expect("submitted");
    desk.ask(who(ANN), submit("second")).expect("submitted");
    let plans: Vec<(RequestId, &str)> =
        desk.world.permissions.plans().map(|plan| (plan.id, plan.state.word())).collect();
    assert_eq!(plans.iter().map(|plan| plan.1).collect::<Vec<_>>(), ["withdrawn", "waiting"]);
    let plan = plans[1].0;
    let approve =
        |mode| PermissionAsk::AnswerPlan { plan, answer: PlanAnswer::Approve { mode, feedback: None } };
    assert!(said(desk.ask(who(ANN), approve(Mode::Ask))).contains("decides about itself"));
    assert!(said(desk.ask(who(BOB), approve(Mode::Ask))).contains("does not lead"));
    assert!(said(desk.ask(who(LEAD), approve(Mode::Full))).contains("full is wider"));
    let reject =
        |text: &str| PermissionAsk::AnswerPlan { plan, answer: PlanAnswer::Reject { feedback: text.into() } };
    assert!(said(desk.ask(who(LEAD), reject(" "))).contains("needs feedback"));
    assert_eq!(mode_of(&desk.world, id(ANN)), Mode::Plan);
    desk.ask(who(LEAD), approve(Mode::Ask)).expect("approved");
    assert_eq!(mode_of(&desk.world, id(ANN)), Mode::Ask);
    assert!(said(desk.ask(who(LEAD), reject("no"))).contains("was approved already"));
    let told: Vec<String> =
        desk.world.agents.get(id(ANN)).expect("ann").notices.iter().map(|one| one.what.to_string()).collect();
    assert!(told.iter().any(|text| text == "your plan was approved; go on in the mode ask"), "{told:?}");
    desk.folds();
}

#[test]
fn who_went_on_is_told() {
    let mut desk = Desk::new();
    let call = shell("make");
    let ask = PermissionAsk::Request {
        call: Box::new(call.clone()),
        wait: PERMISSION_WAIT,
        hearing: Hearing::Told,
    };
    desk.ask(who(ANN), ask).expect("asked");
    desk.answer(who(LEAD), RequestId(1), &call, allow()).expect("answered");
    let notices = &desk.world.agents.get(id(ANN)).expect("ann").notices;
    let told: Vec<String> = notices.iter().map(|one| one.what.to_string()).collect();
    assert_eq!(told, ["request 1 (Bash: make) was allowed; try again"]);
}

#[test]
fn everything_has_a_bound() {
    let mut desk = Desk::new();
    let huge = Call { input: "x".repeat(256 * 1024 + 1).into(), ..shell("make") };
    let ask = |call: &Call| PermissionAsk::Request {
        call: Box::new(call.clone()),
        wait: PERMISSION_WAIT,
        hearing: Hearing::Waits,
    };
    desk.ask(who(ANN), ask(&huge)).expect_err("too long");
    for number in 0..32 {
        desk.ask(who(ANN), ask(&shell(&format!("make {number}")))).expect("asked");
    }
    let no = desk.ask(who(ANN), ask(&shell("make more"))).expect_err("too many");
    assert_eq!(no.code(), "limit_reached");
    desk.ask(who(BOB), ask(&shell("make"))).expect("bob is not in ann's way");
    desk.ask(HUMAN, ask(&shell("make"))).expect_err("the human asks nobody");
}

impl Desk {
    /// Like [`Desk::folds`]: roles are no part of the log.
    fn folds_with_roles(&self) {
        let mut again = World::new(Patience::default());
        again.roles = self.world.roles.clone();
        self.log.iter().for_each(|record| again.apply(record));
        assert_eq!(Snapshot::of(&again), Snapshot::of(&self.world), "the log folds to the same world");
    }
}
