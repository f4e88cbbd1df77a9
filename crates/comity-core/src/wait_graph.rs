//! Who waits for whom, whatever for: locks, slots of a pool, answers, work. No ask may close a cycle.
//!
//! Whoever waits needs several things, and each of them from some of several: a lock from its holder, a slot from any who
//! has one. Somebody is stuck if one of its needs can only be met by others who are stuck. Who does not wait is never
//! stuck, and neither is the human who is asked something: people do several things at once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::ids::{AgentId, Fence, Principal, Ticket};
use crate::refusal::Refusal;
use crate::world::World;
use crate::{locks, permissions, pools, tasks};

/// Something that somebody cannot go on without.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Need<'a> {
    pub what: WaitedFor<'a>,
    /// These can give it, each so often.
    pub from: BTreeMap<Principal, usize>,
    /// How many have to be given.
    pub count: usize,
}

impl<'a> Need<'a> {
    /// Any one of these can give it.
    pub(crate) fn of(what: WaitedFor<'a>, from: impl IntoIterator<Item = Principal>) -> Need<'a> {
        Need::several(what, from, 1)
    }

    /// So many have to be given; whoever is named twice can give two.
    pub(crate) fn several(
        what: WaitedFor<'a>,
        from: impl IntoIterator<Item = Principal>,
        count: usize,
    ) -> Need<'a> {
        let mut given = BTreeMap::new();
        from.into_iter().for_each(|giver| *given.entry(giver).or_insert(0) += 1);
        Need { what, from: given, count }
    }

    /// Whether it is met although these give nothing.
    fn is_met_without<T>(&self, stuck: &BTreeMap<Principal, T>) -> bool {
        let others = self.from.iter().filter(|(giver, _)| !stuck.contains_key(giver));
        others.map(|(_, count)| count).sum::<usize>() >= self.count
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum WaitedFor<'a> {
    Path(&'a crate::paths::PathPattern),
    Slot(&'a pools::Pool),
    /// Whoever is before it in the line.
    Turn(&'a pools::Pool),
    Answer,
    Work,
}

/// A cycle of waiting: who waits, and for what; each waits for the next, the last one for the first.
#[derive(Clone, PartialEq, Debug)]
pub struct Cycle {
    pub names: Vec<String>,
    /// What each of them waits for.
    pub over: Vec<String>,
}

/// Who waits for whom, with more needs than the world knows of.
pub(crate) struct Waits<'a> {
    world: &'a World,
    added: BTreeMap<Principal, Vec<Need<'a>>>,
    except: Option<Ticket>,
    given_away: BTreeSet<Fence>,
    resized: Option<(&'a str, usize)>,
    counts_work: bool,
}

impl<'a> Waits<'a> {
    pub(crate) fn of(world: &'a World) -> Waits<'a> {
        let (added, given_away) = (BTreeMap::new(), BTreeSet::new());
        Waits { world, added, except: None, given_away, resized: None, counts_work: false }
    }

    /// If `who` needs this, too.
    pub(crate) fn with(mut self, who: Principal, need: Need<'a>) -> Waits<'a> {
        self.added.entry(who).or_default().push(need);
        self
    }

    /// Without the ask at this place in the queue.
    pub(crate) fn without(mut self, place: Option<Ticket>) -> Waits<'a> {
        self.except = place;
        self
    }

    /// If this lock were not its holder's any more.
    pub(crate) fn without_lock(mut self, fence: Fence) -> Waits<'a> {
        self.given_away.insert(fence);
        self
    }

    /// If this pool had so many slots.
    pub(crate) fn with_capacity(mut self, pool: &'a str, capacity: usize) -> Waits<'a> {
        self.resized = Some((pool, capacity));
        self
    }

    /// Waiting for work counts. It keeps nobody else from waiting: it is what ends when there is a cycle.
    pub(crate) fn with_work(mut self) -> Waits<'a> {
        self.counts_work = true;
        self
    }

    /// Refuses what would keep `who` waiting for ever.
    pub(crate) fn check(&self, who: Principal) -> Result<(), Refusal> {
        match self.cycle(who) {
            Some(cycle) => Err(Refusal::Deadlock(Box::new(cycle))),
            None => Ok(()),
        }
    }

    /// The cycle that keeps `who` waiting for ever, if there is one.
    pub(crate) fn cycle(&self, who: Principal) -> Option<Cycle> {
        let stuck = self.stuck_from(who);
        stuck.contains_key(&who).then(|| self.cycle_among(who, &stuck))
    }

    /// Those who wait for ever among `who` and all whom it waits for, perhaps by way of others, with what they need.
    pub(crate) fn stuck_from(&self, who: Principal) -> BTreeMap<Principal, Vec<Need<'a>>> {
        let mut found = vec![who];
        let mut needs: BTreeMap<Principal, Vec<Need<'a>>> = BTreeMap::new();
        let mut next = 0;
        while let Some(one) = found.get(next).copied() {
            next += 1;
            if needs.contains_key(&one) {
                continue;
            }
            let own = self.needs(one);
            found.extend(own.iter().flat_map(|need| need.from.keys()));
            needs.insert(one, own);
        }
        // The last found are nearest to those who wait for nobody.
        found.reverse();
        loop {
            let before = needs.len();
            for one in &found {
                if needs.get(one).is_some_and(|own| own.iter().all(|need| need.is_met_without(&needs))) {
                    needs.remove(one);
                }
            }
            if needs.len() == before {
                return needs;
            }
        }
    }

    /// What `who` cannot go on without.
    pub(crate) fn needs(&self, who: Principal) -> Vec<Need<'a>> {
        let mut needs = locks::needs(self.world, who, self.except, &self.given_away);
        pools::needs(self.world, who, self.except, self.resized, &mut needs);
        if let Principal::Agent(agent) = who {
            needs.extend(permissions::needs(self.world, agent));
            if self.counts_work {
                needs.extend(tasks::need(self.world, agent));
            }
        }
        needs.extend(self.added.get(&who).into_iter().flatten().cloned());
        needs
    }

    /// The shortest way from `who` back to itself, else round whatever it waits for.
    fn cycle_among(&self, who: Principal, stuck: &BTreeMap<Principal, Vec<Need<'a>>>) -> Cycle {
        let way_back = |start: Principal| {
            let mut came: BTreeMap<Principal, (Principal, WaitedFor<'a>)> = BTreeMap::new();
            let mut open = VecDeque::from([start]);
            while let Some(at) = open.pop_front() {
                for need in stuck.get(&at).into_iter().flatten() {
                    // What others can still give keeps nobody.
                    if need.is_met_without(stuck) {
                        continue;
                    }
                    // Whoever waits for one of several is not in its own way alone.
                    let givers: Vec<_> = need.from.keys().filter(|giver| stuck.contains_key(giver)).collect();
                    for next in givers.iter().copied().filter(|next| **next != at || givers.len() == 1) {
                        if !came.contains_key(next) {
                            came.insert(*next, (at, need.what));
                            open.push_back(*next);
                        }
                    }
                }
            }
            came.contains_key(&start).then_some(came)
        };
        let starts = std::iter::once(who).chain(stuck.keys().copied());
        let found = starts.into_iter().find_map(|start| Some((start, way_back(start)?)));
        let mut cycle = Cycle { names: Vec::new(), over: Vec::new() };
        let Some((start, came)) = found else { return cycle };
        let mut at = start;
        while let Some((before, what)) = came.get(&at) {
            cycle.names.push(self.world.name_of(*before));
            cycle.over.push(what.to_string());
            at = *before;
            if at == start {
                break;
            }
        }
        cycle.names.reverse();
        cycle.over.reverse();
        cycle
    }
}

/// An agent that waits for work of others who wait for it, and how.
pub(crate) fn next_seeker_stuck(world: &World) -> Option<(AgentId, Cycle)> {
    let waits = Waits::of(world).with_work();
    let mut seekers = tasks::seekers(world).filter(|agent| is_waited_for(world, Principal::Agent(*agent)));
    seekers.find_map(|agent| Some((agent, waits.cycle(Principal::Agent(agent))?)))
}

/// Whether anybody waits for something that `who` has or has to say.
pub(crate) fn is_waited_for(world: &World, who: Principal) -> bool {
    locks::waiting_for(world, who).next().is_some()
        || pools::waiting_for(world, who).next().is_some()
        || permissions::waiting_for(world, who).next().is_some()
}

impl fmt::Display for WaitedFor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitedFor::Path(pattern) => f.write_str(&pattern.readable()),
            WaitedFor::Slot(pool) => match pool.kind {
                pools::PoolKind::Tabs => f.write_str("a tab"),
                pools::PoolKind::Lease => write!(f, "a lease of {}", pool.name),
            },
            WaitedFor::Turn(pool) => write!(f, "its turn for {}", pool.name),
            WaitedFor::Answer => f.write_str("an answer"),
            WaitedFor::Work => f.write_str("work"),
        }
    }
}

impl Cycle {
    /// The names, the first one again at the end.
    pub fn around(&self) -> Vec<String> {
        self.names.iter().chain(self.names.first()).cloned().collect()
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([name], [over]) = (&self.names[..], &self.over[..]) {
            return write!(f, "{name} waits for itself ({over})");
        }
        let next = self.names.iter().cycle().skip(1);
        for (at, ((name, next), over)) in self.names.iter().zip(next).zip(&self.over).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{name} waits for {next} ({over})")?;
        }
        Ok(())
    }
}
