//! An agent that does a bit of everything for as long as it may, whatever happens to the server.

use std::time::Instant;

use comity_sim::Rng;
use serde_json::{Value, json};

use crate::door::{ClientDoor, No, Way};
use crate::load::{Load, Member};
use crate::run_dir::{FILES, POOLS};
use crate::told::{HeldSpan, History, Told};

/// After so many acts it gives back what others have handed over to it.
const TIDY_EVERY: u64 = 20;
/// How often a commit that others are in the way of is tried.
const COMMIT_TRIES: usize = 20;

pub(crate) struct SoakAgent<'a> {
    pub(crate) load: &'a Load,
    pub(crate) me: &'a Member,
    pub(crate) door: ClientDoor<'a>,
    pub(crate) random: Rng,
    pub(crate) history: History,
    pub(crate) acts: u64,
    /// What kind of worktree comes next.
    pub(crate) trees: usize,
}

impl<'a> SoakAgent<'a> {
    pub(crate) fn new(load: &'a Load, me: &'a Member, way: Way, seed: u64) -> SoakAgent<'a> {
        let door = load.door(way, &me.name, &me.token);
        let trees = load.members.iter().position(|other| other.id == me.id).unwrap_or_default();
        SoakAgent { load, me, door, random: Rng::new(seed), history: History::default(), acts: 0, trees }
    }

    /// Works until the load ends, then reads its mail and gives back what it has.
    pub(crate) fn work(mut self) -> History {
        while self.load.goes_on() {
            self.acts += 1;
            match self.random.below(100) {
                // However short the run is, each kind of worktree is in it.
                _ if self.acts == 1 => self.worktree(),
                0..45 => self.lock(),
                45..60 => self.send(),
                60..73 => self.read(),
                73..83 => self.task(),
                83..93 => self.lease(),
                93..95 => self.worktree(),
                _ => self.look(),
            }
            if self.acts.is_multiple_of(TIDY_EVERY) {
                self.ask("unlock", json!({ "all": true }), &[]);
            }
        }
        self.ask("unlock", json!({ "all": true }), &[]);
        self.history
    }

    /// Asks; a refusal with another code than these is wrong.
    pub(crate) fn ask(&mut self, op: &str, input: Value, expected: &[&str]) -> Option<Value> {
        let answer = self.door.ask(op, &input);
        self.output(op, &input, answer, expected)
    }

    /// Asks from a directory.
    pub(crate) fn ask_from(&mut self, cwd: &str, op: &str, input: Value, expected: &[&str]) -> Option<Value> {
        let answer = self.door.ask_from(cwd, op, &input);
        self.output(op, &input, answer, expected)
    }

    pub(crate) fn output(
        &mut self,
        op: &str,
        input: &Value,
        answer: Result<Value, No>,
        expected: &[&str],
    ) -> Option<Value> {
        match answer {
            Ok(output) => Some(output),
            Err(no) if expected.contains(&no.code()) => None,
            Err(no) => {
                self.wrong(format!("{op} {input}: {no}"));
                None
            }
        }
    }

    pub(crate) fn wrong(&mut self, what: String) {
        let at = self.load.begun.elapsed().as_secs_f32();
        self.history.wrong.push(format!("{} after {at:.1} s: {what}", self.me.name));
    }

    pub(crate) fn tell(&mut self, told: Told) {
        self.history.told.push(told);
    }

    /// A text that nobody else ever gives.
    pub(crate) fn unique(&self) -> String {
        format!("{}-{}", self.me.name, self.acts)
    }

    /// Locks a path, does something with it, and gives it back.
    fn lock(&mut self) {
        let file = FILES[self.random.below(FILES.len())];
        let path = match self.random.below(20) {
            0 => "src/*.rs".to_owned(),
            1 => "src/[ab].rs".to_owned(),
            _ => format!("src/{file}.rs"),
        };
        let is_shared = self.random.happens(8);
        let mut input = json!({ "paths": [path], "reason": self.unique() });
        if is_shared {
            input["shared"] = true.into();
        }
        if self.random.happens(60) {
            input["wait"] = format!("{}ms", self.random.between(50, 2000)).into();
        }
        let Some(lock) = self.locked(input) else { return };
        let held = Instant::now();
        match self.random.below(100) {
            _ if is_shared || path.contains(['*', '[']) => {}
            0..35 => {
                self.commit(None, &path, "");
            }
            35..50 => {
                let extend = json!({ "paths": [path], "ttl": "10m" });
                if self.ask("extend", extend, &[]).is_some() {
                    self.tell(Told::Extended { fence: lock });
                }
            }
            50..60 => return self.hand_over(lock, &path, held),
            60..80 => self.is_in_effect(lock, &path),
            _ => {}
        }
        self.held(lock, &path, is_shared, held);
        if self.ask("unlock", json!({ "paths": [path] }), &[]).is_some() {
            self.tell(Told::Unlocked { fence: lock });
        }
    }

    /// The fence, if it was granted.
    pub(crate) fn locked(&mut self, input: Value) -> Option<u64> {
        // Who comes back late after a kill has lost what it waited for.
        let expected = ["locked", "wait_timed_out", "deadlock", "stale_fence"];
        let granted = self.ask("lock", input, &expected)?;
        let fence = granted["locks"][0]["fence"].as_u64();
        if fence.is_none() {
            self.wrong(format!("a lock without a fence: {granted}"));
        }
        fence
    }

    /// Notes that a lock was held from a moment until now.
    pub(crate) fn held(&mut self, fence: u64, path: &str, is_shared: bool, from: Instant) {
        let held = HeldSpan { from, until: Instant::now() };
        let (agent, reason) = (self.me.id.clone(), self.unique());
        self.tell(Told::Locked { agent, reason, fence, path: path.to_owned(), is_shared, held });
    }

    fn hand_over(&mut self, fence: u64, path: &str, from: Instant) {
        let others = self.load.members.iter().filter(|other| other.id != self.me.id).collect::<Vec<_>>();
        let Some(to) = self.random.pick(&others).map(|other| other.id.clone()) else { return };
        self.held(fence, path, false, from);
        // What overlaps is handed over, and the others may hold nothing of it.
        if self.ask("handover", json!({ "paths": [path], "to": to }), &["deadlock"]).is_some() {
            self.tell(Told::HandedOver { fence, to });
        }
    }

    /// Looks whether a lock that was granted is there.
    fn is_in_effect(&mut self, fence: u64, path: &str) {
        let Some(listed) = self.ask("locks", json!({ "path": path }), &[]) else { return };
        let locks = listed["locks"].as_array().map_or(&[][..], Vec::as_slice);
        if !locks.iter().any(|lock| lock["fence"] == fence && lock["agent"] == *self.me.id) {
            self.load.not_in_effect(format!("{}: lock {fence} on {path}; there is {listed}", self.me.name));
        }
    }

    /// Changes a file that it has locked, and commits it; in a worktree, if one is given. An act that commits several times
    /// calls each something else.
    pub(crate) fn commit(&mut self, worktree: Option<&str>, path: &str, what: &str) -> Option<String> {
        let repo = self.load.place.repo.display().to_string();
        let cwd = worktree.unwrap_or(&repo).to_owned();
        let text = format!("// {}{what}\n", self.unique());
        let file = std::path::Path::new(&cwd).join(path);
        let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = made.and_then(|()| std::fs::write(&file, &text)) {
            self.wrong(format!("{}: {error}", file.display()));
            return None;
        }
        let subject = format!("soak {}{what}", self.unique());
        for _ in 0..COMMIT_TRIES {
            match self.door.ask_from(&cwd, "commit", &json!({ "message": subject })) {
                Ok(made) => {
                    let commit = made["commit"].as_str().map(str::to_owned);
                    self.tell(match commit.clone() {
                        Some(commit) => Told::Committed { commit, path: path.to_owned(), text },
                        None => Told::NothingToCommit { subject },
                    });
                    return commit;
                }
                Err(No::Refused(error))
                    if error["hint"].as_str().is_some_and(|hint| hint.contains("try again")) => {}
                Err(no) => {
                    self.wrong(format!("commit of {path}: {no}"));
                    return None;
                }
            }
        }
        self.wrong(format!("commit of {path}: in vain {COMMIT_TRIES} times"));
        None
    }

    fn task(&mut self) {
        if self.random.happens(40) {
            let task = format!("task-{}", self.unique());
            let add = json!({ "title": format!("{:x}", self.random.bits()), "id": task });
            if self.ask("task_add", add, &[]).is_some() {
                self.tell(Told::Declared { task });
            }
            return;
        }
        let Some(taken) = self.ask("task_claim", json!({}), &["not_found"]) else { return };
        let (Some(task), Some(attempt)) = (taken["id"].as_str(), taken["attempt"].as_u64()) else { return };
        let (task, from) = (task.to_owned(), Instant::now());
        self.ask("task_start", json!({ "id": task }), &[]);
        let held = HeldSpan { from, until: Instant::now() };
        self.tell(Told::Claimed { agent: self.me.id.clone(), task: task.clone(), attempt, held });
        if self.random.happens(15) {
            self.ask("task_give_back", json!({ "id": task }), &[]);
            return;
        }
        let done = json!({ "id": task, "attempt": attempt, "evidence": "the soak" });
        if self.ask("task_done", done, &[]).is_some() {
            self.tell(Told::Completed { task, attempt });
        }
    }

    fn lease(&mut self) {
        let (pool, _) = POOLS[self.random.below(POOLS.len())];
        let mut input = json!({ "pool": pool, "reason": self.unique() });
        if self.random.happens(70) {
            input["wait"] = format!("{}ms", self.random.between(50, 1000)).into();
        }
        let expected = ["pool_full", "wait_timed_out", "not_found"];
        let Some(taken) = self.ask("lease", input, &expected) else { return };
        let Some(id) = taken["lease"]["id"].as_u64() else {
            return self.wrong(format!("a lease without a number: {taken}"));
        };
        let from = Instant::now();
        if self.random.happens(30) {
            self.ask("lease_extend", json!({ "lease": id.to_string(), "ttl": "1h" }), &[]);
        }
        let held = HeldSpan { from, until: Instant::now() };
        self.tell(Told::Leased { agent: self.me.id.clone(), pool: pool.into(), id, held });
        if self.ask("lease_free", json!({ "lease": id.to_string() }), &[]).is_some() {
            self.tell(Told::Freed { id });
        }
    }

    fn look(&mut self) {
        let questions = ["status", "locks", "agents", "task_list", "leases", "summary", "mailboxes"];
        let op = questions[self.random.below(questions.len())];
        self.ask(op, json!({}), &[]);
    }
}
