//! Mail: durable sends of many processes, how soon a receiver is awake, and what old mail costs.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use comity_wire::Request;
use serde_json::{Value, json};

use crate::Bench;
use crate::bench_env::BenchEnv;
use crate::compare::{Comparison, Ratio, Round, in_turns, timed};
use crate::quantity::{Unit, per_mille};
use crate::raw::commit::RawCommits;
use crate::raw::relay::Relay;
use crate::raw::worker::{WorkerResult, WorkerTask, run_all};
use crate::report::Goal;
use crate::server::{BenchAgent, BenchServer, HUMAN, input, line, request};

const FOR_MS: usize = 2_000;
const WRITERS_MAX: usize = 200;
const WAKES: usize = 300;
const POLLS: usize = 12;
const POLL: Duration = Duration::from_millis(500);
const OLD_LETTERS: usize = 100_000;
const FEW_LETTERS: usize = 10;
/// Requests that are sent before the first answer is read, when a server is filled.
const PIPELINED: usize = 500;
const SAMPLES: usize = 600;
const CHUNK: usize = 20;
/// Nothing happens for this long before each letter of a wake.
const PAUSE: Duration = Duration::from_millis(4);
pub(super) const TEXT: &str =
    "I have finished the login page; the tests pass. Could you look at src/login.rs?";

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    for (writers, times) in [(10, 30.0), (50, 60.0)] {
        sends(bench, writers, times)?;
    }
    crowd(bench)?;
    wakes(bench)?;
    old(bench)
}

/// Letters a second of so many processes, against a JSON file with a lock directory.
fn sends(bench: &mut Bench, writers: usize, times: f64) -> Result<(), String> {
    let stage = bench.stage.clone();
    let server = BenchServer::start(&stage, &format!("mail{writers}"))?;
    let reader = MailReader::start(server.join("boss")?);
    let for_ms = bench.scaled(FOR_MS) as u64;
    let name = format!("durable sends of {writers} processes, to a JSON file with a lock directory");
    let what = Comparison {
        name: &name,
        unit: Unit::PerSecond,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtLeast(times)),
    };
    let (mut ours, mut theirs, mut round_number) = (WorkerResult::default(), WorkerResult::default(), 0);
    bench.compare(what, || {
        round_number += 1;
        let file = stage.dir().join(format!("box-{writers}-{round_number}.json"));
        let reference = run_all(&stage, &vec![file_task(&file, for_ms); writers])?;
        let subject = run_all(&stage, &vec![send_task(&server, for_ms)?; writers])?;
        (theirs.failed, theirs.answered) =
            (theirs.failed + reference.failed, theirs.answered + reference.answered);
        (ours.failed, ours.answered) = (ours.failed + subject.failed, ours.answered + subject.answered);
        let rate = |answered: u64| answered as f64 * 1_000.0 / for_ms as f64;
        Ok(Round { reference: rate(reference.answered), subject: rate(subject.answered) })
    })?;
    let arrived = reader.stop()?;
    let none = Some(Goal::AtMost(0.0));
    let failed = |done: &WorkerResult| [done.failed as f64];
    bench.measured("sends to the file that failed", Unit::Count, &failed(&theirs), None);
    bench.measured("sends to the server that failed", Unit::Count, &failed(&ours), none);
    let lost = ours.answered.abs_diff(arrived);
    bench.measured("letters that were lost or came twice", Unit::Count, &[lost as f64], none);
    Ok(())
}

/// As many writers as there may be: nobody fails.
fn crowd(bench: &mut Bench) -> Result<(), String> {
    let stage = bench.stage.clone();
    let server = BenchServer::start(&stage, "mail-crowd")?;
    let reader = MailReader::start(server.join("boss")?);
    let for_ms = bench.scaled(FOR_MS) as u64;
    let done = run_all(&stage, &vec![send_task(&server, for_ms)?; WRITERS_MAX])?;
    let arrived = reader.stop()?;
    let none = Some(Goal::AtMost(0.0));
    let rate = done.answered as f64 * 1_000.0 / for_ms as f64;
    bench.measured("sends of 200 processes", Unit::PerSecond, &[rate], None);
    bench.measured("of these that failed", Unit::Count, &[done.failed as f64], none);
    bench.measured(
        "and were lost or came twice",
        Unit::Count,
        &[done.answered.abs_diff(arrived) as f64],
        none,
    );
    Ok(())
}

fn send_task(server: &BenchServer, for_ms: u64) -> Result<WorkerTask, String> {
    let letter = input(&json!({ "to": ["boss"], "message": TEXT }))?;
    let status = input(&json!({}))?;
    let token = || Some(std::borrow::Cow::Borrowed(HUMAN));
    let ask = |op, input| line(&Request { id: 1, token: token(), ..request(op, input, "/") });
    Ok(WorkerTask {
        socket: server.home().socket(),
        greeting: ask("agents", &status)?,
        is_answered: true,
        questions: vec![ask("mail_send", &letter)?],
        for_ms,
        mailbox: None,
    })
}

fn file_task(file: &std::path::Path, for_ms: u64) -> WorkerTask {
    let (greeting, questions) = (String::new(), vec![TEXT.to_owned()]);
    WorkerTask {
        socket: PathBuf::new(),
        greeting,
        is_answered: false,
        questions,
        for_ms,
        mailbox: Some(file.into()),
    }
}

/// Somebody who reads all mail and acknowledges it.
pub(super) struct MailReader {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<u64, String>>,
}

impl MailReader {
    pub(super) fn start(mut agent: BenchAgent) -> MailReader {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let read = input(&json!({ "wait": "200ms", "limit": 1_000 }))?;
            let mut arrived = 0;
            loop {
                let is_last = stopped.load(Ordering::Relaxed);
                let (letters, receipt) = offered(agent.ask("mail_read", &read)?.get())?;
                arrived += letters;
                match receipt {
                    Some(receipt) => drop(agent.ask("mail_ack", &input(&json!({ "receipt": receipt }))?)?),
                    None if is_last => return Ok(arrived),
                    None => {}
                }
            }
        });
        MailReader { stop, thread }
    }

    /// How many letters came, once there are no more.
    pub(super) fn stop(self) -> Result<u64, String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the reader of mail failed".to_owned())?
    }
}

fn offered(inbox: &str) -> Result<(u64, Option<u64>), String> {
    let inbox: Value = serde_json::from_str(inbox).map_err(|error| error.to_string())?;
    Ok((inbox["messages"].as_array().map_or(0, Vec::len) as u64, inbox["receipt"].as_u64()))
}

/// From the send until the receiver has it, with nothing else going on before.
fn wakes(bench: &mut Bench) -> Result<(), String> {
    let stage = bench.stage.clone();
    let server = BenchServer::start(&stage, "mail-wake")?;
    let (mut sender, mut receiver) = (server.join("ann")?, server.join("bob")?);
    let (awake, awoken) = mpsc::channel::<Instant>();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let thread = std::thread::spawn(move || -> Result<(), String> {
        let next = input(&json!({ "wait": "1s" }))?;
        while !stopped.load(Ordering::Relaxed) {
            let inbox = receiver.ask("next", &next)?.get().to_owned();
            let now = Instant::now();
            if let (_, Some(receipt)) = offered(&inbox)? {
                let _ = awake.send(now);
                receiver.ask("mail_ack", &input(&json!({ "receipt": receipt }))?)?;
            }
        }
        Ok(())
    });
    let mut relayed = RelayedLine::open(&stage)?;
    let commits = RawCommits::open_durable(stage.dir())?;
    let letter = input(&json!({ "to": ["bob"], "message": TEXT }))?;
    let samples = bench.scaled(WAKES);
    let mut one = || {
        std::thread::sleep(PAUSE);
        let start = Instant::now();
        sender.ask("mail_send", &letter)?;
        let seen = awoken.recv_timeout(Duration::from_secs(20)).map_err(|_| "a letter did not arrive")?;
        Ok(seen.saturating_duration_since(start).as_nanos() as u64)
    };
    let what = Comparison {
        name: "from send to awake, to a relay and one durable commit",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(2.0)),
    };
    bench.compare(what, || {
        let (mut lines, mut durable, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..samples {
            std::thread::sleep(PAUSE);
            lines.push(relayed.line()?);
            durable.push(timed(|| commits.commit())?);
            ours.push(one()?);
        }
        let reference = per_mille(&mut lines, 500) + per_mille(&mut durable, 500);
        let subject = per_mille(&mut ours, 500);
        Ok(Round { reference, subject })
    })?;
    let what = Comparison {
        name: "the same, to looking every 500 ms",
        unit: Unit::Nanoseconds,
        ratio: Ratio::ReferenceToSubject,
        goal: Some(Goal::AtLeast(1_000.0)),
    };
    let polls = bench.scaled(POLLS);
    bench.compare(what, || {
        let mut polled = polled(&stage, polls)?;
        let mut ours = (0..samples).map(|_| one()).collect::<Result<Vec<u64>, String>>()?;
        Ok(Round { reference: per_mille(&mut polled, 500), subject: per_mille(&mut ours, 500) })
    })?;
    stop.store(true, Ordering::Relaxed);
    thread.join().map_err(|_| "the receiver failed".to_owned())?
}

/// A line through a relay, to a thread that waits for it.
struct RelayedLine {
    relay: Relay,
    awoken: mpsc::Receiver<Instant>,
}

impl RelayedLine {
    fn open(stage: &BenchEnv) -> Result<RelayedLine, String> {
        let relay = Relay::start(stage)?;
        let receiver = relay.receiver.try_clone().map_err(|error| error.to_string())?;
        let (awake, awoken) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(receiver).lines();
            lines.map_while(Result::ok).try_for_each(|_| awake.send(Instant::now()))
        });
        Ok(RelayedLine { relay, awoken })
    }

    fn line(&mut self) -> Result<u64, String> {
        let start = Instant::now();
        writeln!(self.relay.sender, "{TEXT}").map_err(|error| error.to_string())?;
        let seen = self.awoken.recv().map_err(|error| error.to_string())?;
        Ok(seen.saturating_duration_since(start).as_nanos() as u64)
    }
}

/// The delays of a receiver that looks into a file every now and then, for letters that come at any time.
fn polled(stage: &BenchEnv, letters: usize) -> Result<Vec<u64>, String> {
    let file = crate::json_mailbox::JsonMailbox::at(stage.dir().join("polled.json"));
    let (reader, stop) = (file.clone(), Arc::new(AtomicBool::new(false)));
    let (stopped, (seen, sees)) = (Arc::clone(&stop), mpsc::channel::<Instant>());
    let thread = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            let found = reader.receive().unwrap_or_default().len();
            let now = Instant::now();
            for _ in 0..found {
                let _ = seen.send(now);
            }
            std::thread::sleep(POLL);
        }
    });
    let mut delays = Vec::new();
    for number in 0..letters {
        // Spread evenly over the time between two looks.
        std::thread::sleep(POLL.mul_f64((number as f64 * 0.618) % 1.0));
        let start = Instant::now();
        file.send("ann", TEXT).map_err(|error| error.to_string())?;
        let at = sees.recv_timeout(Duration::from_secs(20)).map_err(|error| error.to_string())?;
        delays.push(at.saturating_duration_since(start).as_nanos() as u64);
    }
    stop.store(true, Ordering::Relaxed);
    let _ = thread.join();
    Ok(delays)
}

/// A letter sent, read and acknowledged, with many old ones and with few.
fn old(bench: &mut Bench) -> Result<(), String> {
    let stage = bench.stage.clone();
    let many = bench.scaled(OLD_LETTERS);
    let filled = |name: &str, letters: usize| -> Result<(BenchServer, BenchAgent, BenchAgent), String> {
        let server = BenchServer::start(&stage, name)?;
        let reader = MailReader::start(server.join("reader")?);
        fill(&server, letters)?;
        reader.stop()?;
        let (ann, bob) = (server.join("ann")?, server.join("bob")?);
        Ok((server, ann, bob))
    };
    let (_few, mut ann, mut bob) = filled("mail-few", FEW_LETTERS)?;
    let (_many, mut eve, mut dan) = filled("mail-many", many)?;
    let name = format!("a letter with {many} old ones, to one with {FEW_LETTERS}");
    let what = Comparison {
        name: &name,
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.2)),
    };
    let samples = bench.scaled(SAMPLES);
    bench.compare(what, || {
        in_turns(
            samples,
            CHUNK,
            || timed(|| letter(&mut ann, &mut bob)),
            || timed(|| letter(&mut eve, &mut dan)),
        )
    })
}

fn letter(sender: &mut BenchAgent, receiver: &mut BenchAgent) -> Result<(), String> {
    sender.ask("mail_send", &input(&json!({ "to": ["bob"], "message": TEXT }))?)?;
    let (_, receipt) = offered(receiver.ask("mail_read", &input(&json!({}))?)?.get())?;
    let receipt = receipt.ok_or("the letter did not arrive")?;
    receiver.ask("mail_ack", &input(&json!({ "receipt": receipt }))?).map(drop)
}

/// Sends many letters, many at a time.
fn fill(server: &BenchServer, letters: usize) -> Result<(), String> {
    let describe = |error: std::io::Error| error.to_string();
    let letter = input(&json!({ "to": ["reader"], "message": TEXT }))?;
    // With a token: this program has used those of agents, so without one it is nobody.
    let token = Some(HUMAN.into());
    let line = line(&Request { id: 1, token, ..request("mail_send", &letter, "/") })?;
    let mut stream = UnixStream::connect(server.home().socket()).map_err(describe)?;
    let mut answers = BufReader::new(stream.try_clone().map_err(describe)?).lines();
    for first in (0..letters).step_by(PIPELINED) {
        let count = PIPELINED.min(letters - first);
        stream.write_all(line.repeat(count).as_bytes()).map_err(describe)?;
        for _ in 0..count {
            let answer = answers.next().ok_or("the server hung up")?.map_err(describe)?;
            match answer.contains("\"ok\":") {
                true => {}
                // The reader is slower than this.
                false if answer.contains("limit_reached") => std::thread::sleep(PAUSE),
                false => return Err(answer),
            }
        }
    }
    Ok(())
}
