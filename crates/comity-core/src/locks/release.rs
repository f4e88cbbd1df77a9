//! Giving locks back, and what the human and leaders may do with others' locks.

use super::acquire::check_path_count;
use super::graph::against;
use super::{Lock, LockEvent, LockRefusal, ReleaseCause};
use crate::calls;
use crate::checks::check_reason;
use crate::event::Event;
use crate::features::WaitedFor;
use crate::ids::{AgentId, Fence, Principal, ProjectId};
use crate::limits::{HOLDERS_SHOWN_MAX, LOCK_TTL_MAX, LOCK_TTL_MIN};
use crate::next_call::{Argument, call};
use crate::paths::{Component, PathPattern, covers};
use crate::refusal::Refusal;
use crate::roles::is_lead;
use crate::teams::leads;
use crate::time::Millis;
use crate::wait_graph::{Need, Waits};
use crate::world::World;

pub(crate) fn unlock(
    world: &World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
) -> Result<Vec<Event>, Refusal> {
    check_words(patterns, None)?;
    let mut locks: Vec<&Lock> = Vec::new();
    for pattern in patterns {
        let own: Vec<&Lock> = match world.locks.own(who, project, pattern) {
            Some(lock) => vec![lock],
            None => world
                .locks
                .of(who)
                .filter(|lock| lock.wanted.project == project && holds_all_of(pattern, &lock.wanted.pattern))
                .collect(),
        };
        if own.is_empty() {
            return Err(not_held(world, who, project, pattern));
        }
        locks.extend(own);
    }
    locks.sort_by_key(|lock| lock.fence);
    locks.dedup_by_key(|lock| lock.fence);
    Ok(locks.into_iter().map(|lock| lock.released(ReleaseCause::GivenBack)).collect())
}

pub(crate) fn unlock_all(world: &World, who: Principal, project: Option<ProjectId>) -> Vec<Event> {
    let meant = world.locks.of(who).filter(|lock| project.is_none_or(|here| here == lock.wanted.project));
    meant.map(|lock| lock.released(ReleaseCause::GivenBack)).collect()
}

pub(super) fn check_words(patterns: &[PathPattern], reason: Option<&str>) -> Result<(), Refusal> {
    check_path_count(patterns.len())?;
    check_reason(reason)
}

/// Whether `outer` is one or several directories that contain everything in `inner`.
fn holds_all_of(outer: &PathPattern, inner: &PathPattern) -> bool {
    inner.alternatives().iter().all(|inside| {
        outer.alternatives().iter().any(|outside| {
            let mut path = inside.prefix();
            *outside.rest() == [Component::AnyDepth] && outside.prefix().all(|name| path.next() == Some(name))
        })
    })
}

fn not_held(world: &World, who: Principal, project: ProjectId, pattern: &PathPattern) -> Refusal {
    let (own, others): (Vec<&Lock>, Vec<&Lock>) =
        world.locks.overlapping(project, pattern).into_iter().partition(|lock| lock.holder == who);
    Refusal::Lock(LockRefusal::NotHeld {
        path: pattern.readable(),
        yours: own.iter().take(HOLDERS_SHOWN_MAX).map(|lock| lock.wanted.pattern.readable()).collect(),
        holders: others.iter().take(HOLDERS_SHOWN_MAX).map(|lock| lock.view(world, world.now)).collect(),
    })
}

/// The locks that somebody means by a pattern: those on exactly it, otherwise those within it, otherwise the
/// narrowest that cover it.
pub fn meant_by<'a>(world: &'a World, project: ProjectId, pattern: &PathPattern) -> Vec<&'a Lock> {
    let all = world.locks.overlapping(project, pattern);
    let those = |is_meant: &dyn Fn(&PathPattern) -> bool| -> Vec<&'a Lock> {
        all.iter().copied().filter(|lock| is_meant(&lock.wanted.pattern)).collect()
    };
    let exact = those(&|locked| locked == pattern);
    if !exact.is_empty() {
        return exact;
    }
    let within = those(&|locked| covers(pattern, locked));
    if !within.is_empty() {
        return within;
    }
    let mut covering = those(&|locked| covers(locked, pattern));
    let patterns: Vec<&PathPattern> = covering.iter().map(|lock| &lock.wanted.pattern).collect();
    let is_wider = |wide: &PathPattern| patterns.iter().any(|other| *other != wide && covers(wide, other));
    covering.retain(|lock| !is_wider(&lock.wanted.pattern));
    covering
}

/// Whether an agent continues where an ended one stopped: in its session, or as its program.
fn continues(world: &World, now: AgentId, before: AgentId) -> bool {
    let (Some(now), Some(before)) = (world.agents.get(now), world.agents.get(before)) else { return false };
    let (now_is, was) = (&now.profile, &before.profile);
    !before.is_live()
        && ((now_is.session.is_some() && now_is.session == was.session)
            || (now_is.process.is_some() && now_is.process == was.process))
}

/// Whether `who` may decide about what `holder` has: the holder, whoever continues in its place, its leader, its
/// team's lead, or the human.
fn may_decide(world: &World, who: Principal, holder: Principal) -> bool {
    let leads_team = |lead: AgentId, other: AgentId| {
        let (lead, other) = (world.agents.get(lead), world.agents.get(other));
        lead.zip(other).is_some_and(|(lead, other)| {
            is_lead(world, lead) && lead.profile.team.is_some() && lead.profile.team == other.profile.team
        })
    };
    match (who, holder) {
        (Principal::Human | Principal::System, _) => true,
        (Principal::Nobody, _) => false,
        (Principal::Agent(_), Principal::Human | Principal::System | Principal::Nobody) => false,
        (Principal::Agent(me), Principal::Agent(other)) => {
            me == other || leads(world, who, other) || leads_team(me, other) || continues(world, me, other)
        }
    }
}

/// Every lock that overlaps one of the patterns; refused unless `who` may decide about all of them.
pub(super) fn decidable<'a>(
    world: &'a World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
) -> Result<Vec<&'a Lock>, Refusal> {
    decidable_of(world, who, project, patterns, |pattern| world.locks.overlapping(project, pattern))
}

/// The locks that the patterns mean; refused unless `who` may decide about all of them.
fn decidable_named<'a>(
    world: &'a World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
) -> Result<Vec<&'a Lock>, Refusal> {
    decidable_of(world, who, project, patterns, |pattern| meant_by(world, project, pattern))
}

fn decidable_of<'a>(
    world: &'a World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
    meant: impl Fn(&PathPattern) -> Vec<&'a Lock>,
) -> Result<Vec<&'a Lock>, Refusal> {
    let mut found: Vec<&Lock> = Vec::new();
    for pattern in patterns {
        let locks = meant(pattern);
        if locks.is_empty() {
            return Err(not_held(world, who, project, pattern));
        }
        for lock in locks {
            if !may_decide(world, who, lock.holder) {
                return Err(Refusal::NotAllowed {
                    problem: format!("{}, and you may not decide about it", lock.view(world, world.now)),
                    hint: "its holder, an agent above it, its team's lead or the human may".into(),
                });
            }
            if !found.iter().any(|other| other.fence == lock.fence) {
                found.push(lock);
            }
        }
    }
    Ok(found)
}

pub(crate) fn release(
    world: &World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
    reason: Option<Box<str>>,
) -> Result<Vec<Event>, Refusal> {
    check_words(patterns, reason.as_deref())?;
    let cause = |lock: &Lock| match lock.holder == who {
        true => ReleaseCause::GivenBack,
        false => ReleaseCause::TakenAway { reason: reason.clone() },
    };
    let locks = decidable_named(world, who, project, patterns)?;
    Ok(locks.into_iter().map(|lock| lock.released(cause(lock))).collect())
}

pub(crate) fn extend(
    world: &World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
    ttl: Millis,
    reason: Option<Box<str>>,
) -> Result<Vec<Event>, Refusal> {
    check_words(patterns, reason.as_deref())?;
    if !(LOCK_TTL_MIN..=LOCK_TTL_MAX).contains(&ttl) {
        return Err(Refusal::bad_input(
            format!("a TTL of {ttl} is not possible"),
            format!("give one from {LOCK_TTL_MIN} to {LOCK_TTL_MAX}, such as 5m"),
        ));
    }
    let locks = decidable_named(world, who, project, patterns)?;
    for lock in &locks {
        if let Some(ended) = lock.holder.agent().filter(|id| world.agents.living(*id).is_err()) {
            return Err(Refusal::bad_input(
                format!(
                    "{} has ended, and {} needs no time",
                    world.name_of(Principal::Agent(ended)),
                    lock.wanted.pattern
                ),
                "hand it over to somebody, or release it",
            ));
        }
    }
    Ok(locks
        .into_iter()
        .map(|lock| {
            Event::Lock(LockEvent::Extended {
                fence: lock.fence,
                path: lock.path(),
                ttl,
                reason: reason.clone(),
            })
        })
        .collect())
}

pub(crate) fn hand_over(
    world: &World,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
    to: Principal,
    reason: Option<Box<str>>,
) -> Result<Vec<Event>, Refusal> {
    check_words(patterns, reason.as_deref())?;
    if let Principal::Agent(agent) = to {
        world.agents.living(agent)?;
    }
    let mut locks = decidable_named(world, who, project, patterns)?;
    locks.retain(|lock| lock.holder != to);
    check_company(world, &locks, to)?;
    hand_to(world, locks, to, reason)
}

/// Refuses to hand over locks that must go along but were not named.
fn check_company(world: &World, locks: &[&Lock], to: Principal) -> Result<(), Refusal> {
    let mut all = locks.to_vec();
    add_company(world, &mut all);
    let company = all.split_off(locks.len());
    if company.is_empty() {
        return Ok(());
    }
    let names = |locks: &[&Lock]| locks.iter().map(|lock| lock.wanted.pattern.readable()).collect::<Vec<_>>();
    let (meant, more, to) = (names(locks), names(&company), world.name_of(to));
    let both = Argument::List(meant.iter().chain(&more).cloned().collect());
    let hand_over = call(calls::HANDOVER, [("paths", both), ("to", to.as_str().into())]);
    Err(Refusal::bad_input(
        format!("{} overlaps {}, and overlapping locks have one holder", meant.join(", "), more.join(", ")),
        format!("hand over all of them: {hand_over}; or give up first what {to} is not to have"),
    ))
}

/// Hands these locks over, with those that must go along.
pub(super) fn hand_to<'a>(
    world: &'a World,
    mut locks: Vec<&'a Lock>,
    to: Principal,
    reason: Option<Box<str>>,
) -> Result<Vec<Event>, Refusal> {
    add_company(world, &mut locks);
    let mut events = Vec::with_capacity(locks.len());
    let mut next = world.fence.0;
    let mut waits = Waits::of(world);
    for (at, lock) in locks.iter().enumerate() {
        check_one_for_each_pattern(world, lock, &locks[..at], to)?;
        waits.supposed.locks_gone.insert(lock.fence);
        // Everybody who wants the same, including the old holder, waits for the new holder from now on.
        for waiter in against(world, &lock.wanted).map(|wait| wait.who).filter(|waiter| *waiter != to) {
            let what = WaitedFor::Path(&lock.wanted.pattern);
            waits = waits.with(waiter, Need::of(what, [to]));
        }
        next += 1;
        events.push(Event::Lock(LockEvent::HandedOver {
            fence: lock.fence,
            path: lock.path(),
            new_fence: Fence(next),
            to,
            reason: reason.clone(),
            into: None,
        }));
    }
    waits.check(to)?;
    Ok(events)
}

/// Adds locks of the same holders that overlap these: they cannot keep them.
fn add_company<'a>(world: &'a World, locks: &mut Vec<&'a Lock>) {
    let mut at = 0;
    while let Some(lock) = locks.get(at).copied() {
        for other in world.locks.overlapping(lock.wanted.project, &lock.wanted.pattern) {
            let goes_along = other.holder == lock.holder
                && other.wanted.mode.excludes(lock.wanted.mode)
                && !locks.iter().any(|known| known.fence == other.fence);
            if goes_along {
                locks.push(other);
            }
        }
        at += 1;
    }
}

/// A holder has at most one lock on a pattern.
fn check_one_for_each_pattern(
    world: &World,
    lock: &Lock,
    before: &[&Lock],
    to: Principal,
) -> Result<(), Refusal> {
    let (project, pattern) = (lock.wanted.project, &lock.wanted.pattern);
    let has_own = world.locks.own(to, project, pattern).is_some_and(|own| own.fence != lock.fence);
    if has_own
        || before.iter().any(|other| other.wanted.project == project && other.wanted.pattern == *pattern)
    {
        return Err(Refusal::bad_input(
            format!("{} would hold {pattern} twice", world.name_of(to)),
            "release one of the two locks instead",
        ));
    }
    Ok(())
}
