//! Orphaned locks, as the model sees them: who may decide about them, and what becomes of what is taken over or put aside.

use comity_core::locks::{Hold, LockAsk, LockEvent, ReleaseCause};
use comity_core::{AgentId, Event, Fence, Principal, Record};

use super::{Found, ModelLock, Oracle};
use crate::sim_paths::SimPaths;

impl Oracle {
    /// Whether there is work that was left, or that is being put aside.
    pub(crate) fn has_orphans(&self) -> bool {
        self.locks.values().any(|lock| lock.hold == Hold::Orphaned || lock.rescue.is_some())
    }

    /// Whether `who` may decide about what `holder` has: itself, whoever goes on in its place, who leads it, its team's lead,
    /// the human.
    pub(crate) fn may_decide(&self, who: Principal, holder: Principal) -> bool {
        let (me, other) = match (who, holder) {
            (Principal::Human | Principal::System, _) => return true,
            (Principal::Agent(me), Principal::Agent(other)) => (me, other),
            _ => return false,
        };
        me == other || self.leads(who, other) || self.leads_team_of(me, other) || self.goes_on(me, other)
    }

    pub(super) fn has_started(&self, me: AgentId, other: AgentId) -> bool {
        let mut at = self.kin.get(&other).and_then(|kin| kin.parent);
        while let Some(parent) = at.filter(|parent| *parent != me) {
            at = self.kin.get(&parent).and_then(|kin| kin.parent);
        }
        at.is_some()
    }

    fn leads_team_of(&self, me: AgentId, other: AgentId) -> bool {
        let team = |agent| self.kin.get(&agent).and_then(|kin| kin.team.as_deref());
        self.is_lead(me) && team(me).is_some() && team(me) == team(other)
    }

    fn goes_on(&self, me: AgentId, other: AgentId) -> bool {
        let (Some(now), Some(before)) = (self.kin.get(&me), self.kin.get(&other)) else { return false };
        let same_session = now.session.is_some() && now.session == before.session;
        let same_process = now.process.is_some() && now.process == before.process;
        self.gone.contains(&other) && (same_session || same_process)
    }

    /// A lock went to somebody else: by whom it may, and to be put aside only what is orphaned, and by who takes it over.
    pub(super) fn may_hand_over(
        &self,
        record: &Record,
        lock: &ModelLock,
        to: Principal,
        is_rescue: bool,
    ) -> Found {
        let (by, holder) = (record.by, lock.holder);
        if !self.may_decide(by, holder) {
            return Err(format!("{by} handed over what {holder} has, and may not decide about it"));
        }
        if is_rescue && (lock.hold != Hold::Orphaned || to != by) {
            return Err(format!("{to} puts aside what {holder} has not left"));
        }
        Ok(())
    }

    /// As put aside goes only what is being put aside, by who took it over for that.
    pub(super) fn may_let_go(&self, record: &Record, lock: &ModelLock, cause: &ReleaseCause) -> Found {
        let (by, holder) = (record.by, lock.holder);
        match cause {
            ReleaseCause::PutAside { of, .. } if lock.rescue != Some(*of) || by != holder => {
                Err(format!("{by} put work of {of} aside that {holder} has"))
            }
            _ => Ok(()),
        }
    }

    /// All that was asked for goes to the asker, all of it was orphaned, and it goes where it was to go.
    pub(super) fn orphans_are_right(
        &self,
        paths: &SimPaths,
        who: Principal,
        ask: &LockAsk,
        answer: &[Event],
    ) -> Found {
        match ask {
            LockAsk::Adopt { project, patterns, into, .. } => {
                let files = patterns.iter().fold(0, |all, pattern| all | paths.files(*project, pattern));
                let mut meant: Vec<Fence> = self.fences(|lock| lock.want.files & files != 0);
                for event in answer {
                    let Event::Lock(LockEvent::HandedOver { fence, to, into: place, .. }) = event else {
                        return Err(format!("{event:?} came of adopting"));
                    };
                    let is_orphan = self.locks.get(fence).is_some_and(|lock| lock.hold == Hold::Orphaned);
                    let announced = into.iter().find(|(meant, _)| meant == fence).map(|(_, into)| into);
                    let is_announced = place.as_ref() == announced && (into.is_empty() || place.is_some());
                    if *to != who || !is_orphan || !is_announced {
                        return Err(format!("{event:?} came of adopting by {who}"));
                    }
                    meant.retain(|other| other != fence);
                }
                if meant.is_empty() {
                    Ok(())
                } else {
                    Err(format!("{meant:?} was not adopted with the rest"))
                }
            }
            LockAsk::PutAside { aside } => {
                let free = answer.iter().map(|event| match event {
                    Event::Lock(LockEvent::Released {
                        fence,
                        cause: ReleaseCause::PutAside { into, .. },
                        ..
                    }) => Some((fence, into)),
                    _ => None,
                });
                let is_nothing = aside.is_empty();
                match is_nothing || free.eq(aside.iter().map(|(fence, into)| Some((fence, into)))) {
                    true => Ok(()),
                    false => Err(format!("{answer:?} came of putting {aside:?} aside")),
                }
            }
            // A leader who stops a task takes its locks away by a right of its own, so that only this ask is judged here.
            LockAsk::Release { .. } => {
                let allowed = |event: &Event| match event {
                    Event::Lock(LockEvent::Released { fence, .. }) => {
                        self.locks.get(fence).is_some_and(|lock| self.may_decide(who, lock.holder))
                    }
                    _ => true,
                };
                match answer.iter().all(allowed) {
                    true => Ok(()),
                    false => Err(format!("{who} took away what it may not decide about")),
                }
            }
            _ => Ok(()),
        }
    }

    /// Whether somebody was kept from orphaned work that is there for it. Only of who waits for nothing: a cycle is a reason.
    pub(super) fn should_adopt(&self, paths: &SimPaths, who: Principal, ask: &LockAsk) -> bool {
        match ask {
            LockAsk::Adopt { project, patterns, into, .. } => {
                let [pattern] = &patterns[..] else { return false };
                let mut files = paths.files(*project, pattern);
                // What cannot be apart from it goes along.
                for _ in 0..self.locks.len() {
                    let company = self.locks.values().filter(|lock| lock.want.files & files != 0);
                    files |= company.fold(0, |all, lock| all | lock.want.files);
                }
                let meant = self.fences(|lock| lock.want.files & files != 0);
                let is_waiting =
                    self.waits.values().any(|wait| wait.who == who) || !self.waits_for(who).is_empty();
                let is_free = |fence: &Fence| {
                    let lock = &self.locks[fence];
                    let twice = self.locks.iter().any(|(other, own)| {
                        other != fence
                            && own.holder == who
                            && own.want.wanted.pattern == lock.want.wanted.pattern
                    });
                    let is_announced = into.is_empty() || into.iter().any(|(meant, _)| meant == fence);
                    lock.hold == Hold::Orphaned && self.may_decide(who, lock.holder) && is_announced && !twice
                };
                let mut patterns: Vec<_> =
                    meant.iter().map(|fence| self.locks[fence].want.wanted.pattern.as_str()).collect();
                patterns.sort_unstable();
                let differ = patterns.windows(2).all(|pair| pair[0] != pair[1]);
                !is_waiting && !meant.is_empty() && differ && meant.iter().all(is_free)
            }
            LockAsk::PutAside { aside } => {
                let is_own = |fence: &Fence| {
                    self.locks.get(fence).is_some_and(|lock| lock.holder == who && lock.rescue.is_some())
                };
                let differ = |at: usize| aside[..at].iter().all(|(fence, _)| *fence != aside[at].0);
                aside.iter().enumerate().all(|(at, (fence, _))| is_own(fence) && differ(at))
            }
            _ => false,
        }
    }

    fn fences(&self, is_meant: impl Fn(&ModelLock) -> bool) -> Vec<Fence> {
        self.locks.iter().filter(|(_, lock)| is_meant(lock)).map(|(fence, _)| *fence).collect()
    }
}
