//! Clients besides the agents: who follows the log, who only looks, who speaks MCP, and agents that are killed at work.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use comity_sim::Rng;
use serde_json::{Value, json};

use crate::door::{ClientDoor, No, Way};
use crate::load::{Load, Member};
use crate::run_dir::{FILES, HUMAN, PATIENCE, has_ended, kill};
use crate::told::{HeldSpan, History, Told};

/// How long a follower waits for the next entry before it looks whether it is needed.
const QUIET: Duration = Duration::from_millis(500);

/// A process that ends with what it is used for.
pub(crate) struct OwnedChild(pub(crate) Child);

impl Drop for OwnedChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Follows the log from its beginning to the end of the load, from server to server.
pub(crate) fn follow(load: &Load) -> History {
    let mut history = History::default();
    let mut after = 0;
    while load.goes_on() {
        if let Err(problem) = follow_one(load, &mut after, &mut history) {
            history.wrong.push(format!("follower: {problem}"));
            return history;
        }
    }
    history
}

fn follow_one(load: &Load, after: &mut u64, history: &mut History) -> Result<(), String> {
    let mut client = load.place.connect()?;
    client.set_timeout(Some(QUIET)).map_err(|error| error.to_string())?;
    let input =
        serde_json::value::to_raw_value(&json!({ "after": *after })).map_err(|error| error.to_string())?;
    let request = comity_wire::Request {
        op: "$follow".into(),
        input: Some(&input),
        token: Some(HUMAN.into()),
        ..comity_wire::Request::empty()
    };
    if client.send(request).is_err() {
        return Ok(());
    }
    while load.goes_on() {
        let event = match client.receive() {
            Ok(reply) => match reply.event {
                Some(event) => event,
                None => continue,
            },
            Err(comity_wire::ClientError::Io(error)) if error.kind() == std::io::ErrorKind::TimedOut => {
                continue;
            }
            // The next server goes on from there.
            Err(_) => return Ok(()),
        };
        let entry: Value = serde_json::from_str(event.get()).map_err(|error| error.to_string())?;
        let seq = entry["seq"].as_u64().unwrap_or_default();
        if seq != *after + 1 {
            history.wrong.push(format!("follower: entry {seq} came after {after}"));
        }
        *after = seq;
        let action = entry["action"].as_str().unwrap_or_default().to_owned();
        history.told.push(Told::Followed { seq, action });
    }
    Ok(())
}

/// Looks at this and that as the human.
pub(crate) fn look(load: &Load, way: Way, name: &str, seed: u64) -> History {
    let mut history = History::default();
    let mut random = Rng::new(seed);
    let mut door = load.door(way, name, HUMAN);
    let questions =
        ["status", "locks", "agents", "task_list", "leases", "summary", "alerts", "worktree_list", "log"];
    while load.goes_on() {
        let op = questions[random.below(questions.len())];
        if let Err(no) = door.ask(op, &json!({})) {
            history.wrong.push(format!("{name}: {op}: {no}"));
        }
        std::thread::sleep(Duration::from_millis(random.between(5, 100)));
    }
    history
}

/// Locks, unlocks and writes letters through `comity mcp`, one process for all servers.
pub(crate) fn speak_mcp(load: &Load, me: &Member, seed: u64) -> History {
    let mut history = History::default();
    if let Err(problem) = speak(load, me, Rng::new(seed), &mut history) {
        history.wrong.push(format!("{} by MCP: {problem}", me.name));
    }
    history
}

fn speak(load: &Load, me: &Member, mut random: Rng, history: &mut History) -> Result<(), String> {
    let mut mcp = Mcp::start(&mut load.place.comity(&me.token, &["mcp"]))?;
    let mut number = 0;
    while load.goes_on() {
        number += 1;
        let reason = format!("{}-{number}", me.name);
        if random.happens(40) {
            let Some(to) = random.pick(&load.members).map(|to| to.name.clone()) else { continue };
            let letter = json!({ "to": [to], "message": reason, "client_id": reason });
            let (text, is_error) = mcp.call("SendMessage", &letter)?;
            if is_error {
                history.wrong.push(format!("{}: {text}", me.name));
                continue;
            }
            let id = text.split(' ').next().unwrap_or_default().to_owned();
            history.told.push(Told::Sent { from: me.name.clone(), to, text: reason, id });
            continue;
        }
        let path = format!("src/{}.rs", FILES[random.below(FILES.len())]);
        let (text, is_error) =
            mcp.call("lock", &json!({ "paths": path, "reason": reason, "wait": "200ms" }))?;
        if is_error {
            let expected = ["is not free", "is locked", "not granted", "deadlock", "no longer held"];
            if !expected.iter().any(|no| text.contains(no)) {
                history.wrong.push(format!("{}: {text}", me.name));
            }
            continue;
        }
        let from = Instant::now();
        let fence = text.lines().next().and_then(|line| line.rsplit_once("fence "));
        let fence = fence.and_then(|(_, rest)| rest.trim_end_matches(')').parse().ok());
        let fence = fence.ok_or_else(|| format!("no fence: {text}"))?;
        let held = HeldSpan { from, until: Instant::now() };
        let (agent, shown) = (me.id.clone(), path.clone());
        history.told.push(Told::Locked { agent, reason, fence, path: shown, is_shared: false, held });
        let (text, is_error) = mcp.call("unlock", &json!({ "paths": [path] }))?;
        match is_error {
            false => history.told.push(Told::Unlocked { fence }),
            true => history.wrong.push(format!("{}: {text}", me.name)),
        }
    }
    Ok(())
}

struct Mcp {
    process: OwnedChild,
    output: BufReader<std::process::ChildStdout>,
    next_id: u64,
}

impl Mcp {
    fn start(command: &mut Command) -> Result<Mcp, String> {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = OwnedChild(spawned.map_err(|error| error.to_string())?);
        let output = BufReader::new(process.0.stdout.take().ok_or("no pipe")?);
        let mut mcp = Mcp { process, output, next_id: 1 };
        let client = json!({ "name": "soak", "version": "0" });
        mcp.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        )?;
        mcp.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(mcp)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.process.0.stdin.as_mut().ok_or("no pipe")?;
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|error| error.to_string())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                return Err("comity mcp ended".into());
            }
            let message: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
            if message["id"] == id {
                return Ok(message["result"].clone());
            }
        }
    }

    /// What a tool said, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<(String, bool), String> {
        let result = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        Ok((text, result["isError"] == true))
    }
}

/// Again and again an agent's process is killed over uncommitted work; its lock has to stay until a person puts the work
/// aside or adopts it, by turns.
pub(crate) fn die_at_work(load: &Load, seed: u64) -> History {
    let mut history = History::default();
    let mut random = Rng::new(seed);
    let mut human = load.human("heir");
    for number in 0.. {
        if !load.goes_on() {
            break;
        }
        let name = format!("mortal{number}");
        let settle: Settle = if number % 2 == 0 { rescue } else { adopt };
        let settled = die_once(load, &mut human, &name, &mut history)
            .and_then(|left| settle(load, &mut human, left, &mut history));
        if let Err(problem) = settled {
            history.wrong.push(format!("{name}: {problem}"));
        }
        let until = Instant::now() + Duration::from_millis(random.between(200, 4000));
        while load.goes_on() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    history
}

/// What a dead agent has left.
struct DeadAgentsWork {
    by: String,
    fence: u64,
    path: String,
    text: String,
}

type Settle = fn(&Load, &mut ClientDoor<'_>, DeadAgentsWork, &mut History) -> Result<(), String>;

fn in_words(no: No) -> String {
    no.to_string()
}

fn die_once(
    load: &Load,
    human: &mut ClientDoor<'_>,
    name: &str,
    history: &mut History,
) -> Result<DeadAgentsWork, String> {
    let path = format!("mortal/{name}.txt");
    let file = load.place.repo.join(&path);
    let text = format!("work of {name}\n");
    let joined = load.place.repo.with_file_name(format!("{name}.json"));
    let script =
        "\"$1\" agent join \"$2\" --pid $$ --json >\"$3.part\" 2>&1; echo \"exit code $?\" >>\"$3.part\"
        mv \"$3.part\" \"$3\"; exec sleep 1000";
    let comity = load.place.comity(HUMAN, &[]);
    let mut shell = load.place.program("sh");
    shell
        .args(["-c", script, "sh"])
        .arg(comity.get_program())
        .arg(name)
        .arg(&joined)
        .env("COMITY_TOKEN", HUMAN);
    let process = OwnedChild(shell.spawn().map_err(|error| error.to_string())?);
    wait_until("it joined", || Ok(joined.exists()))?;
    let output = std::fs::read_to_string(&joined).map_err(|error| error.to_string())?;
    let answer = output.strip_suffix("exit code 0\n").ok_or_else(|| format!("did not join: {output}"))?;
    let me = Member::of(&serde_json::from_str(answer).map_err(|error| format!("{error}: {output}"))?)?;
    let mut door = load.door(Way::Socket, name, &me.token);
    let granted = door.ask("lock", &json!({ "paths": [path], "reason": name })).map_err(in_words)?;
    let from = Instant::now();
    let fence = granted["locks"][0]["fence"].as_u64().ok_or("no fence")?;
    std::fs::create_dir_all(load.place.repo.join("mortal")).map_err(|error| error.to_string())?;
    std::fs::write(&file, &text).map_err(|error| error.to_string())?;
    let (agent, reason, held) = (me.id.clone(), name.to_owned(), HeldSpan { from, until: Instant::now() });
    history.told.push(Told::Locked { agent, reason, fence, path: path.clone(), is_shared: false, held });
    kill(process.0.id());
    has_ended(process.0.id(), PATIENCE);
    drop(process);
    wait_until("its lock is orphaned", || {
        let listed = human.ask("locks", &json!({ "path": path })).map_err(in_words)?;
        match listed["locks"][0]["state"].as_str() {
            Some("orphaned") => Ok(true),
            Some(_) => Ok(false),
            None => Err(format!("nobody has {path}, and uncommitted work is in it")),
        }
    })?;
    let _ = std::fs::remove_file(joined);
    Ok(DeadAgentsWork { by: name.to_owned(), fence, path, text })
}

/// Takes the work over and commits it.
fn adopt(
    load: &Load,
    human: &mut ClientDoor<'_>,
    DeadAgentsWork { by, fence, path, text }: DeadAgentsWork,
    history: &mut History,
) -> Result<(), String> {
    human.ask("adopt", &json!({ "paths": [path] })).map_err(in_words)?;
    history.told.push(Told::Adopted { fence, to: "human".into() });
    if std::fs::read_to_string(load.place.repo.join(&path)).ok().as_ref() != Some(&text) {
        load.not_in_effect(format!("the work of {by} in {path}, which was adopted"));
    }
    let subject = format!("soak {by}");
    let made = human.ask("commit", &json!({ "message": subject })).map_err(in_words)?;
    history.told.push(match made["commit"].as_str().map(str::to_owned) {
        Some(commit) => Told::Committed { commit, path: path.clone(), text },
        None => Told::NothingToCommit { subject },
    });
    human.ask("unlock", &json!({ "paths": [path] })).map(drop).map_err(in_words)
}

/// Puts the work aside, where it is kept.
fn rescue(
    load: &Load,
    human: &mut ClientDoor<'_>,
    DeadAgentsWork { path, text, .. }: DeadAgentsWork,
    history: &mut History,
) -> Result<(), String> {
    let done = human.ask("rescue", &json!({ "paths": [path] })).map_err(in_words)?;
    let kept = done["rescued"].as_array().map_or(&[][..], Vec::as_slice);
    let [kept] = kept else { return Err(format!("not one rescue: {done}")) };
    let field = |field: &str| kept[field].as_str().unwrap_or_default().to_owned();
    let (name, commit) = (field("ref"), field("commit"));
    if load.place.repo.join(&path).exists() {
        load.not_in_effect(format!("{path} was put aside, and is still there: {done}"));
    }
    history.told.push(Told::Rescued { name, commit, path, text });
    Ok(())
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() > PATIENCE {
            return Err(format!("never happened: {what}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
