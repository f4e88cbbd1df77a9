//! What an agent is told besides the verdict on its call, and what is released at the end of its call.

use comity_core::notices::NoticeAsk;
use comity_core::{Ask, Principal};
use comity_guard::payload::HookEvent;

use super::tool::Judged;
use super::{AUTO_REASON, CleanLocks};
use crate::catalog::next_call;
use crate::operations::commits::Commit;

impl Judged<'_> {
    /// Releases the guard's locks on files that the call may have made clean.
    pub(super) fn free_clean_locks(&self) {
        let may_be = match self.call.event {
            HookEvent::AfterTool => self.call.runs_commands() && self.payload.contains("git"),
            HookEvent::Stop => true,
            _ => false,
        };
        if let (true, Principal::Agent(agent)) = (may_be, self.who) {
            self.app.free_clean_locks(CleanLocks::Of(agent));
        }
    }

    /// How to commit, for an agent that the guard has locked something for; once.
    pub(super) fn commit_hint(&self) -> Option<String> {
        let (Principal::Agent(agent), HookEvent::AfterTool) = (self.who, self.call.event) else {
            return None;
        };
        let has_guards = {
            let world = self.app.engine().world();
            let mut locks = world.locks.live_of(self.who);
            locks.any(|lock| lock.wanted.reason.as_deref() == Some(AUTO_REASON))
        };
        (has_guards && self.app.begins_to_tell_of_commit(agent)).then(|| {
            let commit = next_call::<Commit>([("message", "TEXT".into())]);
            format!(
                "Comity: the files that you write are yours until they are committed. To commit exactly those: {commit}"
            )
        })
    }

    /// The agent's notices, which count as given by this.
    pub(super) fn news(&self) -> Option<String> {
        let Principal::Agent(agent) = self.who else { return None };
        let news = {
            let world = self.app.engine().world();
            let waiting = world.agents.get(agent).map(|agent| &agent.notices[..]).unwrap_or_default();
            waiting.iter().map(|notice| notice.what.to_string()).collect::<Vec<String>>()
        };
        if news.is_empty() {
            return None;
        }
        self.app.engine().ask(self.who, Ask::Notice(NoticeAsk::Take)).ok()?;
        Some(format!("Comity: {}", news.join("\nComity: ")))
    }
}
