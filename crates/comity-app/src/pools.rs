//! The configured pools: checked, and passed to the world.

use std::collections::BTreeMap;
use std::path::Path;

use comity_core::agents::check_name;
use comity_core::limits::{POOL_CAPACITY_MAX, POOLS_MAX};
use comity_core::pools::{Pool, PoolAsk, PoolKind, TABS};
use comity_core::{Ask, Principal, World};

use crate::application::Application;
use crate::browser::TABS_MAX;
use crate::catalog::words_below;
use crate::config::{Config, PoolConfig, ProjectConfig};
use crate::operation::Caller;

/// A command that is not an operation; the others below `comity lease` are in the catalog.
const RUN: &str = "run";

/// Reports errors in the configured pools.
pub fn check(pools: &BTreeMap<String, PoolConfig>) -> Result<(), String> {
    // One more is the browser's.
    if pools.len() >= POOLS_MAX {
        return Err(format!("there are {} pools; {} at most", pools.len(), POOLS_MAX - 1));
    }
    for (name, pool) in pools {
        let wrong = |problem: &str| Err(format!("pools.{name}: {problem}"));
        if let Err(refusal) = check_name("a pool's name", name) {
            return wrong(&format!("{refusal}; {}", crate::Wording::Commands.spell(&refusal.hint())));
        }
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return wrong("a number is taken for a lease; add a letter");
        }
        // It would be taken for something else than a pool.
        if name == RUN || words_below("lease").any(|word| word == name) {
            return wrong(&format!("{name} is a subcommand of lease; choose another name"));
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

/// Makes the world's pools those of the settings, and the browser's one. What is held of a removed pool lasts until
/// it is freed.
pub fn configure(world: &World, config: &Config) -> Vec<Ask> {
    let (kind, pools) = (PoolKind::Lease, wanted(world, config, None));
    let is_gone = |pool: &&Pool| pool.kind == kind && !pools.contains_key(&*pool.name);
    let gone = world.pools.iter().filter(is_gone).map(|pool| (pool.name.clone(), kind, 0));
    let wanted = pools.iter().map(|(name, capacity)| (name.as_str().into(), kind, *capacity));
    let tabs = (TABS.into(), PoolKind::Tabs, config.browser.tabs.unwrap_or(TABS_MAX));
    gone.chain(wanted)
        .chain([tabs])
        .map(|(pool, kind, capacity)| Ask::Pool(PoolAsk::Configure { pool, kind, capacity }))
        .collect()
}

/// The pools of the person's settings, and of all projects. Projects that name the same pool share it, and the
/// smallest capacity counts.
fn wanted(world: &World, config: &Config, besides: Option<&ProjectConfig>) -> BTreeMap<String, usize> {
    let tops = world.projects.values().filter_map(|project| project.top());
    let projects: Vec<ProjectConfig> =
        tops.filter_map(|top| ProjectConfig::read(Path::new(top)).ok()).collect();
    let mut all = BTreeMap::new();
    for (name, pool) in projects.iter().chain(besides).flat_map(|project| &project.pools) {
        let capacity = all.entry(name.clone()).or_insert(pool.capacity);
        *capacity = pool.capacity.min(*capacity);
    }
    all.extend(config.pools.iter().map(|(name, pool)| (name.clone(), pool.capacity)));
    while all.len() >= POOLS_MAX {
        all.pop_last();
    }
    all
}

/// Updates the pools of the caller's project from its file.
pub(crate) fn take_up(app: &Application, caller: &Caller) {
    let Ok(place) = app.projects().place(caller) else { return };
    let Ok(project) = place.settings() else { return };
    let asks: Vec<Ask> = {
        let world = app.engine().world();
        let is_known = |(name, pool): (&String, &PoolConfig)| {
            world.pools.get(name).is_some_and(|known| known.capacity == pool.capacity)
        };
        if project.pools.iter().all(is_known) {
            return;
        }
        let wanted = wanted(&world, app.config(), Some(project));
        let own = wanted.into_iter().filter(|(name, _)| project.pools.contains_key(name));
        let changed =
            own.filter(|(name, wanted)| world.pools.get(name).is_none_or(|known| known.capacity != *wanted));
        let configure = |(name, capacity): (String, usize)| {
            Ask::Pool(PoolAsk::Configure { pool: name.as_str().into(), kind: PoolKind::Lease, capacity })
        };
        changed.map(configure).collect()
    };
    if !asks.is_empty() {
        app.engine().tell(Principal::System, asks);
        app.engine().run_pending();
    }
}
