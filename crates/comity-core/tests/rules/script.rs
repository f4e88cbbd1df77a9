//! The language of the examples: one act a line, such as `bob locks src/a.rs waiting 30s`.
//!
//! Whoever is named joins by itself. After every line the invariants hold, and at the end the log folds again to
//! the same world.

use std::collections::BTreeMap;

use comity_core::agents::{AgentAsk, Ending, Process, Profile};
use comity_core::limits::LOCK_TTL;
use comity_core::locks::{LockAsk, LockMode, Wanted};
use comity_core::notices::NoticeAsk;
use comity_core::queues::QueueAsk;
use comity_core::server::ServerAsk;
use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;
use comity_core::{
    AgentId, Ask, CaseRule, Fence, Key, Millis, Outcome, PathPattern, Principal, ProjectId, Record, Ticket,
    Timestamp, TokenHash, World, expire, invariants, run,
};
use expect_test::Expect;

use crate::tell::{self, Teller};

/// Runs a script and compares what came of it.
pub(crate) fn check(script: &str, expect: Expect) {
    let mut stage = Stage::default();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        stage.play(line);
        invariants::check(&stage.world).unwrap_or_else(|wrong| panic!("after `{line}`: {wrong}"));
        stage.whoever_is_told_is_concerned();
    }
    let mut again = World::new(Timeouts::default());
    stage.log.iter().for_each(|record| again.apply(record));
    assert_eq!(Snapshot::of(&again), Snapshot::of(&stage.world), "the log folds to the same world");
    expect.assert_eq(&stage.said.join("\n"));
}

/// A world with its log, and what was said of it.
#[derive(Default)]
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) log: Vec<Record>,
    pub(crate) said: Vec<String>,
    now: Timestamp,
    teller: Teller,
    names: BTreeMap<String, AgentId>,
    joined: u64,
}

/// The words of one line after its verb, taken apart by the words that have a meaning.
struct Words<'a> {
    plain: Vec<&'a str>,
    after: BTreeMap<&'a str, &'a str>,
}

const MARKS: [&str; 9] = ["for", "waiting", "key", "to", "under", "as", "in", "with", "within"];

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Words<'a> {
        let (text, reason) = text.split_once(" because ").map_or((text, None), |(t, r)| (t, Some(r)));
        let mut words = Words { plain: Vec::new(), after: BTreeMap::new() };
        words.after.extend(reason.map(|reason| ("because", reason)));
        let mut all = text.split_whitespace();
        while let Some(word) = all.next() {
            match MARKS.contains(&word) {
                true => drop(words.after.insert(word, all.next().expect("a word after the mark"))),
                false => words.plain.push(word),
            }
        }
        words
    }

    fn span(&self, mark: &str) -> Option<Millis> {
        self.after.get(mark).map(|text| span(text))
    }

    fn reason(&self) -> Option<Box<str>> {
        self.after.get("because").map(|text| (*text).into())
    }

    fn patterns(&self) -> Vec<PathPattern> {
        let paths = self.plain.iter().filter(|word| !["shared", "on", "with-children"].contains(word));
        paths.map(|text| PathPattern::parse(text, CaseRule::Exact).expect("a pattern")).collect()
    }
}

pub(crate) fn project() -> ProjectId {
    ProjectId::from_bits(1)
}

pub(crate) fn span(text: &str) -> Millis {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).expect("a unit"));
    let number: u64 = number.parse().expect("a number");
    match unit {
        "ms" => Millis(number),
        "s" => Millis::seconds(number),
        "m" => Millis::minutes(number),
        "h" => Millis::hours(number),
        other => panic!("no unit {other}"),
    }
}

impl Stage {
    /// When it is now.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// What somebody is told of is found in the log by their name.
    fn whoever_is_told_is_concerned(&self) {
        for agent in self.world.agents.iter() {
            let records =
                agent.notices.iter().map(|notice| self.log.iter().find(|record| record.seq == notice.id));
            for record in records.flatten() {
                assert!(record.concerns_agent(agent.id), "{} is told of {record:?}", agent.profile.name);
            }
        }
    }

    pub(crate) fn play(&mut self, line: &str) {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (first, rest) {
            ("#", _) => {}
            ("restart", _) => self.restart(rest),
            ("show", "locks") => self.said.extend(tell::locks(&self.world, self.now)),
            ("show", "queue") => self.said.extend(tell::queue(&self.world, self.now)),
            ("show", "agents") => self.said.extend(tell::agents(&self.world)),
            (_, "pass") => self.pass(span(first)),
            ("clean" | "dirty", path) => {
                let path = PathPattern::parse(path, CaseRule::Exact).expect("a path");
                let lock = self.world.locks.iter().find(|lock| lock.wanted.pattern == path).expect("a lock");
                let left = (first == "dirty").then(|| vec![path.readable().into()]);
                let ask = Ask::Lock(LockAsk::Inspected { fence: lock.fence, left });
                self.ask("comity", Principal::System, &ask, None);
            }
            (name, act) => self.act(name, act),
        }
    }

    fn act(&mut self, name: &str, act: &str) {
        let (verb, text) = act.split_once(' ').unwrap_or((act, ""));
        let words = Words::of(text);
        if verb == "joins" {
            return self.join(name, &words);
        }
        let who = self.who(name);
        let ask = self.ask_of(verb, who, &words);
        let key = words.after.get("key").and_then(|key| Key::new(key));
        self.ask(name, who, &ask, key.as_ref());
    }

    fn ask_of(&mut self, verb: &str, who: Principal, words: &Words<'_>) -> Ask {
        let (project, patterns, reason) = (project(), words.patterns(), words.reason());
        let agent = who.agent().unwrap_or(AgentId::from_bits(0));
        match verb {
            "locks" => {
                let mode =
                    if words.plain.contains(&"shared") { LockMode::Shared } else { LockMode::Exclusive };
                let ttl = words.span("for").unwrap_or(LOCK_TTL);
                let wants = patterns.into_iter().map(|pattern| Wanted {
                    project,
                    pattern,
                    mode,
                    ttl,
                    reason: reason.clone(),
                    with_children: words.plain.contains(&"with-children"),
                    worktree: None,
                });
                Ask::Lock(LockAsk::Lock { wants: wants.collect(), wait: words.span("waiting") })
            }
            // The same path twice in one ask: to read it, and to edit it.
            "locks-both" => {
                let ttl = LOCK_TTL;
                let want = |mode| Wanted {
                    project,
                    pattern: patterns[0].clone(),
                    mode,
                    ttl,
                    reason: None,
                    with_children: false,
                    worktree: None,
                };
                Ask::Lock(LockAsk::Lock {
                    wants: [LockMode::Shared, LockMode::Exclusive].map(want).into(),
                    wait: None,
                })
            }
            "locks-elsewhere" => {
                let (project, mode, ttl) = (ProjectId::from_bits(2), LockMode::Exclusive, LOCK_TTL);
                let (reason, with_children, worktree) = (None, false, None);
                let want = |pattern| {
                    let (reason, worktree) = (reason.clone(), worktree.clone());
                    Wanted { project, pattern, mode, ttl, reason, with_children, worktree }
                };
                Ask::Lock(LockAsk::Lock { wants: patterns.into_iter().map(want).collect(), wait: None })
            }
            "unlocks" if words.plain == ["everything"] => Ask::Lock(LockAsk::UnlockAll { project: None }),
            "unlocks" => Ask::Lock(LockAsk::Unlock { project, patterns }),
            "releases" => Ask::Lock(LockAsk::Release { project, patterns, reason }),
            "extends" => Ask::Lock(LockAsk::Extend {
                project,
                patterns,
                ttl: words.span("for").unwrap_or(LOCK_TTL),
                reason,
            }),
            "hands" => {
                Ask::Lock(LockAsk::HandOver { project, patterns, to: self.who(words.after["to"]), reason })
            }
            "adopts" => Ask::Lock(LockAsk::Adopt { project, patterns, reason, into: vec![] }),
            "rescues" => {
                let locks =
                    patterns.iter().flat_map(|pattern| self.world.locks.overlapping(project, pattern));
                let into = locks.into_iter().map(|lock| (lock.fence, "refs/aside".into())).collect();
                Ask::Lock(LockAsk::Adopt { project, patterns, reason, into })
            }
            "puts-aside" => {
                let locks =
                    patterns.iter().flat_map(|pattern| self.world.locks.overlapping(project, pattern));
                let aside = locks.into_iter().map(|lock| (lock.fence, vec!["refs/aside".into()])).collect();
                Ask::Lock(LockAsk::PutAside { aside })
            }
            "acts" => {
                let fence = Fence(words.after["with"].parse().expect("a fence"));
                let held = patterns.into_iter().map(|pattern| (pattern, fence)).collect();
                Ask::Lock(LockAsk::CheckFences { project, held, mode: LockMode::Exclusive })
            }
            "cancels" => {
                Ask::Queue(QueueAsk::Cancel { ticket: Ticket(words.plain[0].parse().expect("a ticket")) })
            }
            "reads" => {
                let notices = self.world.agents.get(agent).expect("an agent").notices.clone();
                self.said.extend(notices.iter().map(|notice| {
                    let what = notice.what.to_string();
                    format!("notice: {}", comity_core::next_call::spell_plainly(&what))
                }));
                Ask::Notice(NoticeAsk::Take)
            }
            "ends" => {
                let target = words.plain.first().map_or(who, |name| self.who(name));
                let ending = if target == who { Ending::Completed } else { Ending::Terminated };
                let cause = reason.unwrap_or_else(|| "goodbye".into());
                Ask::Agent(AgentAsk::End { agent: target.agent().expect("an agent"), ending, cause })
            }
            "crashes" => {
                Ask::Agent(AgentAsk::End { agent, ending: Ending::Failed, cause: "its process died".into() })
            }
            "finishes" => {
                Ask::Agent(AgentAsk::End { agent, ending: Ending::Completed, cause: "it is done".into() })
            }
            "beats" => Ask::Agent(AgentAsk::Seen { agent }),
            "idles" => Ask::Agent(AgentAsk::Idle { agent, idle: true }),
            "works" => Ask::Agent(AgentAsk::Idle { agent, idle: false }),
            "disconnects" => Ask::Agent(AgentAsk::Disconnect { agent }),
            "shows-process" => {
                Ask::Agent(AgentAsk::KnowProcess { agent, process: Process { pid: 7, start: 1 } })
            }
            other => panic!("nobody can do {other}"),
        }
    }

    pub(crate) fn who(&mut self, name: &str) -> Principal {
        if name == "human" {
            return Principal::Human;
        }
        if !self.names.contains_key(name) {
            let told = self.said.len();
            self.join(name, &Words::of(""));
            self.said.truncate(told);
        }
        Principal::Agent(self.names[name])
    }

    fn join(&mut self, name: &str, words: &Words<'_>) {
        let by = words.after.get("under").map_or(Principal::Human, |parent| self.who(parent));
        self.joined += 1;
        let agent = AgentId::from_bits(self.joined);
        let text = |mark: &str| words.after.get(mark).map(|text| Box::from(*text));
        let process = words.after.get("with").map(|_| Process { pid: 7, start: self.joined });
        let (role, team, within) = (text("as"), text("in"), text("within"));
        let profile = Profile { name: name.into(), role, team, process, within, ..Profile::default() };
        let ask = Ask::Agent(AgentAsk::Join { agent, token: token(self.joined), profile: Box::new(profile) });
        let joined = self.ask(name, by, &ask, None);
        if joined {
            self.names.insert(name.into(), agent);
        }
    }

    /// Asks, tells, and says whether it was agreed to.
    pub(crate) fn ask(&mut self, name: &str, who: Principal, ask: &Ask, key: Option<&Key>) -> bool {
        match run(&mut self.world, who, ask, key, self.now, 0) {
            Err(no) => {
                self.said.push(format!("{name}: {}", tell::refusal(&no)));
                false
            }
            Ok(Outcome { records, answer, parked }) => {
                if records.is_empty() {
                    let again: Vec<String> =
                        answer.iter().map(|event| self.teller.tell(&self.world, event)).collect();
                    let place = parked.map(|ticket| format!(", still at {ticket:?}")).unwrap_or_default();
                    self.said.push(match again.is_empty() {
                        true => format!("{name}: nothing changes"),
                        false => format!("{name}: as before: {}{place}", again.join("; ")),
                    });
                }
                self.record(records);
                true
            }
        }
    }

    fn record(&mut self, records: Vec<Record>) {
        for record in records {
            self.said.push(self.teller.tell(&self.world, &record.event));
            self.log.push(record);
        }
    }

    /// Time passes, and everything happens when it is due.
    fn pass(&mut self, span: Millis) {
        let until = self.now.plus(span);
        while let Some(due) = self.world.next_deadline().filter(|at| *at <= until) {
            self.now = self.now.max(due);
            let records = expire(&mut self.world, self.now, 0);
            self.record(records);
        }
        self.now = until;
    }

    /// The server stops; another reads its snapshot and goes on.
    fn restart(&mut self, floor: &str) {
        let text = serde_json::to_string(&Snapshot::of(&self.world)).expect("JSON");
        let snapshot: Snapshot = serde_json::from_str(&text).expect("a snapshot");
        let deadline = self.world.next_deadline();
        self.world = snapshot.restore(Timeouts::default());
        assert_eq!(self.world.next_deadline(), deadline, "deadlines survive a restart");
        let fence_floor = Fence(floor.trim_start_matches("floor ").parse().unwrap_or(0));
        let ask =
            Ask::Server(ServerAsk::Start { fence_floor, version: "0".into(), boot: None, uptime: None });
        self.ask("comity", Principal::System, &ask, None);
    }
}

pub(crate) fn token(number: u64) -> TokenHash {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    TokenHash(bytes)
}
