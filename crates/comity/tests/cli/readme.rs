//! What the README tells people to paste works, and says what it shows.

use std::path::Path;

use crate::support::{BINARY, HUMAN, Place, Ran, eventually};

const README: &str = include_str!("../../../../README.md");

/// The first block of this kind after a heading or a sentence.
fn block(after: &str, kind: &str) -> &'static str {
    let (_, rest) = README.split_once(after).unwrap_or_else(|| panic!("the README has no {after:?}"));
    let (_, rest) = rest.split_once(&format!("```{kind}\n")).expect("a block");
    rest.split_once("```").expect("an end").0
}

/// Ages and what is left of a lock are others each time.
fn without_times(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let is_time = word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
        if is_time && word.ends_with(['s', 'm', 'h']) { "TIME" } else { word }
    });
    words.collect::<Vec<_>>().join(" ").replace("TIME TIME", "TIME")
}

#[test]
fn try_it_works_when_it_is_pasted() {
    let place = Place::new();
    // What comes before that builds the programs, which the tests have done already.
    let (build, rest) =
        block("## Try it", "sh").split_once("cd \"$(mktemp -d)\"").expect("a place to try it");
    assert!(build.lines().count() <= 2, "only what builds is left out: {build}");
    let programs = Path::new(BINARY).parent().expect("a directory");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a path"));
    let mut shell = place.program("bash");
    shell
        .args(["-c", &format!("cd \"$(mktemp -d)\"{rest}")])
        .env("PATH", path)
        .env("TMPDIR", place.dir())
        .env("COMITY_TOKEN", HUMAN);
    let ran = Ran::of(shell.output().expect("bash"));
    assert_eq!(ran.code, 0, "the last line says goodbye: {ran:?}");
    let refused = without_times(block("The refusal reads", "text"));
    let said = without_times(&ran.err);
    assert!(said.contains(refused.trim_end()), "{said}\n---\n{refused}");
    assert_eq!(ran.err.matches("comity refused").count(), 1, "nothing else is refused: {}", ran.err);
    for part in ["src/login.rs  ann", "src/**/*.rs", "agent_joined", "lock_acquired"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(ran.out.matches("lock_acquired").count(), 2, "bob got it when ann was done: {}", ran.out);
    // Whoever tries it out is left with nothing to decide.
    let locks = || place.json(&["locks", "--all-projects"])["locks"].clone();
    eventually("bob's lock is free", || locks() == serde_json::json!([]));
    assert_eq!(place.run(&["inbox"]).out, "nothing is waiting for you\n");
}
