//! However a file is spelled, and wherever from, it has one name.

use std::path::PathBuf;

use comity_core::{CaseRule, PathPattern};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::sandbox::Sandbox;

/// Names with all that a spelling could trip over; every directory has every file.
const DIRS: &[&str] = &["", "src", "src/auth", "app/[id]", "app/[id]/{x}", "caf\u{e9}", "a b/caf\u{e9}"];
const FILES: &[&str] = &["a.rs", "[x].tsx", "r\u{e9}sum\u{e9}.md", "not there yet.rs", "-x", "{a,b}"];
/// The worktrees that all of them are in.
const ROOTS: &[&str] = &["main", "linked", "main/trees/inner"];
/// Links that stand beside each directory and in it.
const LINK_TO_DIR: &str = "to dir";
const LINK_TO_FILE: &str = "to ";

fn tree() -> Sandbox {
    let paths: Vec<String> = DIRS
        .iter()
        .flat_map(|dir| FILES.iter().map(move |file| join(dir, file)))
        .filter(|path| !path.contains("not there yet"))
        .collect();
    let sandbox = Sandbox::with(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    sandbox.git("main", &["worktree", "add", "-q", "trees/inner"]);
    for root in ROOTS {
        for (at, dir) in DIRS.iter().enumerate() {
            let physical = sandbox.path(root).join(dir);
            sandbox.link(&physical, &format!("{root}/{LINK_TO_DIR} {at}"));
            for file in FILES {
                sandbox.link(file, &format!("{}/{LINK_TO_FILE}{file}", join(root, dir)));
            }
        }
    }
    sandbox
}

fn join(dir: &str, file: &str) -> String {
    if dir.is_empty() { file.to_owned() } else { format!("{dir}/{file}") }
}

/// Where from, and how, a file is spelled.
#[derive(Clone, Debug)]
struct Spelling {
    root: &'static str,
    cwd: Cwd,
    through_link: bool,
    file_link: bool,
    decomposed: bool,
    noise: Vec<u8>,
    backslashes: bool,
}

#[derive(Clone, Copy, Debug)]
enum Cwd {
    Anywhere,
    Root,
    Dir(usize),
}

fn spelling() -> impl Strategy<Value = Spelling> {
    let cwd = prop_oneof![Just(Cwd::Anywhere), Just(Cwd::Root), (0..DIRS.len()).prop_map(Cwd::Dir)];
    let root = prop::sample::select(ROOTS);
    let noise = prop::collection::vec(0_u8..6, 0..12);
    (root, cwd, any::<[bool; 4]>(), noise).prop_map(|(root, cwd, flags, noise)| {
        let [through_link, file_link, decomposed, backslashes] = flags;
        Spelling { root, cwd, through_link, file_link, decomposed, noise, backslashes }
    })
}

impl Spelling {
    /// The directory to ask in, and what to write there.
    fn of(&self, tree: &Sandbox, dir: usize, file: &str) -> (PathBuf, String) {
        let folder = if self.through_link { format!("{LINK_TO_DIR} {dir}") } else { DIRS[dir].to_owned() };
        let file = if self.file_link { format!("{LINK_TO_FILE}{file}") } else { file.to_owned() };
        let below = join(&folder, &file);
        let root = tree.path(self.root);
        let (cwd, text) = match self.cwd {
            Cwd::Anywhere => (tree.path(""), format!("{}/{below}", root.display())),
            Cwd::Root => (root, below),
            Cwd::Dir(at) => {
                let up = "../".repeat(DIRS[at].split('/').filter(|name| !name.is_empty()).count());
                (root.join(DIRS[at]), format!("{up}{below}"))
            }
        };
        let text = if self.decomposed { text.replace('\u{e9}', "e\u{301}") } else { text };
        let text = self.with_noise(&text);
        (cwd, if self.backslashes { text.replace('/', "\\") } else { text })
    }

    /// Puts steps that lead nowhere between the names.
    fn with_noise(&self, text: &str) -> String {
        let mut noise = self.noise.iter();
        let mut spelled = String::new();
        for (at, name) in text.split('/').enumerate() {
            if at > 0 {
                spelled.push('/');
            }
            // An absolute text stays one.
            if at > 0 || !text.starts_with('/') {
                match noise.next() {
                    Some(1) => spelled.push_str("./"),
                    Some(2) if at > 0 => spelled.push('/'),
                    Some(3) => spelled.push_str("no such/../"),
                    Some(4) => spelled.push_str("no/such/./../../"),
                    _ => {}
                }
            }
            spelled.push_str(name);
        }
        spelled
    }
}

/// Runs a property in one tree, which goes away afterwards.
fn check<T: std::fmt::Debug>(
    cases: impl Strategy<Value = T>,
    property: impl Fn(&Sandbox, T) -> Result<(), TestCaseError>,
) {
    let tree = tree();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) };
    let outcome = TestRunner::new(config).run(&cases, |case| property(&tree, case));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn all_spellings_of_a_file_are_one() {
    let file = prop::sample::select(FILES);
    let asking = prop::sample::select(ROOTS);
    check((asking, 0..DIRS.len(), file, spelling()), |tree, (asking, dir, file, spelling)| {
        let repository = tree.repository(asking);
        let (cwd, text) = spelling.of(tree, dir, file);
        let expected = PathPattern::file(&join(DIRS[dir], file), CaseRule::Exact).expect("a path");
        let as_file = repository.resolve_file(&cwd, &text);
        prop_assert_eq!(as_file.as_ref(), Ok(&expected), "{:?} in {:?}", text, cwd);
        prop_assert_eq!(repository.resolve(&cwd, &text), as_file, "{:?} in {:?}", text, cwd);
        Ok(())
    });
}

#[test]
fn no_text_makes_it_panic_or_gives_what_cannot_be_read_again() {
    // Not both of `,` and `[`: the core writes a comma in a class such that it reads it otherwise.
    let text = prop_oneof!["[ab*?{}\\[\\]./\\\\é!-]{0,24}", "[ab*?{},./\\\\é-]{0,24}"];
    check(text, |tree, text| {
        if let Ok(pattern) = tree.repository("main").resolve(&tree.main(), &text) {
            let again = PathPattern::parse(pattern.as_str(), CaseRule::Exact);
            prop_assert_eq!(again, Ok(pattern), "{:?}", text);
        }
        Ok(())
    });
}
