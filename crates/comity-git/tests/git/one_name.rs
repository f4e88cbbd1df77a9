//! However a file is spelled, and wherever from, it has one name.

use std::path::PathBuf;
use std::sync::LazyLock;

use comity_core::{CaseRule, PathPattern};
use proptest::prelude::*;

use crate::sandbox::Sandbox;

/// Names with all that a spelling could trip over; every directory has every file.
const DIRS: &[&str] = &["", "src", "src/auth", "app/[id]", "app/[id]/{x}", "caf\u{e9}", "a b/caf\u{e9}"];
const FILES: &[&str] = &["a.rs", "[x].tsx", "r\u{e9}sum\u{e9}.md", "not there yet.rs", "-x", "{a,b}"];
/// Links that stand beside each directory and in it.
const LINK_TO_DIR: &str = "to dir";
const LINK_TO_FILE: &str = "to ";

static TREE: LazyLock<Sandbox> = LazyLock::new(|| {
    let paths: Vec<String> = DIRS
        .iter()
        .flat_map(|dir| FILES.iter().map(move |file| join(dir, file)))
        .filter(|path| !path.contains("not there yet"))
        .collect();
    let sandbox = Sandbox::with(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    sandbox.git("main", &["worktree", "add", "-q", "trees/inner"]);
    for root in ["main", "linked", "main/trees/inner"] {
        for (at, dir) in DIRS.iter().enumerate() {
            let physical = sandbox.path(root).join(dir);
            sandbox.link(&physical, &format!("{root}/{LINK_TO_DIR} {at}"));
            for file in FILES {
                sandbox.link(file, &format!("{}/{LINK_TO_FILE}{file}", join(root, dir)));
            }
        }
    }
    sandbox
});

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
    let root = prop::sample::select(vec!["main", "linked", "main/trees/inner"]);
    let noise = prop::collection::vec(0_u8..6, 0..12);
    (root, cwd, any::<[bool; 4]>(), noise).prop_map(|(root, cwd, flags, noise)| {
        let [through_link, file_link, decomposed, backslashes] = flags;
        Spelling { root, cwd, through_link, file_link, decomposed, noise, backslashes }
    })
}

impl Spelling {
    /// The directory to ask in, and what to write there.
    fn of(&self, dir: usize, file: &str) -> (PathBuf, String) {
        let tree = &*TREE;
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn all_spellings_of_a_file_are_one(
        asking in prop::sample::select(vec!["main", "linked", "main/trees/inner"]),
        dir in 0..DIRS.len(),
        file in prop::sample::select(FILES),
        spelling in spelling(),
    ) {
        let repository = TREE.repository(asking);
        let (cwd, text) = spelling.of(dir, file);
        let expected = PathPattern::file(&join(DIRS[dir], file), CaseRule::Exact).expect("a path");
        let as_file = repository.resolve_file(&cwd, &text);
        prop_assert_eq!(as_file.as_ref(), Ok(&expected), "{:?} in {:?}", text, cwd);
        prop_assert_eq!(repository.resolve(&cwd, &text), as_file, "{:?} in {:?}", text, cwd);
    }

    #[test]
    fn no_text_makes_it_panic_or_gives_what_cannot_be_read_again(text in "[ab*?{},\\[\\]./\\\\é-]{0,24}") {
        let repository = TREE.repository("main");
        if let Ok(pattern) = repository.resolve(&TREE.main(), &text) {
            let again = PathPattern::parse(pattern.as_str(), CaseRule::Exact);
            prop_assert_eq!(again, Ok(pattern), "{:?}", text);
        }
    }
}
