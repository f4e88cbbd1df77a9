//! What becomes of orphaned work: it is taken over, or put aside.

use super::release::{check_words, decidable, hand_to};
use super::{Hold, Lock, LockEvent, ReleaseCause};
use crate::calls;
use crate::event::Event;
use crate::ids::{Fence, Principal, ProjectId};
use crate::next_call::call;
use crate::paths::PathPattern;
use crate::refusal::Refusal;
use crate::world::World;

/// Makes every lock that overlaps the patterns the asker's; all must be orphaned. Those in `into` are taken over to
/// be put aside there; then they must be all.
pub(crate) fn adopt(
    world: &World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
    reason: Option<Box<str>>,
    into: &[(Fence, Box<str>)],
) -> Result<Vec<Event>, Refusal> {
    check_words(patterns, reason.as_deref())?;
    let locks = decidable(world, who, project, patterns)?;
    let mut events = hand_to(world, locks, who, reason)?;
    for event in &mut events {
        let Event::Lock(LockEvent::HandedOver { fence, into: place, .. }) = event else { continue };
        if let Some(held) = world.locks.get(*fence).filter(|lock| lock.hold != Hold::Orphaned) {
            let problem = format!("{}, so there is nothing to adopt", held.view(world, world.now));
            let hint = match held.holder == who {
                true => "it is yours already".to_owned(),
                false => {
                    let to = [world.name_of(held.holder)];
                    format!(
                        "ask for it: {}",
                        call(calls::MAIL_SEND, [("to", to.into()), ("message", "TEXT".into())])
                    )
                }
            };
            return Err(Refusal::bad_input(problem, hint));
        }
        *place = into.iter().find(|(meant, _)| meant == fence).map(|(_, into)| into.clone());
        if place.is_none() && !into.is_empty() {
            return Err(Refusal::bad_input("more was left there meanwhile", "look at it, and ask again"));
        }
    }
    Ok(events)
}

/// What the asker took over was put aside into these refs, and is free.
pub(crate) fn put_aside(
    world: &World,
    who: Principal,
    aside: &[(Fence, Vec<Box<str>>)],
) -> Result<Vec<Event>, Refusal> {
    let released = |(at, (fence, into)): (usize, &(Fence, Vec<Box<str>>))| {
        if aside[..at].iter().any(|(before, _)| before == fence) {
            return Err(Refusal::bad_input("one lock is named twice", "name each once"));
        }
        let own = |lock: &&Lock| lock.holder == who;
        let lock = world.locks.get(*fence).filter(own);
        let Some((lock, rescue)) = lock.and_then(|lock| Some((lock, lock.rescue.as_ref()?))) else {
            let hint = format!("see whose it is with: {}", call(calls::LOCKS, []));
            return Err(Refusal::bad_input("the work that was set aside is no longer yours", hint));
        };
        Ok(lock.released(ReleaseCause::PutAside { of: rescue.of, into: into.clone() }))
    };
    aside.iter().enumerate().map(released).collect()
}
