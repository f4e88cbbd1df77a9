//! The supported protocol versions, and their negotiation.

use serde::Serialize;

/// Later ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Version {
    /// The first one in wide use.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// Streamable HTTP; assumed for an HTTP request that names no version.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// Structured tool output; no more batches.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// The last one with an `initialize` handshake.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// Stateless: each request names its version and the client's capabilities in `_meta`.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Version {
    /// Newest first.
    pub const SPOKEN: [Version; 5] = [
        Version::V2026_07_28,
        Version::V2025_11_25,
        Version::V2025_06_18,
        Version::V2025_03_26,
        Version::V2024_11_05,
    ];

    /// The newest version that `initialize` can negotiate.
    pub const NEWEST_WITH_HANDSHAKE: Version = Version::V2025_11_25;

    /// The date that names this version on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Version::V2024_11_05 => "2024-11-05",
            Version::V2025_03_26 => "2025-03-26",
            Version::V2025_06_18 => "2025-06-18",
            Version::V2025_11_25 => "2025-11-25",
            Version::V2026_07_28 => "2026-07-28",
        }
    }

    /// The supported version with this name.
    pub fn named(name: &str) -> Option<Version> {
        Version::SPOKEN.into_iter().find(|version| version.name() == name)
    }

    /// Whether requests of this version are self-contained, without a handshake.
    pub(crate) fn is_stateless(self) -> bool {
        self >= Version::V2026_07_28
    }

    /// The version to answer `initialize` with: the requested one, otherwise the newest that has a handshake.
    pub(crate) fn negotiate(asked: Option<&str>) -> Version {
        asked
            .and_then(Version::named)
            .filter(|version| !version.is_stateless())
            .unwrap_or(Version::NEWEST_WITH_HANDSHAKE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_the_wire_and_in_code_agree() {
        for version in Version::SPOKEN {
            assert_eq!(serde_json::json!(version), version.name());
            assert_eq!(Version::named(version.name()), Some(version));
        }
        assert!(Version::SPOKEN.is_sorted_by(|newer, older| newer > older));
    }
}
