//! The badge of an agent: one colour, wherever it is shown.

use serde::{Deserialize, Serialize};

use crate::ids::AgentId;

/// The colour of a badge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    Red,
    Orange,
    Yellow,
    Green,
    Cyan,
    Blue,
    Purple,
    Pink,
}

const COLOURS: [Colour; 8] = [
    Colour::Red,
    Colour::Orange,
    Colour::Yellow,
    Colour::Green,
    Colour::Cyan,
    Colour::Blue,
    Colour::Purple,
    Colour::Pink,
];

impl Colour {
    pub fn word(self) -> &'static str {
        match self {
            Colour::Red => "red",
            Colour::Orange => "orange",
            Colour::Yellow => "yellow",
            Colour::Green => "green",
            Colour::Cyan => "cyan",
            Colour::Blue => "blue",
            Colour::Purple => "purple",
            Colour::Pink => "pink",
        }
    }
}

/// The colour of an agent; it follows from its id.
pub fn colour_of(agent: AgentId) -> Colour {
    let mix = |sum: usize, byte: u8| sum.wrapping_mul(31).wrapping_add(usize::from(byte));
    let sum = agent.to_string().bytes().fold(7, mix);
    // The low bits of such a sum depend on the last digit alone.
    COLOURS[(sum ^ (sum >> 7) ^ (sum >> 13)) % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_stable_and_all_are_used() {
        let colours: Vec<Colour> = (0..400).map(|bits| colour_of(AgentId::from_bits(bits * 977))).collect();
        for colour in COLOURS {
            let count = colours.iter().filter(|one| **one == colour).count();
            assert!(count > 20, "{} is used {count} times in 400", colour.word());
        }
        assert_eq!(
            colour_of(AgentId::from_bits(0xa1b2_c3d4_e5f6)),
            colour_of(AgentId::from_bits(0xa1b2_c3d4_e5f6))
        );
    }
}
