//! Judges what clients were told against the log that is left: everything said must still be true.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Something that a client was told.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// It holds a lock now: the reason that it gave names the ask.
    Granted { agent: String, reason: String, fence: u64 },
    /// It gave a lock back.
    Released { fence: u64 },
}

/// What is wrong, by kind; empty if nothing is.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    /// What was told but is not in the log.
    pub(crate) lost: Vec<String>,
    /// What happened twice for one ask.
    pub(crate) duplicates: Vec<String>,
    /// Locks that were held at once and exclude each other, fences that did not grow, gaps in the log.
    pub(crate) broken: Vec<String>,
}

impl Findings {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Findings::default()
    }
}

/// The files that a pattern of this test covers; the server's own overlap rules are not asked.
pub(crate) fn files(pattern: &str) -> &'static [&'static str] {
    match pattern {
        "src/a.rs" => &["a"],
        "src/b.rs" => &["b"],
        "src/c.rs" => &["c"],
        "src/[a-b].rs" => &["a", "b"],
        "src/*.rs" | "src/" => &["a", "b", "c"],
        other => panic!("no client asks for {other}"),
    }
}

struct Held {
    holder: String,
    pattern: String,
    is_shared: bool,
}

/// Replays the log and compares it with what was told.
pub(crate) fn check(told: &[Told], log: &[Value]) -> Findings {
    let mut findings = Findings::default();
    let mut held: BTreeMap<u64, Held> = BTreeMap::new();
    let mut acquired: BTreeMap<u64, (String, String)> = BTreeMap::new();
    let mut reasons: BTreeSet<&str> = BTreeSet::new();
    let mut released: BTreeSet<u64> = BTreeSet::new();
    let mut newest = 0;
    for (at, entry) in log.iter().enumerate() {
        if entry["seq"].as_u64() != Some(at as u64 + 1) {
            findings.broken.push(format!("entry {} is missing", at + 1));
        }
        let details = &entry["details"];
        let text = |name: &str| details[name].as_str().unwrap_or_default();
        let fence = details["fence"].as_u64().unwrap_or_default();
        match entry["action"].as_str().unwrap_or_default() {
            "lock_acquired" => {
                if fence <= newest {
                    findings.broken.push(format!("fence {fence} was given after {newest}"));
                }
                newest = newest.max(fence);
                if !reasons.insert(text("reason")) {
                    findings.duplicates.push(format!("ask {:?} was granted twice", text("reason")));
                }
                let lock = Held {
                    holder: text("holder").into(),
                    pattern: text("pattern").into(),
                    is_shared: text("mode") == "shared",
                };
                findings.broken.extend(held.values().filter_map(|other| exclusion(&lock, other)));
                acquired.insert(fence, (lock.holder.clone(), text("reason").into()));
                held.insert(fence, lock);
            }
            "lock_released" | "lock_expired" => {
                held.remove(&fence);
                if !released.insert(fence) {
                    findings.duplicates.push(format!("lock {fence} was released twice"));
                }
            }
            _ => {}
        }
    }
    for one in told {
        let missing = match one {
            Told::Granted { agent, reason, fence } => {
                acquired.get(fence) != Some(&(agent.clone(), reason.clone()))
            }
            Told::Released { fence } => !released.contains(fence),
        };
        if missing {
            let (Told::Granted { fence, .. } | Told::Released { fence }) = one;
            findings.lost.push(format!("{one:?}; the log has {:?}", acquired.get(fence)));
        }
    }
    findings
}

fn exclusion(new: &Held, old: &Held) -> Option<String> {
    let meet = files(&new.pattern).iter().any(|file| files(&old.pattern).contains(file));
    let exclude = meet && !(new.is_shared && old.is_shared) && new.holder != old.holder;
    exclude.then(|| format!("{} was locked while {} had {}", new.pattern, old.holder, old.pattern))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn acquired(fence: u64, holder: &str, pattern: &str, reason: &str) -> Value {
        json!({"action": "lock_acquired", "details": {
            "fence": fence, "holder": holder, "pattern": pattern, "mode": "exclusive", "reason": reason,
        }})
    }

    fn released(fence: u64) -> Value {
        json!({"action": "lock_released", "details": { "fence": fence }})
    }

    fn granted(agent: &str, reason: &str, fence: u64) -> Told {
        Told::Granted { agent: agent.into(), reason: reason.into(), fence }
    }

    /// Numbers the entries and checks them.
    fn judged(told: &[Told], mut log: Vec<Value>) -> Findings {
        log.iter_mut().enumerate().for_each(|(at, entry)| entry["seq"] = (at + 1).into());
        check(told, &log)
    }

    #[test]
    fn a_true_history_passes() {
        let told = [granted("ann", "k1", 1), Told::Released { fence: 1 }, granted("bob", "k2", 2)];
        let log = vec![acquired(1, "ann", "src/a.rs", "k1"), released(1), acquired(2, "bob", "src/", "k2")];
        assert!(judged(&told, log).is_empty());
    }

    #[test]
    fn a_lost_answer_is_found() {
        let log = vec![acquired(1, "ann", "src/a.rs", "k1")];
        assert_eq!(judged(&[granted("ann", "k2", 2)], log.clone()).lost.len(), 1, "a grant");
        assert_eq!(judged(&[granted("bob", "k1", 1)], log.clone()).lost.len(), 1, "a grant to somebody else");
        assert_eq!(judged(&[Told::Released { fence: 1 }], log).lost.len(), 1, "a release");
    }

    #[test]
    fn a_repeated_fence_is_found() {
        let log =
            vec![acquired(2, "ann", "src/a.rs", "k1"), released(2), acquired(2, "bob", "src/b.rs", "k2")];
        assert_eq!(judged(&[], log).broken, ["fence 2 was given after 2"]);
    }

    #[test]
    fn an_overlap_is_found() {
        let log = vec![acquired(1, "ann", "src/a.rs", "k1"), acquired(2, "bob", "src/[a-b].rs", "k2")];
        assert_eq!(judged(&[], log).broken, ["src/[a-b].rs was locked while ann had src/a.rs"]);
    }

    #[test]
    fn a_duplicate_is_found() {
        let log =
            vec![acquired(1, "ann", "src/a.rs", "k1"), released(1), acquired(2, "ann", "src/a.rs", "k1")];
        assert_eq!(judged(&[], log).duplicates.len(), 1, "two grants for one ask");
        let log = vec![acquired(1, "ann", "src/a.rs", "k1"), released(1), released(1)];
        assert_eq!(judged(&[], log).duplicates.len(), 1, "two releases of one lock");
    }

    #[test]
    fn a_gap_is_found() {
        let mut log = vec![acquired(1, "ann", "src/a.rs", "k1")];
        log[0]["seq"] = 2.into();
        assert_eq!(check(&[], &log).broken, ["entry 1 is missing"]);
    }
}
