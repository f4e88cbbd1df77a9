//! Watches processes: when one ends, so do its agent and the leases that were taken for it.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use comity_app::reconciler::on_change;
use comity_app::{Application, processes};
use comity_core::agents::{AgentAsk, Ending, Process};
use comity_core::pools::{Loss, PoolAsk, SlotId};
use comity_core::{AgentId, Ask, Principal, World};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The safety net: processes that could not be watched are checked this often.
const SWEEP_MS: i64 = 60_000;

/// What ends with a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Agent(AgentId),
    Lease(SlotId),
}

/// Runs until the engine stops. It sleeps until a process ends, or an agent or a lease comes.
pub(super) fn run(app: &Application) -> io::Result<()> {
    let (app, engine) = (app.clone(), app.engine().clone());
    let (reader, writer) = io::pipe()?;
    // A full pipe means that the thread will wake anyway.
    let wake = move || drop((&writer).write(&[1]));
    engine.feed().wake(on_change(&engine, changes, wake));
    std::thread::Builder::new().name("liveness".into()).spawn(move || watch(&app, &reader)).map(drop)
}

/// Grows when there may be another process to watch.
fn changes(world: &World) -> u64 {
    (world.agents.changes() as u64).wrapping_add(world.pools.last_slot().0)
}

fn watch(app: &Application, wakes: &io::PipeReader) {
    let engine = app.engine();
    let mut watched: BTreeMap<(Owner, Process), Option<OwnedFd>> = BTreeMap::new();
    while !engine.feed().is_stopped() {
        comity_app::planted_panic::panic_at("liveness");
        refresh(app, &mut watched);
        let (mut fds, mut owners) = (vec![PollFd::new(wakes, PollFlags::IN)], Vec::new());
        for (key, fd) in &watched {
            if let Some(fd) = fd {
                fds.push(PollFd::new(fd, PollFlags::IN));
                owners.push(*key);
            }
        }
        let timeout = rustix::event::Timespec { tv_sec: SWEEP_MS / 1_000, tv_nsec: 0 };
        let needs_sweep = watched.values().any(Option::is_none);
        let _ = poll(&mut fds, needs_sweep.then_some(&timeout));
        let woken = !fds[0].revents().is_empty();
        let ended: Vec<_> = fds[1..]
            .iter()
            .zip(&owners)
            .filter(|(fd, _)| !fd.revents().is_empty())
            .map(|(_, key)| *key)
            .collect();
        drop(fds);
        if woken {
            let _ = (&mut &*wakes).read(&mut [0; 64]);
        }
        for (owner, _) in ended {
            end(app, owner);
        }
    }
}

/// Watches what is new, stops watching what has ended, and ends what belongs to a process that is already gone.
fn refresh(app: &Application, watched: &mut BTreeMap<(Owner, Process), Option<OwnedFd>>) {
    let wanted: Vec<(Owner, Process)> = {
        let world = app.engine().world();
        // For a program that we started ourselves we are told how it ended.
        let agents = world.agents.live().filter(|agent| world.runs.of(agent.id).is_none());
        let agents = agents.filter_map(|agent| Some((Owner::Agent(agent.id), agent.profile.process?)));
        agents.chain(world.pools.processes().map(|(slot, process)| (Owner::Lease(slot), process))).collect()
    };
    watched.retain(|key, _| wanted.contains(key));
    for key in wanted {
        let fd = watched.entry(key).or_insert_with(|| open(key.1));
        if fd.is_none() && !processes::is_alive(key.1) {
            end(app, key.0);
        }
    }
}

/// Opens the process, if it is the one that is meant.
fn open(process: Process) -> Option<OwnedFd> {
    let fd = pidfd_open(Pid::from_raw(process.pid as i32)?, PidfdFlags::empty()).ok()?;
    // Checked after opening: from here on the pid cannot be reused unnoticed.
    processes::is_alive(process).then_some(fd)
}

fn end(app: &Application, owner: Owner) {
    let engine = app.engine();
    let ask = match owner {
        Owner::Agent(agent) => {
            let (ending, cause) = match app.watch().has_said_goodbye(agent) {
                true => (Ending::Exited, "its process ended"),
                false => (Ending::Failed, "its process ended without a goodbye"),
            };
            Ask::Agent(AgentAsk::End { agent, ending, cause: cause.into() })
        }
        Owner::Lease(slot) => Ask::Pool(PoolAsk::Lose { slot, loss: Loss::ProcessEnded }),
    };
    engine.tell(Principal::System, vec![ask]);
    engine.wake();
}
