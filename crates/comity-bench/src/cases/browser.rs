//! The shared browser: a command against the bare call of the protocol, pictures at once against one after another, and
//! the state of a long page.

use comity_browser::{Browser, BrowserOptions};
use serde_json::json;
use serde_json::value::RawValue;

use crate::Bench;
use crate::compare::{Comparison, Ratio, Round, in_turns, timed};
use crate::firefox::{ANSWER_MAX, Browsing, Surfer};
use crate::machine::first_thread_ns;
use crate::quantity::{Unit, per_mille};
use crate::raw::pages::Pages;
use crate::report::Goal;
use crate::server::input;

const SCRIPT: &str = "1 + 1";
/// Scripts in one round, and how many follow each other.
const SCRIPTS: usize = 400;
const CHUNK: usize = 20;
/// How often the pictures are taken in one round.
const PICTURES: usize = 10;
/// Rows that fill a view.
const VIEW_ROWS: usize = 40;
const STATES: usize = 40;
const LONG_ROWS: usize = 1_000;
const STATE_NS_MAX: f64 = 25e6;
const STATE_BYTES_MAX: f64 = 12.0 * 1024.0;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    if let Err(none) = Browser::program(&BrowserOptions::new("")) {
        bench.report.skipped("commands, pictures and page states", &none.to_string());
        return Ok(());
    }
    let pages = Pages::start()?;
    let browsing = Browsing::start(&bench.stage, "browser")?;
    scripts(bench, &browsing, &pages)?;
    pictures(bench, &browsing, &pages)?;
    states(bench, &browsing, &pages)
}

/// A command of an agent, against the same call to another Firefox with the same page.
fn scripts(bench: &mut Bench, browsing: &Browsing, pages: &Pages) -> Result<(), String> {
    let url = pages.rows(VIEW_ROWS);
    let mut ann = browsing.open("ann", &url)?;
    let other = Browsing::start(&bench.stage, "browser-bare")?;
    other.open("ann", &url)?;
    let bare = other.bare()?;
    let script = input(&json!({ "tabId": ann.tab, "script": SCRIPT }))?;
    let samples = bench.scaled(SCRIPTS);
    let what = Comparison {
        name: "a script in a tab, to the bare protocol",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.2)),
    };
    let call = || bare.tab.raw_evaluate(SCRIPT, ANSWER_MAX).map_err(|error| error.to_string());
    bench.compare(what, || {
        in_turns(samples, CHUNK, || timed(call), || timed(|| ann.ask("tab_evaluate", &script).map(drop)))
    })
}

/// Pictures of several agents' tabs at once, against the same one after another.
fn pictures(bench: &mut Bench, browsing: &Browsing, pages: &Pages) -> Result<(), String> {
    let times = bench.scaled(PICTURES);
    let mut agents: Vec<Photographer> = Vec::new();
    for (count, format, goal) in [
        (4, "jpeg", Some(Goal::AtLeast(2.0))),
        (4, "png", None),
        (2, "jpeg", None),
        (8, "jpeg", None),
        (8, "png", None),
    ] {
        while agents.len() < count {
            let name = format!("photographer{}", agents.len());
            agents.push(Photographer { surfer: browsing.open(&name, &pages.rows(VIEW_ROWS))? });
        }
        let agents = &mut agents[..count];
        let asks = agents.iter().map(|agent| agent.ask(format)).collect::<Result<Vec<_>, String>>()?;
        let name = format!("{count} pictures at once ({format}), to in turn");
        let what =
            Comparison { name: &name, unit: Unit::Nanoseconds, ratio: Ratio::ReferenceToSubject, goal };
        bench.compare(what, || {
            let (mut in_turn, mut at_once) = (Vec::new(), Vec::new());
            for _ in 0..times {
                in_turn.push(timed(|| take_in_turn(agents, &asks))?);
                at_once.push(timed(|| take_at_once(agents, &asks))?);
            }
            Ok(Round { reference: per_mille(&mut in_turn, 500), subject: per_mille(&mut at_once, 500) })
        })?;
        if goal.is_some() {
            limit(bench, browsing, agents, &asks)?;
        }
    }
    Ok(())
}

/// Firefox draws and packs all pictures on the first thread of its own process: no more can be had than it can do.
fn limit(
    bench: &mut Bench,
    browsing: &Browsing,
    agents: &mut [Photographer],
    asks: &[Box<RawValue>],
) -> Result<(), String> {
    let (firefox, times) = (browsing.process()?, bench.scaled(PICTURES));
    let name = format!("{} pictures at once, to Firefox's own thread", agents.len());
    let (unit, ratio) = (Unit::Nanoseconds, Ratio::SubjectToReference);
    bench.compare(Comparison { name: &name, unit, ratio, goal: None }, || {
        let before = first_thread_ns(firefox)?;
        let all = timed(|| (0..times).try_for_each(|_| take_at_once(agents, asks)))?;
        let worked = first_thread_ns(firefox)? - before;
        Ok(Round { reference: worked / times as f64, subject: all as f64 / times as f64 })
    })
}

/// An agent that takes pictures of its tab.
struct Photographer {
    surfer: Surfer,
}

impl Photographer {
    fn ask(&self, format: &str) -> Result<Box<RawValue>, String> {
        input(&json!({ "tabId": self.surfer.tab, "format": format }))
    }

    fn take(&mut self, ask: &RawValue) -> Result<(), String> {
        self.surfer.ask("tab_screenshot", ask).map(drop)
    }
}

fn take_in_turn(agents: &mut [Photographer], asks: &[Box<RawValue>]) -> Result<(), String> {
    agents.iter_mut().zip(asks).try_for_each(|(agent, ask)| agent.take(ask))
}

fn take_at_once(agents: &mut [Photographer], asks: &[Box<RawValue>]) -> Result<(), String> {
    std::thread::scope(|threads| {
        let taking: Vec<_> =
            agents.iter_mut().zip(asks).map(|(agent, ask)| threads.spawn(move || agent.take(ask))).collect();
        taking.into_iter().try_for_each(|one| one.join().map_err(|_| "a picture failed".to_owned())?)
    })
}

/// The state of a long page: how long it takes, and how much a model would have to read.
fn states(bench: &mut Bench, browsing: &Browsing, pages: &Pages) -> Result<(), String> {
    let mut reader = browsing.open("reader", &pages.rows(LONG_ROWS))?;
    let ask = input(&json!({ "tabId": reader.tab }))?;
    let mut bytes = Vec::new();
    let samples = bench.scaled(STATES);
    let mut round = || {
        let mut times = Vec::new();
        for _ in 0..samples {
            times.push(timed(|| {
                bytes.push(reader.ask("tab_state", &ask)?.get().len() as f64);
                Ok(())
            })?);
        }
        Ok(per_mille(&mut times, 500))
    };
    let times = (0..bench.options.rounds).map(|_| round()).collect::<Result<Vec<f64>, String>>()?;
    let name = "the state of a page with 1,000 rows";
    bench.measured(name, Unit::Nanoseconds, &times, Some(Goal::AtMost(STATE_NS_MAX)));
    bench.measured("its size", Unit::Bytes, &bytes, Some(Goal::AtMost(STATE_BYTES_MAX)));
    Ok(())
}
