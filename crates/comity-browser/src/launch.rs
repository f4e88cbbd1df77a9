//! Gets a Firefox: the one that was started earlier, or a new one.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::firefox::process::FirefoxProcess;
use crate::firefox::{inside, profile, program};
use crate::lease::SessionLease;
use crate::options::BrowserOptions;

/// How long attaching to a running Firefox may take before it counts as stuck.
const ATTACH: Duration = Duration::from_secs(15);
/// How long Firefox may take to end by itself, and then after each signal.
const END: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) process: FirefoxProcess,
    pub(crate) lease: SessionLease,
    pub(crate) is_attached: bool,
}

/// Attaches to the Firefox that was started with this profile, or starts one.
pub(crate) fn attach_or_start(options: &BrowserOptions, deadline: &Deadline) -> Result<Launched> {
    if let Some(process) = profile::recorded(&options.profile) {
        match attach(&options.profile, process, &deadline.at_most(ATTACH)) {
            Ok(launched) => return Ok(launched),
            Err(stuck) if deadline.left().is_zero() => return Err(stuck),
            // It runs and cannot be used, and a new one could not have its profile.
            Err(_) => end(&process),
        }
    }
    start(options, deadline)
}

/// Ends a Firefox: asks, then insists. Returns whether it is gone.
pub(crate) fn end(process: &FirefoxProcess) {
    for signal in [Signal::TERM, Signal::KILL] {
        process.signal(signal);
        if process.wait(END) {
            return;
        }
    }
}

/// Waits until a Firefox that was told to close has done so; ends it if it does not.
pub(crate) fn see_off(process: &FirefoxProcess) {
    if !process.wait(END) {
        end(process);
    }
}

fn attach(profile: &Path, process: FirefoxProcess, deadline: &Deadline) -> Result<Launched> {
    Ok(Launched { process, lease: SessionLease::take(profile, deadline)?, is_attached: true })
}

fn start(options: &BrowserOptions, deadline: &Deadline) -> Result<Launched> {
    let program = program::find_firefox(options.path.as_deref())?;
    profile::prepare(&options.profile)?;
    profile::forget(&options.profile);
    inside::forget(&options.profile);
    let mut child = program::start(&program, &options.profile, options.display)?;
    let pid = child.id();
    let process = FirefoxProcess::identify(pid);
    // Somebody has to reap it; otherwise it stays a zombie.
    let reaper = std::thread::Builder::new().name("firefox".into()).spawn(move || child.wait());
    let process = process.ok_or_else(|| BrowserError::not_started("it ended at once"))?;
    let begin = || {
        reaper.map_err(|error| BrowserError::not_started(format!("no thread for it: {error}")))?;
        profile::record(&options.profile, &process)?;
        inside::begin(&options.profile, &process, deadline)?;
        SessionLease::take(&options.profile, deadline)
    };
    match begin() {
        Ok(lease) => Ok(Launched { process, lease, is_attached: false }),
        Err(error) => {
            end(&process);
            profile::forget(&options.profile);
            Err(error)
        }
    }
}
