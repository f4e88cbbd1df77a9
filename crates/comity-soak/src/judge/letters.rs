//! Letters: stored once, arrived, and twice only if they say so.

use std::collections::{BTreeMap, BTreeSet};

use super::{Evidence, Findings};
use crate::told::Told;

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let mut stored: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for entry in evidence.log.iter().filter(|entry| entry["event"] == "mail:sent") {
        let details = &entry["details"];
        let key = (entry["actor"].as_str().unwrap_or_default(), details["text"].as_str().unwrap_or_default());
        stored.entry(key).or_default().push(format!("m{}", details["id"]));
    }
    for (letter, ids) in stored.iter().filter(|(_, ids)| ids.len() > 1) {
        findings.twice.push(format!("{letter:?} is stored as {ids:?}"));
    }
    let mut arrived = BTreeSet::new();
    for told in &evidence.told {
        let Told::Arrived { from, to, text, is_again } = told else { continue };
        if !arrived.insert((from, to, text)) && !is_again {
            findings.twice.push(format!("came twice, and does not say so: {told:?}"));
        }
    }
    for told in &evidence.told {
        let Told::Sent { from, to, text, id } = told else { continue };
        let ids = stored.get(&(from.as_str(), text.as_str()));
        if ids.is_none_or(|ids| !ids.contains(id)) || !arrived.contains(&(from, to, text)) {
            findings.lost.push(format!("{told:?}; the log has {ids:?}"));
        }
    }
}
