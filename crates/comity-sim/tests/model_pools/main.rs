//! Every order in which three agents can take, ask for, free and grant two slots, with lapses and deaths, exhaustively.
//!
//! The real rules decide. Beside them stands a list of who waits, in the order in which they came: nobody is served
//! before who came first, nobody is lost, and whatever becomes free is given to who waits.

mod life;

use comity_core::agents::{AgentAsk, Ending, Process, Profile};
use comity_core::limits::SLOT_RESERVATION_TTL;
use comity_core::pools::{PlaceEnding, PoolAsk, PoolEvent, PoolKind, SlotState, Take};
use comity_core::world::Timeouts;
use comity_core::{
    AgentId, Ask, AskResult, Event, Millis, Principal, Record, Ticket, Timestamp, TokenHash, World, expire,
    run,
};
use stateright::{Checker, Model, Property};

use life::{Life, is_served_in_the_end};

const CAPACITY: usize = 2;
const AGENTS: u64 = 3;
/// The time between two moments: as long as a reservation lasts.
const TICK: Millis = SLOT_RESERVATION_TTL;
/// How long an ask waits: two moments.
const WAIT: Millis = Millis(2 * TICK.0);
const TICKS_MAX: u8 = 2;
/// Slots given in one life.
const GIVEN_MAX: u8 = 3;
const THREADS: usize = 2;

/// A fault that is planted in the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// A reservation does not count when somebody else takes a slot.
    UncountedReservation,
    /// The place of who ends stays.
    DeadWaiter,
    /// Whoever came last is served first.
    Overtaken,
    /// What is freed by a grant serves nobody.
    GrantServesNobody,
}

struct Pools {
    fault: Fault,
}

#[derive(Clone, PartialEq, Debug)]
enum Act {
    Takes(u64),
    Waits(u64),
    Requests(u64),
    Frees(u64),
    Grants(u64),
    Opens,
    Ends(u64),
    TimePasses,
}

fn agent(number: u64) -> Principal {
    Principal::Agent(AgentId::from_bits(number))
}

fn number(who: Principal) -> u64 {
    (1..=AGENTS).find(|one| agent(*one) == who).expect("one of ours")
}

fn now(tick: u8) -> Timestamp {
    Timestamp(u64::from(tick) * TICK.0)
}

fn take(wait: Option<Millis>) -> PoolAsk {
    PoolAsk::Take(Box::new(Take { pool: "tabs".into(), wait, ..Take::default() }))
}

/// Changes the world without the rules.
fn force(world: &mut World, event: Event) {
    let (seq, now) = (world.head, world.now);
    world.apply(&Record {
        seq,
        now,
        wall_ms: 0,
        by: Principal::System,
        from: None,
        concerns: vec![],
        key: None,
        event,
    });
}

fn left(ticket: Ticket, who: Principal) -> Event {
    Event::Pool(PoolEvent::PlaceLeft { pool: "tabs".into(), ticket, who, ending: PlaceEnding::Cancelled })
}

impl Pools {
    /// Lets the rules do it, with the fault; gives what was recorded.
    fn done(&self, life: &mut Life, act: &Act) -> Option<Vec<Record>> {
        let at = now(life.tick);
        if *act == Act::TimePasses {
            life.tick += 1;
            let records = expire(&mut life.world, now(life.tick), 0);
            life.world.now = now(life.tick);
            return Some(records);
        }
        let (who, ask) = asked(life, act)?;
        let mut world = life.world.clone();
        if self.fault == Fault::UncountedReservation && matches!(act, Act::Takes(_)) {
            let reserved = life.pool().places().filter(|place| place.is_reserved() && place.who != who);
            reserved.for_each(|place| force(&mut world, left(place.ticket, place.who)));
        }
        let mut records = run(&mut world, who, &ask, None, at, 0).ok()?.records;
        let before = life.pool().clone();
        let is_served = |event: &Event| {
            matches!(
                event,
                Event::Pool(
                    PoolEvent::Reserved { .. }
                        | PoolEvent::Taken { ticket: Some(_), .. }
                        | PoolEvent::PlaceLeft { ending: PlaceEnding::Granted { .. }, .. }
                )
            )
        };
        match self.fault {
            Fault::None | Fault::UncountedReservation => {}
            Fault::DeadWaiter => records.retain(|record| {
                !matches!(
                    &record.event,
                    Event::Pool(PoolEvent::PlaceLeft { ending: PlaceEnding::AskerEnded, .. })
                )
            }),
            Fault::Overtaken => {
                let last = before.in_line().filter(|place| !place.is_blocking()).last();
                for record in &mut records {
                    if let (Event::Pool(PoolEvent::Reserved { ticket, who, .. }), Some(last)) =
                        (&mut record.event, last)
                    {
                        (*ticket, *who) = (last.ticket, last.who);
                    }
                }
            }
            Fault::GrantServesNobody if matches!(act, Act::Grants(_)) => {
                records.retain(|record| !is_served(&record.event));
            }
            Fault::GrantServesNobody => {}
        }
        records.iter().for_each(|record| life.world.apply(record));
        Some(records)
    }
}

/// Whether the rules refuse this, or nothing comes of it: then no copy of the world is needed to see it.
fn is_in_vain(life: &Life, act: &Act) -> bool {
    if *act == Act::TimePasses {
        return false;
    }
    let Some((who, ask)) = asked(life, act) else { return true };
    match comity_core::decide(&life.world, &who.into(), &ask) {
        Err(_) => true,
        Ok(AskResult::Done(events)) => events.is_empty(),
        Ok(AskResult::Parked(..)) => false,
    }
}

fn asked(life: &Life, act: &Act) -> Option<(Principal, Ask)> {
    let pool = || Box::from("tabs");
    let (who, ask) = match act {
        Act::Takes(who) => (agent(*who), take(None)),
        Act::Waits(who) => (agent(*who), take(Some(WAIT))),
        Act::Requests(who) => (agent(*who), PoolAsk::Request { pool: pool() }),
        Act::Frees(who) => {
            let slot = life.pool().oldest_of(agent(*who))?.id;
            (agent(*who), PoolAsk::Free { slot, reason: None })
        }
        Act::Grants(who) => (agent(*who), PoolAsk::Grant { pool: pool() }),
        Act::Opens => {
            let slot = life.pool().slots().find(|slot| slot.state == SlotState::Opening)?.id;
            (Principal::System, PoolAsk::MarkOpened { slot })
        }
        Act::Ends(who) => {
            let (agent, ending) = (AgentId::from_bits(*who), Ending::Failed);
            return Some((
                Principal::System,
                Ask::Agent(AgentAsk::End { agent, ending, cause: "crashed".into() }),
            ));
        }
        Act::TimePasses => return None,
    };
    Some((who, Ask::Pool(ask)))
}

impl Model for Pools {
    type State = Life;
    type Action = Act;

    fn init_states(&self) -> Vec<Life> {
        let mut world = World::new(Timeouts::default());
        for number in 1..=AGENTS {
            let profile = Profile {
                name: format!("a{number}").into(),
                process: Some(Process { pid: 1, start: number }),
                ..Profile::default()
            };
            let (agent, token) = (AgentId::from_bits(number), TokenHash([number as u8; 32]));
            let ask = Ask::Agent(AgentAsk::Join { agent, token, profile: Box::new(profile) });
            run(&mut world, Principal::Human, &ask, None, Timestamp(0), 0).expect("joined");
        }
        let ask = PoolAsk::Configure { pool: "tabs".into(), kind: PoolKind::Tabs, capacity: CAPACITY };
        run(&mut world, Principal::System, &Ask::Pool(ask), None, Timestamp(0), 0).expect("a pool");
        vec![Life { world, tick: 0, given: 0, line: vec![], wrong: None }]
    }

    fn actions(&self, life: &Life, acts: &mut Vec<Act>) {
        for one in (1..=AGENTS).filter(|one| life.lives(*one)) {
            if life.given < GIVEN_MAX {
                acts.extend([Act::Takes(one), Act::Waits(one), Act::Requests(one)]);
            }
            acts.extend([Act::Frees(one), Act::Grants(one), Act::Ends(one)]);
        }
        acts.push(Act::Opens);
        if life.tick < TICKS_MAX {
            acts.push(Act::TimePasses);
        }
    }

    fn next_state(&self, last: &Life, act: Act) -> Option<Life> {
        if self.fault == Fault::None && is_in_vain(last, &act) {
            return None;
        }
        let mut life = last.clone();
        let records = self.done(&mut life, &act)?;
        life.follow(&records);
        (act == Act::TimePasses || !records.is_empty()).then_some(life)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let right = Property::always("right", |_, life: &Life| life.wrong.is_none());
        if self.fault != Fault::None {
            return vec![right];
        }
        vec![
            right,
            // Whoever waits is served as soon as every holder has freed what it has, and nobody else comes.
            Property::always("served when holders free", |_, life: &Life| is_served_in_the_end(life)),
            Property::sometimes("two wait", |_, life: &Life| life.line.len() == 2),
            Property::sometimes("a reservation lapses", |_, life: &Life| {
                life.pool().places().any(|place| place.lapses > 0)
            }),
            Property::sometimes("two are reserved", |_, life: &Life| life.pool().reserved() == 2),
            Property::sometimes("all are dead", |_, life: &Life| (1..=AGENTS).all(|one| !life.lives(one))),
        ]
    }
}

#[test]
fn nobody_is_overtaken_lost_or_starved() {
    let checker = Pools { fault: Fault::None }.checker().threads(THREADS).spawn_dfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
    assert!(checker.unique_state_count() > 5_000, "only {} states", checker.unique_state_count());
}

#[test]
fn a_planted_fault_is_found() {
    for (fault, problem) in [
        (Fault::UncountedReservation, ""),
        (Fault::DeadWaiter, "an invariant does not hold"),
        (Fault::Overtaken, "somebody was overtaken"),
        (Fault::GrantServesNobody, "an invariant does not hold"),
    ] {
        let checker = Pools { fault }.checker().spawn_bfs().join();
        let found = checker.discovery("right").unwrap_or_else(|| panic!("{fault:?} was not found"));
        let wrong = found.last_state().wrong.unwrap_or_default();
        assert!(wrong.contains(problem), "{fault:?}: {wrong}");
    }
}
