//! What the records of one step are about, so that only that has to be looked at again.

use comity_core::Event;
use comity_core::agents::AgentEvent;
use comity_core::notices::NoticeEvent;
use comity_core::server::ServerEvent;

/// The parts of the world that something happened to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// Agents, locks and the queue.
    pub(crate) locks: bool,
    pub(crate) permissions: bool,
    /// Tasks, and who seeks one.
    pub(crate) tasks: bool,
    /// Mail, handshakes, decisions and teams.
    pub(crate) mail: bool,
    pub(crate) pools: bool,
}

impl News {
    pub(crate) fn hear(&mut self, event: &Event) {
        let is_mail =
            matches!(event, Event::Mail(_) | Event::Control(_) | Event::Decision(_) | Event::Team(_));
        let is_nothing = matches!(
            event,
            Event::Server(ServerEvent::NothingChanged {}) | Event::Notice(NoticeEvent::Taken { .. })
        );
        // Whoever ends is asked no more and leaves a box, an answer goes into one; after a start everything is looked at.
        let is_both = matches!(
            event,
            Event::Agent(AgentEvent::Ended { .. })
                | Event::Server(ServerEvent::Started { .. })
                | Event::Permission(_)
        );
        self.mail |= is_mail || is_both;
        let is_task = matches!(event, Event::Task(_));
        let joins = matches!(event, Event::Agent(AgentEvent::Joined { .. }));
        self.permissions |= is_both || is_mail || joins;
        self.tasks |= is_both || is_task || joins;
        let is_pool = matches!(event, Event::Pool(_));
        self.pools |= is_pool || is_both;
        let is_work = is_task || matches!(event, Event::Permission(_));
        self.locks |= !is_mail && !is_nothing && !is_work && !is_pool;
    }
}
