//! Tasks and leases: nobody has what somebody else has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Evidence, Findings, entries, numbers};
use crate::run_dir::POOLS;
use crate::told::{HeldSpan, Told};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let log = &evidence.log;
    let declared: BTreeSet<&str> = entries(log, "task_declared")
        .flat_map(|details| details["tasks"].as_array().into_iter().flatten())
        .filter_map(|task| task["id"].as_str())
        .collect();
    let claimed = owned(log, &["task_claimed", "delegated"]);
    let completed = attempts(log, "task_completed");
    let freed = numbers(log, "slot_freed", "slot");
    let taken: BTreeSet<(u64, &str)> = entries(log, "slot_taken")
        .filter_map(|details| Some((details["slot"].as_u64()?, details["owner"].as_str()?)))
        .collect();
    for told in &evidence.told {
        let is_true = match told {
            Told::Declared { task } => declared.contains(task.as_str()),
            Told::Claimed { agent, task, attempt, .. } => {
                claimed.contains(&(task.as_str(), *attempt, agent.as_str()))
            }
            Told::Completed { task, attempt } => completed.contains(&(task.as_str(), *attempt)),
            Told::Leased { agent, id, .. } => taken.contains(&(*id, agent.as_str())),
            Told::Freed { id } => freed.contains(id),
            _ => true,
        };
        if !is_true {
            findings.lost.push(format!("{told:?}"));
        }
    }
    replay_tasks(log, findings);
    replay_leases(log, findings);
    told_at_once(&evidence.told, findings);
}

fn owned<'a>(log: &'a [Value], actions: &[&str]) -> BTreeSet<(&'a str, u64, &'a str)> {
    let meant = log.iter().filter(|entry| actions.iter().any(|action| entry["action"] == **action));
    let owner = |details: &'a Value| details["by"].as_str().or(details["to"].as_str());
    meant
        .map(|entry| &entry["details"])
        .filter_map(|details| {
            Some((details["task"].as_str()?, details["attempt"].as_u64()?, owner(details)?))
        })
        .collect()
}

fn attempts<'a>(log: &'a [Value], action: &'a str) -> BTreeSet<(&'a str, u64)> {
    entries(log, action)
        .filter_map(|details| Some((details["task"].as_str()?, details["attempt"].as_u64()?)))
        .collect()
}

/// A task that somebody has is not given to another before it is returned; one that is done, to nobody.
fn replay_tasks(log: &[Value], findings: &mut Findings) {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for entry in log {
        let details = &entry["details"];
        let Some(task) = details["task"].as_str() else { continue };
        let owner = || details["by"].as_str().or(details["to"].as_str()).unwrap_or_default();
        match entry["action"].as_str().unwrap_or_default() {
            "task_claimed" | "delegated" => {
                if let Some(before) = owners.insert(task, owner()) {
                    findings.twice.push(format!(
                        "{task} of {before} was given to {} ({})",
                        owner(),
                        entry["seq"]
                    ));
                }
            }
            "task_completed"
                if owners.insert(task, "nobody any more").is_none_or(|before| before != owner()) =>
            {
                findings.twice.push(format!("{task} was done by who did not have it ({})", entry["seq"]));
            }
            "delegation_cancelled" => {
                owners.remove(task);
            }
            _ => {}
        }
    }
}

fn replay_leases(log: &[Value], findings: &mut Findings) {
    let mut taken: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for entry in log {
        let details = &entry["details"];
        let (Some(pool), Some(slot)) = (details["pool"].as_str(), details["slot"].as_u64()) else { continue };
        let slots = taken.entry(pool).or_default();
        match entry["action"].as_str().unwrap_or_default() {
            "slot_taken" => {
                let is_new = slots.insert(slot);
                if !is_new || slots.len() > capacity(pool) {
                    findings.twice.push(format!(
                        "{} of {pool} had leases (entry {})",
                        slots.len(),
                        entry["seq"]
                    ));
                }
            }
            "slot_freed" => {
                slots.remove(&slot);
            }
            _ => {}
        }
    }
}

fn capacity(pool: &str) -> usize {
    POOLS.iter().find(|(name, _)| *name == pool).map_or(0, |(_, capacity)| *capacity)
}

/// Whether more had certainly the same at the same time than may, by what they were told.
fn told_at_once(told: &[Told], findings: &mut Findings) {
    let mut by_thing: BTreeMap<&str, Vec<(HeldSpan, &Told, usize)>> = BTreeMap::new();
    for one in told {
        let (thing, held, most) = match one {
            Told::Claimed { task, held, .. } => (task.as_str(), held, 1),
            Told::Leased { pool, held, .. } => (pool.as_str(), held, capacity(pool)),
            _ => continue,
        };
        by_thing.entry(thing).or_default().push((*held, one, most));
    }
    for mut all in by_thing.into_values() {
        all.sort_by_key(|(held, ..)| held.from);
        let mut open: Vec<HeldSpan> = Vec::new();
        for (held, one, most) in all {
            open.retain(|other| held.from < other.until);
            open.push(held);
            if open.len() > most {
                findings.twice.push(format!("{one:?}, with {} at the same time", open.len()));
            }
        }
    }
}
