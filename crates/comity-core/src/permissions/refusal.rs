//! Refusals of tool calls.

use std::fmt;

use serde::Serialize;

use crate::display::visible;
use crate::refusal::{FeatureRefusal, RefusalKind};

/// A tool call was denied.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CallDenied {
    #[serde(skip)]
    pub reason: String,
    #[serde(skip)]
    pub hint: String,
}

impl FeatureRefusal for CallDenied {
    fn code(&self) -> &'static str {
        "denied"
    }

    fn kind(&self) -> RefusalKind {
        RefusalKind::Forbidden
    }

    fn hint(&self) -> String {
        self.hint.clone()
    }
}

impl fmt::Display for CallDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.reason))
    }
}
