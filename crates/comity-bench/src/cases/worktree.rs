//! Worktrees: made cold, taken from those that are ready, and released, against git itself.
//!
//! Making and removing 50,000 files takes git as long as the disk does, from seconds to minutes; ours hardly touch it.
//! In memory git is at its best, and the ratios are at their worst.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use comity_git::worktree::{Driver, NewWorktree, Places, Setup, Slug};
use serde::Deserialize;
use serde_json::json;

use crate::Bench;
use crate::bench_env::BenchEnv;
use crate::compare::{Comparison, Ratio, Round, timed};
use crate::git::GitRepository;
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::{BenchAgent, BenchServer, input};

const FILES: usize = 50_000;
/// Files of the repository with a large ignored tree beside them.
const FEW_FILES: usize = 5_000;
/// Files of an ignored tree that no pattern reaches into.
const IGNORED_FILES: usize = 20_000;
/// Files of it in one directory.
const FILES_PER_DIR: usize = 100;
const PATIENCE: Duration = Duration::from_secs(600);
/// How often it is looked whether something has happened in the background.
const LOOK_EVERY: Duration = Duration::from_millis(1);

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let stage = Rc::new(BenchEnv::in_memory()?);
    let files = bench.scaled(FILES);
    let what = format!("{files} files {}", stage.medium());
    let repository = GitRepository::make(&stage, "trees", files)?;
    let plain = Plain { repository: &repository, path: stage.dir().join("plain") };
    cold(bench, &plain, &what)?;
    let server = BenchServer::start_in(&stage, "trees", &repository.root)?;
    let mut client = WorktreeClient { agent: server.join("worker")?, count: 0 };
    client.agent.be_patient(PATIENCE)?;
    // The first one is made cold; from then on one is kept ready.
    client.add()?;
    let trees = ready(bench, &plain, &mut client, &what)?;
    released(bench, &plain, &mut client, trees, &what)?;
    moved(bench, &plain, &mut client, &what)?;
    drop((client, server));
    include(bench, &stage)
}

/// What git does by itself.
struct Plain<'a> {
    repository: &'a GitRepository,
    path: PathBuf,
}

impl Plain<'_> {
    fn add(&self) -> Result<u64, String> {
        timed(|| {
            self.repository.git(&["worktree", "add", "--quiet", "-b", "plain", &self.path.to_string_lossy()])
        })
    }

    fn remove(&self) -> Result<u64, String> {
        let taken = timed(|| self.repository.git(&["worktree", "remove", &self.path.to_string_lossy()]))?;
        self.repository.git(&["branch", "--quiet", "-D", "plain"])?;
        Ok(taken)
    }
}

/// An agent that gets worktrees and gives them back.
struct WorktreeClient {
    agent: BenchAgent,
    count: usize,
}

/// A worktree of an agent.
struct BenchWorktree {
    slug: String,
    path: PathBuf,
}

impl WorktreeClient {
    fn add(&mut self) -> Result<(BenchWorktree, u64), String> {
        #[derive(Deserialize)]
        struct CreatedWorktree {
            path: PathBuf,
        }
        self.count += 1;
        let slug = format!("agent{}", self.count);
        let asked = input(&json!({ "slug": slug }))?;
        let start = Instant::now();
        let made = self.agent.ask("worktree_add", &asked)?;
        let taken = start.elapsed().as_nanos() as u64;
        let CreatedWorktree { path } = serde_json::from_str(made.get()).map_err(|error| error.to_string())?;
        Ok((BenchWorktree { slug, path }, taken))
    }

    /// Waits until one is ready.
    fn wait_for_one(&mut self) -> Result<(), String> {
        #[derive(Deserialize)]
        struct List {
            ready: usize,
        }
        let asked = input(&json!({}))?;
        wait_until(|| {
            let listed = self.agent.ask("worktree_list", &asked)?;
            let List { ready } = serde_json::from_str(listed.get()).map_err(|error| error.to_string())?;
            Ok(ready > 0)
        })
    }

    /// Gives one back: how long it took until that was answered, and until it was proven and in the trash.
    fn release(&mut self, tree: &BenchWorktree) -> Result<(u64, u64), String> {
        let asked = input(&json!({ "slug": tree.slug }))?;
        let start = Instant::now();
        self.agent.ask("worktree_remove", &asked)?;
        let answered = start.elapsed().as_nanos() as u64;
        wait_until(|| Ok(!tree.path.exists()))?;
        Ok((answered, start.elapsed().as_nanos() as u64))
    }
}

fn wait_until(mut is_so: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() > PATIENCE {
            return Err("it did not happen in time".into());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn faster<'a>(name: &'a str) -> Comparison<'a> {
    let (unit, ratio, goal) = (Unit::Nanoseconds, Ratio::ReferenceToSubject, Some(Goal::AtLeast(100.0)));
    Comparison { name, unit, ratio, goal }
}

fn cold(bench: &mut Bench, plain: &Plain<'_>, what: &str) -> Result<(), String> {
    let describe = |no: comity_git::worktree::WorktreeError| no.to_string();
    let places = Places::within(&plain.path.with_file_name("cold"));
    let driver = Driver::open(&plain.repository.root.join(".git"), &places, PATIENCE).map_err(describe)?;
    let setup = Setup::default();
    let mut count = 0;
    let name = format!("made cold, {what}, to git worktree add");
    let (unit, ratio, goal) = (Unit::Nanoseconds, Ratio::SubjectToReference, Some(Goal::AtMost(1.2)));
    bench.compare(Comparison { name: &name, unit, ratio, goal }, || {
        let reference = plain.add()?;
        plain.remove()?;
        count += 1;
        let slug = Slug::parse(&format!("cold{count}")).map_err(describe)?;
        let new = NewWorktree { slug: &slug, branch: None, base: "HEAD", setup: &setup, reserved: None };
        let mut made = None;
        let subject = timed(|| driver.create(&new).map(|it| made = Some(it.path)).map_err(describe))?;
        let path = made.unwrap_or_default();
        plain.repository.git(&["worktree", "remove", &path.to_string_lossy()])?;
        Ok(Round { reference: reference as f64, subject: subject as f64 })
    })
}

fn ready(
    bench: &mut Bench,
    plain: &Plain<'_>,
    client: &mut WorktreeClient,
    what: &str,
) -> Result<Vec<BenchWorktree>, String> {
    let mut trees = Vec::new();
    let name = format!("asked for while one is ready, {what}, than git worktree add");
    bench.compare(faster(&name), || {
        client.wait_for_one()?;
        let reference = plain.add()?;
        plain.remove()?;
        let (tree, subject) = client.add()?;
        trees.push(tree);
        Ok(Round { reference: reference as f64, subject: subject as f64 })
    })?;
    client.wait_for_one()?;
    Ok(trees)
}

/// The agent has its answer when the release is written down; what happens after that is measured by itself.
fn released(
    bench: &mut Bench,
    plain: &Plain<'_>,
    client: &mut WorktreeClient,
    mut trees: Vec<BenchWorktree>,
    what: &str,
) -> Result<(), String> {
    let mut gone_after = Vec::new();
    let name = format!("released by an agent, {what}, than git worktree remove");
    bench.compare(faster(&name), || {
        plain.add()?;
        let reference = plain.remove()?;
        let tree = match trees.pop() {
            Some(tree) => tree,
            None => {
                client.wait_for_one()?;
                client.add()?.0
            }
        };
        let (subject, gone) = client.release(&tree)?;
        gone_after.push(gone as f64);
        Ok(Round { reference: reference as f64, subject: subject as f64 })
    })?;
    let name = format!("from the release until it is proven and in the trash, {what}");
    bench.measured(&name, Unit::Nanoseconds, &gone_after, None);
    client.wait_for_one()
}

/// What one costs whose base has moved since it was made ready: a checkout of the difference.
fn moved(
    bench: &mut Bench,
    plain: &Plain<'_>,
    client: &mut WorktreeClient,
    what: &str,
) -> Result<(), String> {
    let mut times = Vec::new();
    for number in 0..bench.options.rounds {
        client.wait_for_one()?;
        let file = plain.repository.file(number);
        std::fs::write(file, format!("moved {number}\n")).map_err(|error| error.to_string())?;
        plain.repository.git(&["commit", "--quiet", "--all", "--message=moved"])?;
        times.push(client.add()?.1 as f64);
    }
    let name = format!("asked for while one is ready at an older commit, {what}");
    bench.measured(&name, Unit::Nanoseconds, &times, None);
    client.wait_for_one()
}

/// What `.worktreeinclude` costs beside a large ignored tree: it is not walked.
fn include(bench: &mut Bench, stage: &Rc<BenchEnv>) -> Result<(), String> {
    let describe = |error: std::io::Error| error.to_string();
    let repository = GitRepository::make(stage, "including", bench.scaled(FEW_FILES))?;
    let places = Places::within(&stage.dir().join("including.comity"));
    let driver =
        Driver::open(&repository.root.join(".git"), &places, PATIENCE).map_err(|no| no.to_string())?;
    let write = |path: &str, text: &str| std::fs::write(repository.root.join(path), text).map_err(describe);
    write(".gitignore", "node_modules/\n.env\n")?;
    write(".worktreeinclude", ".env\n")?;
    repository.git(&["add", ".gitignore", ".worktreeinclude"])?;
    repository.git(&["commit", "--quiet", "--message=ignore"])?;
    write(".env", "A=1\n")?;
    let tree = |number: usize| repository.root.join(format!("node_modules/p{number}"));
    let dirs = bench.scaled(IGNORED_FILES).div_ceil(FILES_PER_DIR);
    for number in 0..dirs * FILES_PER_DIR {
        let dir = tree(number / FILES_PER_DIR);
        std::fs::create_dir_all(&dir).map_err(describe)?;
        std::fs::write(dir.join(format!("{number}.js")), "").map_err(describe)?;
    }
    let (whole, aside) = (repository.root.join("node_modules"), stage.dir().join("aside"));
    let mut count = 0;
    let mut claim = |name: &str| -> Result<f64, String> {
        driver.fill("HEAD", 1).map_err(|no| no.to_string())?;
        count += 1;
        let slug = Slug::parse(&format!("{name}{count}")).map_err(|no| no.to_string())?;
        let setup = Setup::default();
        let new = NewWorktree { slug: &slug, branch: None, base: "HEAD", setup: &setup, reserved: None };
        Ok(timed(|| driver.claim(&new).map(drop).map_err(|no| no.to_string()))? as f64)
    };
    let what = Comparison {
        name: "with a large ignored tree, to without it",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.5)),
    };
    bench.compare(what, || {
        std::fs::rename(&whole, &aside).map_err(describe)?;
        let reference = claim("without")?;
        std::fs::rename(&aside, &whole).map_err(describe)?;
        Ok(Round { reference, subject: claim("with")? })
    })
}
