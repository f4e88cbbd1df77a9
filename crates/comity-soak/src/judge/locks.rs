//! Locks: two that exclude each other are never held at once, neither in the log nor for who was told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Evidence, Findings, numbers};
use crate::run_dir::FILES;
use crate::told::{HeldSpan, Told};

struct LockFact<'a> {
    holder: &'a str,
    pattern: &'a str,
    is_shared: bool,
}

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let owners = replay(&evidence.log, findings);
    let of = |action: &str| numbers(&evidence.log, action, "fence");
    let (released, extended, handed) = (of("lock_released"), of("lock_extended"), handed(&evidence.log));
    for told in &evidence.told {
        let is_true = match told {
            Told::Locked { agent, fence, .. } => owners.get(fence).is_some_and(|owner| owner == agent),
            Told::Unlocked { fence } => released.contains(fence),
            Told::Extended { fence } => extended.contains(fence),
            Told::HandedOver { fence, to } => handed.contains(&(*fence, to)),
            _ => true,
        };
        if !is_true {
            findings.lost.push(format!("{told:?}"));
        }
    }
    told_at_once(&evidence.told, findings);
}

/// Folds the log; gives who got each fence.
fn replay(log: &[Value], findings: &mut Findings) -> BTreeMap<u64, String> {
    let mut held: BTreeMap<u64, LockFact<'_>> = BTreeMap::new();
    let mut owners = BTreeMap::new();
    let mut reasons = BTreeSet::new();
    let mut newest = 0;
    for entry in log {
        let details = &entry["details"];
        let text = |name: &str| details[name].as_str().unwrap_or_default();
        let fence = details["fence"].as_u64().unwrap_or_default();
        let mut given = None;
        match entry["action"].as_str().unwrap_or_default() {
            "lock_acquired" => {
                if !reasons.insert(text("reason")) && !text("reason").is_empty() {
                    findings.twice.push(format!("one ask was granted twice: {details}"));
                }
                let is_shared = text("mode") == "shared";
                given =
                    Some((fence, LockFact { holder: text("holder"), pattern: text("pattern"), is_shared }));
            }
            "lock_released" | "lock_expired" => {
                held.remove(&fence);
            }
            "lock_handed_over" => {
                let new = details["new_fence"].as_u64().unwrap_or_default();
                given = held.remove(&fence).map(|lock| (new, LockFact { holder: text("to"), ..lock }));
                if given.is_none() {
                    findings
                        .twice
                        .push(format!("lock {fence} was handed over, and nobody had it: {details}"));
                }
            }
            _ => {}
        }
        let Some((fence, lock)) = given else { continue };
        if fence <= newest {
            findings.twice.push(format!("fence {fence} was given after {newest}"));
        }
        newest = newest.max(fence);
        for other in held.values().filter(|other| excludes(&lock, other)) {
            findings.twice.push(format!(
                "{} was given to {} while {} had {} (entry {})",
                lock.pattern, lock.holder, other.holder, other.pattern, entry["seq"]
            ));
        }
        owners.insert(fence, lock.holder.to_owned());
        held.insert(fence, lock);
    }
    owners
}

fn excludes(one: &LockFact<'_>, other: &LockFact<'_>) -> bool {
    one.holder != other.holder && !(one.is_shared && other.is_shared) && meet(one.pattern, other.pattern)
}

fn handed(log: &[Value]) -> BTreeSet<(u64, &String)> {
    let all = super::entries(log, "lock_handed_over");
    all.filter_map(|details| match &details["to"] {
        Value::String(to) => Some((details["fence"].as_u64()?, to)),
        _ => None,
    })
    .collect()
}

/// Whether two had certainly the same file at the same time, by what they were told.
fn told_at_once(told: &[Told], findings: &mut Findings) {
    let mut by_file: BTreeMap<String, Vec<(HeldSpan, &Told, bool, &str)>> = BTreeMap::new();
    for one in told {
        let Told::Locked { agent, path, is_shared, held, .. } = one else { continue };
        for file in files(path) {
            by_file.entry(file).or_default().push((*held, one, *is_shared, agent));
        }
    }
    for mut all in by_file.into_values() {
        all.sort_by_key(|(held, ..)| held.from);
        for (at, (held, one, is_shared, agent)) in all.iter().enumerate() {
            let others = all[at + 1..].iter().take_while(|(other, ..)| other.from < held.until);
            let others = others.filter(|(other, _, shared, holder)| {
                agent != holder && !(*is_shared && *shared) && held.overlaps(other)
            });
            findings.twice.extend(others.map(|(_, other, ..)| format!("{one:?} and {other:?}")));
        }
    }
}

fn meet(one: &str, other: &str) -> bool {
    let other = files(other);
    files(one).iter().any(|file| other.contains(file))
}

/// The files that a pattern of this harness covers; the server's own rules are not asked.
fn files(pattern: &str) -> Vec<String> {
    let shared = |names: &[&str]| names.iter().map(|name| format!("src/{name}.rs")).collect();
    match pattern {
        "src/*.rs" => shared(&FILES),
        "src/[ab].rs" | "src/[a-b].rs" => shared(&FILES[..2]),
        one => vec![one.to_owned()],
    }
}
