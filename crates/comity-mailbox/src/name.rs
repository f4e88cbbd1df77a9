//! Names of boxes, which are safe as file names.

use std::fmt;

use crate::failure::MailboxError;
use crate::limits::NAME_BYTES_MAX;

/// The name of a box: an agent of a team.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BoxName {
    team: Box<str>,
    agent: Box<str>,
}

impl BoxName {
    /// Refuses names that could lead elsewhere.
    pub fn new(team: &str, agent: &str) -> Result<BoxName, MailboxError> {
        check_name(team)?;
        check_name(agent)?;
        Ok(BoxName { team: team.into(), agent: agent.into() })
    }

    pub fn team(&self) -> &str {
        &self.team
    }

    /// The agent whose mail it is.
    pub fn agent(&self) -> &str {
        &self.agent
    }
}

impl fmt::Display for BoxName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.team, self.agent)
    }
}

/// Checks the name of a team, an agent or a sender. One that begins with a dot is hidden, or leads upwards.
pub(crate) fn check_name(name: &str) -> Result<(), MailboxError> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.len() > NAME_BYTES_MAX {
        "it is longer than 64 bytes"
    } else if name.starts_with('.') {
        "it begins with a dot"
    } else if name.contains(['/', '\\']) {
        "it has a slash"
    } else if name.contains(char::is_control) {
        "it has a control character"
    } else {
        return Ok(());
    };
    Err(MailboxError::BadName { name: name.chars().take(NAME_BYTES_MAX).collect(), problem })
}

/// The files of one box. Only the box itself ends in `.json`, so no agent's name leads to another's file.
#[derive(Clone)]
pub(crate) struct Files {
    pub(crate) mail: String,
}

impl Files {
    pub(crate) fn of(name: &BoxName) -> Files {
        Files { mail: format!("{}.json", name.agent) }
    }

    pub(crate) fn lock(&self) -> String {
        format!("{}.lock", self.mail)
    }

    pub(crate) fn temporary(&self) -> String {
        format!("{}.tmp", self.mail)
    }

    pub(crate) fn archive(&self) -> String {
        format!("{}.archive", self.mail)
    }

    /// Prefix of all full archives.
    pub(crate) fn full_archive(&self) -> String {
        format!("{}.archive-", self.mail)
    }
}

/// Between a file's name and the unique part of its set-aside version.
pub(crate) const SET_ASIDE: &str = ".damaged-";
