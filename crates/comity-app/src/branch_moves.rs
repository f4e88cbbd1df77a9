//! Branches that Comity moves: recorded before they move, and after. What a killed server or a full disk left open is
//! settled by looking at the branch, before anybody moves another one in the same project.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use comity_core::branch_moves::{Move, MoveAsk, MoveCause, OpenMove};
use comity_core::{Ask, Principal, ProjectId, Refusal};
use comity_git::commit::{BegunCommit, came_about};
use comity_git::worktree::{Branch, CommitId};

use crate::application::Application;
use crate::engine::Failed;
use crate::planted_panic::panic_at;

/// How long git may take to say where a branch is, including other commits in the same repository.
const PATIENCE: Duration = Duration::from_secs(120);
/// How soon a failed settlement is retried; doubled each time.
const RETRY: Duration = Duration::from_secs(1);
/// The longest that becomes.
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Where a branch goes: the project, the commit, and the branch.
type Course = (ProjectId, Box<str>, Option<Box<str>>);

#[derive(Default)]
pub(crate) struct OngoingMoves {
    /// Moves in progress: nobody else settles these.
    under_way: Mutex<BTreeMap<Course, usize>>,
    settling: Mutex<()>,
    is_trying: AtomicBool,
}

/// A move in progress. What is not done in the end is settled by looking at the branch.
pub(crate) struct Moving<'a> {
    app: &'a Application,
    who: Principal,
    project: ProjectId,
    begun: Vec<Course>,
    /// Why it could not be recorded, if the branch did not move because of that.
    pub(crate) fault: Option<String>,
}

impl<'a> Moving<'a> {
    pub(crate) fn new(app: &'a Application, who: Principal, project: ProjectId) -> Moving<'a> {
        Moving { app, who, project, begun: Vec::new(), fault: None }
    }

    /// Records that a branch is about to move, unless that is refused; `first` is asked before.
    pub(crate) fn intend(&mut self, first: Option<Ask>, intended: Move) -> Result<(), Refusal> {
        let course = (intended.project, intended.new.clone(), intended.branch.clone());
        // Before it is recorded: nobody may take it for one that was left open.
        *lock(&self.app.moves().under_way).entry(course.clone()).or_default() += 1;
        self.begun.push(course);
        let asks = first.into_iter().chain([Ask::Move(MoveAsk::Intend(Box::new(intended)))]).collect();
        match self.app.engine().ask_all(self.who, asks) {
            Ok(_) => {
                panic_at("intended");
                Ok(())
            }
            Err(Failed::Refused(refusal)) => Err(refusal),
            Err(Failed::Fault(problem)) => {
                self.fault = Some(problem.clone());
                Err(Refusal::bad_input(problem, "nothing was changed; try again"))
            }
        }
    }

    /// Records that the branch has moved as last announced. If recording fails, it is done later.
    pub(crate) fn done(self) -> Result<(), String> {
        panic_at("moved");
        let Some(course) = self.begun.last().cloned() else { return Ok(()) };
        let number = {
            let world = self.app.engine().world();
            let is_it = |open: &&OpenMove| open.by == self.who && is_on(&course, open);
            world.moves.open().filter(is_it).last().map(|open| open.number)
        };
        let Some(number) = number else { return Ok(()) };
        let ask = Ask::Move(MoveAsk::Settle { number, has_moved: true });
        let problem = match self.app.engine().ask(self.who, ask) {
            Ok(_) => {
                panic_at("recorded");
                return Ok(());
            }
            // Its maker has ended in the meantime; but it is made.
            Err(Failed::Refused(refusal)) => refusal.to_string(),
            Err(Failed::Fault(problem)) => problem,
        };
        let app = self.app;
        drop(self);
        let is_open = app.engine().world().moves.open().any(|open| open.number == number);
        if is_open { Err(problem) } else { Ok(()) }
    }
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        let mut under_way = lock(&self.app.moves().under_way);
        for course in &self.begun {
            if let Some(count) = under_way.get_mut(course) {
                *count -= 1;
            }
        }
        under_way.retain(|_, count| *count > 0);
        drop(under_way);
        settle(self.app, self.project);
    }
}

/// Settles what was left open in a project, and waits for that; what cannot be settled now is retried in the
/// background.
pub(crate) fn settle(app: &Application, project: ProjectId) {
    if !is_settled(app, Some(project)) {
        keep_trying(app);
    }
}

/// Settles what earlier servers have left open.
pub fn run(app: &Application) {
    let left: Vec<OpenMove> = app.engine().world().moves.open().cloned().collect();
    // A git that outlived its server may move the branch only now.
    left.iter().for_each(|open| app.watch().made(&open.intended.new));
    if !left.is_empty() {
        keep_trying(app);
    }
}

fn keep_trying(app: &Application) {
    if app.moves().is_trying.swap(true, Ordering::AcqRel) {
        return;
    }
    let trying = app.clone();
    let work = move || {
        panic_at("moves");
        let is_trying = &trying.moves().is_trying;
        let is_stopped = || trying.engine().feed().is_stopped();
        loop {
            let mut pause = RETRY;
            while !is_stopped() && !is_settled(&trying, None) {
                std::thread::sleep(pause);
                pause = (pause * 2).min(RETRY_MAX);
            }
            is_trying.store(false, Ordering::Release);
            // Somebody may have left another one open just now.
            if is_stopped() || left_open(&trying, None).is_empty() || is_trying.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    };
    if std::thread::Builder::new().name("moves".into()).spawn(work).is_err() {
        // The next commit, merge or start does it.
        app.moves().is_trying.store(false, Ordering::Release);
    }
}

/// Settles open moves that are not in progress, of one or all projects; returns whether none is left.
fn is_settled(app: &Application, project: Option<ProjectId>) -> bool {
    if left_open(app, project).is_empty() {
        return true;
    }
    let _one_at_a_time = lock(&app.moves().settling);
    let mut all = true;
    for open in left_open(app, project) {
        if let Err(problem) = settle_one(app, &open) {
            let commit = open.intended.new;
            eprintln!("comity: what came of commit {commit} can't be recorded yet: {problem}");
            all = false;
        }
    }
    all
}

/// How many moves are open and not in progress.
pub(crate) fn unsettled(app: &Application) -> usize {
    left_open(app, None).len()
}

fn left_open(app: &Application, project: Option<ProjectId>) -> Vec<OpenMove> {
    let world = app.engine().world();
    let under_way = lock(&app.moves().under_way);
    let is_left = |open: &&OpenMove| {
        project.is_none_or(|project| open.intended.project == project)
            && !under_way.keys().any(|course| is_on(course, open))
    };
    world.moves.open().filter(is_left).cloned().collect()
}

fn settle_one(app: &Application, open: &OpenMove) -> Result<(), String> {
    let ask = Ask::Move(MoveAsk::Settle { number: open.number, has_moved: has_moved(app, &open.intended)? });
    match app.engine().ask(Principal::System, ask) {
        Ok(_) => Ok(()),
        Err(Failed::Refused(refusal)) => Err(refusal.to_string()),
        Err(Failed::Fault(problem)) => Err(problem),
    }
}

/// Whether the branch is where it was to move, or contains that.
fn has_moved(app: &Application, intended: &Move) -> Result<bool, String> {
    let project = app.engine().world().projects.get(&intended.project).cloned();
    let project = project.ok_or("its project is not known")?;
    let common_dir = Path::new(&*project.common_dir);
    match &intended.act {
        MoveCause::Commit { .. } => {
            let worktree = Path::new(intended.worktree.as_deref().unwrap_or(&project.common_dir));
            let begun = BegunCommit {
                common_dir,
                worktree,
                branch: intended.branch.as_deref(),
                commit: &intended.new,
            };
            came_about(&begun, PATIENCE).map_err(|no| no.to_string())
        }
        MoveCause::Merge { target, .. } => {
            let driver = app
                .trees()
                .driver(app.config(), common_dir)
                .map_err(|no| no.to_text(crate::Wording::Commands))?;
            let target = Branch::parse(target).map_err(|no| no.to_string())?;
            let commit = CommitId::parse(&intended.new).map_err(|no| no.to_string())?;
            driver.merged(&target, &commit).map(|merged| merged.is_some()).map_err(|no| no.to_string())
        }
    }
}

fn is_on((project, commit, branch): &Course, open: &OpenMove) -> bool {
    open.intended.project == *project && open.intended.new == *commit && open.intended.branch == *branch
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
