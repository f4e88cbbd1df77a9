//! The soak: a real server under the load of many clients, killed again and again.
//!
//! Clients note everything that they are told. When the run is over this is compared with the log, the state after one
//! more kill, and git. What does not fit is counted, and so is how quickly servers come back and how large they become.

mod agent;
mod door;
mod gather;
mod judge;
mod killer;
mod load;
mod mail;
mod others;
mod plant;
mod report;
mod run_dir;
mod told;
mod worktree;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent::SoakAgent;
use comity_sim::Rng;
use door::Way;
use gather::RunResult;
use killer::Sample;
use load::{Load, Member};
use run_dir::RunDir;
use told::History;

pub use plant::Plant;
pub use report::{SoakFigure, SoakReport};
pub use run_dir::end_all;

/// Agents that a server takes.
const AGENTS_MAX: usize = 20;
/// Time between two lines that tell how it goes.
const TELL_EVERY: Duration = Duration::from_secs(10);
/// From this length on, one server lives through a part of the run.
const CALM_FROM: Duration = Duration::from_secs(60);

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Soak {
    pub comity: PathBuf,
    pub dir: PathBuf,
    /// How long the load lasts.
    pub time: Duration,
    /// How many clients there are.
    pub clients: usize,
    /// How long a server lives on average.
    pub kill_every: Duration,
    /// What all choices follow from.
    pub seed: u64,
    /// Faults that are planted, to see that they are found.
    pub plants: Vec<Plant>,
}

/// How many there are of each kind of client.
struct ClientCounts {
    agents: usize,
    speakers: usize,
    followers: usize,
    lookers: usize,
}

impl ClientCounts {
    fn of(clients: usize) -> ClientCounts {
        let (speakers, followers) = ((clients / 15).clamp(1, 2), (clients / 10).max(1));
        // One more is killed at work again and again.
        let agents = clients.saturating_sub(speakers + followers).clamp(2, AGENTS_MAX - speakers - 1);
        ClientCounts {
            agents,
            speakers,
            followers,
            lookers: clients.saturating_sub(agents + speakers + followers),
        }
    }
}

/// Runs until the time is up or it is told to stop, and judges what was seen. Tells now and then how it goes.
pub fn run(soak: &Soak, is_stopped: &AtomicBool, tell: impl FnMut(&str)) -> Result<SoakReport, String> {
    let mut outcome = gather(soak, is_stopped, tell)?;
    soak.plants.iter().for_each(|plant| outcome.plant(*plant));
    Ok(outcome.report())
}

/// Runs once, and judges it with each fault planted alone; gives for each the figures that were missed, and first those
/// that were missed without any.
pub fn try_faults(soak: &Soak, faults: &[Plant]) -> Result<Vec<Vec<&'static str>>, String> {
    let outcome = gather(soak, &AtomicBool::new(false), |_| {})?;
    let missed = |outcome: &RunResult| outcome.report().missed().map(|figure| figure.name).collect();
    let mut all = vec![missed(&outcome)];
    for fault in faults {
        let mut planted = outcome.clone();
        planted.plant(*fault);
        all.push(missed(&planted));
    }
    Ok(all)
}

fn gather(soak: &Soak, is_stopped: &AtomicBool, tell: impl FnMut(&str)) -> Result<RunResult, String> {
    let counts = ClientCounts::of(soak.clients);
    let place = RunDir::new(&soak.dir, &soak.comity)?;
    place.run(&["up"])?;
    let join = |number| Member::of(&place.run(&["agent", "join", &format!("speaker{number}")])?);
    let speakers = (0..counts.speakers).map(join).collect::<Result<Vec<_>, String>>()?;
    let load = Load::begin(place, counts.agents)?;
    let (history, samples) = work(soak, &counts, &load, &speakers, is_stopped, tell);
    gather::outcome(soak, &load, history, samples)
}

/// Lets all clients work at once while the server is killed.
fn work(
    soak: &Soak,
    counts: &ClientCounts,
    load: &Load,
    speakers: &[Member],
    is_stopped: &AtomicBool,
    tell: impl FnMut(&str),
) -> (History, Vec<Sample>) {
    let mut random = Rng::new(soak.seed);
    let mut seed = || random.bits();
    let calm = match soak.time >= CALM_FROM {
        true => load.begun + soak.time.mul_f64(0.4)..load.begun + soak.time.mul_f64(0.75),
        false => load.begun..load.begun,
    };
    std::thread::scope(|scope| {
        let mut clients = Vec::new();
        for (number, me) in load.members.iter().enumerate() {
            let way = if number % 4 == 3 { Way::Http } else { Way::Socket };
            let agent = SoakAgent::new(load, me, way, seed());
            clients.push(scope.spawn(move || agent.work()));
        }
        for me in speakers {
            let seed = seed();
            clients.push(scope.spawn(move || others::speak_mcp(load, me, seed)));
        }
        for _ in 0..counts.followers {
            clients.push(scope.spawn(move || others::follow(load)));
        }
        for number in 0..counts.lookers {
            let (way, seed) = (if number % 2 == 0 { Way::Http } else { Way::Socket }, seed());
            clients.push(scope.spawn(move || others::look(load, way, &format!("looker{number}"), seed)));
        }
        let mortal = seed();
        clients.push(scope.spawn(move || others::die_at_work(load, mortal)));
        let (every, seed) = (soak.kill_every, seed());
        let killer = scope.spawn(move || killer::kill_again_and_again(load, every, &calm, seed));
        let measuring = scope.spawn(move || killer::measure(load));
        wait(soak.time, load, is_stopped, tell);
        load.end();
        let mut history = History::default();
        for client in clients {
            match client.join() {
                Ok(one) => history.add(one),
                Err(_) => history.wrong.push("a client of the harness panicked".into()),
            }
        }
        let mut samples = measuring.join().unwrap_or_default();
        samples.extend(killer.join().unwrap_or_default());
        (history, samples)
    })
}

fn wait(time: Duration, load: &Load, is_stopped: &AtomicBool, mut tell: impl FnMut(&str)) {
    let mut told_at = Instant::now();
    while load.begun.elapsed() < time && !is_stopped.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
        if told_at.elapsed() >= TELL_EVERY {
            told_at = Instant::now();
            let times = load.restarts.times();
            let slowest = times.iter().max().copied().unwrap_or_default();
            tell(&format!(
                "{:>5} s  {} answers, {} kills, slowest restart {} ms",
                load.begun.elapsed().as_secs(),
                load.restarts.answers(),
                times.len(),
                slowest.as_millis()
            ));
        }
    }
}
