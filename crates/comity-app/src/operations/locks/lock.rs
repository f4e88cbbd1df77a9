//! Takes locks.

use std::fmt;

use clap::Args;
use comity_core::locks::{LockMode, Wanted};
use comity_core::{Ask, Event, Millis, Timestamp, World, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LockView, must_name_paths, stored_reason};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::span::Span;

/// Locks paths so that nobody else edits them. All or none; asking again renews. A refusal says who holds it and what to do.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Files, directories or globs such as src/**/*.rs
    #[arg(required = true, value_name = "PATH")]
    #[serde(alias = "filePath", deserialize_with = "one_or_many")]
    pub paths: Vec<String>,
    /// Others may hold it shared too, and nobody may edit
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// What you are doing, for the others
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it lasts without a sign of life (5m)
    #[arg(long, value_name = "SPAN")]
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "ttlSeconds")]
    pub ttl: Option<Span>,
    /// Wait in line so long, such as 30s
    #[arg(long, value_name = "SPAN")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
}

/// What was granted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LockGrant {
    /// One entry for each path.
    pub locks: Vec<LockView>,
}

impl Operation for Lock {
    const NAME: &'static str = "lock";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "POST", path: "/api/coordination/locks" };
    const COMMAND: &'static [&'static str] = &["lock"];
    type Output = LockGrant;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockGrant>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place(caller)?;
        let mode = if self.shared { LockMode::Shared } else { LockMode::Exclusive };
        let ttl = match self.ttl {
            Some(ttl) => Some(ttl),
            None => place.settings()?.lock.ttl.or(app.config().lock.ttl),
        };
        let ttl = ttl.map_or(limits::LOCK_TTL, |span| span.0);
        let reason = stored_reason(self.reason);
        let project = place.project();
        let wants = place
            .resolve_all(&self.paths)?
            .into_iter()
            .map(|pattern| Wanted { project, pattern, mode, ttl, reason: reason.clone() })
            .collect();
        let wait = self.wait.map(|span| span.0).filter(|wait| *wait > Millis(0));
        let mut asks: Vec<Ask> = place.introduce(&app.engine().world()).into_iter().collect();
        asks.push(Ask::Lock { wants, wait });
        Ok(Plan::Change { asks, finish: Box::new(grant) })
    }
}

fn grant(events: &[Event], world: &World, now: Timestamp) -> LockGrant {
    let fence = |event: &Event| match event {
        Event::LockAcquired { fence, .. } | Event::LockRenewed { fence, .. } => Some(*fence),
        _ => None,
    };
    let held = events.iter().filter_map(fence).filter_map(|fence| world.locks.get(fence));
    LockGrant { locks: held.map(|lock| LockView::of(lock, world, now)).collect() }
}

impl fmt::Display for LockGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self
            .locks
            .iter()
            .map(|lock| {
                let shared = if lock.mode == "shared" { " shared" } else { "" };
                let left = Millis(lock.expires_in_ms.unwrap_or_default());
                let path = comity_core::display::visible(&lock.path);
                format!("locked {path}{shared} for {left} (fence {})", lock.fence)
            })
            .collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Agents often give one path where a list is meant.
pub(in crate::operations) fn one_or_many<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    struct Paths;
    impl<'de> serde::de::Visitor<'de> for Paths {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a path or a list of paths")
        }

        fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<Vec<String>, E> {
            Ok(vec![path.to_owned()])
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut paths = Vec::new();
            while let Some(path) = list.next_element()? {
                paths.push(path);
            }
            Ok(paths)
        }
    }
    deserializer.deserialize_any(Paths)
}
