//! Calls that git has to be asked about: commits, which programs may make with the repository's hooks switched off,
//! and looks at what git has. That takes a while, so it has a thread of its own.

use std::time::Duration;

use comity_core::paths::overlaps;
use comity_core::{PathPattern, Refusal};
use comity_git::{ChangedPath, Checkout};
use comity_guard::payload::{HookCall, HookEvent};
use comity_guard::{Effects, GitCommit, Write, WriteKind};

use super::commit;
use super::confine::locks_of_others;
use super::payload::Payload;
use super::targets::{TargetSource, touches};
use super::tool::{self, Asks, HookReply, Judged};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// How long git may take; a hook is cut off after eight seconds.
const GIT_PATIENCE: Duration = Duration::from_secs(5);

/// Judges a tool call that git has to be asked about: what becomes of comity hook's question then.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardWithGit {
    /// What the agent program sent, as JSON
    pub payload: Payload,
    /// The agent program: claude, codex, gemini, copilot, cursor or opencode; else it is recognised
    pub client: Option<String>,
}

impl Operation for GuardWithGit {
    type Output = HookReply;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<HookReply>, Failure> {
        tool::judge(app, caller, &self.payload, self.client.as_deref(), Asks::Git)
    }
}

/// Whether git has to be asked about a call.
pub(super) fn is_about_git(call: &HookCall) -> bool {
    match call.event {
        HookEvent::BeforeTool => !call.effects.commits.is_empty(),
        HookEvent::AfterTool => call.effects.reads.iter().any(|read| read.version.is_some()),
        HookEvent::SessionStart
        | HookEvent::SessionEnd
        | HookEvent::UserPrompt
        | HookEvent::Stop
        | HookEvent::SubagentStop
        | HookEvent::Other => false,
    }
}

/// Refuses a call that would commit what somebody else has locked.
pub(super) fn check_commits(judged: &Judged<'_>) -> Result<(), Failure> {
    judged.call.effects.commits.iter().try_for_each(|commit| check_commit(judged, commit))
}

fn check_commit(judged: &Judged<'_>, commit: &GitCommit) -> Result<(), Failure> {
    let place = match judged.app.projects().at(&judged.cwd.join(&commit.of)) {
        Ok(place) => place,
        // Git commits nothing there, either.
        Err(Failure::Refused(Refusal::NotARepository { .. })) => return Ok(()),
        Err(other) => return Err(other),
    };
    let are_others = {
        let (world, now) = (judged.app.engine().world(), judged.app.engine().now());
        locks_of_others(&world, judged.who, now).any(|lock| lock.wanted.project == place.project())
    };
    if !are_others {
        return Ok(());
    }
    let root = place.repository().root();
    let Some(checkout) = Checkout::at(root).map_err(Failure::fault)? else { return Ok(()) };
    let changed = checkout.all_changed(GIT_PATIENCE).map_err(Failure::fault)?;
    let named = named(judged, commit)?;
    let case = place.repository().case();
    let is_in = |changed: &ChangedPath| {
        let file = || PathPattern::existing(&changed.path.to_string_lossy(), case);
        (commit.staged && changed.is_staged)
            || (commit.tracked && changed.is_tracked)
            || (!named.is_empty()
                && file().is_ok_and(|file| named.iter().any(|named| overlaps(named, &file))))
    };
    let paths: Vec<String> = changed
        .iter()
        .filter(|changed| is_in(changed))
        .map(|changed| changed.path.to_string_lossy().into_owned())
        .collect();
    Ok(commit::judge(judged.app, judged.who, &place, &paths)?)
}

/// The files of the repository that a commit names.
fn named(judged: &Judged<'_>, commit: &GitCommit) -> Result<Vec<PathPattern>, Failure> {
    let meant = |target: &comity_guard::FileTarget| Write::new(target.clone(), WriteKind::Edit);
    let effects = Effects { writes: commit.paths.iter().map(meant).collect(), ..Effects::default() };
    let touches = touches(judged.app, &judged.cwd, &effects, TargetSource::Command)?;
    // A name may be that of a directory.
    let both = touches.into_iter().flat_map(|touch| {
        let dir = touch
            .file
            .as_ref()
            .filter(|file| file.is_dir())
            .and_then(|dir| touch.place.resolve_file(&format!("{}/", dir.display())).ok());
        [Some(touch.pattern), dir].into_iter().flatten()
    });
    Ok(both.collect())
}
