//! A leader and its workers: they come and go with it.

use comity_core::permissions::{PermissionAsk, PlanAnswer, RequestId, mode_of};
use comity_core::roles::Mode;
use comity_core::runs::{RunAsk, RunEvent, RunExit, RunId, RunSpec, RunState};
use comity_core::{Ask, Event, Millis, Principal};
use expect_test::expect;

use super::{Crew, spec};
use crate::people::present;

impl Crew {
    fn wants_team(&mut self, who: Principal, names: &[&str]) -> Vec<RunId> {
        let [leader, workers @ ..] = names else { panic!("a leader") };
        let leader = Box::new(RunSpec { role: Some("lead".into()), ..spec(leader) });
        let workers = workers.iter().map(|name| spec(name)).collect();
        let ask = Ask::Run(RunAsk::WantTeam { leader, workers });
        let answer = match who {
            Principal::Human => self.ask(present(), ask),
            other => self.ask(other, ask),
        };
        let wanted = |event: Event| match event {
            Event::Run(RunEvent::Wanted { run, .. }) => run,
            other => panic!("{other:?}"),
        };
        answer.expect("wanted").into_iter().map(wanted).collect()
    }
}

#[test]
fn workers_start_when_their_leader_runs_and_are_below_it() {
    let mut crew = Crew::new();
    let runs = crew.wants_team(Principal::Human, &["boss", "ann", "bob"]);
    crew.starts(runs[1]).expect_err("nobody leads it yet");
    let boss = crew.starts(runs[0]).expect("started");
    for worker in &runs[1..] {
        let agent = crew.starts(*worker).expect("started");
        assert_eq!(crew.world.agents.get(agent).expect("an agent").profile.parent, Some(boss));
    }
    let twice = vec![spec("cat"), spec("cat")];
    let ask = Ask::Run(RunAsk::WantTeam { leader: Box::new(spec("dan")), workers: twice });
    crew.ask(present(), ask).expect_err("two of one name");
}

#[test]
fn workers_start_when_the_plan_of_their_leader_is_approved() {
    let mut crew = Crew::new();
    let leader = Box::new(RunSpec { role: Some("lead".into()), plan: true, ..spec("boss") });
    let ask = Ask::Run(RunAsk::WantTeam { leader, workers: vec![spec("ann")] });
    crew.ask(present(), ask).expect("wanted");
    let [boss_run, ann_run] = [RunId(1), RunId(2)];
    let boss = crew.starts(boss_run).expect("started");
    crew.starts(ann_run).expect_err("there is no plan yet");
    let submit = PermissionAsk::SubmitPlan { file: "plan.md".into(), content: "One task.".into() };
    crew.ask(Principal::Agent(boss), Ask::Permission(submit)).expect("submitted");
    crew.starts(ann_run).expect_err("nobody has approved it");
    let answer = PlanAnswer::Approve { mode: Mode::Ask, feedback: None };
    let approve = PermissionAsk::AnswerPlan { plan: RequestId(1), answer };
    crew.ask(present(), Ask::Permission(approve)).expect("approved");
    let ann = crew.starts(ann_run).expect("started");
    assert_eq!(mode_of(&crew.world, ann), Mode::Ask);
}

#[test]
fn workers_come_back_with_a_leader_that_crashed() {
    let mut crew = Crew::new();
    let runs = crew.wants_team(Principal::Human, &["boss", "ann"]);
    let boss = crew.starts(runs[0]).expect("started");
    let ann = crew.starts(runs[1]).expect("started");
    let since = crew.log.len();
    crew.exits(runs[0], boss, RunExit::Signal(9));
    assert_eq!(crew.run(runs[1]).state, RunState::Ending { agent: ann, force: false, again: true });
    crew.exits(runs[1], ann, RunExit::Signal(15));
    crew.starts(runs[1]).expect_err("its leader is not back yet");
    crew.pass(Millis::seconds(2));
    let boss = crew.starts(runs[0]).expect("it comes back");
    let ann = crew.starts(runs[1]).expect("and so does its worker");
    assert_eq!(crew.world.agents.get(ann).expect("an agent").profile.parent, Some(boss));
    assert_eq!(crew.run(runs[1]).crashes, 0, "that was no crash of its own");
    crew.check(
        since,
        &expect![[r#"
        boss failed: its program crashed: killed by signal 9
        ann terminated: boss ended
        the program of boss ended: killed by signal 9
        boss crashed, and is started again in 2s
        comity had ann restarted
        the program of ann ended: killed by signal 15
        ann is started again
        boss joined as lead
        boss is being started again
        boss is process 1004
        boss runs as process 1004
        ann joined
        ann is being started
        ann is process 1005
        ann runs as process 1005"#]],
    );

    // A leader that is done has no workers.
    crew.exits(runs[0], boss, RunExit::Code(0));
    crew.exits(runs[1], ann, RunExit::Signal(15));
    assert!(crew.run(runs[1]).is_over());
}

#[test]
fn a_team_is_resumed_as_a_whole() {
    let mut crew = Crew::new();
    let runs = crew.wants_team(Principal::Human, &["boss", "ann"]);
    let boss = crew.starts(runs[0]).expect("started");
    crew.starts(runs[1]).expect("started");
    // One that the leader has started itself belongs to it, too.
    let own = crew.wants(Principal::Agent(boss), spec("bob")).expect("wanted");
    crew.starts(own).expect("started");
    for run in [runs[0], runs[1], own] {
        crew.system(RunAsk::Interrupt { run }).expect("interrupted");
    }
    for run in [runs[0], runs[1], own] {
        assert_eq!(crew.run(run).state, RunState::Interrupted);
        crew.ask(present(), Ask::Run(RunAsk::Resume { run })).expect("resumed");
    }
    let boss = crew.starts(runs[0]).expect("started");
    for run in [runs[1], own] {
        let agent = crew.starts(run).expect("started");
        assert_eq!(crew.world.agents.get(agent).expect("an agent").profile.parent, Some(boss));
    }
    let stop = Ask::Run(RunAsk::End { run: own, force: false, again: false });
    crew.ask(Principal::Agent(boss), stop)
        .expect("it is its leader's, though another agent of it had it started");
}

#[test]
fn the_limit_counts_the_whole_team() {
    let mut crew = Crew::new();
    crew.world.agents.limit.configured = Some(2);
    let ask = |names: [&str; 2]| {
        Ask::Run(RunAsk::WantTeam { leader: Box::new(spec("boss")), workers: names.map(spec).to_vec() })
    };
    crew.ask(present(), ask(["ann", "bob"])).expect_err("three are too many");
    assert_eq!(crew.world.runs.iter().count(), 0, "nobody comes then");
    crew.wants_team(Principal::Human, &["boss", "ann"]);
}

#[test]
fn what_was_given_up_waits_in_the_inbox_until_somebody_takes_note() {
    use comity_core::inbox::{InboxItem, waiting_for};
    let mut crew = Crew::new();
    let lead = crew.joins("lead", Some("lead"));
    let run = crew.wants(lead, spec("ann")).expect("wanted");
    let fails = |crew: &mut Crew| {
        while !crew.run(run).is_over() {
            let agent = crew.starts(run).expect("started");
            crew.exits(run, agent, RunExit::Code(3));
            crew.pass(Millis::seconds(2));
        }
    };
    let has = |crew: &Crew, who| {
        waiting_for(&crew.world, who).iter().any(|item| matches!(item, InboxItem::GaveUp(up) if up.id == run))
    };
    fails(&mut crew);
    assert!(has(&crew, lead) && !has(&crew, Principal::Human), "it is who wanted it that hears of it");
    crew.ask(lead, Ask::Run(RunAsk::Resume { run })).expect("resumed");
    assert!(!has(&crew, lead));
    fails(&mut crew);
    let dev = crew.joins("dev", None);
    crew.ask(dev, Ask::Run(RunAsk::Note { run })).expect_err("it is not dev's");
    crew.ask(lead, Ask::Run(RunAsk::Note { run })).expect("noted");
    assert!(!has(&crew, lead));
    let head = crew.world.head;
    crew.ask(lead, Ask::Run(RunAsk::Note { run })).expect("nothing changes");
    assert_eq!(crew.world.head, head);
    crew.ask(lead, Ask::Run(RunAsk::Resume { run })).expect("resumed");
    fails(&mut crew);
    assert!(has(&crew, lead), "a later end is news again");
}
