//! `cargo xtask additions`: adds an operation and a feature to a copy of this repository, to see that they touch no more
//! source files than CONTRIBUTING.md says, and that the copy compiles.

mod examples;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::build::target_dir;
use crate::process::{self, Failure, cargo, root};
use crate::tidy::Tree;

const GUIDE: &str = "CONTRIBUTING.md";

/// Something that is added, as a person would add it.
struct Addition {
    what: &'static str,
    /// Source files that it may touch, as the guide has it.
    files_max: usize,
    new: &'static [NewFile],
    edits: &'static [Edit],
}

struct NewFile {
    path: &'static str,
    text: &'static str,
}

/// Lines that go before the first one that begins like this.
struct Edit {
    path: &'static str,
    before: &'static str,
    lines: &'static str,
}

impl Addition {
    /// The source files that it touches.
    fn files(&self) -> BTreeSet<&'static str> {
        self.new.iter().map(|file| file.path).chain(self.edits.iter().map(|edit| edit.path)).collect()
    }

    /// What is wrong with it, or with what the guide says of it.
    fn problems(&self, tree: &Tree) -> Vec<String> {
        let guide = text(tree, GUIDE).unwrap_or_default();
        let (what, count) = (self.what, self.files().len());
        let mut problems = Vec::new();
        if count > self.files_max {
            problems.push(format!("{what} touches {count} source files; {} at most", self.files_max));
        }
        let said = format!("{} source files", self.files_max);
        if !guide.lines().any(|line| line.contains(what) && line.contains(&said)) {
            problems.push(format!("{GUIDE} does not say that {what} touches {said}"));
        }
        // A table of a feature has many paths: the guide names its kind.
        let is_table =
            |path: &str| path.starts_with("crates/comity-app/src/operations/") && path != OPERATIONS;
        for edit in self.edits {
            if !is_table(edit.path) && !guide.contains(edit.path) {
                problems.push(format!("{what} touches {}, which {GUIDE} does not name", edit.path));
            }
            let found = text(tree, edit.path).is_some_and(|text| edit.done(text).is_some());
            if !found {
                problems.push(format!("{}: no line begins like `{}`", edit.path, edit.before));
            }
        }
        problems
    }

    fn write(&self, copy: &Path) -> Result<(), Failure> {
        for file in self.new {
            write(&copy.join(file.path), file.text)?;
        }
        for edit in self.edits {
            let path = copy.join(edit.path);
            let before = fs::read_to_string(&path).map_err(|error| failure(&path, &error))?;
            write(&path, &edit.done(&before).unwrap_or(before))?;
        }
        Ok(())
    }
}

const OPERATIONS: &str = "crates/comity-app/src/operations/mod.rs";

impl Edit {
    fn done(&self, text: &str) -> Option<String> {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if line.starts_with(self.before) {
                return Some(format!("{}{}\n{}", &text[..at], self.lines, &text[at..]));
            }
            at += line.len();
        }
        None
    }
}

/// Counts; with `--count` it does not compile.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let compiles = match arguments {
        [] => true,
        [only] if only == "--count" => false,
        _ => return Err(Failure::usage("`cargo xtask additions` takes `--count`, or nothing")),
    };
    let tree = Tree::load(&root())?;
    let problems: Vec<String> = examples::ALL.iter().flat_map(|addition| addition.problems(&tree)).collect();
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    if compiles {
        compile(&tree)?;
    }
    for addition in examples::ALL {
        println!(
            "{}: {} source files; {} at most",
            addition.what,
            addition.files().len(),
            addition.files_max
        );
    }
    Ok(())
}

/// Adds everything to a copy, and lets the compiler say whether something was forgotten.
fn compile(tree: &Tree) -> Result<(), Failure> {
    // Beside what was built: a place of its own would be copied to each time. Cargo builds what has changed.
    let copy = target_dir().join("additions").join("copy");
    let _ = fs::remove_dir_all(&copy);
    for file in tree.files.iter().filter(|file| file.path.starts_with("crates/") || !file.path.contains('/'))
    {
        if let Some(text) = &file.text {
            write(&copy.join(&file.path), text)?;
        }
    }
    examples::ALL.iter().try_for_each(|addition| addition.write(&copy))?;
    // Its crates alone, in a folder of another name: cargo tells what it has built apart by the path below the workspace.
    fs::rename(copy.join("crates"), copy.join("copied")).map_err(|error| failure(&copy, &error))?;
    let manifest = copy.join("Cargo.toml");
    let workspace = fs::read_to_string(&manifest).map_err(|error| failure(&manifest, &error))?;
    write(&manifest, &workspace.replace(", \"xtask\"", "").replace("crates/", "copied/"))?;
    let mut check = cargo(&["check", "--offline", "-p", "comity-app", "-p", "comity-sim"]);
    process::run(check.current_dir(&copy).env("CARGO_TARGET_DIR", target_dir()))
}

fn text<'a>(tree: &'a Tree, path: &str) -> Option<&'a str> {
    tree.file(path)?.text.as_deref()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, text)).map_err(|error| failure(path, &error))
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_touch_no_more_files_than_the_guide_says() {
        let tree = Tree::load(&root()).expect("the repository");
        for addition in examples::ALL {
            assert_eq!(addition.problems(&tree), [""; 0]);
        }
    }

    #[test]
    fn what_the_guide_does_not_name_is_found() {
        let edits: &[Edit] = &[Edit { path: "src/world.rs", before: "pub struct", lines: "// new" }];
        let new: &[NewFile] = &[NewFile { path: "src/a.rs", text: "" }];
        let addition = Addition { what: "a feature", files_max: 2, new, edits };
        let check = |addition: &Addition, files: &str, expected: &[&str]| {
            assert_eq!(addition.problems(&Tree::from_fixture(files)), expected);
        };
        let good = "== CONTRIBUTING.md\na feature touches 2 source files: `src/world.rs`\n== src/world.rs\n\npub struct A;";
        check(&addition, good, &[]);
        let no_line = good.replace("pub struct", "struct");
        check(&addition, &no_line, &["src/world.rs: no line begins like `pub struct`"]);
        let not_named = good.replace("`src/world.rs`", "");
        check(
            &addition,
            &not_named,
            &["a feature touches src/world.rs, which CONTRIBUTING.md does not name"],
        );
        let wrong = good.replace("2 source", "3 source");
        check(&addition, &wrong, &["CONTRIBUTING.md does not say that a feature touches 2 source files"]);
        let large = Addition { files_max: 1, ..addition };
        let problems = large.problems(&Tree::from_fixture(good));
        assert_eq!(problems[0], "a feature touches 2 source files; 1 at most");
    }
}
