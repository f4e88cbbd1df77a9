//! Who is in the way, as shown to whoever was refused.

use std::fmt;

use serde::Serialize;

use super::LockMode;
use crate::calls;
use crate::display::{path_in_text, quoted};
use crate::ids::AgentId;
use crate::next_call::{Argument, NextCall, call};
use crate::time::Millis;

/// How long a hint suggests to wait.
const WAIT: &str = "60s";

/// Somebody who is in the way, as shown to whoever was refused.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HolderView {
    pub holder: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub path: String,
    pub mode: LockMode,
    /// Held, lapsed, orphaned, or waiting ahead of the asker.
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub age_ms: Millis,
    /// How long it lasts without a sign of life; `None` if its holder's process is watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<Millis>,
}

impl fmt::Display for HolderView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason.as_deref().map(|text| format!(" ({})", quoted(text))).unwrap_or_default();
        let HolderView { holder, age_ms, .. } = self;
        let path = path_in_text(&self.path);
        match (self.state, self.expires_in_ms) {
            ("waiting", _) => write!(f, "{holder} has waited for {path} for {age_ms}{reason}"),
            ("orphaned", _) => {
                write!(f, "{path} is orphaned: {holder}{reason} left uncommitted work {age_ms} ago")
            }
            (_, Some(left)) => {
                let shared = if self.mode == LockMode::Shared { " shared" } else { "" };
                write!(f, "{path} is locked{shared} by {holder}{reason} for {left} more ({age_ms} so far)")
            }
            ("held", None) => {
                let shared = if self.mode == LockMode::Shared { " shared" } else { "" };
                write!(f, "{path} is locked{shared} by {holder}{reason}, who is at work ({age_ms} so far)")
            }
            (_, None) => write!(f, "{path} was locked by {holder}{reason}; its files are being looked at"),
        }
    }
}

/// What to do about those in the way of `paths`; without paths, of what was waited for.
pub(super) fn next_step(holders: &[HolderView], paths: &[String]) -> String {
    let wait = match paths {
        [] => "ask again to wait longer".to_owned(),
        paths => {
            let wait = call(calls::LOCK, [("paths", Argument::List(paths.to_vec())), ("wait", WAIT.into())]);
            format!("wait for {}: {wait}", if paths.len() == 1 { "it" } else { "them" })
        }
    };
    match holders.first() {
        Some(first) if first.state == "orphaned" => {
            let (adopt, rescue) = (of_path(calls::ADOPT, &first.path), of_path(calls::RESCUE, &first.path));
            format!(
                "work on something else meanwhile; its holder, its leader or the human can take the work over: {adopt}; or \
                 put it aside: {rescue}"
            )
        }
        Some(first) if first.state == "lapsed" => format!("{wait} (looking takes a moment)"),
        Some(first) if first.agent.is_some() => {
            let to = first.holder.as_str();
            let ask = call(calls::MAIL_SEND, [("to", [to].into()), ("message", "TEXT".into())]);
            format!("{wait}; or ask {to}: {ask}; or work on something else")
        }
        Some(first) => format!("{wait}; or ask {}; or work on something else", first.holder),
        None => wait,
    }
}

fn of_path(operation: &str, path: &str) -> NextCall {
    call(operation, [("paths", [path].into())])
}
