//! An agent that speaks ACP in a place of a test's own.

use std::time::Duration;

use comity_runner::{AcpAsk, AcpNews, AcpStart, AcpTurnEnd, Exit, RunnerEvent};

use super::{Place, acp_launch};

impl Place {
    pub(crate) fn start_acp(&self, flags: &[&str], start: AcpStart) {
        self.runner().launch(vec![acp_launch(self.dir(), "ann", flags, start)]).unwrap();
        self.started("ann");
    }

    /// An agent that has nothing to do yet; gives its session.
    pub(crate) fn ready(&self, flags: &[&str]) -> String {
        self.start_acp(flags, AcpStart::default());
        match self.news() {
            AcpNews::Ready { session, resumed: false } => session,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn news(&self) -> AcpNews {
        match self.next() {
            RunnerEvent::Acp { news: AcpNews::TurnStarted, .. } => self.news(),
            RunnerEvent::Acp { news, .. } => news,
            other => panic!("{other:?}: {}", self.transcript()),
        }
    }

    pub(crate) fn prompt(&self, text: &str) {
        self.runner().prompt("ann", text).unwrap();
    }

    /// What is asked next.
    pub(crate) fn ask(&self) -> AcpAsk {
        match self.news() {
            AcpNews::Asks(ask) => ask,
            other => panic!("{other:?}: {}", self.transcript()),
        }
    }

    /// How the turn ends, and what was said last in it.
    pub(crate) fn turn(&self) -> (AcpTurnEnd, String) {
        match self.news() {
            AcpNews::TurnEnded { how, last_words } => (how, last_words),
            other => panic!("{other:?}: {}", self.transcript()),
        }
    }

    /// What was said in a turn that ends as it should.
    pub(crate) fn said(&self) -> String {
        let (how, words) = self.turn();
        assert_eq!(how, AcpTurnEnd::Done, "{}", self.transcript());
        words
    }

    pub(crate) fn transcript(&self) -> String {
        let output = self.runner().output("ann", 0);
        output.map(|output| String::from_utf8(output.bytes).unwrap()).unwrap_or_default()
    }

    /// Its input is closed and it is killed: it may end by either.
    pub(crate) fn end(&self) {
        self.runner().end("ann", Duration::ZERO).unwrap();
        assert!(matches!(self.next_but_turns(), RunnerEvent::Ended { .. }));
    }

    pub(crate) fn next_but_turns(&self) -> RunnerEvent {
        match self.next() {
            RunnerEvent::Acp { news: AcpNews::TurnStarted, .. } => self.next_but_turns(),
            other => other,
        }
    }
}

pub(crate) fn ended(exit: Exit) -> RunnerEvent {
    RunnerEvent::Ended { key: "ann".into(), exit }
}
