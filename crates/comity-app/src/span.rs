//! Spans of time as people write them: `5m`, `30s`, `1h30m`, or a number of seconds.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use comity_core::Millis;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A span of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Span(pub Millis);

const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let bad = || format!("{text:?} isn't a length of time; write it like 30s, 5m or 1h30m");
        let mut total: u64 = 0;
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(bad());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number: u64 = rest[..digits].parse().map_err(|_| bad())?;
            rest = &rest[digits..];
            let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let unit = if rest.is_empty() && total == 0 { "s" } else { &rest[..letters] };
            let (_, ms) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?;
            total = number.checked_mul(*ms).and_then(|ms| total.checked_add(ms)).ok_or_else(bad)?;
            rest = rest[letters..].trim_start();
        }
        Ok(Span(Millis(total)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0.0)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum SpanInput {
            Seconds(u64),
            Text(String),
        }
        match SpanInput::deserialize(deserializer)? {
            SpanInput::Seconds(seconds) => Ok(Span(Millis(seconds.saturating_mul(1_000)))),
            SpanInput::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "format": "span" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_as_people_write_them() {
        for (text, ms) in [
            ("5m", 300_000),
            ("30s", 30_000),
            ("1h30m", 5_400_000),
            ("90", 90_000),
            ("250ms", 250),
            ("1d", 86_400_000),
        ] {
            assert_eq!(text.parse(), Ok(Span(Millis(ms))), "{text}");
        }
        for text in ["", "m", "5x", "-5s", "5m5", "99999999999999999999s", "1h garbage"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        assert_eq!(serde_json::from_str::<Span>("45").map_err(|e| e.to_string()), Ok(Span(Millis(45_000))));
    }
}
