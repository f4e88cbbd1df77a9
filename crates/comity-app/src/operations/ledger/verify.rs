//! Proves that nobody changed the past.

use std::fmt;

use clap::Args;
use comity_core::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::log::{Chain, Hash, Reader, Stored};
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};

/// Checks the hash chain of the whole log: any change of the past is named.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Verify {}

/// The log is as it was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verified {
    /// How many records were checked.
    pub records: u64,
    /// The first one that is kept.
    pub first: u64,
    /// The hash of the last one; keep it elsewhere to compare with later.
    pub hash: String,
}

impl Operation for Verify {
    const NAME: &'static str = "log_verify";
    const EFFECT: Effect = Effect::Reads;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "GET", path: "/api/log/verify" };
    const COMMAND: &'static [&'static str] = &["log", "verify"];
    type Output = Verified;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Verified>, Failure> {
        match verify(app.reader()?) {
            Ok(verified) => Ok(Plan::Answer(verified)),
            Err(problem) => Err(Refusal::NotFound {
                problem: format!("the log was changed: {problem}"),
                hint: "what comes after that record cannot be trusted; compare with a backup".into(),
            }
            .into()),
        }
    }
}

fn verify(reader: &Reader) -> Result<Verified, String> {
    let mut checked = Checked { chain: None, next: None, records: 0, first: 0 };
    for (first, last) in reader.segments().ranges()? {
        if checked.chain.is_none() && first > 1 {
            let (world, chain) = reader.segments().world_at_or_before(first - 1, Default::default())?;
            checked.chain = (world.head == first - 1).then_some(chain);
        }
        reader.segments().visit(first, last, |stored, hash| checked.add(stored, hash))?;
    }
    let sealed = checked.next.map_or(0, |next| next - 1);
    reader.visit_hot(sealed, usize::MAX, |stored, hash| checked.add(stored, hash))?;
    let hash = checked.chain.unwrap_or_default().0;
    let hash = comity_core::TokenHash(hash).to_string();
    Ok(Verified { records: checked.records, first: checked.first, hash })
}

struct Checked {
    chain: Option<Chain>,
    next: Option<u64>,
    records: u64,
    first: u64,
}

impl Checked {
    fn add(&mut self, stored: &Stored<'_>, hash: Hash) -> Result<(), String> {
        let seq = stored.seq;
        if self.next.is_some_and(|next| next != seq) {
            return Err(format!("record {} is missing", self.next.unwrap_or_default()));
        }
        if self.next.is_none() {
            self.first = seq;
        }
        // Of the oldest record that is kept nothing before is known: its own hash is where the chain begins.
        match (&mut self.chain, seq) {
            (None, 2..) => self.chain = Some(Chain(hash)),
            (chain, _) => {
                if chain.get_or_insert_default().add(stored) != hash {
                    return Err(format!("record {seq} is not what was written"));
                }
            }
        }
        self.next = Some(seq + 1);
        self.records += 1;
        Ok(())
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { records, hash, .. } = self;
        write!(f, "{records} records are as they were written\nhash {hash}")
    }
}
