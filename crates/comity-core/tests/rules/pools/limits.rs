//! The bounds of pools, each reached.

use comity_core::agents::Process;
use comity_core::limits::{
    LEASE_TTL_MAX, POOL_CAPACITY_MAX, POOL_PLACES_MAX, POOLS_MAX, REASON_BYTES_MAX, SLOT_VIEWERS_MAX,
    WAIT_MAX, WAITS_PER_HOLDER_MAX,
};
use comity_core::pools::{PoolAsk, PoolKind, SlotId, Take};
use comity_core::{Ask, Millis, Principal, Refusal, Timestamp, World, run};

use crate::script::Stage;

fn ask(world: &mut World, who: Principal, ask: PoolAsk) -> Result<(), Refusal> {
    run(world, who, &Ask::Pool(ask), None, Timestamp(0), 0).map(drop)
}

fn configure(world: &mut World, pool: &str, capacity: usize) -> Result<(), Refusal> {
    ask(world, Principal::System, PoolAsk::Configure { pool: pool.into(), kind: PoolKind::Lease, capacity })
}

fn take(pool: &str) -> Take {
    Take { pool: pool.into(), ..Take::default() }
}

fn code(result: Result<(), Refusal>) -> &'static str {
    result.expect_err("refused").code()
}

#[test]
fn pools_have_bounds() {
    let mut world = World::default();
    for number in 0..POOLS_MAX {
        configure(&mut world, &format!("p{number}"), 1).expect("a pool");
    }
    assert_eq!(code(configure(&mut world, "more", 1)), "limit_reached");
    configure(&mut world, "p0", 2).expect("the same pool");
    assert_eq!(code(configure(&mut world, "p0", POOL_CAPACITY_MAX + 1)), "limit_reached");
    assert_eq!(code(configure(&mut world, "a b", 1)), "bad_input");
    let human = PoolAsk::Configure { pool: "p0".into(), kind: PoolKind::Lease, capacity: 9 };
    assert_eq!(code(ask(&mut world, Principal::Human, human)), "not_allowed");
}

#[test]
fn wishes_have_bounds() {
    let mut world = World::default();
    configure(&mut world, "build", 1).expect("a pool");
    let mut refused = |wish: Take| code(ask(&mut world, Principal::Human, PoolAsk::Take(Box::new(wish))));
    let long: Box<str> = "x".repeat(REASON_BYTES_MAX + 1).into();
    assert_eq!(refused(Take { label: Some(long), ..take("build") }), "bad_input");
    assert_eq!(refused(Take { ttl: Some(Millis(LEASE_TTL_MAX.0 + 1)), ..take("build") }), "bad_input");
    assert_eq!(refused(Take { ttl: Some(Millis(0)), ..take("build") }), "bad_input");
    assert_eq!(refused(Take { wait: Some(Millis(WAIT_MAX.0 + 1)), ..take("build") }), "bad_input");
    assert_eq!(code(ask(&mut world, Principal::System, PoolAsk::Take(Box::new(take("build"))))), "bad_input");
}

#[test]
fn queues_have_bounds() {
    let mut stage = Stage::default();
    configure(&mut stage.world, "build", 1).expect("a pool");
    let wish = |pid: u32| {
        let process = Some(Process { pid, start: 1 });
        PoolAsk::Take(Box::new(Take { wait: Some(Millis::minutes(1)), process, ..take("build") }))
    };
    ask(&mut stage.world, Principal::Human, wish(0)).expect("a slot");
    for pid in 1..=WAITS_PER_HOLDER_MAX as u32 {
        ask(&mut stage.world, Principal::Human, wish(pid)).expect("a place");
    }
    assert_eq!(code(ask(&mut stage.world, Principal::Human, wish(9_999))), "limit_reached");
    for number in WAITS_PER_HOLDER_MAX..POOL_PLACES_MAX {
        let who = stage.who(&format!("w{number}"));
        ask(&mut stage.world, who, PoolAsk::Request { pool: "build".into() }).expect("a place");
    }
    let late = stage.who("late");
    assert_eq!(code(ask(&mut stage.world, late, PoolAsk::Request { pool: "build".into() })), "limit_reached");
    assert_eq!(code(ask(&mut stage.world, late, wish(1))), "limit_reached");
}

#[test]
fn viewers_have_a_bound() {
    let mut stage = Stage::default();
    configure(&mut stage.world, "tabs", 1).expect("a pool");
    ask(&mut stage.world, Principal::Human, PoolAsk::Take(Box::new(take("tabs")))).expect("a slot");
    let mut share = |number: usize| {
        let with = stage.who(&format!("v{number}"));
        ask(&mut stage.world, Principal::Human, PoolAsk::Share { slot: SlotId(1), with })
    };
    (0..SLOT_VIEWERS_MAX).for_each(|number| share(number).expect("shared"));
    assert_eq!(code(share(SLOT_VIEWERS_MAX)), "limit_reached");
}
