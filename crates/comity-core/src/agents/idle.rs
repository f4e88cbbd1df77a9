//! Idle and at work.

use super::Life;
use crate::ask::Ask;
use crate::event::Event;
use crate::ids::Principal;
use crate::mail::MailAsk;
use crate::tasks::TaskAsk;
use crate::world::World;

/// An agent that said that it was idle and does something is at work again.
pub(crate) fn works_again(world: &World, who: Principal, ask: &Ask) -> Option<Event> {
    let agent = world.agents.get(who.agent()?).filter(|agent| agent.life == Life::Idle)?;
    is_work(ask).then_some(Event::AgentIdled { agent: agent.id, idle: false })
}

/// Looking for something to do, and being told things, is no work yet.
fn is_work(ask: &Ask) -> bool {
    if let Ask::Task(ask) = ask {
        return !matches!(ask, TaskAsk::Seek { .. });
    }
    matches!(
        ask,
        Ask::Lock { .. }
            | Ask::Unlock { .. }
            | Ask::UnlockAll
            | Ask::HandOver { .. }
            | Ask::Adopt { .. }
            | Ask::KnowFile { .. }
            | Ask::IntendMove(_)
            | Ask::RecordConflict { .. }
            | Ask::AddWorktree { .. }
            | Ask::ReleaseWorktree { .. }
            | Ask::Mail(MailAsk::Send(_))
            | Ask::Permission(_)
            | Ask::Decision(_)
            | Ask::Pool(_)
    )
}
