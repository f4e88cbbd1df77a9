//! AG10: everything that decides about others takes a human who is present.

use std::collections::BTreeSet;
use std::sync::Arc;

use comity_core::agents::{AgentAsk, Ending};
use comity_core::control::ControlAsk;
use comity_core::decisions::{DecisionAsk, DecisionId};
use comity_core::locks::LockAsk;
use comity_core::people::{Asker, Origin, PersonAsk, PersonRefusal, Place, Proof};
use comity_core::permissions::{
    Answer, PermissionAsk, PlanAnswer, RequestId, RuleEffect, RuleId, RuleScope, ToolClass,
};
use comity_core::pools::{PoolAsk, PoolKind, SlotId, Take};
use comity_core::roles::Mode;
use comity_core::runs::{Reached, RunAsk, RunId};
use comity_core::snapshot::Snapshot;
use comity_core::tasks::{TaskAct, TaskAsk, TaskRef};
use comity_core::teams::TeamAsk;
use comity_core::worktrees::{WorktreeAsk, WorktreeInfo};
use comity_core::{Ask, CaseRule, ContentHash, Millis, PathPattern, Principal, Refusal, TokenHash, run};

use crate::judged_asks::{ALL, AskRight, name_of};
use crate::runs::spec;
use crate::script::{Stage, project};

/// Where features say what takes presence.
const FEATURES: [&str; 10] = [
    include_str!("../../src/agents/feature.rs"),
    include_str!("../../src/control/feature.rs"),
    include_str!("../../src/decisions.rs"),
    include_str!("../../src/locks/feature.rs"),
    include_str!("../../src/permissions/feature.rs"),
    include_str!("../../src/pools/feature.rs"),
    include_str!("../../src/runs/feature.rs"),
    include_str!("../../src/tasks/feature.rs"),
    include_str!("../../src/teams.rs"),
    include_str!("../../src/worktrees/feature.rs"),
];
/// Named elsewhere.
const CHANGES_TOKENS: &str = "change tokens or the passphrase";

fn person() -> Asker {
    let proof = Proof::Lineage { lacks: "this has no terminal".into() };
    let origin =
        Origin { proof, process: None, terminal: None, lineage: "cron > sh > comity".into(), window: None };
    Asker { who: Principal::Human, origin: Some(Arc::new(origin)) }
}

/// Ann is here, and has a lock, a worktree, and a tab in a context.
fn stage() -> Stage {
    let mut stage = Stage::default();
    stage.play("ann locks src/a.rs");
    let (pool, kind) = (|| "tabs".into(), PoolKind::Tabs);
    let take = Take {
        pool: pool(),
        label: None,
        wait: None,
        evict_oldest: false,
        ttl: None,
        process: None,
        by_page: false,
    };
    let ann = stage.who("ann");
    for (who, ask) in [
        (Principal::System, PoolAsk::Configure { pool: pool(), kind, capacity: 6 }),
        (ann, PoolAsk::Take(Box::new(take))),
        (ann, PoolAsk::EnterContext { slot: SlotId(1), context: "login".into() }),
    ] {
        assert!(stage.ask("ann", who, &Ask::Pool(ask), None), "{:?}", stage.said);
    }
    let named = |text: &str| -> Box<str> { text.into() };
    let tree =
        WorktreeInfo { slug: named("login"), path: named("/login"), branch: named("b"), base: named("0123") };
    assert!(stage.ask(
        "ann",
        ann,
        &Ask::Worktree(WorktreeAsk::Add { project: project(), tree: Box::new(tree) }),
        None
    ));
    stage
}

/// What only a present human decides, one by one.
fn decisions(stage: &mut Stage) -> Vec<Ask> {
    let agent = stage.who("ann").agent().expect("an agent");
    let (project, slot) = (project(), SlotId(1));
    let patterns = || vec![PathPattern::parse("src/a.rs", CaseRule::Exact).expect("a path")];
    let human = Principal::Human;
    let mut asks = vec![
        Ask::Agent(AgentAsk::Limit { max: 20 }),
        Ask::Agent(AgentAsk::End { agent, ending: Ending::Terminated, cause: "enough".into() }),
        Ask::Lock(LockAsk::Release { project, patterns: patterns(), reason: None }),
        Ask::Lock(LockAsk::Extend { project, patterns: patterns(), ttl: Millis::minutes(9), reason: None }),
        Ask::Lock(LockAsk::HandOver { project, patterns: patterns(), to: human, reason: None }),
        Ask::Lock(LockAsk::Adopt { project, patterns: patterns(), reason: None, into: vec![] }),
        Ask::Worktree(WorktreeAsk::Release { project, slug: "login".into() }),
        Ask::Decision(DecisionAsk::Settle { id: DecisionId(1), confirm: true, reason: None }),
        Ask::Control(ControlAsk::RequestShutdown { agent, reason: None, within: Millis::minutes(1) }),
        Ask::Control(ControlAsk::ForceShutdown { agent, reason: None }),
        Ask::Team(TeamAsk::Delete { name: "red".into() }),
        Ask::Team(TeamAsk::Admit { agent, team: Some("red".into()) }),
    ];
    let permissions = [
        PermissionAsk::Answer {
            request: RequestId(1),
            tool: "Bash".into(),
            hash: ContentHash([0; 32]),
            answer: Answer::Allow { kept: None },
        },
        PermissionAsk::AddRule {
            scope: RuleScope::Below,
            effect: RuleEffect::Allow,
            tool: "Bash".into(),
            class: ToolClass::Shell,
            pattern: None,
        },
        PermissionAsk::RemoveRule { rule: RuleId(1) },
        PermissionAsk::SetMode { agent, mode: Mode::Full },
        PermissionAsk::AnswerPlan {
            plan: RequestId(1),
            answer: PlanAnswer::Approve { mode: Mode::Full, feedback: None },
        },
    ];
    asks.extend(permissions.map(Ask::Permission));
    let acts = [
        TaskAct::Accept,
        TaskAct::SendBack { reason: "no".into() },
        TaskAct::Assign { to: human },
        TaskAct::Pause,
        TaskAct::Resume,
        TaskAct::Retry,
        TaskAct::Reopen,
        TaskAct::Skip,
        TaskAct::Cancel,
    ];
    let on = |act| Ask::Task(TaskAsk::Act { on: TaskRef { project, task: "t1".into() }, attempt: None, act });
    asks.extend(acts.map(on));
    let slots = [
        PoolAsk::Free { slot, reason: None },
        PoolAsk::Extend { slot, ttl: Millis::minutes(9) },
        PoolAsk::HandOver { slot, to: human, reason: None },
        PoolAsk::Share { slot, with: human },
        PoolAsk::Unshare { slot, with: human },
        PoolAsk::Admit { pool: "tabs".into(), context: "login".into(), whom: human },
    ];
    asks.extend(slots.map(Ask::Pool));
    let run = RunId(1);
    let runs = [
        RunAsk::Want { spec: Box::new(spec("ann")) },
        RunAsk::WantTeam { leader: Box::new(spec("boss")), workers: vec![] },
        RunAsk::Resume { run },
        RunAsk::End { run, force: false, again: false },
        RunAsk::Reach { run, how: Reached::Interrupted },
        RunAsk::Reach { run, how: Reached::Attached },
    ];
    asks.extend(runs.map(Ask::Run));
    let people = [
        PersonAsk::MakeToken { name: "ci".into(), hash: TokenHash([9; 32]) },
        PersonAsk::RevokeToken { name: "ci".into() },
        PersonAsk::SetPassphrase { verifier: None },
        PersonAsk::Recognise { up_to: 1, place: Place { lineage: "sh".into(), window: None } },
    ];
    asks.extend(people.map(Ask::Person));
    asks
}

/// The acts that the features name.
fn named() -> BTreeSet<&'static str> {
    let rules = FEATURES
        .iter()
        .flat_map(|source| source.split("fn takes_presence(").chain(source.split("\nfn ")).skip(1));
    let rules = rules.filter(|rule| rule.lines().next().is_some_and(|line| line.contains("Option<")));
    let rules = rules
        .filter_map(|rule| rule.split("\n    }\n\n    fn ").next())
        .filter(|rule| rule.contains("&'static str"));
    let code = rules.flat_map(|rule| rule.split("\n}\n").next()).flat_map(str::lines);
    code.flat_map(|line| line.split('"').skip(1).step_by(2)).chain([CHANGES_TOKENS]).collect()
}

#[test]
fn every_act_that_decides_takes_presence() {
    let mut stage = stage();
    let before = Snapshot::of(&stage.world);
    let (mut tried, mut asks) = (BTreeSet::new(), BTreeSet::new());
    for ask in decisions(&mut stage) {
        asks.insert(name_of(&ask));
        let now = stage.world.now;
        match run(&mut stage.world, person(), &ask, None, now, 1) {
            Err(Refusal::Person(PersonRefusal::NotPresent { act, lacks })) => {
                assert_eq!(lacks, "this has no terminal");
                tried.insert(act);
            }
            other => panic!("{ask:?}: {:?}", other.map(|done| done.answer)),
        }
        let nobody = run(&mut stage.world, Principal::Nobody, &ask, None, now, 1).expect_err("refused");
        assert_eq!(nobody.code(), "unproven", "{ask:?}");
    }
    assert_eq!(tried, named(), "an act that is named in the rule is tried here");
    let judged = ALL.iter().filter(|(_, right)| *right == AskRight::Decides).map(|(name, _)| *name);
    assert_eq!(asks, judged.collect(), "every ask that decides is tried here, and no other");
    assert_eq!(Snapshot::of(&stage.world), before);
}
