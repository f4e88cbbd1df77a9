//! Every refusal, through every door: it says who refuses, and names the next call in the words of that door alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use comity_app::catalog::{self, CATALOG};
use comity_app::{Failure, Wording};
use comity_core::agents::AgentRefusal;
use comity_core::locks::{HolderView, LockMode, LockRefusal};
use comity_core::next_call::NextCall;
use comity_core::people::PersonRefusal;
use comity_core::permissions::CallDenied;
use comity_core::pools::{PoolRefusal, PoolUse, SlotOwner};
use comity_core::reads::StaleRead;
use comity_core::tasks::TaskRefusal;
use comity_core::{AgentId, Cycle, Millis, Refusal};

const WORDINGS: [Wording; 3] = [Wording::Commands, Wording::Tools, Wording::Requests];

fn holder(name: &str, is_agent: bool, state: &'static str) -> HolderView {
    HolderView {
        holder: name.into(),
        agent: is_agent.then_some(AgentId::from_bits(7)),
        path: "src/a b.rs".into(),
        mode: LockMode::Exclusive,
        state,
        reason: Some("fixing login".into()),
        age_ms: Millis(1),
        expires_in_ms: None,
    }
}

/// At least one of each kind; those whose hint depends on what they hold are there several times.
fn all() -> Vec<Refusal> {
    let texts = || ("p".to_owned(), "h".to_owned());
    let holders = [
        vec![],
        vec![holder("ann", true, "held")],
        vec![holder("the human", false, "held")],
        vec![holder("ann", true, "lapsed")],
        vec![holder("ann", true, "orphaned")],
        vec![holder("ann", true, "waiting")],
    ];
    let mut all = Vec::new();
    for holders in holders {
        let path = || "src/a b.rs".to_owned();
        all.push(LockRefusal::locked(path(), holders.clone(), 1));
        all.extend(
            [
                LockRefusal::WaitTimedOut { waited: Millis(5), holders: holders.clone() },
                LockRefusal::NotHeld { path: path(), yours: vec![], holders: holders.clone() },
                LockRefusal::StaleFence { path: path(), holders },
            ]
            .map(Refusal::Lock),
        );
    }
    for names in [vec!["ann".to_owned()], vec!["ann".to_owned(), "bob".to_owned()]] {
        all.push(Refusal::Deadlock(Box::new(Cycle { over: vec!["a".into(); names.len()], names })));
    }
    let full = PoolUse {
        pool: "build".into(),
        is_tabs: false,
        used: 1,
        capacity: 1,
        own: 0,
        others: 1,
        reserved: 0,
        waiting: 0,
        holders: vec!["ann".into()],
        waited: None,
    };
    for is_tabs in [false, true] {
        all.push(Refusal::Pool(PoolRefusal::Full { full: Box::new(PoolUse { is_tabs, ..full.clone() }) }));
    }
    for live in [vec![], vec!["ann".to_owned()]] {
        all.push(Refusal::Agent(AgentRefusal::Unknown { name: "zoe".into(), live }));
    }
    for (act, lacks) in [
        ("release another's lock", "it isn't a terminal"),
        ("release another's lock", comity_core::people::PASSPHRASE_MISSING),
        ("change tokens or the passphrase", "it isn't a terminal"),
    ] {
        all.push(Refusal::Person(PersonRefusal::NotPresent { act, lacks: lacks.into() }));
    }
    let ((problem, hint), path) = (texts(), "../x".to_owned());
    all.extend([
        Refusal::WaitCancelled,
        Refusal::BadPattern { pattern: "[a".into(), problem: problem.clone(), hint: hint.clone() },
        Refusal::OutsideRepository { path: path.clone() },
        Refusal::NotARepository { path: path.clone() },
        Refusal::BadInput { problem: problem.clone(), hint: hint.clone() },
        Refusal::Agent(AgentRefusal::NameTaken { name: "ann".into(), agent: AgentId::from_bits(7) }),
        Refusal::Agent(AgentRefusal::Ended { name: "ann".into(), cause: "it said goodbye".into() }),
        Refusal::Agent(AgentRefusal::BadToken),
        Refusal::Permission(CallDenied { reason: problem.clone(), hint: hint.clone() }),
        Refusal::Task(TaskRefusal::StaleAttempt { task: "t1".into(), owner: None, attempt: 2 }),
        Refusal::Task(TaskRefusal::Cycle { path: vec!["a".into(), "b".into(), "a".into()] }),
        Refusal::Pool(PoolRefusal::Ownership {
            verb: "close".into(),
            noun: "tab",
            slot: 7,
            owner: SlotOwner { id: "agent_1".into(), name: "ann".into() },
        }),
        Refusal::Driver { code: "browser", problem: problem.clone(), hint: hint.clone() },
        Refusal::NotAllowed { problem: problem.clone(), hint: hint.clone() },
        Refusal::Person(PersonRefusal::Unproven { why: "nothing proves it".into() }),
        Refusal::Read(StaleRead { path, difference: Some("-a\n+b".into()) }),
        Refusal::KeyReused,
        Refusal::OtherVersion { server: "1".into(), client: "2".into() },
        Refusal::LimitReached { problem: problem.clone(), hint: hint.clone() },
        Refusal::NotFound { problem, hint },
    ]);
    all
}

/// Fails to compile when a kind is added; then add one of it to `all`.
fn kind(refusal: &Refusal) -> usize {
    match refusal {
        Refusal::Lock(LockRefusal::Locked { .. }) => 0,
        Refusal::Lock(LockRefusal::WaitTimedOut { .. }) => 1,
        Refusal::WaitCancelled => 2,
        Refusal::Deadlock(_) => 3,
        Refusal::Lock(LockRefusal::NotHeld { .. }) => 4,
        Refusal::Lock(LockRefusal::StaleFence { .. }) => 5,
        Refusal::BadPattern { .. } => 6,
        Refusal::OutsideRepository { .. } => 7,
        Refusal::NotARepository { .. } => 8,
        Refusal::BadInput { .. } => 9,
        Refusal::Agent(AgentRefusal::NameTaken { .. }) => 10,
        Refusal::Agent(AgentRefusal::Unknown { .. }) => 11,
        Refusal::Agent(AgentRefusal::Ended { .. }) => 12,
        Refusal::Agent(AgentRefusal::BadToken) => 13,
        Refusal::Permission(_) => 14,
        Refusal::Task(TaskRefusal::StaleAttempt { .. }) => 15,
        Refusal::Task(TaskRefusal::Cycle { .. }) => 16,
        Refusal::Pool(PoolRefusal::Full { .. }) => 17,
        Refusal::Pool(PoolRefusal::Ownership { .. }) => 18,
        Refusal::Driver { .. } => 19,
        Refusal::NotAllowed { .. } => 20,
        Refusal::Person(PersonRefusal::Unproven { .. }) => 21,
        Refusal::Person(PersonRefusal::NotPresent { .. }) => 22,
        Refusal::Read(_) => 23,
        Refusal::KeyReused => 24,
        Refusal::OtherVersion { .. } => 25,
        Refusal::LimitReached { .. } => 26,
        Refusal::NotFound { .. } => 27,
    }
}

#[test]
fn every_refusal_speaks_the_words_of_each_door() {
    let all = all();
    let mut kinds: Vec<usize> = all.iter().map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, (0..28).collect::<Vec<_>>(), "one of each kind");
    for refusal in all {
        let failure = Failure::Refused(refusal);
        for wording in WORDINGS {
            let text = failure.to_text(wording);
            let json: serde_json::Value = serde_json::from_str(&failure.to_json(wording)).expect("JSON");
            assert!(!json["hint"].as_str().expect("a hint").is_empty(), "{json}");
            for said in [
                text.as_str(),
                json["message"].as_str().expect("words"),
                json["hint"].as_str().expect("words"),
            ] {
                check_words(wording, said);
            }
            if wording == Wording::Tools {
                assert!(text.starts_with("Comity refused this; nothing is broken: "), "{text}");
            }
        }
    }
}

/// What needs no call of Comity's: the same call with another input, or something that only the reader can do.
fn needs_no_call(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::WaitCancelled
            | Refusal::Lock(LockRefusal::WaitTimedOut { .. })
            | Refusal::OutsideRepository { .. }
            | Refusal::NotARepository { .. }
            | Refusal::Task(TaskRefusal::Cycle { .. })
            | Refusal::Read(_)
            | Refusal::KeyReused
            | Refusal::OtherVersion { .. }
            // The names of who is here.
            | Refusal::Agent(AgentRefusal::Unknown { .. })
            // Whoever refuses gives the hint.
            | Refusal::BadPattern { .. }
            | Refusal::BadInput { .. }
            | Refusal::Permission(_)
            | Refusal::Driver { .. }
            | Refusal::NotAllowed { .. }
            | Refusal::Person(PersonRefusal::NotPresent { .. })
            | Refusal::LimitReached { .. }
            | Refusal::NotFound { .. }
    )
}

#[test]
fn hints_name_the_next_call() {
    for refusal in all() {
        let is_last_of_own = matches!(&refusal, Refusal::Deadlock(cycle) if cycle.names.len() == 1);
        let has_call = matches!(Wording::Tools.spell(&refusal.hint()), std::borrow::Cow::Owned(_));
        assert!(has_call || is_last_of_own || needs_no_call(&refusal), "{refusal:?}: {}", refusal.hint());
    }
}

/// Nothing in a text is said in the words of another door.
fn check_words(wording: Wording, said: &str) {
    assert!(!said.chars().any(|c| ('\u{e000}'..='\u{f8ff}').contains(&c)), "a call is not spelled: {said:?}");
    let commands = operation_commands(said);
    let requests = ["GET /", "POST /", "DELETE /"].iter().any(|method| said.contains(method));
    match wording {
        Wording::Commands => assert!(!requests, "{said}"),
        Wording::Tools => {
            assert!(!requests, "{said}");
            let in_a_shell = said.matches("` in a shell").count();
            assert_eq!(commands, in_a_shell, "a command that is none of a shell: {said}");
        }
        Wording::Requests => assert_eq!(commands, 0, "{said}"),
    }
}

/// How many commands of operations are in a text; others, such as `comity doctor`, have no other words.
fn operation_commands(text: &str) -> usize {
    let after = text.match_indices("comity ").map(|(at, found)| &text[at + found.len()..]);
    after.filter(|words| CATALOG.iter().any(|entry| begins_with(words, &entry.command()))).count()
}

fn begins_with(words: &str, command: &str) -> bool {
    let rest = words.strip_prefix(command);
    !command.is_empty()
        && rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
}

/// What is said of commands that are none of an operation, and of the name of one.
const NO_HINTS: [&str; 1] = ["log recover"];

/// What is written in the sources: all hints, whichever test brings them about.
#[test]
fn what_texts_call_exists_and_nothing_is_spelled_by_hand() {
    let mut by_type = BTreeMap::new();
    let mut files = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["comity-core", "comity-app", "comity-git", "comity-browser", "comity-guard", "comity-mcp"] {
        rust_files(&crates.join(name).join("src"), &mut files);
    }
    let sources: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|file| (file.clone(), fs::read_to_string(file).expect("a source file")))
        .map(|(file, text)| {
            (file, text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned())
        })
        .collect();
    for (_, text) in &sources {
        for row in text.split("CatalogEntry::of::<").skip(1) {
            let (of, rest) = row.split_once('>').expect("a type");
            let name = rest.trim_start_matches(['(', ' ']).split(',').next().expect("a name");
            let constant = name.strip_prefix("calls::").map(str::to_lowercase);
            by_type.insert(of.to_owned(), constant.unwrap_or_else(|| name.trim_matches('"').to_owned()));
        }
    }
    let (mut calls, mut wrong) = (0, Vec::new());
    for (file, text) in &sources {
        let named = |mark: &str| -> Vec<(String, String)> {
            // With a dot before it, it is a call of git's or of the browser's.
            let begins = text.match_indices(mark).filter(|(at, _)| !text[..*at].ends_with('.'));
            begins
                .map(|(at, _)| &text[at + mark.len()..])
                .filter_map(|rest| {
                    let end = rest.find(['>', '"', ','])?;
                    Some((rest[..end].to_owned(), arguments(&rest[end..])))
                })
                .collect()
        };
        let by_name = named("call(\"").into_iter().chain(named("NextCall::of(\""));
        let typed = named("next_call::<").into_iter().map(|(of, arguments)| {
            let of = of.trim_start_matches("super::").to_owned();
            (by_type.get(&of).cloned().unwrap_or(of), arguments)
        });
        let constants =
            ["call(calls::", "NextCall::of(calls::", "of_path(calls::"].into_iter().flat_map(named);
        let constants = constants.map(|(constant, arguments)| (constant.to_lowercase(), arguments));
        for (operation, arguments) in by_name.chain(typed).chain(constants) {
            calls += 1;
            let Some(entry) = catalog::find(&operation) else {
                wrong.push(format!("{}: there is no operation {operation}", file.display()));
                continue;
            };
            let schema = (entry.input)();
            for field in arguments.split("(\"").skip(1).filter_map(|part| part.split('"').next()) {
                if schema["properties"].get(field).is_none() {
                    wrong.push(format!("{}: {operation} has no field {field}", file.display()));
                }
            }
        }
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            let is_hint = !NO_HINTS.iter().any(|other| code.contains(other));
            if !code.starts_with("//") && code.contains('"') && is_hint && operation_commands(code) > 0 {
                wrong.push(format!("{}:{}: spelled by hand: {code}", file.display(), number + 1));
            }
        }
    }
    assert!(calls > 80, "only {calls} calls were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands between the brackets of a call's arguments.
fn arguments(rest: &str) -> String {
    let Some(open) = rest.find('[').filter(|open| *open < 6) else { return String::new() };
    let mut depth = 0_usize;
    let ends = rest[open..].char_indices().find(|(_, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    ends.map_or_else(String::new, |(end, _)| rest[open..open + end].to_owned())
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn a_call_that_no_catalog_has_is_shown_as_it_is() {
    let call = NextCall::of("no_such_thing", [("a", "b".into())]).to_string();
    for wording in WORDINGS {
        assert_eq!(wording.spell(&call), r#"no_such_thing(a="b")"#);
    }
}
