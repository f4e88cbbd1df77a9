//! Who waits for ever: found by doing all that can be done, without a graph.

use comity_core::permissions::RequestState;
use comity_core::pools::PlaceState;
use comity_core::{Principal, Timestamp, World, run};

use super::acts::{ask_of, force, sought};
use super::model_agents::{LEAD, agent};
use super::{AGENTS, Act, Fault, POOLS};

/// How many of its asks wait, those for work included while there is some to come.
pub(crate) fn waits_of(world: &World, who: Principal) -> usize {
    let by_locks = world.locks.waits().filter(|wait| wait.who == who).count();
    let is_waiting = |state: &PlaceState| matches!(state, PlaceState::Waiting { .. });
    let lines = world.pools.iter().flat_map(|pool| pool.places());
    let by_pools = lines.filter(|place| place.who == who && is_waiting(&place.state)).count();
    let by_answers = world.permissions.requests().filter(|request| {
        Principal::Agent(request.asker) == who && matches!(request.state, RequestState::Waiting { .. })
    });
    let is_some_left = world.tasks.iter().any(|task| task.state.owner().is_some());
    by_locks + by_pools + by_answers.count() + usize::from(seeks(world, who) && is_some_left)
}

pub(crate) fn seeks(world: &World, who: Principal) -> bool {
    who.agent().is_some_and(|id| world.tasks.sought_since(id).is_some())
}

/// Who waits though everybody else has done all that it can; perhaps with a fault.
pub(crate) fn waits_for_ever(world: &World, fault: Option<Fault>) -> Option<Principal> {
    AGENTS.into_iter().find(|number| waits_of(world, agent(*number)) > 0)?;
    let mut world = world.clone();
    loop {
        let waiting = || AGENTS.into_iter().filter(|number| waits_of(&world, agent(*number)) > 0);
        let first = waiting().next()?;
        let free: Vec<u64> =
            AGENTS.into_iter().filter(|number| waiting().all(|one| one != *number)).collect();
        let head = world.head;
        for number in free {
            let mut acts = vec![Act::Unlocks(number)];
            acts.extend(POOLS.iter().flat_map(|kind| [*kind; 2]).map(|kind| Act::Frees(number, kind)));
            if number == LEAD {
                acts.extend([Act::Answers, Act::Answers]);
            }
            let is_busy = world.tasks.iter().any(|task| task.state.owner() == Some(agent(number)));
            acts.extend(is_busy.then_some([Act::Seeks(number), Act::Seeks(number)]).into_iter().flatten());
            for act in acts {
                let Some((who, ask, _)) = ask_of(&world, &act) else { continue };
                let before = (fault == Some(Fault::SeekersNotTold)).then(|| world.clone());
                let _ = run(&mut world, who, &ask, None, Timestamp(0), 0);
                if let Some(before) = before {
                    still_seek(&before, &mut world);
                }
            }
        }
        if world.head == head {
            return Some(agent(first));
        }
    }
}

/// The planted fault: whoever waited for work, and has none, waits on.
pub(crate) fn still_seek(before: &World, world: &mut World) {
    for who in AGENTS.map(agent) {
        let has_work = world.tasks.iter().any(|task| task.state.owner() == Some(who));
        if let Some(id) = who.agent().filter(|_| seeks(before, who) && !seeks(world, who) && !has_work) {
            force(world, who, sought(id));
        }
    }
}
