//! Notices to senders about their letters.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::notices::quoted;

/// A notice about a letter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum MailTold {
    /// It never reached its receiver.
    #[serde(rename = "mail_undelivered")]
    Undelivered { to: String, id: String, subject: Option<String> },
}

impl fmt::Display for MailTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MailTold::Undelivered { to, id, subject } = self;
        write!(f, "{to} ended before your letter {id} reached it{}", quoted(subject))
    }
}
