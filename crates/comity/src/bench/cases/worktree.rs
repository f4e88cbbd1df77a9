//! Worktrees: made cold, taken from those that are ready, and released, against git itself.

use std::path::Path;
use std::time::Duration;

use comity_git::worktree::{Driver, NewWorktree, Places, Rules, Setup, Slug};

use crate::bench::Bench;
use crate::bench::compare::{Comparison, Ratio, Round, timed};
use crate::bench::git::GitRepository;
use crate::bench::quantity::Unit;
use crate::bench::report::Goal;

const FILES: usize = 5_000;
/// Files of an ignored tree that no pattern reaches into.
const IGNORED_FILES: usize = 20_000;
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let stage = bench.stage.clone();
    let repository = GitRepository::make(&stage, "trees", bench.scaled(FILES))?;
    let places = Places::within(&stage.dir().join("trees.comity"));
    let driver =
        Driver::open(&repository.root.join(".git"), &places, PATIENCE).map_err(|no| no.to_string())?;
    let mut count = 0;
    let mut next = || {
        count += 1;
        Slug::parse(&format!("tree{count}")).map_err(|no| no.to_string())
    };
    let plain = stage.dir().join("plain");
    let add = || repository.git(&["worktree", "add", "--quiet", "-b", "plain", &plain.to_string_lossy()]);
    let take_away = || repository.git(&["worktree", "remove", &plain.to_string_lossy()]);
    let forget = || repository.git(&["branch", "--quiet", "-D", "plain"]);
    let than =
        |name, goal| Comparison { name, unit: Unit::Nanoseconds, ratio: Ratio::ReferenceToSubject, goal };

    let setup = Setup::default();
    let mut created = Vec::new();
    let cold = Comparison {
        name: "made cold, to git worktree add",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.2)),
    };
    bench.compare(cold, || {
        let reference = timed(add)?;
        take_away()?;
        forget()?;
        let slug = next()?;
        let new = NewWorktree { slug: &slug, branch: None, base: "HEAD", setup: &setup };
        let subject =
            timed(|| driver.create(&new).map(|made| created.push(made.path)).map_err(|no| no.to_string()))?;
        Ok(Round { reference: reference as f64, subject: subject as f64 })
    })?;
    bench.compare(
        than("from those that are ready, than git worktree add", Some(Goal::AtLeast(100.0))),
        || {
            let reference = timed(add)?;
            take_away()?;
            forget()?;
            driver.fill("HEAD", 1).map_err(|no| no.to_string())?;
            let slug = next()?;
            let new = NewWorktree { slug: &slug, branch: None, base: "HEAD", setup: &setup };
            let subject = timed(|| match driver.claim(&new).map_err(|no| no.to_string())? {
                Some(made) => {
                    created.push(made.path);
                    Ok(())
                }
                None => Err("none was ready".into()),
            })?;
            Ok(Round { reference: reference as f64, subject: subject as f64 })
        },
    )?;
    let rules = Rules { build_dirs: &[], in_use: &|_: &Path| false };
    let mut proofs = Vec::new();
    bench.compare(than("released, than git worktree remove", Some(Goal::AtLeast(100.0))), || {
        add()?;
        let reference = timed(take_away)?;
        forget()?;
        let path = created.pop().ok_or("there is nothing to release")?;
        let kept = |kept: Vec<comity_git::worktree::Kept>| {
            kept.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        let mut proof = None;
        let proving = timed(|| {
            proof = Some(driver.prove_removable(&path, rules).map_err(kept)?);
            Ok(())
        })?;
        proofs.push(proving as f64);
        let proof = proof.ok_or("no proof")?;
        let subject = timed(|| driver.remove(proof).map(drop).map_err(kept))?;
        Ok(Round { reference: reference as f64, subject: subject as f64 })
    })?;
    bench.measured("the proof that no work is lost, before it", Unit::Nanoseconds, &proofs, None);
    include(bench, &repository, &driver)
}

/// What `.worktreeinclude` costs beside a large ignored tree: it is not walked.
fn include(bench: &mut Bench, repository: &GitRepository, driver: &Driver) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let write = |path: &str, text: &str| std::fs::write(repository.root.join(path), text).map_err(said);
    write(".gitignore", "node_modules/\n.env\n")?;
    write(".worktreeinclude", ".env\n")?;
    repository.git(&["add", ".gitignore", ".worktreeinclude"])?;
    repository.git(&["commit", "--quiet", "--message=ignore"])?;
    write(".env", "A=1\n")?;
    let mut count = 0;
    let mut claim = |name: &str| -> Result<f64, String> {
        driver.fill("HEAD", 1).map_err(|no| no.to_string())?;
        count += 1;
        let slug = Slug::parse(&format!("{name}{count}")).map_err(|no| no.to_string())?;
        let setup = Setup::default();
        let new = NewWorktree { slug: &slug, branch: None, base: "HEAD", setup: &setup };
        Ok(timed(|| driver.claim(&new).map(drop).map_err(|no| no.to_string()))? as f64)
    };
    let before: Vec<f64> = (0..bench.options.rounds).map(|_| claim("without")).collect::<Result<_, _>>()?;
    for number in 0..bench.scaled(IGNORED_FILES) {
        let dir = repository.root.join(format!("node_modules/p{}", number / 100));
        if number % 100 == 0 {
            std::fs::create_dir_all(&dir).map_err(said)?;
        }
        std::fs::write(dir.join(format!("{number}.js")), "").map_err(said)?;
    }
    let mut before = before.into_iter();
    let what = Comparison {
        name: "with a large ignored tree, to without it",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.5)),
    };
    bench.compare(what, || {
        let reference = before.next().map_or_else(|| claim("again"), Ok)?;
        Ok(Round { reference, subject: claim("with")? })
    })
}
