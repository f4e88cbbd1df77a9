//! Whether anything can be known of the process that connected, and for how long.

use comity_core::people::Proof;
use comity_core::{Principal, TokenHash};

use super::{Identity, marks};
use crate::application::Application;
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

impl Application {
    /// Whether what is known of a person on a connection is so still: the token may have been revoked since, the passphrase
    /// set anew, or given.
    pub fn still_proves(&self, known: &Identity, lineage: &Lineage, token: Option<&TokenHash>) -> bool {
        match known.origin.as_deref().map(|origin| &origin.proof) {
            Some(Proof::Token(_)) => token.is_some_and(|token| self.is_persons_token(token)),
            Some(Proof::Terminal) => !self.takes_passphrase() || self.has_given_passphrase(lineage),
            Some(Proof::Lineage { .. }) => !self.has_given_passphrase(lineage),
            Some(Proof::Login) | None => true,
        }
    }

    /// Whether this is a token that stands in for the person.
    pub fn is_persons_token(&self, token: &TokenHash) -> bool {
        self.engine().world().people.token(token).is_some()
    }

    /// Whether who came in over the network with this may stay: not with a token that was revoked, nor after a login.
    pub fn may_stay(&self, who: Principal, token: &TokenHash) -> bool {
        who != Principal::Human || self.is_persons_token(token) || self.identities().is_logged_in(token)
    }
}

fn nobody_any_more() -> Identity {
    Identity::nobody("the process that connected has ended")
}
