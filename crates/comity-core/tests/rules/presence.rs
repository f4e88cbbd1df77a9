//! AG10: everything that decides about others takes a human who is present.

use std::collections::BTreeSet;
use std::sync::Arc;

use comity_core::agents::Ending;
use comity_core::control::ControlAsk;
use comity_core::decisions::{DecisionAsk, DecisionId};
use comity_core::people::{Asker, Origin, PersonAsk, Proof};
use comity_core::permissions::{Answer, Class, Effect, PermissionAsk, PlanAnswer, RequestId, RuleId, Scope};
use comity_core::pools::{PoolAsk, PoolKind, SlotId, Take};
use comity_core::roles::Mode;
use comity_core::snapshot::Snapshot;
use comity_core::tasks::{Act, TaskAsk, TaskRef};
use comity_core::teams::TeamAsk;
use comity_core::worktrees::Tree;
use comity_core::{Ask, CaseRule, ContentHash, Millis, PathPattern, Principal, Refusal, TokenHash, run};

use crate::script::{Stage, project};

/// The rule itself: each act that it names has to be tried here.
const RULE: &str = include_str!("../../src/people/presence.rs");
/// Named elsewhere.
const CHANGES_TOKENS: &str = "change tokens or the passphrase";

fn person() -> Asker {
    let proof = Proof::Lineage { lacks: "this has no terminal".into() };
    let origin = Origin { proof, process: None, terminal: None, lineage: "cron > sh > comity".into() };
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
    let tree = Tree { slug: named("login"), path: named("/login"), branch: named("b"), base: named("0123") };
    assert!(stage.ask("ann", ann, &Ask::AddWorktree { project: project(), tree: Box::new(tree) }, None));
    stage
}

/// What only a present human decides, one by one.
fn decisions(stage: &mut Stage) -> Vec<Ask> {
    let agent = stage.who("ann").agent().expect("an agent");
    let (project, slot) = (project(), SlotId(1));
    let patterns = || vec![PathPattern::parse("src/a.rs", CaseRule::Exact).expect("a path")];
    let human = Principal::Human;
    let mut asks = vec![
        Ask::LimitAgents { max: 20 },
        Ask::End { agent, ending: Ending::Terminated, cause: "enough".into() },
        Ask::Release { project, patterns: patterns(), reason: None },
        Ask::Extend { project, patterns: patterns(), ttl: Millis::minutes(9), reason: None },
        Ask::HandOver { project, patterns: patterns(), to: human, reason: None },
        Ask::Adopt { project, patterns: patterns(), reason: None, into: vec![] },
        Ask::ReleaseWorktree { project, slug: "login".into() },
        Ask::Decision(DecisionAsk::Settle { id: DecisionId(1), confirm: true, reason: None }),
        Ask::Control(ControlAsk::RequestShutdown { agent, reason: None, within: Millis::minutes(1) }),
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
            scope: Scope::Below,
            effect: Effect::Allow,
            tool: "Bash".into(),
            class: Class::Shell,
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
        Act::Accept,
        Act::SendBack { reason: "no".into() },
        Act::Assign { to: human },
        Act::Pause,
        Act::Resume,
        Act::Retry,
        Act::Reopen,
        Act::Skip,
        Act::Cancel,
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
    let people = [
        PersonAsk::MakeToken { name: "ci".into(), hash: TokenHash([9; 32]) },
        PersonAsk::RevokeToken { name: "ci".into() },
        PersonAsk::SetPassphrase { verifier: None },
        PersonAsk::Recognise { up_to: 1, lineage: "sh".into() },
    ];
    asks.extend(people.map(Ask::Person));
    asks
}

/// The acts that the rule names.
fn named() -> BTreeSet<&'static str> {
    let code = RULE.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let texts = code.flat_map(|line| line.split('"').skip(1).step_by(2));
    texts.filter(|text| *text != "nothing proves who you are").chain([CHANGES_TOKENS]).collect()
}

#[test]
fn every_act_that_decides_takes_presence() {
    let mut stage = stage();
    let before = Snapshot::of(&stage.world);
    let mut tried = BTreeSet::new();
    for ask in decisions(&mut stage) {
        let now = stage.world.now;
        match run(&mut stage.world, person(), &ask, None, now, 1) {
            Err(Refusal::NotPresent { act, lacks }) => {
                assert_eq!(lacks, "this has no terminal");
                tried.insert(act);
            }
            other => panic!("{ask:?}: {:?}", other.map(|done| done.answer)),
        }
        let nobody = run(&mut stage.world, Principal::Nobody, &ask, None, now, 1).expect_err("refused");
        assert_eq!(nobody.code(), "unproven", "{ask:?}");
    }
    assert_eq!(tried, named(), "an act that is named in the rule is tried here");
    assert_eq!(Snapshot::of(&stage.world), before);
}
