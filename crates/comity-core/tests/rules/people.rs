//! AG10: nobody changes anything, a person decides nothing without being present, and tokens stand in for the human.

use std::sync::Arc;

use comity_core::agents::{AgentAsk, Ending, Process, Profile, Since};
use comity_core::locks::{LockAsk, LockMode, Wanted};
use comity_core::notices::NoticeAsk;
use comity_core::people::{Asker, Origin, PersonAsk, Proof};
use comity_core::permissions::{PermissionAsk, mode_of};
use comity_core::projects::ProjectAsk;
use comity_core::roles::Mode;
use comity_core::server::ServerAsk;
use comity_core::snapshot::Snapshot;
use comity_core::teams::TeamAsk;
use comity_core::world::Timeouts;
use comity_core::{
    AgentId, Ask, CaseRule, Event, Millis, PathPattern, Principal, ProjectId, Record, Refusal, Timestamp,
    TokenHash, World, run,
};

const PROJECT: u64 = 1;

pub(crate) fn asker(proof: Proof, lineage: &str) -> Asker {
    asker_in(proof, lineage, None)
}

pub(crate) fn asker_in(proof: Proof, lineage: &str, window: Option<Process>) -> Asker {
    let process = Some(Process { pid: 7, start: 7 });
    let origin = Origin { proof, process, terminal: Some("pts/3".into()), lineage: lineage.into(), window };
    Asker { who: Principal::Human, origin: Some(Arc::new(origin)) }
}

pub(crate) fn present() -> Asker {
    asker(Proof::Terminal, "sshd > bash > comity")
}

pub(crate) fn person() -> Asker {
    asker(Proof::Lineage { lacks: "this has no terminal".into() }, "cron > sh > comity")
}

pub(crate) fn id(number: u64) -> AgentId {
    AgentId::from_bits(number)
}

pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) log: Vec<Record>,
}

impl Scene {
    /// Ann is here, and has src/a.rs.
    pub(crate) fn new() -> Scene {
        let mut scene = Scene { world: World::new(Timeouts::default()), log: vec![] };
        let (project, case) = (ProjectId::from_bits(PROJECT), CaseRule::Exact);
        scene
            .ask(
                Principal::System,
                Ask::Project(ProjectAsk::Add { project, common_dir: "/r/.git".into(), case }),
            )
            .expect("a project");
        scene.join(present(), 1, "ann", None).expect("joined");
        scene.ask(Principal::Agent(id(1)), lock("src/a.rs")).expect("locked");
        scene
    }

    pub(crate) fn ask(&mut self, who: impl Into<Asker>, ask: Ask) -> Result<Vec<Event>, Refusal> {
        let outcome = run(&mut self.world, who, &ask, None, Timestamp(1), 1)?;
        self.log.extend(outcome.records);
        Ok(outcome.answer)
    }

    pub(crate) fn join(
        &mut self,
        by: impl Into<Asker>,
        number: u64,
        name: &str,
        team: Option<&str>,
    ) -> Result<Vec<Event>, Refusal> {
        let mut token = [0; 32];
        token[0] = u8::try_from(number).expect("few");
        let process = Some(Process { pid: 100, start: number });
        let profile =
            Profile { name: name.into(), team: team.map(Into::into), process, ..Profile::default() };
        self.ask(
            by,
            Ask::Agent(AgentAsk::Join {
                agent: id(number),
                token: TokenHash(token),
                profile: Box::new(profile),
            }),
        )
    }

    pub(crate) fn join_with(
        &mut self,
        by: impl Into<Asker>,
        number: u64,
        profile: Profile,
    ) -> Result<Vec<Event>, Refusal> {
        let token = TokenHash([u8::try_from(number).expect("few"); 32]);
        self.ask(by, Ask::Agent(AgentAsk::Join { agent: id(number), token, profile: Box::new(profile) }))
    }

    pub(crate) fn join_as(&mut self, by: impl Into<Asker>, number: u64, name: &str, role: &str) {
        let profile = Profile { name: name.into(), role: Some(role.into()), ..Profile::default() };
        self.join_with(by, number, profile).expect("joined");
    }

    pub(crate) fn join_in(
        &mut self,
        by: impl Into<Asker>,
        number: u64,
        name: &str,
        session: &str,
    ) -> Result<Vec<Event>, Refusal> {
        self.join_with(
            by,
            number,
            Profile { name: name.into(), session: Some(session.into()), ..Profile::default() },
        )
    }

    fn team_of(&self, number: u64) -> (Option<&str>, Option<&str>) {
        let profile = &self.world.agents.get(id(number)).expect("known").profile;
        (profile.team.as_deref(), profile.wished_team.as_deref())
    }
}

fn path(text: &str) -> PathPattern {
    PathPattern::parse(text, CaseRule::Exact).expect("a path")
}

pub(crate) fn lock(text: &str) -> Ask {
    let (project, mode, ttl) = (ProjectId::from_bits(PROJECT), LockMode::Exclusive, Millis::minutes(5));
    Ask::Lock(LockAsk::Lock {
        wants: vec![Wanted {
            project,
            pattern: path(text),
            mode,
            ttl,
            reason: None,
            with_children: false,
            worktree: None,
        }],
        wait: None,
    })
}

fn make_token(name: &str) -> Ask {
    Ask::Person(PersonAsk::MakeToken { name: name.into(), hash: TokenHash([9; 32]) })
}

/// What only a present human decides.
fn decisions() -> Vec<Ask> {
    let (project, patterns) = (ProjectId::from_bits(PROJECT), vec![path("src/a.rs")]);
    vec![
        Ask::Permission(PermissionAsk::SetMode { agent: id(1), mode: Mode::Full }),
        Ask::Lock(LockAsk::Extend {
            project,
            patterns: patterns.clone(),
            ttl: Millis::minutes(9),
            reason: None,
        }),
        Ask::Lock(LockAsk::HandOver {
            project,
            patterns: patterns.clone(),
            to: Principal::Human,
            reason: None,
        }),
        Ask::Lock(LockAsk::Release { project, patterns, reason: None }),
        Ask::Agent(AgentAsk::Limit { max: 20 }),
        Ask::Team(TeamAsk::Admit { agent: id(1), team: Some("red".into()) }),
        make_token("ci"),
        Ask::Person(PersonAsk::SetPassphrase { verifier: Some("x".into()) }),
        Ask::Agent(AgentAsk::End { agent: id(1), ending: Ending::Terminated, cause: "enough".into() }),
    ]
}

#[test]
fn nobody_changes_anything() {
    let mut scene = Scene::new();
    let before = Snapshot::of(&scene.world);
    for ask in decisions().into_iter().chain([
        lock("src/b.rs"),
        Ask::Lock(LockAsk::UnlockAll { project: None }),
        Ask::Notice(NoticeAsk::Take),
    ]) {
        let refused = scene.ask(Principal::Nobody, ask.clone()).expect_err("refused");
        assert_eq!(refused.code(), "unproven", "{ask:?}");
    }
    assert_eq!(Snapshot::of(&scene.world), before);
}

#[test]
fn a_person_who_is_not_present_decides_nothing() {
    let mut scene = Scene::new();
    for ask in decisions() {
        let refused = scene.ask(person(), ask.clone()).expect_err("refused");
        assert_eq!(refused.code(), "not_present", "{ask:?}");
        assert!(refused.to_string().ends_with("this has no terminal"), "{refused}");
    }
    scene.ask(person(), lock("src/b.rs")).expect("a person may lock");
    let (project, patterns) = (ProjectId::from_bits(PROJECT), vec![path("src/b.rs")]);
    scene
        .ask(person(), Ask::Lock(LockAsk::Release { project, patterns, reason: None }))
        .expect("and release what is its own");
    for ask in decisions() {
        scene.ask(present(), ask.clone()).unwrap_or_else(|refused| panic!("{ask:?}: {refused}"));
    }
}

#[test]
fn a_repeat_by_nobody_does_not_get_the_humans_answer() {
    let mut scene = Scene::new();
    let key = comity_core::Key::new("k").expect("a key");
    let (ask, now) = (make_token("ci"), Timestamp(1));
    run(&mut scene.world, present(), &ask, Some(&key), now, 0).expect("made");
    assert!(run(&mut scene.world, Principal::Nobody, &ask, Some(&key), now, 0).is_err());
    assert!(run(&mut scene.world, person(), &ask, Some(&key), now, 0).is_err());
}

#[test]
fn a_team_is_a_wish_unless_the_human_or_a_leader_says_so() {
    let mut scene = Scene::new();
    scene.join(person(), 2, "bob", Some("red")).expect("joined");
    assert_eq!(scene.team_of(2), (None, Some("red")));
    scene.join(present(), 3, "cat", Some("red")).expect("joined");
    assert_eq!(scene.team_of(3), (Some("red"), None));
    let (ann, bob, cat) = (Principal::Agent(id(1)), Principal::Agent(id(2)), Principal::Agent(id(3)));
    scene.join(ann, 4, "dan", Some("red")).expect("joined");
    assert_eq!(scene.team_of(4), (None, Some("red")), "ann has no say in that team");
    scene.join(cat, 5, "eve", Some("red")).expect("joined");
    assert_eq!(scene.team_of(5), (Some("red"), None), "a member brings its own child");
    let admit = |agent| Ask::Team(TeamAsk::Admit { agent: id(agent), team: None });
    for nosy in [ann, bob, cat] {
        assert_eq!(scene.ask(nosy, admit(2)).expect_err("refused").code(), "not_allowed");
    }
    scene.ask(present(), admit(2)).expect("admitted");
    assert_eq!(scene.team_of(2), (Some("red"), None));
    scene.ask(ann, Ask::Team(TeamAsk::Create { name: "blue".into(), purpose: None })).expect("a team");
    scene.join(person(), 6, "fay", Some("blue")).expect("joined");
    scene.ask(ann, admit(6)).expect("its leader admits");
    assert_eq!(scene.team_of(6), (Some("blue"), None));
}

#[test]
fn whoever_leads_a_team_admits_who_asked_for_it_and_who_is_below() {
    let mut scene = Scene::new();
    let (ann, cat, dan) = (Principal::Agent(id(1)), Principal::Agent(id(2)), Principal::Agent(id(4)));
    scene.join(person(), 2, "cat", None).expect("joined");
    scene.ask(ann, Ask::Team(TeamAsk::Create { name: "green".into(), purpose: None })).expect("a team");
    let admit = |agent| Ask::Team(TeamAsk::Admit { agent: id(agent), team: Some("green".into()) });
    scene.join(cat, 3, "helper", Some("green")).expect("started by cat, and asks for green");
    assert_eq!(scene.ask(cat, admit(3)).expect_err("refused").code(), "not_allowed", "cat does not lead it");
    scene.ask(ann, admit(3)).expect("it asked for her team");
    assert_eq!(scene.team_of(3), (Some("green"), None));
    scene.join(ann, 4, "dan", None).expect("joined");
    scene.join(dan, 5, "eve", None).expect("joined");
    scene.ask(ann, admit(5)).expect("she leads who leads it");
    assert_eq!(scene.ask(ann, admit(2)).expect_err("refused").code(), "not_allowed", "cat did not ask");
    assert_eq!(scene.ask(ann, admit(1)).expect_err("refused").code(), "not_allowed", "nor herself");
}

#[test]
fn a_process_is_one_agents() {
    let mut scene = Scene::new();
    scene.join(present(), 2, "bob", None).expect("joined");
    let profile =
        Profile { name: "cat".into(), process: Some(Process { pid: 100, start: 2 }), ..Profile::default() };
    let ask =
        Ask::Agent(AgentAsk::Join { agent: id(3), token: TokenHash([3; 32]), profile: Box::new(profile) });
    for by in [Asker::from(Principal::Agent(id(1))), Principal::Agent(id(2)).into(), present()] {
        assert_eq!(scene.ask(by, ask.clone()).expect_err("refused").code(), "not_allowed");
    }
}

#[test]
fn an_agent_beside_another_has_no_wider_mode_and_outlives_it() {
    let mut scene = Scene::new();
    let plan = |agent| Ask::Permission(PermissionAsk::SetMode { agent: id(agent), mode: Mode::Plan });
    scene.ask(present(), plan(1)).expect("plan mode");
    let profile = Box::new(Profile { name: "bob".into(), ..Profile::default() });
    let beside = Ask::Agent(AgentAsk::AttachBeside { agent: id(2), token: TokenHash([2; 32]), profile });
    scene.ask(Principal::Agent(id(1)), beside).expect("attached");
    assert_eq!(mode_of(&scene.world, id(2)), Mode::Plan);
    let end = Ask::Agent(AgentAsk::End { agent: id(1), ending: Ending::Completed, cause: "done".into() });
    scene.ask(Principal::Agent(id(1)), end).expect("ended");
    assert!(scene.world.agents.living(id(2)).is_ok(), "one that closes ends only itself");
}

#[test]
fn tokens_are_made_once_and_revoked() {
    let mut scene = Scene::new();
    scene.ask(present(), make_token("ci")).expect("made");
    assert_eq!(scene.world.people.token(&TokenHash([9; 32])), Some("ci"));
    assert_eq!(scene.ask(present(), make_token("ci")).expect_err("taken").code(), "bad_input");
    assert!(scene.ask(present(), make_token("other")).is_err(), "the same secret twice");
    assert!(scene.ask(Principal::Agent(id(1)), make_token("mine")).is_err(), "an agent");
    let revoke = || Ask::Person(PersonAsk::RevokeToken { name: "ci".into() });
    scene.ask(present(), revoke()).expect("revoked");
    assert_eq!(scene.world.people.token(&TokenHash([9; 32])), None);
    assert_eq!(scene.ask(present(), revoke()).expect_err("gone").code(), "not_found");
}

#[test]
fn groups_of_agents_are_remembered_until_the_machine_boots() {
    let mut scene = Scene::new();
    let start = |boot: &str| {
        Ask::Server(ServerAsk::Start {
            fence_floor: comity_core::Fence(0),
            version: "0".into(),
            boot: Some(boot.into()),
            uptime: None,
        })
    };
    scene.ask(Principal::System, start("one")).expect("started");
    let join = |at: u64, start: u64, group: Option<&str>| {
        Ask::Agent(AgentAsk::Join {
            agent: id(at),
            token: TokenHash([at as u8; 32]),
            profile: Box::new(Profile {
                name: format!("agent{at}").into(),
                since: Some(Since { start, group: group.map(Into::into) }),
                ..Profile::default()
            }),
        })
    };
    scene.ask(present(), join(50, 100, Some("a"))).expect("joined");
    scene.ask(present(), join(51, 90, Some("b"))).expect("joined");
    scene.ask(Principal::Agent(id(50)), end(50)).expect("ended");
    let may_be = |scene: &Scene, start: u64, own: &str| {
        scene.world.people.may_be_an_agents(start, |group| group.is_none_or(|group| group == own))
    };
    assert!(may_be(&scene, 100, "a"), "also after it ended");
    assert!(!may_be(&scene, 99, "a"), "nothing is older than what started it");
    assert!(may_be(&scene, 95, "b") && !may_be(&scene, 200, "c"));
    for at in 0..80 {
        scene.ask(present(), join(100 + at, 120, Some(&format!("group {at}")))).expect("joined");
    }
    assert!(may_be(&scene, 120, "one that nobody has heard of"), "too many to tell apart");
    scene.ask(Principal::System, start("two")).expect("started");
    assert!(!may_be(&scene, 200, "a"), "numbers of another boot mean nothing");
}

#[test]
fn a_program_that_comes_again_has_no_wider_mode() {
    let mut scene = Scene::new();
    let process = Some(Process { pid: 7, start: 1 });
    let join = |at: u64| {
        Ask::Agent(AgentAsk::Join {
            agent: id(at),
            token: TokenHash([at as u8; 32]),
            profile: Box::new(Profile { name: format!("agent{at}").into(), process, ..Profile::default() }),
        })
    };
    scene.ask(present(), join(50)).expect("joined");
    let plan = PermissionAsk::SetMode { agent: id(50), mode: Mode::Plan };
    scene.ask(present(), Ask::Permission(plan)).expect("set");
    scene.ask(Principal::Agent(id(50)), end(50)).expect("ended");
    scene.ask(Principal::Nobody, join(51)).expect("joined");
    assert_eq!(mode_of(&scene.world, id(51)), Mode::Plan);
}

fn end(at: u64) -> Ask {
    Ask::Agent(AgentAsk::End { agent: id(at), ending: Ending::Exited, cause: "bye".into() })
}
