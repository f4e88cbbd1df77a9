//! Every log that a release has written is read by this one: those below `old_logs`, which `cargo xtask keep-log` made.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::BTreeSet;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use comity_core::Event;
use rusqlite::params;
use serde_json::{Value, json};
use support::Place;

/// A log that a release has left.
struct OldLog {
    dir: PathBuf,
    records: Vec<Value>,
}

fn old_logs() -> Vec<OldLog> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_logs");
    let dirs = std::fs::read_dir(all).expect("old logs").map(|entry| entry.expect("an entry").path());
    let read = |dir: PathBuf| {
        let text = std::fs::read_to_string(dir.join("records.jsonl")).expect("records");
        OldLog { records: text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect(), dir }
    };
    dirs.map(read).collect()
}

impl OldLog {
    /// The release that wrote it, and in which form if it kept more than one.
    fn release(&self) -> &str {
        self.dir.file_name().and_then(|name| name.to_str()).expect("a version")
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.join(name)).expect("a file")
    }

    /// Lays it down for a server, with the first records in the table or sealed.
    fn lay_down(&self, home: &Path, is_sealed: bool) {
        std::fs::DirBuilder::new().mode(0o700).create(home).expect("a state directory");
        let log = rusqlite::Connection::open(home.join("log.db")).expect("a log");
        log.execute_batch(&self.file("tables.sql")).expect("the tables of that release");
        let world = self.file("world.json");
        let sealed: Value = serde_json::from_str(&world).expect("JSON");
        let end = sealed["world"]["head"].as_u64().filter(|_| is_sealed).unwrap_or(0);
        let (first, rest): (Vec<&Value>, Vec<&Value>) =
            self.records.iter().partition(|record| record["seq"].as_u64() <= Some(end));
        if is_sealed {
            let ledger = home.join("ledger");
            std::fs::create_dir(&ledger).expect("made");
            let lines: String = first.iter().map(|record| sealed_line(record)).collect();
            std::fs::write(ledger.join(format!("{:012}-{end:012}.jsonl", 1)), lines).expect("written");
            std::fs::write(ledger.join(format!("{end:012}.world")), world).expect("written");
        }
        for record in rest {
            let hash: comity_core::TokenHash =
                record["hash"].as_str().expect("a text").parse().expect("a hash");
            let (seq, now, wall_ms) =
                (record["seq"].as_i64(), record["now"].as_i64(), record["wall_ms"].as_i64());
            let text = |name: &str| record[name].as_str();
            log.execute(
                "INSERT INTO events (seq, now, wall_ms, by, key, event, hash, concerns)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![seq, now, wall_ms, text("by"), text("key"), text("event"), hash.0, text("concerns")],
            )
            .expect("a row");
        }
    }
}

/// A record as a segment has it: the event is no text there, and what is not there is left out.
fn sealed_line(record: &Value) -> String {
    let mut line = record.clone();
    let fields = line.as_object_mut().expect("an object");
    fields.retain(|_, value| !value.is_null());
    fields.remove("event");
    let rest = line.to_string();
    format!("{},\"event\":{}}}\n", rest.trim_end_matches('}'), record["event"].as_str().expect("a text"))
}

#[test]
fn this_release_has_left_a_log() {
    let release = env!("CARGO_PKG_VERSION");
    let is_there = old_logs().iter().any(|old| old.release() == release);
    assert!(is_there, "keep a log of {release} with: cargo xtask keep-log");
}

#[test]
fn the_kept_log_has_the_kinds_of_events_that_this_release_writes() {
    let all = old_logs();
    let own = all.iter().find(|old| old.release() == env!("CARGO_PKG_VERSION")).expect("a log");
    let events = own.records.iter().map(|record| record["event"].as_str().expect("a text"));
    let events = events.map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
    let kept: BTreeSet<String> = events.filter_map(|event| kind(&event)).collect();
    let missing: Vec<String> = kinds().difference(&kept).cloned().collect();
    assert_eq!(
        missing, [""; 0],
        "bring them about in catalog/more.rs, rare.rs or late.rs, and keep the log again"
    );
}

/// The name of an event; of one that belongs to a family with that.
fn kind(event: &Value) -> Option<String> {
    let (name, inside) = event.as_object()?.iter().next()?;
    match variants(&json!({ name: { "?": 0 } })).is_empty() {
        true => Some(name.clone()),
        false => Some(format!("{name}/{}", inside.as_object()?.keys().next()?)),
    }
}

/// The names of all events.
fn kinds() -> BTreeSet<String> {
    let names = variants(&json!({ "?": 0 }));
    let inside = |name: String| match variants(&json!({ &name: { "?": 0 } })) {
        all if all.is_empty() => vec![name],
        all => all.into_iter().map(|one| format!("{name}/{one}")).collect(),
    };
    names.into_iter().flat_map(inside).collect()
}

/// What could stand where this event has a question mark, as serde tells.
fn variants(event: &Value) -> Vec<String> {
    let Err(error) = serde_json::from_value::<Event>(event.clone()) else { return vec![] };
    let said = error.to_string();
    let Some((_, expected)) = said.split_once("unknown variant `?`, expected ") else { return vec![] };
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn a_server_starts_on_the_log_of_every_release() {
    for old in old_logs() {
        let mut states = Vec::new();
        for is_sealed in [false, true] {
            let what = format!("{}, sealed: {is_sealed}", old.release());
            let place = Place::without_state();
            old.lay_down(&place.home, is_sealed);
            place.json(&["up"]);
            let last = old.records.len().to_string();
            states.push(place.json(&["log", "replay", "--at", &last]));
            let checked = place.json(&["log", "verify"])["records"].as_u64();
            assert!(checked > Some(old.records.len() as u64), "{what}: {checked:?} records are checked");
            let log = place.log();
            for (entry, record) in log.iter().zip(&old.records) {
                assert_eq!(entry["seq"], record["seq"], "{what}");
            }
            let ann = place.join(&["ann-of-today"]);
            assert_eq!(place.json_as(&ann, &["lock", "src/a.rs"])["locks"][0]["path"], "src/a.rs", "{what}");
            place.kill_server();
            place.json(&["up"]);
        }
        // What a snapshot of that release does not have is filled in as the records would have it.
        assert_eq!(states[0], states[1], "{}: from the records, and from the world amid them", old.release());
    }
}

#[test]
fn nothing_unknown_in_an_event_is_passed_over() {
    for old in old_logs() {
        let mut kinds = std::collections::BTreeSet::new();
        for record in &old.records {
            let text = record["event"].as_str().expect("a text");
            let event: Value = serde_json::from_str(text).expect("JSON");
            kinds.insert(serde_json::from_str::<Event>(text).expect("an event").kind().action);
            for at in objects(&event, String::new()) {
                let mut changed = event.clone();
                changed.pointer_mut(&at).expect("an object")["mood"] = json!("good");
                let read = serde_json::from_value::<Event>(changed.clone());
                assert!(
                    read.is_err(),
                    "record {}: what is at {at:?} is passed over: {changed}",
                    record["seq"]
                );
            }
        }
        assert!(kinds.len() > 40, "{} has only {} kinds of events: {kinds:?}", old.release(), kinds.len());
    }
}

/// Where the objects in a value are.
fn objects(value: &Value, at: String) -> Vec<String> {
    let inside = |(name, value): (String, &Value)| objects(value, format!("{at}/{name}"));
    match value {
        Value::Object(fields) => {
            let names =
                fields.iter().map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value));
            names.flat_map(inside).chain([at.clone()]).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(place, item)| inside((place.to_string(), item))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
