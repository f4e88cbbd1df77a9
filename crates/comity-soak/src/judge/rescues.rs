//! Work of the dead: whoever was told that it is theirs, or kept, finds it so, and once.

use std::collections::BTreeSet;

use super::{Evidence, Findings, entries};
use crate::told::Told;

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let aside = entries(&evidence.log, "lock_released").filter_map(|details| {
        let into = details["cause"]["put_aside"]["into"].as_array()?;
        Some(into.iter().filter_map(|name| name.as_str()))
    });
    let aside: Vec<&str> = aside.flatten().collect();
    let mut told_of: BTreeSet<&str> = BTreeSet::new();
    for told in &evidence.told {
        let is_true = match told {
            Told::Adopted { fence, to } => {
                let mut handed = entries(&evidence.log, "lock_handed_over");
                handed.any(|details| details["fence"] == *fence && details["to"] == **to)
            }
            Told::Rescued { name, commit, .. } => {
                told_of.insert(name);
                evidence.rescues.get(name) == Some(commit) && aside.contains(&name.as_str())
            }
            _ => true,
        };
        if !is_true {
            findings.lost.push(format!("{told:?}"));
        }
    }
    for name in evidence.rescues.keys().filter(|name| !told_of.contains(name.as_str())) {
        findings.twice.push(format!("{name} keeps work that is kept elsewhere, or that nobody was told of"));
    }
    for (at, name) in aside.iter().enumerate().filter(|(at, name)| aside[..*at].contains(name)) {
        findings.twice.push(format!("{name} was put aside twice (the {at}th time)"));
    }
}
