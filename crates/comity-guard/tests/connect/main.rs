//! The settings of agent programs, connected and disconnected.

mod generated;
mod kept;
mod ours;
mod places;
mod plugin;
mod refusals;
mod state;
mod toml;
mod written;
mod written_for_claude;

use comity_guard::Dialect;
use comity_guard::connect::{self, Connected, ProgramPaths, SettingsKind, places};

/// The programs that the tests connect.
fn connection() -> ProgramPaths {
    at("/opt/comity/bin", "/opt/comity/state")
}

/// The same programs in another folder, with a state directory of their own.
fn moved() -> ProgramPaths {
    ProgramPaths { home: Some("/srv/new/state".to_owned()), ..at("/srv/new", "/srv/new/state") }
}

fn at(bin: &str, state: &str) -> ProgramPaths {
    ProgramPaths {
        hook: format!("{bin}/comity-hook"),
        comity: format!("{bin}/comity"),
        bash_env: format!("{state}/comity-confine.sh"),
        home: None,
    }
}

/// Every kind of file of every program whose settings are JSON.
fn json_files() -> impl Iterator<Item = (Dialect, SettingsKind)> {
    Dialect::ALL.into_iter().flat_map(|dialect| {
        places(dialect)
            .iter()
            .filter(|place| place.path.ends_with(".json"))
            .map(move |place| (dialect, place.kind))
    })
}

/// Connects a text and takes that back; everything that has to hold for every text is checked on the way.
fn connected(dialect: Dialect, kind: SettingsKind, existing: Option<&str>) -> String {
    let what = format!("{dialect} {kind:?} {existing:?}");
    let text = connect::connect(dialect, kind, existing, &connection()).expect(&what);
    if let Some(existing) = existing {
        assert_eq!(connect::is_connected(dialect, kind, existing, &connection()), Connected::No, "{what}");
    }
    assert_eq!(connect::is_connected(dialect, kind, &text, &connection()), Connected::Yes, "{what}: {text}");
    assert_eq!(connect::is_connected(dialect, kind, &text, &moved()), Connected::Otherwise, "{what}: {text}");

    let again = connect::connect(dialect, kind, Some(&text), &connection()).expect(&what);
    assert_eq!(again, text, "connecting twice is like once: {what}");
    let moved_there = connect::connect(dialect, kind, Some(&text), &moved()).expect(&what);
    assert!(!moved_there.contains("/opt/comity"), "nothing of the old path stays: {moved_there}");
    if kind != SettingsKind::Variables {
        assert!(
            moved_there.contains("COMITY_HOME"),
            "hooks and servers are told where the state is: {moved_there}"
        );
    }
    let moved_back = connect::connect(dialect, kind, Some(&moved_there), &connection()).expect(&what);
    assert_eq!(moved_back, text, "a new path takes the place of the old one: {what}");

    for text in [&text, &moved_there] {
        let without = connect::disconnect(dialect, kind, text).expect(&what);
        let before = existing.filter(|existing| !existing.trim().is_empty());
        assert_eq!(without.as_deref(), before, "disconnected from {text}");
    }
    text
}
