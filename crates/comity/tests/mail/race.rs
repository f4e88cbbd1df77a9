//! Ten thousand letters, each sent at the moment at which its receiver goes idle: none is left unseen.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Agent, Place};
use crate::{acknowledge, letters, quick_place, send, wire};

const LETTERS: usize = 10_000;
const SENDERS: usize = 4;
const EACH: usize = LETTERS / SENDERS;
/// How long the receiver would wait.
const WAIT: &str = "30s";
/// What counts as at once, on a busy machine: a letter that wakes nobody is found later, by chance or at the end of the wait.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Sends one letter at each word of the receiver, for as long as there is one.
fn keep_sending(place: &Place, agent: &Agent, me: usize, go: &Receiver<()>) {
    let mut wire = wire(place, agent);
    for number in 0..EACH {
        if go.recv().is_err() {
            return;
        }
        send(&mut wire, "rex", &format!("{me} {number}"));
    }
}

/// Lets a sender send one more; after its last one it is gone.
fn go_on(go: &Sender<()>) {
    let _ = go.send(());
}

#[test]
fn no_letter_is_left_unseen_by_a_receiver_that_goes_idle() {
    let place = quick_place();
    let rex = place.join(&["rex"]);
    let agents: Vec<Agent> = (0..SENDERS).map(|number| place.join(&[&format!("peer{number}")])).collect();
    let (go, gone): (Vec<Sender<()>>, Vec<Receiver<()>>) = (0..SENDERS).map(|_| channel()).unzip();
    let mut seen = [0; SENDERS];
    let (mut waits, mut worst) = (0, Duration::ZERO);
    std::thread::scope(|scope| {
        // A receiver that fails takes this with it, and so the senders end.
        let go = go;
        for (me, (agent, go)) in agents.iter().zip(gone).enumerate() {
            let place = &place;
            scope.spawn(move || keep_sending(place, agent, me, &go));
        }
        let mut wire = wire(&place, &rex);
        let mut later: Vec<usize> = Vec::new();
        go.iter().for_each(go_on);
        while seen.iter().sum::<usize>() < LETTERS {
            // The third moment to send: right before the receiver waits.
            later.drain(..).for_each(|me| go_on(&go[me]));
            let start = Instant::now();
            let inbox = wire.ask("next", json!({ "wait": WAIT })).expect("an answer");
            worst = worst.max(start.elapsed()); // clock: what woke nobody is found later
            assert!(worst < AT_ONCE, "a letter woke nobody for {worst:?}; seen so far: {seen:?}");
            let mut after = Vec::new();
            waits += 1;
            for (text, again) in letters(&inbox) {
                let (me, number) = text.split_once(' ').expect("two numbers");
                let (me, number): (usize, usize) =
                    (me.parse().expect("a sender"), number.parse().expect("a letter"));
                assert_eq!((number, again), (seen[me], false), "each one once, and in order");
                seen[me] += 1;
                match number % 3 {
                    // The first moment to send: while the offer is open.
                    0 => go_on(&go[me]),
                    1 => after.push(me),
                    _ => later.push(me),
                }
            }
            acknowledge(&mut wire, &inbox);
            // The second one: when it is closed.
            after.into_iter().for_each(|me| go_on(&go[me]));
        }
    });
    assert_eq!(seen, [EACH; SENDERS]);
    println!("race: {LETTERS} letters in {waits} waits, the longest one {} ms", worst.as_millis());
    assert_eq!(place.json(&["mail", "boxes"])["boxes"], json!([]));
}
