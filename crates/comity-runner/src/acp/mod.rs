//! Agents that speak the Agent Client Protocol on their standard input and output, instead of showing themselves in a terminal.
//!
//! The session has no input and output of its own: bytes and asks in, bytes and news out.

mod activity;
mod asks;
mod files;
mod opening;
mod requests;
mod schema;
mod session;
mod transcript;
mod wire;

pub use activity::{AcpActivity, AcpCost, AcpState, AcpUsage};
pub use asks::{AcpAsk, AcpChange, AcpToolCall, AcpWish};
pub use schema::{AcpServer, AcpVariable};
pub(crate) use session::{AcpSession, SessionRefusal};

/// What an agent is told when it starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AcpStart {
    /// The servers of tools that it is to use.
    pub servers: Vec<AcpServer>,
    /// The session to go on with, if the agent can.
    pub session: Option<String>,
    /// What it is asked first, unless it goes on with a session.
    pub prompt: Option<String>,
    /// What it is asked first if it goes on with one.
    pub resume_prompt: Option<String>,
    /// The modes to be in: the first of them that it has.
    pub modes: Vec<String>,
    /// The model to use, if it offers that.
    pub model: Option<String>,
    /// It is in a sandbox: it is not offered to have its files written from outside.
    pub sandbox: bool,
}

/// What became of a session, and what its agent asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AcpNews {
    /// It can be prompted.
    Ready {
        session: String,
        /// Whether it goes on with the one that was named.
        resumed: bool,
    },
    /// The agent waits until it is answered.
    Asks(AcpAsk),
    /// Nobody has to answer this any more.
    Withdrawn {
        ask: u64,
    },
    TurnStarted,
    TurnEnded {
        how: AcpTurnEnd,
        /// What the agent said last.
        last_words: String,
    },
}

/// Why a turn ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AcpTurnEnd {
    Done,
    Interrupted,
    /// By a limit, a refusal or an error.
    Failed(String),
}
