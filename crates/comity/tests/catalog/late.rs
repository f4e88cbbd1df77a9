//! What takes minutes, for the kept log: while the server is down, the same rules go on with a clock that is told to move.

use comity_app::clock::Clock;
use comity_app::engine::Engine;
use comity_app::log::{SqliteLog, StartPoint};
use comity_core::agents::{AgentAsk, Process};
use comity_core::limits::{PERMISSION_KEPT, RECLAIM_AFTER, RECLAIM_IDLE};
use comity_core::pools::PoolAsk;
use comity_core::world::Timeouts;
use comity_core::{AgentId, Ask, Millis, Principal};

use crate::support::Place;

/// Lets all of that happen, and leaves the server stopped.
pub(crate) fn happen(place: &Place) {
    // There is room for so many.
    for name in ["deaf", "has", "wants"] {
        place.json(&["agent", "bye", name]);
    }
    let [has_both, needs_one, forgets] = ["has-both", "needs-one", "forgets"].map(|name| place.join(&[name]));
    // It had its share when the other one asked.
    for agent in [&has_both, &forgets] {
        place.json_as(agent, &["lease", "pair"]);
    }
    place.json_as(&needs_one, &["lease", "request", "pair"]);
    place.json_as(&forgets, &["lease", "give", "pair", "--to", "has-both"]);
    // Allowed, and never done: whoever asked has ended.
    let mut log = place.follow_on();
    let asking = crate::rare::asking(place, &forgets, "make nothing");
    let request = log.until_action("permission_asked")["details"]["request"].to_string();
    drop(asking);
    place.json(&["permissions", "allow", &request]);
    place.json(&["down"]);
    pass(place, [&has_both, &needs_one, &forgets].map(|agent| agent.id.parse().expect("an id")));
}

fn pass(place: &Place, agents: [AgentId; 3]) {
    let StartPoint { log, world } = SqliteLog::open(&place.home, Timeouts::default()).expect("a log");
    let clock = Clock::manual(world.now);
    let engine = Engine::start(world, Box::new(log), clock, || panic!("the log is somebody else's"));
    let ask = |ask| engine.ask(Principal::System, ask).expect("done");
    // Nobody falls silent meanwhile.
    let minute = Millis::minutes(1);
    let wait = |span: Millis| {
        for _ in 0..=span.0 / minute.0 {
            agents.iter().for_each(|agent| drop(ask(Ask::Agent(AgentAsk::Seen { agent: *agent }))));
            engine.clock().advance(minute);
            engine.pass_time();
        }
    };
    wait(RECLAIM_AFTER);
    let slot = engine
        .world()
        .pools
        .get("pair")
        .and_then(|pool| Some(pool.slots_of(Principal::Agent(agents[0])).next()?.id));
    ask(Ask::Pool(PoolAsk::Reclaim { slot: slot.expect("a lease"), idle: RECLAIM_IDLE }));
    ask(Ask::Agent(AgentAsk::KnowProcess { agent: agents[1], process: Process { pid: 1, start: 1 } }));
    wait(PERMISSION_KEPT);
    engine.close_log();
}
