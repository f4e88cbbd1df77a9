//! Generated orders of acts: the rules agree with a naive pool, which knows lists and nothing else.

use comity_core::agents::{AgentAsk, Ending};
use comity_core::limits::SLOT_RESERVATION_TTL;
use comity_core::pools::{PlaceState, Pool, PoolAsk, PoolKind, SlotId, Take};
use comity_core::{Ask, Millis, Principal, Timestamp, World, expire, invariants, run};
use proptest::prelude::*;

use crate::script::Stage;

const WAIT: Millis = Millis::seconds(45);
const STEP: Millis = Millis::seconds(15);
const AGENTS: usize = 4;

/// Who waits in the naive pool.
#[derive(Clone, PartialEq, Debug)]
struct Waiter {
    who: usize,
    /// When its wait or reservation ends.
    until: Option<u64>,
    is_blocking: bool,
    is_reserved: bool,
    lapses: u32,
}

/// A pool as lists: who has a slot, oldest first, and who waits, first come first.
#[derive(Clone, PartialEq, Debug, Default)]
struct Naive {
    capacity: usize,
    now: u64,
    slots: Vec<usize>,
    line: Vec<Waiter>,
    dead: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Take(usize),
    Wait(usize),
    Evict(usize),
    Request(usize),
    Withdraw(usize),
    Free(usize),
    Grant(usize),
    End(usize),
    Pass,
}

impl Naive {
    fn used(&self) -> usize {
        self.slots.len() + self.line.iter().filter(|one| one.is_reserved).count()
    }

    fn serve_one(&mut self, at: usize) {
        if self.line[at].is_blocking {
            self.slots.push(self.line.remove(at).who);
        } else {
            self.line[at].is_reserved = true;
            self.line[at].until = Some(self.now + SLOT_RESERVATION_TTL.0);
        }
    }

    fn serve(&mut self) {
        while self.used() < self.capacity
            && let Some(at) = self.line.iter().position(|one| !one.is_reserved)
        {
            self.serve_one(at);
        }
    }

    /// Whether some slot can still come back if this one waits, too: one is reserved, or its owner does not wait.
    fn somebody_goes_on(&self, who: usize) -> bool {
        let waits =
            |other: usize| other == who || self.line.iter().any(|one| one.is_blocking && one.who == other);
        self.line.iter().any(|one| one.is_reserved) || self.slots.iter().any(|owner| !waits(*owner))
    }

    fn drop_oldest(&mut self, who: usize) -> bool {
        let at = self.slots.iter().position(|owner| *owner == who);
        at.map(|at| self.slots.remove(at)).is_some()
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Pass => return self.pass(),
            Act::Take(who) | Act::Wait(who) | Act::Evict(who) if !self.dead.contains(&who) => {
                let own = self.line.iter().position(|one| one.who == who);
                if let Some(at) = own.filter(|at| self.line[*at].is_reserved) {
                    self.line.remove(at);
                    self.slots.push(who);
                } else if self.used() < self.capacity {
                    self.slots.push(who);
                } else if matches!(act, Act::Evict(_)) && self.drop_oldest(who) {
                    if let Some(at) = own.filter(|at| !self.line[*at].is_blocking) {
                        self.line.remove(at);
                    }
                    self.slots.push(who);
                } else if matches!(act, Act::Wait(_)) && self.somebody_goes_on(who) {
                    let until = Some(self.now + WAIT.0);
                    match own {
                        Some(at) if self.line[at].is_blocking => {}
                        Some(at) => (self.line[at].is_blocking, self.line[at].until) = (true, until),
                        None => self.line.push(Waiter {
                            who,
                            until,
                            is_blocking: true,
                            is_reserved: false,
                            lapses: 0,
                        }),
                    }
                }
            }
            Act::Request(who) if !self.dead.contains(&who) => {
                if self.used() >= self.capacity && !self.line.iter().any(|one| one.who == who) {
                    let (is_blocking, is_reserved) = (false, false);
                    self.line.push(Waiter { who, until: None, is_blocking, is_reserved, lapses: 0 });
                }
            }
            Act::Withdraw(who) => self.line.retain(|one| one.who != who || one.is_blocking),
            Act::Free(who) => drop(self.drop_oldest(who)),
            Act::Grant(who) => {
                let first = self.line.iter().find(|one| !one.is_reserved);
                let own = self.slots.iter().filter(|owner| **owner == who).count();
                let mut all: Vec<usize> = self.slots.clone();
                all.extend(self.line.iter().map(|one| one.who));
                all.sort_unstable();
                all.dedup();
                let share = (self.capacity / all.len().max(1)).max(1);
                let is_poor = |one: &Waiter| !one.is_reserved && !self.slots.contains(&one.who);
                let can_spare = own > 2 || own > share && self.line.iter().any(is_poor);
                if can_spare && first.is_some_and(|first| first.who != who) {
                    self.drop_oldest(who);
                }
            }
            Act::End(who) if !self.dead.contains(&who) => {
                self.dead.push(who);
                self.slots.retain(|owner| *owner != who);
                self.line.retain(|one| one.who != who);
            }
            Act::Take(_) | Act::Wait(_) | Act::Evict(_) | Act::Request(_) | Act::End(_) => {}
        }
        self.serve();
    }

    /// What is due goes one by one, the earliest first, and first come first at the same time.
    fn pass(&mut self) {
        self.now += STEP.0;
        let now = self.now;
        while let Some(at) = (0..self.line.len())
            .filter(|at| self.line[*at].until.is_some_and(|until| until <= now))
            .min_by_key(|at| (self.line[*at].until, *at))
        {
            if self.line[at].is_reserved && self.line[at].lapses == 0 {
                let next = self.line.iter().position(|one| !one.is_reserved);
                self.line[at].is_reserved = false;
                (self.line[at].until, self.line[at].lapses) = (None, 1);
                if let Some(next) = next {
                    self.serve_one(next);
                }
            } else {
                self.line.remove(at);
            }
            self.serve();
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let who = 0..AGENTS;
    let act = prop_oneof![
        4 => who.clone().prop_map(Act::Take),
        4 => who.clone().prop_map(Act::Wait),
        1 => who.clone().prop_map(Act::Evict),
        4 => who.clone().prop_map(Act::Request),
        1 => who.clone().prop_map(Act::Withdraw),
        5 => who.clone().prop_map(Act::Free),
        2 => who.clone().prop_map(Act::Grant),
        1 => who.prop_map(Act::End),
        4 => Just(Act::Pass),
    ];
    prop::collection::vec(act, 1..60)
}

fn ask_of(world: &World, people: &[Principal], act: Act) -> Option<(Principal, Ask)> {
    let pool = || Box::from("tabs");
    let take = |wait, evict_oldest| {
        PoolAsk::Take(Box::new(Take { pool: pool(), wait, evict_oldest, ..Take::default() }))
    };
    let (who, ask) = match act {
        Act::Take(who) => (who, take(None, false)),
        Act::Wait(who) => (who, take(Some(WAIT), false)),
        Act::Evict(who) => (who, take(None, true)),
        Act::Request(who) => (who, PoolAsk::Request { pool: pool() }),
        Act::Withdraw(who) => (who, PoolAsk::CancelRequest { pool: pool() }),
        Act::Free(who) => {
            let slot = world.pools.get("tabs")?.oldest_of(people[who])?.id;
            (who, PoolAsk::Free { slot, reason: None })
        }
        Act::Grant(who) => (who, PoolAsk::Grant { pool: pool() }),
        Act::End(who) => {
            let agent = people[who].agent()?;
            let ask = Ask::Agent(AgentAsk::End { agent, ending: Ending::Failed, cause: "it died".into() });
            return Some((Principal::System, ask));
        }
        Act::Pass => return None,
    };
    Some((people[who], Ask::Pool(ask)))
}

/// The pool of the rules, as lists.
fn seen(pool: &Pool, people: &[Principal], naive: &Naive) -> Naive {
    let number = |who: Principal| people.iter().position(|one| *one == who).expect("known");
    let mut slots: Vec<(SlotId, usize)> = pool.slots().map(|slot| (slot.id, number(slot.owner))).collect();
    slots.sort_unstable();
    let line = pool.places().map(|place| {
        let (until, is_blocking, is_reserved) = match place.state {
            PlaceState::Waiting { deadline, .. } => (Some(deadline.0), true, false),
            PlaceState::Requested => (None, false, false),
            PlaceState::Reserved { until } => (Some(until.0), false, true),
        };
        Waiter { who: number(place.who), until, is_blocking, is_reserved, lapses: place.lapses }
    });
    Naive { slots: slots.into_iter().map(|(_, who)| who).collect(), line: line.collect(), ..naive.clone() }
}

proptest! {
    #[test]
    fn the_rules_agree_with_a_naive_pool(capacity in 1..5usize, acts in acts()) {
        let mut stage = Stage::default();
        (0..AGENTS).for_each(|number| stage.play(&format!("a{number} joins with process")));
        let people: Vec<Principal> = (0..AGENTS).map(|number| stage.who(&format!("a{number}"))).collect();
        let mut world = stage.world;
        let ask = PoolAsk::Configure { pool: "tabs".into(), kind: PoolKind::Tabs, capacity };
        run(&mut world, Principal::System, &Ask::Pool(ask), None, Timestamp(0), 0).expect("a pool");
        let mut naive = Naive { capacity, ..Naive::default() };
        for act in acts {
            let now = Timestamp(naive.now);
            let did = match (act, ask_of(&world, &people, act)) {
                (Act::Pass, _) => {
                    expire(&mut world, Timestamp(naive.now + STEP.0), 0);
                    true
                }
                (_, Some((who, ask))) => run(&mut world, who, &ask, None, now, 0).is_ok(),
                (_, None) => false,
            };
            let before = naive.clone();
            naive.act(act);
            prop_assert!(did || before == naive, "{act:?} was refused, and should not have been: {before:?}");
            let pool = world.pools.get("tabs").expect("a pool");
            prop_assert_eq!(&seen(pool, &people, &naive), &naive, "after {:?}", act);
            invariants::check(&world).expect("a right world");
        }
    }
}
