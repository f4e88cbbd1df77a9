//! Makes a worktree.

use std::fmt;
use std::sync::Arc;

use comity_core::worktrees::{WorktreeAsk, WorktreeEvent, WorktreeInfo};
use comity_core::{Ask, Event, Principal, Refusal, World};
use comity_git::worktree::{
    Branch, Driver, FailureKind, InnerPath, MadeWorktree, NewWorktree, Reserved, Setup, Slug, WorktreeError,
};

use super::{ask, failure};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::guard::confiner;
use crate::operations::locks::Lock;
use crate::planted_panic::panic_at;
use crate::projects::PathBase;
use crate::removal::settle;
use crate::worktree_drivers;

/// What is said about every new worktree.
const ELSEWHERE: &str =
    "use paths under this directory, and read files again: those you know belong to another checkout";

/// Create a worktree and a branch of your own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeAdd {
    /// Its name; yours if omitted
    pub slug: Option<String>,
    /// Where it starts; where the main checkout is if omitted
    pub base: Option<String>,
    /// Its branch; comity/SLUG if omitted
    pub branch: Option<String>,
}

/// The new worktree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeMade {
    pub slug: String,
    pub path: String,
    pub branch: String,
    /// The commit that it begins at.
    pub base: String,
    /// Files that were copied into it.
    pub copied: Vec<String>,
    /// Directories that are linked to those of the main checkout.
    pub linked: Vec<String>,
    pub notes: Vec<String>,
    /// Why there is no worktree: then the path is the shared directory, where locks count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

impl WorktreeMade {
    fn of(tree: &WorktreeInfo) -> WorktreeMade {
        WorktreeMade {
            slug: tree.slug.to_string(),
            path: tree.path.to_string(),
            branch: tree.branch.to_string(),
            base: tree.base.to_string(),
            copied: Vec::new(),
            linked: Vec::new(),
            notes: vec![ELSEWHERE.to_owned()],
            fallback: None,
        }
    }
}

impl Operation for WorktreeAdd {
    type Output = WorktreeMade;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WorktreeMade>, Failure> {
        let place = app.projects().place(caller)?;
        let name = match (self.slug, caller.who) {
            (Some(slug), _) => slug,
            (None, Principal::Agent(_)) => app.engine().world().name_of(caller.who),
            (None, Principal::Human | Principal::System | Principal::Nobody) => {
                let hint = format!("name it: {}", next_call::<WorktreeAdd>([("slug", "SLUG".into())]));
                return Err(Refusal::bad_input("a worktree needs a name", hint).into());
            }
        };
        let slug = Slug::parse(&name).map_err(failure)?;
        if let Some(tree) = made_before(app, caller) {
            return Ok(Plan::Answer(WorktreeMade::of(&tree)));
        }
        make_room(app, &place, &slug);
        if app.engine().world().worktrees.get(place.project(), slug.as_str()).is_some() {
            let problem = format!("there is a worktree {slug} already");
            return Err(Refusal::bad_input(problem, "choose another name, or remove it first").into());
        }
        let branch = self.branch.as_deref().map(Branch::parse).transpose().map_err(failure)?;
        let base = self.base.as_deref().unwrap_or("HEAD");
        let (driver, reserved, made) = match make(app, caller, &place, &slug, branch.as_ref(), base) {
            Ok(made) => made,
            Err(failure) => return fall_back(caller, &place, &slug, failure),
        };
        let output = output(&made);
        let tree = Box::new(WorktreeInfo {
            slug: output.slug.as_str().into(),
            path: output.path.as_str().into(),
            branch: output.branch.as_str().into(),
            base: output.base.as_str().into(),
        });
        if let Some(introduced) = { place.introduce(&app.engine().world()) } {
            ask(app, Principal::System, introduced)?;
        }
        let asks = vec![Ask::Worktree(WorktreeAsk::Add { project: place.project(), tree })];
        let (app, base) = (app.clone(), base.to_owned());
        let finish = move |_: &[Event], _: &World, _| {
            // Only now: after a crash before it is somebody's, its name is free.
            drop(reserved);
            keep_ready(&app, driver, base);
            output
        };
        Ok(Plan::change(asks, finish))
    }
}

/// The worktree that the same call has already made, if the server ended before it could answer.
pub(super) fn made_before(app: &Application, caller: &Caller) -> Option<WorktreeInfo> {
    app.answered(caller)?.into_iter().find_map(|event| match event {
        Event::Worktree(WorktreeEvent::Added { tree, .. }) => Some(tree),
        _ => None,
    })
}

/// Makes it, and holds its name until it is recorded as the caller's.
fn make(
    app: &Application,
    caller: &Caller,
    place: &PathBase,
    slug: &Slug,
    branch: Option<&Branch>,
    base: &str,
) -> Result<(Arc<Driver>, Reserved, MadeWorktree), NotMade> {
    let driver = app.trees().driver(app.config(), place.repository().common_dir())?;
    let setup = setup(place)?;
    let reserved = driver.reserve(slug)?;
    let new = NewWorktree { slug, branch, base, setup: &setup, reserved: Some(&reserved) };
    let program = &app.config().worktree.create_hook;
    let confiner = if program.is_empty() { None } else { confiner(app, caller.who, None)? };
    let made = match worktree_drivers::hook(program, confiner) {
        Some(hook) => driver.create_by_hook(&hook, &new),
        None => driver.claim_or_create(&new),
    }?;
    Ok((driver, reserved, made))
}

enum NotMade {
    /// The request is impossible.
    Refused(Failure),
    /// A fault that the caller cannot fix.
    Broken(String),
}

impl From<Failure> for NotMade {
    fn from(failure: Failure) -> NotMade {
        match failure {
            Failure::Fault(problem) => NotMade::Broken(problem),
            Failure::Refused(_) => NotMade::Refused(failure),
        }
    }
}

impl From<WorktreeError> for NotMade {
    fn from(no: WorktreeError) -> NotMade {
        match no.kind() {
            FailureKind::BadName | FailureKind::Taken | FailureKind::NotFound | FailureKind::Conflicts => {
                NotMade::Refused(failure(no))
            }
            FailureKind::Git
            | FailureKind::Disk
            | FailureKind::Hook
            | FailureKind::BadPlace
            | FailureKind::Busy
            | FailureKind::Changed => NotMade::Broken(no.to_string()),
        }
    }
}

/// An agent continues in the shared directory, and is told so; a person decides.
fn fall_back(
    caller: &Caller,
    place: &PathBase,
    slug: &Slug,
    no: NotMade,
) -> Result<Plan<WorktreeMade>, Failure> {
    let problem = match no {
        NotMade::Refused(failure) => return Err(failure),
        NotMade::Broken(problem) => problem,
    };
    eprintln!("comity: the worktree {slug} could not be made: {problem}");
    if !matches!(caller.who, Principal::Agent(_)) {
        return Err(Failure::Fault(format!("{problem}; work in the shared directory, with locks")));
    }
    let repository = place.repository();
    let shared =
        worktree_drivers::main_checkout(repository.common_dir()).unwrap_or_else(|| repository.root());
    Ok(Plan::Answer(WorktreeMade {
        slug: slug.as_str().to_owned(),
        path: shared.to_string_lossy().into_owned(),
        branch: String::new(),
        base: String::new(),
        copied: Vec::new(),
        linked: Vec::new(),
        notes: vec![format!(
            "others work there, too: lock what you change with: {}",
            next_call::<Lock>([("paths", ["PATH"].into())])
        )],
        fallback: Some(problem),
    }))
}

/// Waits for a released worktree with the same name that is still on its way out. If it is kept, the name is taken.
fn make_room(app: &Application, place: &PathBase, slug: &Slug) {
    let before = app.engine().world().worktrees.get(place.project(), slug.as_str()).cloned();
    if let Some(worktree) = before
        && let Some(by) = worktree.released
    {
        // If it is kept, the reaper finds that, too, and tells who has released it.
        let _ = settle(app, by, &worktree, None);
    }
}

/// Makes the next one ready, in the background.
fn keep_ready(app: &Application, driver: Arc<Driver>, base: String) {
    let ready = app.config().worktree.ready.unwrap_or(1);
    if ready == 0 || !app.config().worktree.create_hook.is_empty() {
        return;
    }
    let filling = move || {
        panic_at("worktree-pool");
        if let Err(problem) = driver.fill(&base, ready) {
            eprintln!("comity: no worktree could be made ready: {problem}");
        }
    };
    // Without this the next one only takes longer.
    let _ = std::thread::Builder::new().name("worktree-pool".into()).spawn(filling);
}

fn setup(place: &PathBase) -> Result<Setup, Failure> {
    let settings = &place.settings()?.worktree;
    let paths = |texts: &[String]| -> Result<Vec<InnerPath>, Failure> {
        texts.iter().map(|text| InnerPath::parse(text).map_err(failure)).collect()
    };
    Ok(Setup { settings: paths(&settings.settings)?, links: paths(&settings.links)? })
}

fn output(made: &MadeWorktree) -> WorktreeMade {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let mut notes = vec![ELSEWHERE.to_owned()];
    let unlinked = made.setup.linked.iter().filter(|linked| !linked.is_ignored);
    notes.extend(unlinked.map(|linked| {
        format!(
            "git does not ignore the link {}; a pattern without a slash at its end would",
            linked.link.path.as_str()
        )
    }));
    notes.extend(made.setup.skipped.iter().map(|one| format!("{}: {}", one.path.display(), one.why)));
    if made.unfiltered > 0 {
        let count = made.unfiltered;
        notes.push(format!("{count} files are as they are stored: a filter of the repository was not run"));
    }
    notes.extend(made.warnings.iter().cloned());
    WorktreeMade {
        slug: made.slug.as_str().to_owned(),
        path: text(&made.path),
        branch: made.branch.as_ref().map(|branch| branch.as_str().to_owned()).unwrap_or_default(),
        base: made.base.commit.as_str().to_owned(),
        copied: made.setup.copied.iter().map(|copied| text(copied.path.as_ref())).collect(),
        linked: made.setup.linked.iter().map(|linked| linked.link.path.as_str().to_owned()).collect(),
        notes,
        fallback: None,
    }
}

impl fmt::Display for WorktreeMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorktreeMade { slug, path, branch, base, .. } = self;
        let short = base.get(..10).unwrap_or(base);
        match &self.fallback {
            Some(why) => write!(
                f,
                "NO WORKTREE {slug}: {why}\n  nothing was made; work in the shared directory, with locks: cd {path}"
            )?,
            None => write!(f, "{slug} is ready: cd {path}\n  on {branch}, from {short}")?,
        }
        self.notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
    }
}
