//! Who waits for whom, across all features ([`WAIT_RULES`]). No ask may close a cycle.
//!
//! Whoever waits may need several things, and each may come from any of several others: a lock from its holder, a slot
//! from anyone who has one. Somebody is stuck if one of its needs can only be met by others who are stuck. Whoever does
//! not wait is never stuck, and neither is a human who was asked something: people do several things at once.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::features::{Supposed, WAIT_RULES, WaitedFor};
use crate::ids::{AgentId, Principal, Ticket};
use crate::refusal::Refusal;
use crate::world::World;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Need<'a> {
    pub what: WaitedFor<'a>,
    /// Who can give it, and how often each can.
    pub from: BTreeMap<Principal, usize>,
    /// How many are needed.
    pub count: usize,
}

impl<'a> Need<'a> {
    /// A need that any one of these can meet.
    pub(crate) fn of(what: WaitedFor<'a>, from: impl IntoIterator<Item = Principal>) -> Need<'a> {
        Need::several(what, from, 1)
    }

    /// A need for several; whoever is listed twice can give two.
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

/// How waiting in a feature makes somebody depend on somebody else.
pub(crate) struct WaitRules {
    /// What somebody cannot go on without.
    pub needs: for<'a> fn(&Waits<'a>, Principal) -> Vec<Need<'a>>,
    /// Everybody who may be waiting for what somebody has, or has to say.
    pub waiting_for: for<'a> fn(&'a World, Principal) -> Box<dyn Iterator<Item = Principal> + 'a>,
    /// Whether this wait gives way: it is given up when it closes a cycle, so it never keeps others from waiting.
    pub gives_way: bool,
}

/// A cycle of waiting: each waits for the next, the last one for the first.
#[derive(Clone, PartialEq, Debug)]
pub struct Cycle {
    pub names: Vec<String>,
    /// What each of them waits for.
    pub over: Vec<String>,
}

/// Who waits for whom, or would if some things were otherwise.
pub(crate) struct Waits<'a> {
    pub world: &'a World,
    /// The ask at this place in a queue does not count.
    pub except: Option<Ticket>,
    pub supposed: Supposed<'a>,
    added: BTreeMap<Principal, Vec<Need<'a>>>,
    counts_all: bool,
}

impl<'a> Waits<'a> {
    pub(crate) fn of(world: &'a World) -> Waits<'a> {
        let supposed = Supposed::default();
        Waits { world, except: None, supposed, added: BTreeMap::new(), counts_all: false }
    }

    /// With another need of `who`.
    pub(crate) fn with(mut self, who: Principal, need: Need<'a>) -> Waits<'a> {
        self.added.entry(who).or_default().push(need);
        self
    }

    pub(crate) fn without(mut self, place: Option<Ticket>) -> Waits<'a> {
        self.except = place;
        self
    }

    /// With the waits that give way, too.
    pub(crate) fn all(world: &'a World) -> Waits<'a> {
        Waits { counts_all: true, ..Waits::of(world) }
    }

    /// Refuses if `who` would wait for ever.
    pub(crate) fn check(&self, who: Principal) -> Result<(), Refusal> {
        match self.cycle(who) {
            Some(cycle) => Err(Refusal::Deadlock(Box::new(cycle))),
            None => Ok(()),
        }
    }

    /// The cycle that makes `who` wait for ever, if there is one.
    pub(crate) fn cycle(&self, who: Principal) -> Option<Cycle> {
        let stuck = self.stuck_from(who);
        stuck.contains_key(&who).then(|| self.cycle_among(who, &stuck))
    }

    /// Those who wait for ever among `who` and everybody it depends on, with what they need.
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
        // Those found last are closest to somebody who waits for nobody.
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

    pub(crate) fn needs(&self, who: Principal) -> Vec<Need<'a>> {
        let counted = WAIT_RULES.iter().filter(|rules| self.counts_all || !rules.gives_way);
        let known = counted.flat_map(|rules| (rules.needs)(self, who));
        known.chain(self.added.get(&who).into_iter().flatten().cloned()).collect()
    }

    /// The shortest way from `who` back to itself, otherwise around a cycle that it waits for.
    fn cycle_among(&self, who: Principal, stuck: &BTreeMap<Principal, Vec<Need<'a>>>) -> Cycle {
        let way_back = |start: Principal| {
            let mut came: BTreeMap<Principal, (Principal, WaitedFor<'a>)> = BTreeMap::new();
            let mut open = VecDeque::from([start]);
            while let Some(at) = open.pop_front() {
                for need in stuck.get(&at).into_iter().flatten() {
                    // What others can still give blocks nobody.
                    if need.is_met_without(stuck) {
                        continue;
                    }
                    // If one of several can give it, the waiter alone is not in its own way.
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

/// The first of these agents that is in a cycle of waiting, and the cycle.
pub(crate) fn first_stuck(
    world: &World,
    mut agents: impl Iterator<Item = AgentId>,
) -> Option<(AgentId, Cycle)> {
    let waits = Waits::all(world);
    agents.find_map(|agent| Some((agent, waits.cycle(Principal::Agent(agent))?)))
}

/// Whether anybody who does not give way waits for something that `who` has or has to say.
pub(crate) fn is_waited_for(world: &World, who: Principal) -> bool {
    WAIT_RULES.iter().any(|rules| !rules.gives_way && (rules.waiting_for)(world, who).next().is_some())
}

impl Cycle {
    /// The names, with the first repeated at the end.
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
