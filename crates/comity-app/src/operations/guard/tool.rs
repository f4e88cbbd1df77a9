//! Judges one tool call of an agent, in its program's form.

use std::fmt;
use std::path::{Path, PathBuf};

use comity_core::agents::{AgentAsk, Ending};
use comity_core::locks::{LockAsk, LockMode, LockRefusal, Wanted, conflicts, keeps_from_writing};
use comity_core::paths::covers;
use comity_core::{Ask, Principal, Refusal, limits};
use comity_guard::payload::{HookCall, HookEvent};
use comity_guard::verdict::{HookOutput, Verdict};
use comity_guard::{Dialect, Unknown, WriteKind};

use super::doubts::doubts;
use super::payload::Payload;
use super::permission::Permission;
use super::shell::{self, Shell};
use super::targets::{TargetSource, Touch, touches};
use super::{
    AUTO_REASON, GuardWithGit, at_work, caller, held_up, is_own_tool, knowledge, mail, own, planning,
    program_settings, with_git,
};
use crate::catalog::name_of;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::locks::keeps_out;
use crate::wording::{REFUSED, Wording};

/// Judge an agent program's tool call before it runs, and learn from it afterwards: what comity hook asks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// What the agent program sent, as JSON
    pub payload: Payload,
    /// The agent program: claude, codex, gemini, copilot, cursor or opencode; else it is recognised
    pub client: Option<String>,
}

/// What the hook has to say.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HookReply {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
    /// What proves that the mail in it was written out, if there is some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}

impl Operation for Guard {
    type Output = HookReply;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<HookReply>, Failure> {
        judge(app, caller, &self.payload, self.client.as_deref(), Asks::Nobody)
    }
}

/// Whom a judgement may ask besides the world.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Nobody,
    Git,
}

/// Judges a call; one that git has to be asked about moves to a thread with time for that.
pub(super) fn judge(
    app: &Application,
    caller: &Caller,
    payload: &Payload,
    client: Option<&str>,
    asks: Asks,
) -> Result<Plan<HookReply>, Failure> {
    let dialect = client.map(str::parse::<Dialect>).transpose();
    let dialect =
        dialect.map_err(|unknown| Refusal::bad_input(unknown.to_string(), "see: comity hook --help"))?;
    let call = match HookCall::parse(dialect, payload.get().as_bytes()) {
        Ok(call) => call,
        Err(bad) => return Err(Refusal::bad_input(bad.to_string(), "see: comity hook --help").into()),
    };
    if asks == Asks::Nobody && with_git::is_about_git(&call) {
        let input = GuardWithGit { payload: payload.clone(), client: client.map(str::to_owned) };
        let input = serde_json::to_value(input).map_err(Failure::fault)?;
        return Ok(Plan::Instead { operation: name_of::<GuardWithGit>(), input });
    }
    let payload = payload.get();
    let mut judged = Judged::of(app, caller, &call, payload)?;
    if call.event == HookEvent::AfterTool && call.runs_commands() {
        judged.explanation = held_up::explanation(&judged, payload);
    }
    judged.trace();
    let shell = Shell::of(app, judged.who);
    let permission = Permission::of(app, &judged, payload, shell);
    match judged.asks(payload, shell) {
        Ok(asks) if call.event == HookEvent::BeforeTool && permission.is_wanted() => permission.judge(asks),
        Ok(asks) if asks.is_empty() => Ok(Plan::Answer(judged.spoken(Verdict::Allow { context: None }))),
        Ok(asks) => judged.ask(asks),
        Err(Failure::Refused(no)) => Ok(Plan::Answer(judged.spoken(denied(&no)))),
        Err(Failure::Fault(reason)) => Ok(Plan::Answer(judged.spoken(Verdict::Fault { reason }))),
    }
}

/// A call, and who makes it.
pub(super) struct Judged<'a> {
    pub(super) app: &'a Application,
    pub(super) call: &'a HookCall,
    pub(super) payload: &'a str,
    pub(super) who: Principal,
    pub(super) cwd: PathBuf,
    /// What blocked the command that ran, if the kernel did.
    explanation: Option<String>,
}

impl<'a> Judged<'a> {
    pub(super) fn of(
        app: &'a Application,
        caller: &Caller,
        call: &'a HookCall,
        payload: &'a str,
    ) -> Result<Judged<'a>, Failure> {
        let who = caller::agent(app, caller, call)?;
        if let Principal::Agent(agent) = who {
            app.usage().note(agent, call);
        }
        let cwd = call.cwd.as_deref().map(Path::new).filter(|cwd| cwd.is_absolute());
        let cwd = cwd.or(caller.cwd.as_deref()).unwrap_or(Path::new("/")).to_owned();
        Ok(Judged { app, call, payload, who, cwd, explanation: None })
    }

    /// What the engine has to agree to before the call may run, or has to know after it ran.
    pub(super) fn asks(&self, payload: &str, shell: Shell) -> Result<Vec<Ask>, Failure> {
        match self.call.event {
            HookEvent::BeforeTool => {
                shell::check(self, shell)?;
                planning::check(self, payload, shell)?;
                with_git::check_commits(self)?;
                let mut asks = self.before()?;
                asks.extend(at_work::works_again(self, payload));
                Ok(asks)
            }
            // A failed call may have done half of it: the agent does not know what is in its files now.
            HookEvent::AfterTool if self.call.event_name == "PostToolUseFailure" => Ok(vec![]),
            HookEvent::AfterTool => Ok(self.after()),
            HookEvent::UserPrompt => Ok(at_work::has_work_again(self).into_iter().collect()),
            HookEvent::SessionStart | HookEvent::Stop | HookEvent::SessionEnd | HookEvent::Other => {
                Ok(vec![])
            }
            HookEvent::SubagentStop => {
                let ended = |agent| {
                    let cause = "its task is done".into();
                    Ask::Agent(AgentAsk::End { agent, ending: Ending::Completed, cause })
                };
                Ok(self.who.agent().map(ended).into_iter().collect())
            }
        }
    }

    fn before(&self) -> Result<Vec<Ask>, Failure> {
        // A tool that writes without saying where is denied; a command line is read as far as possible.
        let is_unread = |why: &&Unknown| match why {
            Unknown::Field(_) | Unknown::Patch(_) | Unknown::Bound(_) => true,
            Unknown::Unreadable(_)
            | Unknown::Code(_)
            | Unknown::InPlace(_)
            | Unknown::Hidden(_)
            | Unknown::PatchFile(_) => false,
        };
        if let Some(why) = self.call.effects.unknown.as_ref().filter(is_unread) {
            let tool = self.call.tool.as_deref().unwrap_or("the tool");
            let problem = format!("it is not clear which files {tool} would write: {why}");
            return Err(Refusal::bad_input(problem, "say which file, or send a well-formed patch").into());
        }
        // Comity's own tools name what others have locked, and have rules of their own.
        let is_own_tool = self.is_own_tool();
        if !is_own_tool {
            own::check(self.app, self.who, &self.cwd, &self.call.effects)?;
        }
        let mut touches = touches(self.app, &self.cwd, &self.call.effects, self.by())?;
        if !is_own_tool {
            touches.extend(doubts(self.app, self.who, &self.cwd, &self.call.effects, self.by())?);
            program_settings::check(self.app, &touches)?;
        }
        let (mut asks, mut wants) = (Vec::new(), Vec::new());
        for touch in &touches {
            let project = touch.place.project();
            if let (WriteKind::Whole, Some(file)) = (touch.how, &touch.file) {
                let path = touch.pattern.readable();
                knowledge::check_overwrite(self.app, self.who, (project, &path), file)?;
            }
            if self.is_free(touch)? == Ownership::ToTake {
                let world = self.app.engine().world();
                asks.extend(touch.place.introduce(&world));
                let reason = Some(AUTO_REASON.into());
                let set = touch.place.settings().ok().and_then(|settings| settings.lock.ttl);
                let ttl = set.or(self.app.config().lock.ttl).map_or(limits::LOCK_TTL, |span| span.0);
                let (pattern, mode) = (touch.pattern.clone(), LockMode::Exclusive);
                let (with_children, worktree) = (false, touch.place.root());
                wants.push(Wanted { project, pattern, mode, ttl, reason, with_children, worktree });
            }
        }
        if !wants.is_empty() {
            asks.push(Ask::Lock(LockAsk::Lock { wants, wait: None }));
        }
        Ok(asks)
    }

    fn is_own_tool(&self) -> bool {
        is_own_tool(self.call.tool.as_deref().unwrap_or_default())
    }

    fn by(&self) -> TargetSource {
        if self.call.runs_commands() { TargetSource::Command } else { TargetSource::Tool }
    }

    /// Whether what the call would write is the agent's, or can be; refused if it is somebody else's.
    fn is_free(&self, touch: &Touch) -> Result<Ownership, Refusal> {
        let (project, now) = (touch.place.project(), self.app.engine().now());
        let world = self.app.engine().world();
        let own = |lock: &&comity_core::locks::Lock| {
            lock.wanted.project == project
                && lock.wanted.mode == LockMode::Exclusive
                && covers(&lock.wanted.pattern, &touch.pattern)
        };
        if world.locks.live_of(self.who).any(|lock| own(&lock)) {
            return Ok(Ownership::Held);
        }
        let shown = limits::HOLDERS_SHOWN_MAX;
        let mut locks = conflicts(&world, self.who, project, &touch.pattern, LockMode::Exclusive, shown);
        let is_shared_from_above = locks.iter().any(|lock| !keeps_from_writing(&world, self.who, lock));
        locks.retain(|lock| keeps_out(lock, self.who, &world, now));
        if locks.is_empty() && is_shared_from_above {
            return Ok(Ownership::Held);
        }
        if !locks.is_empty() {
            let holders = locks.iter().map(|lock| lock.view(&world, now)).collect();
            let waiting = world.locks.waits_overlapping(project, &touch.pattern).len();
            return Err(LockRefusal::locked(touch.pattern.readable(), holders, waiting));
        }
        let takes = self.app.config().guard.auto_lock.unwrap_or(true) && !touch.stays_unlocked;
        Ok(if takes { Ownership::ToTake } else { Ownership::ToAll })
    }

    /// What the agent knows now: what it has read as a whole, and what it has written.
    fn after(&self) -> Vec<Ask> {
        let mut asks = Vec::new();
        let written = touches(self.app, &self.cwd, &self.call.effects, self.by()).unwrap_or_default();
        let written = written.iter().filter_map(|touch| Some((touch, touch.file.as_ref()?)));
        for (touch, file) in written {
            let project = touch.place.project();
            asks.extend(knowledge::learned(self.app, project, &touch.pattern.readable(), file));
        }
        for read in &self.call.effects.reads {
            if let Some(version) = &read.version {
                let learned =
                    knowledge::learned_of_version(self.app, self.who, &self.cwd, &read.path, version);
                asks.extend(learned);
                continue;
            }
            let file = self.cwd.join(&read.path);
            let Ok(place) = self.app.projects().at(file.parent().unwrap_or(&self.cwd)) else { continue };
            let Ok(pattern) = place.resolve_file(&file.to_string_lossy()) else { continue };
            let (project, path) = (place.project(), pattern.readable());
            // An agent that has seen a part does not know what changed in the rest since it last looked.
            let knows = |agent| self.app.engine().world().reads.known(agent, project, &path).is_some();
            if read.whole || !self.who.agent().is_some_and(knows) {
                asks.extend(knowledge::learned(self.app, project, &path, &file));
            }
        }
        asks
    }

    fn ask(&self, asks: Vec<Ask>) -> Result<Plan<HookReply>, Failure> {
        // The asks are for an agent that the door does not know yet, so they are decided here, at once.
        for ask in asks {
            match self.app.engine().ask(self.who, ask) {
                Ok(_) => {}
                Err(crate::engine::Failed::Refused(no)) => {
                    return Ok(Plan::Answer(self.spoken(denied(&no))));
                }
                Err(crate::engine::Failed::Fault(reason)) => {
                    return Ok(Plan::Answer(self.spoken(Verdict::Fault { reason })));
                }
            }
        }
        Ok(Plan::Answer(self.spoken(Verdict::Allow { context: None })))
    }

    pub(super) fn spoken(&self, verdict: Verdict) -> HookReply {
        let mut proof = None;
        self.keep_account(&verdict);
        let verdict = match verdict {
            // The answers of our own tools contain it already.
            Verdict::Allow { context: None } if self.call.takes_context() && !self.is_own_tool() => {
                let offered = mail::offer(self.app, self.who);
                proof = offered.as_ref().map(|(_, proof)| proof.clone());
                if self.call.event == HookEvent::Stop {
                    // Only somebody's letter is worth another turn.
                    return self.said(Verdict::Allow { context: offered.map(|(text, _)| text) }, proof);
                }
                let explained = self.explanation.clone().into_iter();
                let news: Vec<String> = explained
                    .chain(self.news())
                    .chain(self.commit_hint())
                    .chain(offered.map(|(text, _)| text))
                    .collect();
                Verdict::Allow { context: (!news.is_empty()).then(|| news.join("\n")) }
            }
            other => other,
        };
        self.said(verdict, proof)
    }

    fn said(&self, verdict: Verdict, proof: Option<String>) -> HookReply {
        self.free_clean_locks();
        if self.call.event == HookEvent::Stop && verdict == (Verdict::Allow { context: None }) {
            at_work::rests(self);
        }
        let wording = self.app.wording_of(self.who);
        let spoken =
            HookReply::of(verdict, wording, self.call.dialect, self.call.event, &self.call.event_name);
        HookReply { proof, ..spoken }
    }
}

#[derive(PartialEq, Eq)]
enum Ownership {
    Held,
    /// Nobody's; it is locked for the agent.
    ToTake,
    /// Nobody's, and stays so.
    ToAll,
}

impl HookReply {
    pub(super) fn of(
        verdict: Verdict,
        wording: Wording,
        dialect: Dialect,
        event: HookEvent,
        name: &str,
    ) -> HookReply {
        let verdict = verdict.map(|text| wording.spell(&text).into_owned());
        let HookOutput { stdout, stderr, exit } = verdict.said(dialect, event, name);
        HookReply { stdout, stderr, exit, proof: None }
    }
}

pub(super) fn denied(no: &Refusal) -> Verdict {
    Verdict::Deny { reason: format!("{REFUSED}{}", words_of(no)) }
}

/// A refusal and its hint, for an agent in the middle of something.
pub(super) fn words_of(no: &Refusal) -> String {
    format!("{no}\n{}", no.hint())
}

impl fmt::Display for HookReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.exit, &*self.stdout, &*self.stderr) {
            (0, "", "") => f.write_str("it may run"),
            (_, stdout, stderr) => write!(f, "exit {}\n{stdout}{stderr}", self.exit),
        }
    }
}
