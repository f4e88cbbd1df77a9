//! What an agent is doing, and what it has used, as far as it tells.

use std::time::Instant;

use super::schema::{Cost, TurnUsage, UsageUpdate};

/// What an agent is doing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcpActivity {
    pub state: AcpState,
    /// Its name for its session.
    pub session: Option<String>,
    /// What it does with a tool, or did last.
    pub last_tool: Option<String>,
    pub usage: AcpUsage,
    /// When something came from it last.
    pub heard: Instant,
}

/// Where it is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AcpState {
    Starting,
    Idle,
    Working,
    /// It waits for an answer to what it asked.
    Waiting,
    Interrupting,
    Failed,
}

/// What it has used since it was started, as it tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AcpUsage {
    /// The sum over its turns.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// How many tokens are in its context, and how many may be.
    pub context: Option<(u64, u64)>,
    pub cost: Option<AcpCost>,
}

/// What it cost, as it tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcpCost {
    /// Millionths of the currency's unit.
    pub millionths: u64,
    /// Such as USD.
    pub currency: String,
}

impl AcpUsage {
    pub(super) fn add(&mut self, turn: &TurnUsage) {
        let input = [turn.input_tokens, turn.cached_read_tokens, turn.cached_write_tokens];
        let input = input.into_iter().flatten().fold(0_u64, u64::saturating_add);
        self.input_tokens = self.input_tokens.saturating_add(input);
        self.output_tokens = self.output_tokens.saturating_add(turn.output_tokens.unwrap_or(0));
    }

    pub(super) fn update(&mut self, update: UsageUpdate) {
        if let (Some(used), Some(size)) = (update.used, update.size) {
            self.context = Some((used, size));
        }
        self.cost = update.cost.and_then(cost).or(self.cost.take());
    }
}

/// An amount that makes sense, in a currency that is a short word.
fn cost(cost: Cost) -> Option<AcpCost> {
    let is_word =
        (1..=8).contains(&cost.currency.len()) && cost.currency.chars().all(|c| c.is_ascii_alphabetic());
    let millionths = (cost.amount * 1e6).round();
    // Beyond that a float is no exact number any more.
    let cost = AcpCost { millionths: millionths as u64, currency: cost.currency };
    (is_word && (0.0..9e15).contains(&millionths)).then_some(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_adds_up_and_nonsense_is_left_out() {
        let mut usage = AcpUsage::default();
        let turn = r#"{"inputTokens":10,"outputTokens":3,"cachedReadTokens":100,"totalTokens":113,"thoughtTokens":null}"#;
        for _ in 0..2 {
            usage.add(&serde_json::from_str(turn).unwrap());
        }
        usage.add(&serde_json::from_str(&format!(r#"{{"inputTokens":{}}}"#, u64::MAX)).unwrap());
        assert_eq!((usage.input_tokens, usage.output_tokens), (u64::MAX, 6));
        let mut update = |text: &str| {
            usage.update(serde_json::from_str(text).unwrap());
            (usage.context, usage.cost.clone().map(|cost| (cost.millionths, cost.currency)))
        };
        let first = update(r#"{"used":5,"size":100,"cost":{"amount":0.0315,"currency":"USD"}}"#);
        assert_eq!(first, (Some((5, 100)), Some((31_500, "USD".to_owned()))));
        for nonsense in [
            r#"{"used":6,"size":100,"cost":{"amount":-1,"currency":"USD"}}"#,
            r#"{"used":6,"size":100,"cost":{"amount":1e300,"currency":"USD"}}"#,
            r#"{"used":6,"size":100,"cost":{"amount":1,"currency":"\u001b[2J"}}"#,
            r#"{"used":6,"size":100,"cost":null}"#,
        ] {
            assert_eq!(update(nonsense), (Some((6, 100)), Some((31_500, "USD".to_owned()))), "{nonsense}");
        }
    }
}
