//! AG10: acts in the human's name from new places are asked about ("was it you?").

use comity_core::agents::{AgentAsk, Ending, Process};
use comity_core::inbox::{self, InboxItem};
use comity_core::limits::UNSEEN_ACTS_MAX;
use comity_core::people::{Asker, PersonAsk, PersonEvent, Place, Proof};
use comity_core::{Ask, Event, Principal, Record};

use crate::people::{Scene, asker, asker_in, id, lock, present};

#[test]
fn acts_are_recorded_with_where_they_came_from_and_new_places_are_shown_once() {
    let mut scene = Scene::new();
    let elsewhere = asker(Proof::Terminal, "tmux > python3 > comity");
    scene.ask(elsewhere, lock("src/c.rs")).expect("locked");
    scene.ask(asker(Proof::Terminal, "tmux > python3 > comity"), lock("src/d.rs")).expect("locked");
    let acts = scene.log.iter().filter(|record| record.by == Principal::Human);
    assert!(acts.clone().all(|record| record.from.as_deref().is_some_and(|from| from.process.is_some())));
    let at = |lineage: &str| Place { lineage: lineage.into(), window: None };
    let home = &at("sshd > bash > comity");
    let unseen: Vec<String> =
        scene.world.people.unseen(home).map(|act| act.origin.lineage.to_string()).collect();
    assert_eq!(unseen, ["tmux > python3 > comity"], "told once, and not of the place where it began");
    assert_eq!(scene.world.people.unseen(&at("tmux > python3 > comity")).count(), 0, "not to whoever did it");
    let up_to = scene.world.people.unseen(home).last().expect("one").seq;
    // Somewhere that was not known before the act proves nothing: it may be whoever acted.
    let newer = "tmux > python3 > bash > comity";
    scene.ask(asker(Proof::Terminal, newer), lock("src/e.rs")).expect("locked");
    let recognise = |lineage: &str| Ask::Person(PersonAsk::Recognise { up_to, place: at(lineage) });
    scene.ask(asker(Proof::Terminal, newer), recognise(newer)).expect("shown");
    assert_eq!(scene.world.people.unseen(&at(newer)).count(), 0, "not again there");
    assert!(scene.ask(asker(Proof::Terminal, newer), recognise(newer)).expect("nothing").is_empty());
    assert_eq!(scene.world.people.unseen(home).count(), 2);
    let shown = scene.ask(present(), recognise(&home.lineage)).expect("shown");
    assert!(matches!(shown[..], [Event::Person(PersonEvent::Recognised { .. })]));
    let unseen: Vec<&str> = scene.world.people.unseen(home).map(|act| &*act.origin.lineage).collect();
    assert_eq!(unseen, [newer], "what came after is shown the next time");
}

/// Acts in windows of a multiplexer; says in which of them something was asked about, as it is shown at home.
fn asked(scene: &mut Scene, acts: &[(u32, Ask)]) -> Vec<u32> {
    let kind = "tmux: server > sh > comity";
    let window = |pid: u32| Some(Process { pid, start: u64::from(pid) });
    for (pid, ask) in acts {
        scene.ask(asker_in(Proof::Terminal, kind, window(*pid)), ask.clone()).expect("done");
    }
    let home = present().origin.expect("an origin").place();
    scene.world.people.unseen(&home).filter_map(|act| Some(act.origin.window?.pid)).collect()
}

fn limit(max: usize) -> Ask {
    Ask::Agent(AgentAsk::Limit { max })
}

#[test]
fn each_window_that_an_agent_may_have_opened_is_asked_about_when_something_is_decided_there() {
    let mut scene = Scene::new();
    assert_eq!(asked(&mut scene, &[(1, lock("src/c.rs"))]), [1], "these programs are new");
    assert_eq!(
        asked(&mut scene, &[(2, lock("src/d.rs")), (3, lock("src/e.rs"))]),
        [1],
        "a person opens many"
    );
    assert_eq!(asked(&mut scene, &[(2, limit(9))]), [1, 2], "but an agent opens one to decide");
    assert_eq!(asked(&mut scene, &[(2, limit(8)), (3, limit(7)), (3, limit(6))]), [1, 2, 3], "once for each");
    // The same number again is another window.
    let again = Some(Process { pid: 3, start: 99 });
    scene.ask(asker_in(Proof::Terminal, "tmux: server > sh > comity", again), limit(5)).expect("done");
    assert_eq!(asked(&mut scene, &[]), [1, 2, 3, 3]);
}

#[test]
fn what_else_is_decided_at_a_new_place_is_asked_about_until_that_is_settled() {
    let mut scene = Scene::new();
    let home = present().origin.expect("an origin").place();
    let mut acts = |ask: Ask| {
        scene.ask(asker(Proof::Terminal, "tmux > python3 > comity"), ask).expect("done");
        let asked: Vec<(u64, String)> =
            scene.world.people.unseen(&home).map(|act| (act.seq, act.act.to_string())).collect();
        let seq = asked.last().map_or(0, |(seq, _)| *seq);
        (asked.into_iter().map(|(_, act)| act).collect::<Vec<_>>().join(" "), seq)
    };
    assert_eq!(acts(lock("src/c.rs")).0, "lock_acquired", "it looks harmless");
    assert_eq!(acts(limit(9)).0, "lock_acquired agents_limited");
    assert_eq!(acts(lock("src/d.rs")).0, "lock_acquired agents_limited", "that decides nothing");
    let (asked, up_to) = acts(limit(8));
    assert_eq!(asked, "lock_acquired agents_limited", "each kind of act once");
    scene.ask(present(), Ask::Person(PersonAsk::Recognise { up_to, place: home.clone() })).expect("shown");
    scene.ask(asker(Proof::Terminal, "tmux > python3 > comity"), limit(7)).expect("done");
    assert_eq!(scene.world.people.unseen(&home).count(), 0, "it is a place like others now");
}

#[test]
fn a_question_is_settled_at_home_and_shown_once_in_each_other_window() {
    let mut scene = Scene::new();
    let kind = "tmux: server > sh > comity";
    let window = |pid: u32| asker_in(Proof::Terminal, kind, Some(Process { pid, start: 1 }));
    let place = |asker: &Asker| asker.origin.as_ref().expect("an origin").place();
    scene.ask(window(1), limit(9)).expect("done");
    scene.ask(window(2), limit(8)).expect("done");
    let up_to = scene.world.people.unseen(&place(&present())).last().expect("one").seq;
    let mut look = |asker: &Asker| {
        let shown = scene.world.people.unseen(&place(asker)).count();
        let recognise = Ask::Person(PersonAsk::Recognise { up_to, place: place(asker) });
        scene.ask(asker.clone(), recognise).expect("shown");
        shown
    };
    assert_eq!([look(&window(3)), look(&window(3))], [2, 0], "once");
    assert_eq!(look(&window(2)), 1, "not its own");
    assert_eq!(look(&present()), 2, "what a newer window was shown is not settled");
    assert_eq!([look(&present()), look(&window(4))], [0, 0], "now it is");
}

#[test]
fn agents_that_join_are_no_new_place_and_an_end_is_called_that() {
    let mut scene = Scene::new();
    let elsewhere = asker(Proof::Terminal, "tmux > copilot > comity");
    let home = present().origin.expect("an origin").place();
    scene.join(elsewhere.clone(), 2, "copilot", None).expect("joined");
    assert_eq!(scene.world.people.unseen(&home).count(), 0, "agent programs come in from anywhere");
    scene.ask(Principal::Agent(id(2)), lock("src/b.rs")).expect("locked");
    let (agent, ending) = (id(2), Ending::Terminated);
    let end = AgentAsk::End { agent, ending, cause: "said goodbye".into() };
    scene.ask(elsewhere, Ask::Agent(end)).expect("ended");
    let asked: Vec<&str> = scene.world.people.unseen(&home).map(|act| &*act.act).collect();
    assert_eq!(asked, ["agent_terminated"], "not what it gave up");
}

#[test]
fn the_inbox_has_one_entry_for_all_new_places_until_they_are_settled() {
    let mut scene = Scene::new();
    for number in 0..3 {
        let from = asker(Proof::Terminal, &format!("tmux > program-{number} > comity"));
        scene.ask(from, limit(5 + number % 2)).expect("done");
    }
    let entries = |scene: &Scene, asker: &Asker| {
        let items = inbox::waiting_at(&scene.world, asker);
        items
            .iter()
            .map(|item| match item {
                InboxItem::NewPlaces { acts, .. } => *acts,
                other => panic!("{other:?}"),
            })
            .collect::<Vec<usize>>()
    };
    assert_eq!(entries(&scene, &present()), [3]);
    assert_eq!(entries(&scene, &asker(Proof::Terminal, "tmux > program-1 > comity")), [2], "not its own");
    assert_eq!(
        entries(&scene, &asker(Proof::Token("ci".into()), "cron > comity")),
        [0; 0],
        "scripts look at nothing"
    );
    let place = present().origin.expect("an origin").place();
    let up_to = scene.world.people.unsettled().last().expect("an act").seq;
    scene.ask(present(), Ask::Person(PersonAsk::Recognise { up_to, place })).expect("shown");
    assert_eq!(entries(&scene, &present()), [0; 0]);
}

#[test]
fn many_windows_do_not_make_home_strange() {
    let mut scene = Scene::new();
    scene.ask(present(), limit(9)).expect("done");
    for pid in 0..300 {
        asked(&mut scene, &[(pid, limit(8 - pid as usize % 2))]);
    }
    let told = scene.ask(present(), limit(9)).expect("done");
    assert!(!told.iter().any(|event| matches!(event, Event::Person(_))), "{told:?}");
    let new = |record: &Record| {
        matches!(&record.event, Event::Person(PersonEvent::ActedFromNewPlace { window: None, .. }))
    };
    assert_eq!(scene.log.iter().filter(|record| new(record)).count(), 1);
}

#[test]
fn of_too_many_questions_the_newest_are_kept_and_the_others_counted() {
    let mut scene = Scene::new();
    let home = present().origin.expect("an origin").place();
    let more = 8;
    for number in 0..UNSEEN_ACTS_MAX + more {
        let from = asker(Proof::Terminal, &format!("tmux > program-{number} > comity"));
        scene.ask(from, limit(5 + number % 2)).expect("done");
    }
    let unseen: Vec<_> = scene.world.people.unseen(&home).collect();
    let lineages = [unseen.first(), unseen.last()].map(|act| &*act.expect("an act").origin.lineage);
    let newest = UNSEEN_ACTS_MAX + more - 1;
    assert_eq!(
        lineages,
        [format!("tmux > program-{more} > comity"), format!("tmux > program-{newest} > comity")]
    );
    let left_out: Vec<u32> = unseen.iter().map(|act| act.left_out).collect();
    assert_eq!((left_out[0], left_out[1..].iter().sum()), (8, 0), "those before the first that is shown");
    let up_to = unseen.last().expect("an act").seq;
    let recognise = Ask::Person(PersonAsk::Recognise { up_to, place: home.clone() });
    scene.ask(present(), recognise).expect("shown");
    assert_eq!(scene.world.people.unseen(&home).count(), 0);
}

#[test]
fn scripts_below_a_known_shell_are_asked_about_only_when_they_decide() {
    let mut scene = Scene::new();
    let home = present().origin.expect("an origin").place();
    let mut asked = |lineage: &str, ask: Ask| {
        scene.ask(asker(Proof::Terminal, lineage), ask).expect("done");
        scene.world.people.unseen(&home).count()
    };
    assert_eq!(asked("sshd > bash > make > sh > comity", lock("src/c.rs")), 0, "the shell is home's");
    assert_eq!(asked("sshd > python3 > comity", lock("src/d.rs")), 1, "this is another one");
    assert_eq!(asked("sshd > python3 > make > comity", lock("src/e.rs")), 2, "below no shell");
    assert_eq!(asked("sshd > bash > make > comity", limit(9)), 3, "it decides");
}
