//! What is left when the load is over: the mail that is still under way, the log, git, the state after one more kill.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Soak;
use crate::agent::SoakAgent;
use crate::door::{ClientDoor, Way};
use crate::judge::{Evidence, RepoCommit, judge};
use crate::killer::{Sample, server};
use crate::load::Load;
use crate::plant::Plant;
use crate::report::SoakReport;
use crate::run_dir::{HUMAN, PATIENCE, RunDir, has_ended, kill};
use crate::told::{History, Told};

/// How long what a server has started may go on after it.
const LEAVING_MAX: Duration = Duration::from_secs(5);

/// All that a run was.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    pub(crate) seed: u64,
    pub(crate) answers: u64,
    pub(crate) evidence: Evidence,
    pub(crate) wrong: Vec<String>,
    /// What was not in effect when somebody looked, or not after one more kill.
    pub(crate) missing: Vec<String>,
    pub(crate) restarts: Vec<Duration>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) leftovers: Vec<String>,
}

pub(crate) fn outcome(
    soak: &Soak,
    load: &Load,
    mut history: History,
    samples: Vec<Sample>,
) -> Result<RunResult, String> {
    let restarts = load.restarts.times();
    std::thread::scope(|scope| {
        let readers = load.members.iter().map(|me| {
            let mut agent = SoakAgent::new(load, me, Way::Socket, 0);
            // Its keys must be other ones than during the load.
            agent.door = load.door(Way::Socket, &format!("{}-end", me.name), &me.token);
            scope.spawn(move || agent.read_all())
        });
        let readers: Vec<_> = readers.collect();
        readers.into_iter().for_each(|reader| history.add(reader.join().unwrap_or_default()));
    });
    let mut missing = load.missing();
    missing.extend(lost_by_a_kill(load)?);
    if soak.plants.contains(&Plant::Commit) {
        commit_past_the_server(&load.place)?;
    }
    load.place.run(&["log", "verify"])?;
    let log = load.log()?;
    let (commits, contents) = (commits(&load.place)?, contents(&load.place, &history.told)?);
    let rescues = rescues(&load.place)?;
    let leftovers = leftovers(soak, load)?;
    let evidence = Evidence { told: history.told, log, commits, contents, rescues };
    let answers = load.restarts.answers();
    Ok(RunResult {
        seed: soak.seed,
        answers,
        evidence,
        wrong: history.wrong,
        missing,
        restarts,
        samples,
        leftovers,
    })
}

impl RunResult {
    pub(crate) fn report(&self) -> SoakReport {
        let findings = judge(&self.evidence);
        let mut report = SoakReport { seed: self.seed, figures: Vec::new() };
        report.tell("answers", self.answers);
        let acknowledged = self.evidence.told.iter().filter(|told| told.is_acknowledgement()).count();
        report.tell("acknowledged operations", acknowledged);
        report.tell("entries of the log", self.evidence.log.len());
        report.tell("commits", self.evidence.commits.len());
        let count =
            |is_meant: fn(&Told) -> bool| self.evidence.told.iter().filter(|told| is_meant(told)).count();
        report.tell("adopted", count(|told| matches!(told, Told::Adopted { .. })));
        report.tell("rescued", count(|told| matches!(told, Told::Rescued { .. })));
        report.tell("worktrees restored", count(|told| matches!(told, Told::TreeRestored { .. })));
        report.tell("merges finished", count(|told| matches!(told, Told::MergeFinished { .. })));
        let mut lost = findings.lost;
        lost.extend(self.missing.iter().cloned());
        report.none_of("lost", lost);
        report.none_of("granted twice", findings.twice);
        report.none_of("unrecorded commits", findings.unrecorded);
        report.none_of("own commits denied", findings.denied);
        report.none_of("wrong answers", self.wrong.clone());
        report.restarts(self.restarts.clone());
        report.memory(&self.samples);
        report.backlog(&self.samples);
        report.none_of("left behind", self.leftovers.clone());
        report
    }
}

/// What one server knew, and the next one does not.
fn lost_by_a_kill(load: &Load) -> Result<Vec<String>, String> {
    let mut door = load.human("end");
    let before = state(&mut door)?;
    if let Some(pid) = server(load) {
        kill(pid);
        has_ended(pid, PATIENCE);
    }
    let after = state(&mut door)?;
    let differences = before.iter().zip(&after).filter(|(before, after)| before != after);
    Ok(differences.map(|(before, after)| format!("before a kill {before}, after it {after}")).collect())
}

/// Locks, tasks, leases, agents and boxes, without what changes with time.
fn state(door: &mut ClientDoor<'_>) -> Result<Vec<Value>, String> {
    let mut ask = |op: &str| door.ask(op, &json!({})).map_err(|no| format!("{op}: {no}"));
    let mut state = Vec::new();
    for op in ["locks", "task_list", "leases", "agents", "mailboxes"] {
        let mut answer = ask(op)?;
        timeless(&mut answer);
        state.push(answer);
    }
    Ok(state)
}

fn timeless(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(timeless),
        Value::Object(all) => {
            all.retain(|name, _| !name.ends_with("_ms") && !name.contains("seen") && name != "connected");
            all.values_mut().for_each(timeless);
        }
        _ => {}
    }
}

fn commits(place: &RunDir) -> Result<Vec<RepoCommit>, String> {
    let on_branches = place.git(&["rev-list", "--branches"])?;
    let on_branches: std::collections::BTreeSet<&str> = on_branches.lines().collect();
    let all = place.git(&["log", "--all", "--min-parents=1", "--format=%H%x09%P%x09%s"])?;
    let commit = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let (id, parents, subject) = (parts.next()?, parts.next()?, parts.next()?);
        Some(RepoCommit {
            id: id.to_owned(),
            parents: parents.split(' ').map(str::to_owned).collect(),
            subject: subject.to_owned(),
            is_on_branch: on_branches.contains(id),
        })
    };
    Ok(all.lines().filter_map(commit).collect())
}

/// The refs that keep what was put aside, and their commits.
fn rescues(place: &RunDir) -> Result<BTreeMap<String, String>, String> {
    let refs = place.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/comity/rescue"])?;
    let rescue = |line: &str| line.split_once(' ').map(|(name, commit)| (name.to_owned(), commit.to_owned()));
    Ok(refs.lines().filter_map(rescue).collect())
}

/// What is in the file of each commit that somebody was told of.
fn contents(place: &RunDir, told: &[Told]) -> Result<Vec<Option<String>>, String> {
    let describe = |error: std::io::Error| error.to_string();
    let contents = told.iter().filter_map(Told::content);
    let names: Vec<String> = contents.map(|(_, object, _)| object + "\n").collect();
    let mut git = place.program("git");
    git.args(["cat-file", "--batch=%(objecttype) %(objectsize)"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut git = git.spawn().map_err(describe)?;
    let mut input = git.stdin.take().ok_or("no pipe")?;
    let asked = names.concat();
    let asking = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let output = git.wait_with_output().map_err(describe)?;
    let _closed = asking.join();
    let mut rest = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut contents = Vec::new();
    for _ in names {
        let Some((head, after)) = rest.split_once('\n') else { break };
        let size = head.strip_prefix("blob ").and_then(|size| size.parse::<usize>().ok());
        contents.push(size.and_then(|size| after.get(..size)).map(str::to_owned));
        rest = after.get(size.map_or(0, |size| size + 1)..).unwrap_or_default().to_owned();
    }
    Ok(contents)
}

/// What nobody has any more after all have gone: processes, the socket, worktrees.
fn leftovers(soak: &Soak, load: &Load) -> Result<Vec<String>, String> {
    let mut left = Vec::new();
    let mut human = load.human("leaving");
    let listed = human.ask("worktree_list", &json!({})).map_err(|no| no.to_string())?;
    left.extend(listed["leftovers"].as_array().into_iter().flatten().map(|one| format!("worktree: {one}")));
    let known: Vec<&str> = listed["worktrees"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tree| tree["path"].as_str())
        .collect();
    for tree in listed["worktrees"].as_array().into_iter().flatten().filter(|tree| tree["owner"].is_null()) {
        left.push(format!("worktree of nobody: {tree}"));
    }
    left.extend(unknown_worktrees(load, &mut human, &known)?);
    for lock in ["index.lock", "HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"] {
        if load.place.repo.join(".git").join(lock).exists() {
            left.push(format!("git: {lock}"));
        }
    }
    for me in &load.members {
        human.ask("agent_bye", &json!({ "agent": me.id })).map_err(|no| no.to_string())?;
    }
    left.extend(still_held(load, &mut human)?);
    load.place.run(&["down"])?;
    if soak.plants.contains(&Plant::Process) {
        load.place
            .comity(HUMAN, &["log", "--follow"])
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
    }
    let begun = Instant::now();
    while !load.place.processes().is_empty() && begun.elapsed() < LEAVING_MAX {
        std::thread::sleep(Duration::from_millis(20));
    }
    left.extend(load.place.processes().into_iter().map(|pid| {
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("process {pid}: {}", command.replace('\0', " "))
    }));
    if comity_wire::Home::at(&load.place.home).socket().exists() {
        left.push("the socket".into());
    }
    Ok(left)
}

/// Worktrees that only git knows of, once nothing is being made.
fn unknown_worktrees(
    load: &Load,
    human: &mut ClientDoor<'_>,
    known: &[&str],
) -> Result<Option<String>, String> {
    let begun = Instant::now();
    loop {
        let listed = human.ask("worktree_list", &json!({})).map_err(|no| no.to_string())?;
        let ready = listed["ready"].as_u64().unwrap_or_default();
        let trees = load.place.git(&["worktree", "list", "--porcelain"])?;
        let is_known = |path: &&str| *path == load.place.repo.display().to_string() || known.contains(path);
        let trees = trees.lines().filter_map(|line| line.strip_prefix("worktree "));
        let strange: Vec<&str> = trees.filter(|path| !is_known(path)).collect();
        if strange.len() as u64 <= ready {
            return Ok(None);
        }
        if begun.elapsed() > LEAVING_MAX {
            return Ok(Some(format!(
                "git has worktrees that Comity has not, {ready} of them ready: {strange:?}"
            )));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Locks and leases that outlast their holders. Uncommitted work stays locked, and rightly so.
fn still_held(load: &Load, human: &mut ClientDoor<'_>) -> Result<Vec<String>, String> {
    let begun = Instant::now();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let locks = loop {
        let held = list(&human.ask("locks", &json!({})).map_err(|no| no.to_string())?["locks"]);
        // Their files are being looked at.
        if !held.iter().any(|lock| lock["state"] == "lapsed") || begun.elapsed() > PATIENCE {
            break held;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let dirty = load.place.git(&["status", "--porcelain", "--untracked-files=all"])?;
    let is_dirty = |path: &Value| path.as_str().is_some_and(|path| dirty.contains(path));
    let is_right = |lock: &&Value| lock["state"] == "orphaned" && is_dirty(&lock["path"]);
    let leases = human.ask("leases", &json!({})).map_err(|no| no.to_string())?;
    let leases = list(&leases["pools"]).iter().flat_map(|pool| list(&pool["leases"])).collect::<Vec<_>>();
    Ok(locks.iter().filter(|lock| !is_right(lock)).chain(&leases).map(Value::to_string).collect())
}

/// Moves the branch as a program that knows nothing of Comity would.
fn commit_past_the_server(place: &RunDir) -> Result<(), String> {
    let commit = place.git(&["commit-tree", "main^{tree}", "-p", "main", "-m", "past the server"])?;
    place.git(&["update-ref", "refs/heads/main", commit.trim()]).map(drop)
}
