//! Keeps the log of the scenario, for the tests of later releases: `cargo xtask keep-log`.

use std::path::PathBuf;

use comity_app::log::{Chain, Stored, sealed_world};
use comity_core::world::Timeouts;
use comity_core::{TokenHash, World};
use serde_json::{Value, json};

use crate::support::{BINARY, Place};

/// What stands for the directory of the test.
const ANYWHERE: &str = "/anywhere";
/// What stands for the program.
const PROGRAM: &str = "comity";

/// Where the log is to be kept, if it is asked for.
fn wanted() -> Option<PathBuf> {
    std::env::var_os("COMITY_KEEP_LOG").map(PathBuf::from)
}

/// What has to happen before agents come, if the log is to be kept.
pub(crate) fn begin(place: &Place) {
    if wanted().is_some() {
        crate::rare::recognised(place);
    }
}

/// Brings about what the operations alone do not, and leaves the server stopped.
pub(crate) fn play_rest(place: &Place) {
    crate::more::happen(place);
    crate::rare::happen(place);
    crate::late::happen(place);
}

/// Writes the tables, the records and the world amid them into the directory that is asked for, if one is.
pub(crate) fn keep_log(place: &Place) {
    let Some(to) = wanted() else { return };
    play_rest(place);
    std::fs::create_dir_all(&to).expect("a directory");
    let log = rusqlite::Connection::open(place.home.join("log.db")).expect("a log");
    std::fs::write(to.join("tables.sql"), tables(&log)).expect("written");
    let lines = lines(&log, place);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(to.join("records.jsonl"), text).expect("written");
    std::fs::write(to.join("world.json"), world_of(&lines[..lines.len() * 2 / 3])).expect("written");
}

fn tables(log: &rusqlite::Connection) -> String {
    let version: i64 = log.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version");
    let mut schema = log.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").expect("a schema");
    let made = schema.query_map([], |row| row.get::<_, String>(0)).expect("a schema");
    let made: String = made.map(|sql| format!("{};\n", sql.expect("a text"))).collect();
    let (form, by): (i64, String) = log
        .query_row("SELECT form, version FROM written_by", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("a row");
    format!(
        "{made}INSERT INTO sealed VALUES (1, 0);\nINSERT INTO written_by VALUES (1, {form}, '{by}');\n\
         PRAGMA user_version = {version};\n"
    )
}

/// The records as they are stored, but for what tells of this machine, with the hashes that follow.
fn lines(log: &rusqlite::Connection, place: &Place) -> Vec<Value> {
    let mut chain = Chain::default();
    let here = place.dir().to_str().expect("a text");
    let all = "SELECT seq, now, wall_ms, by, key, event, concerns FROM events ORDER BY seq";
    let mut rows = log.prepare(all).expect("rows");
    let rows = rows.query_map([], |row| {
        let text = |column| {
            row.get::<_, String>(column).map(|text| text.replace(here, ANYWHERE).replace(BINARY, PROGRAM))
        };
        let (seq, now, wall_ms): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (key, concerns): (Option<String>, Option<String>) = (row.get(4)?, row.get(6)?);
        let (by, event) = (text(3)?, scrubbed(&text(5)?));
        // Where the human acted from stands behind its name.
        let by = by.split_once(' ').map_or(by.clone(), |(who, from)| format!("{who} {}", scrubbed(from)));
        let (key, concerns) = (key.as_deref(), concerns.as_deref());
        let (seq, now) = (seq as u64, now as u64);
        let stored = Stored { seq, now, wall_ms, by: &by, key, event: &event, concerns };
        let hash = TokenHash(chain.add(&stored)).to_string();
        Ok(json!({
            "seq": seq, "now": now, "wall_ms": wall_ms, "by": by, "key": key, "event": event, "hash": hash,
            "concerns": concerns,
        }))
    });
    rows.expect("rows").map(|line| line.expect("a row")).collect()
}

/// Without the programs and the boot of this machine; what has neither stays as it was written.
fn scrubbed(json: &str) -> String {
    let mut value: Value = serde_json::from_str(json).expect("JSON");
    match scrub(&mut value) {
        true => value.to_string(),
        false => json.to_owned(),
    }
}

fn scrub(value: &mut Value) -> bool {
    let mut is_changed = false;
    for (name, value) in value.as_object_mut().into_iter().flatten() {
        is_changed |= match (name.as_str(), &value) {
            ("lineage" | "boot", Value::String(_)) => {
                *value = "elsewhere".into();
                true
            }
            _ => scrub(value),
        };
    }
    is_changed
}

/// The world after these records, as a segment has it at its end.
fn world_of(lines: &[Value]) -> String {
    let mut world = World::new(Timeouts::default());
    for line in lines {
        let text = |name: &str| line[name].as_str();
        let stored = Stored {
            seq: line["seq"].as_u64().expect("a number"),
            now: line["now"].as_u64().expect("a number"),
            wall_ms: line["wall_ms"].as_i64().expect("a number"),
            by: text("by").expect("a text"),
            key: text("key"),
            event: text("event").expect("a text"),
            concerns: text("concerns"),
        };
        world.apply(&stored.record().expect("a record"));
    }
    let hash: TokenHash =
        lines.last().expect("a record")["hash"].as_str().expect("a text").parse().expect("a hash");
    String::from_utf8(sealed_world(&world, Chain(hash.0)).expect("a world")).expect("JSON")
}
