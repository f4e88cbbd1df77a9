//! The pools of the settings: checked, and given to the world.

use std::collections::BTreeMap;

use comity_core::agents::check_name;
use comity_core::limits::{POOL_CAPACITY_MAX, POOLS_MAX};
use comity_core::pools::{Pool, PoolAsk, PoolKind, TABS};
use comity_core::{Ask, World};

use crate::browser::TABS_MAX;
use crate::catalog::words_below;
use crate::config::{Config, PoolConfig};

/// A command that is no operation; the others below `comity lease` are in the catalog.
const RUN: &str = "run";

/// Says what is wrong with the pools of the settings.
pub fn check(pools: &BTreeMap<String, PoolConfig>) -> Result<(), String> {
    // One more is the browser's.
    if pools.len() >= POOLS_MAX {
        return Err(format!("settings: there are {} pools; {} at most", pools.len(), POOLS_MAX - 1));
    }
    for (name, pool) in pools {
        let wrong = |problem: &str| Err(format!("settings: pools.{name}: {problem}"));
        if let Err(refusal) = check_name("a pool's name", name) {
            return wrong(&format!("{refusal}; {}", crate::Wording::Commands.spell(&refusal.hint())));
        }
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return wrong("a number is taken for a lease; add a letter");
        }
        // It would be taken for something else than a pool.
        if name == RUN || words_below("lease").any(|word| word == name) {
            return wrong(&format!("\"comity lease {name}\" is a command; choose another name"));
        }
        if name == TABS {
            return wrong(&format!("{TABS} is the browser's pool; choose another name"));
        }
        if !(1..=POOL_CAPACITY_MAX).contains(&pool.capacity) {
            let capacity = pool.capacity;
            return wrong(&format!("the capacity is {capacity}; give one from 1 to {POOL_CAPACITY_MAX}"));
        }
    }
    Ok(())
}

/// What makes the world's pools those of the settings, and the browser's one. What is held of a pool that is there no more lasts until it is freed.
pub fn configure(world: &World, config: &Config) -> Vec<Ask> {
    let (kind, pools) = (PoolKind::Lease, &config.pools);
    let is_gone = |pool: &&Pool| pool.kind == kind && !pools.contains_key(&*pool.name);
    let gone = world.pools.iter().filter(is_gone).map(|pool| (pool.name.clone(), kind, 0));
    let wanted = pools.iter().map(|(name, pool)| (name.as_str().into(), kind, pool.capacity));
    let tabs = (TABS.into(), PoolKind::Tabs, config.browser.tabs.unwrap_or(TABS_MAX));
    gone.chain(wanted)
        .chain([tabs])
        .map(|(pool, kind, capacity)| Ask::Pool(PoolAsk::Configure { pool, kind, capacity }))
        .collect()
}
