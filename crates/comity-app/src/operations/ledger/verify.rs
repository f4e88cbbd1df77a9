//! Proves that nobody changed the past.

use std::fmt;

use comity_core::Refusal;

use crate::log;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Check the hash chain of the whole log: any change to the past is named.
#[derive(Debug, Deserialize, JsonSchema)]
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
    type Output = Verified;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Verified>, Failure> {
        let head = app.engine().world().head;
        match app.reader()?.verify(head) {
            Ok(log::VerifiedLog { records, first, hash }) => {
                let hash = comity_core::TokenHash(hash).to_string();
                Ok(Plan::Answer(Verified { records, first, hash }))
            }
            Err(problem) => Err(Refusal::NotFound {
                problem: format!("the log was changed: {problem}"),
                hint: "what comes after that record can't be trusted; compare with a backup".into(),
            }
            .into()),
        }
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { records, hash, .. } = self;
        write!(f, "log verified: {records} records, chain intact\nhash {hash}")
    }
}
