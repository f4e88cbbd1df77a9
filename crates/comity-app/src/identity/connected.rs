//! Whether anything can be known of the process that connected.

use super::{Identity, marks};
use crate::lineage::{DEPTH_MAX, Lineage, LineageEnd};
use crate::processes::{self, ProcessMark};

/// Nobody, if the process that connected has ended: anybody may have its connection.
pub fn ended(lineage: &Lineage) -> Option<Identity> {
    let is_there = lineage.links.first().is_some_and(|link| processes::is_alive(link.process));
    // Elsewhere nothing is known of any process.
    (!is_there && cfg!(target_os = "linux")).then(nobody_any_more)
}

/// Nobody, if too little is known of what is above the caller.
pub(super) fn cut_off(lineage: &Lineage) -> Option<Identity> {
    match lineage.end {
        LineageEnd::Top => None,
        LineageEnd::Gone => Some(nobody_any_more()),
        LineageEnd::TooDeep => {
            Some(Identity::nobody(&format!("more than {DEPTH_MAX} programs are nested above you")))
        }
    }
}

/// Who a caller with a person's token is, if an agent may have found it.
pub(super) fn no_persons(lineage: &Lineage) -> Option<Identity> {
    let found = lineage.links.iter().find_map(|link| {
        // A script that works with several agents may have presented their tokens, too.
        if processes::mark_of(link.process.pid) == Some(ProcessMark::Agent) {
            return Some(Identity::started_by_an_agent(link));
        }
        marks::of(link).client.map(|client| Identity::of_a_newcomer(link, client))
    });
    // What was read of it is worthless if it is gone by now.
    ended(lineage).or(found)
}

fn nobody_any_more() -> Identity {
    Identity::nobody("the process that connected has ended")
}
