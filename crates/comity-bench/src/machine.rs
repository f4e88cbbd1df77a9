//! What the machine is, and how busy: figures mean nothing without it.

use std::fmt;
use std::fs;
use std::path::Path;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;

/// The machine at one moment.
#[derive(Serialize)]
pub(super) struct Facts {
    cpu: String,
    cores: usize,
    kernel: String,
    file_system: String,
    load: String,
    /// Ticks of all cores since the start: user, nice, system, idle, waiting for disks, ..., stolen.
    #[serde(skip)]
    ticks: Vec<u64>,
}

/// What the cores did between two moments, in hundredths.
#[derive(Serialize)]
pub(super) struct CpuShare {
    idle: f64,
    disk: f64,
    stolen: f64,
}

impl Facts {
    pub(super) fn look(dir: &Path) -> Facts {
        let first_line = |path: &str| read(path).lines().next().unwrap_or_default().trim().to_owned();
        let cpu = read("/proc/cpuinfo")
            .lines()
            .find_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim().to_owned()));
        let ticks = first_line("/proc/stat");
        Facts {
            cpu: cpu.unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: first_line("/proc/sys/kernel/osrelease"),
            file_system: file_system(dir),
            load: first_line("/proc/loadavg"),
            ticks: ticks.split_whitespace().skip(1).filter_map(|ticks| ticks.parse().ok()).collect(),
        }
    }

    pub(super) fn share_until(&self, later: &Facts) -> CpuShare {
        let spent: Vec<u64> = later
            .ticks
            .iter()
            .zip(&self.ticks)
            .map(|(later, earlier)| later.saturating_sub(*earlier))
            .collect();
        // What is behind the eighth field is counted in the first ones already.
        let total = spent.iter().take(8).sum::<u64>().max(1) as f64;
        let share = |field: usize| spent.get(field).map_or(0.0, |ticks| *ticks as f64 * 100.0 / total);
        CpuShare { idle: share(3), disk: share(4), stolen: share(7) }
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { cpu, cores, kernel, file_system, load, .. } = self;
        write!(f, "{cpu}, {cores} cores, Linux {kernel}, {file_system}, load {load}")
    }
}

impl fmt::Display for CpuShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CpuShare { idle, disk, stolen } = self;
        write!(f, "cores {idle:.0} % idle, {disk:.0} % waiting for disks, {stolen:.0} % stolen")
    }
}

/// Memory that a process has in use, in bytes.
pub(super) fn resident_bytes(pid: u32) -> Result<f64, String> {
    let status = read(&format!("/proc/{pid}/status"));
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map(|kilobytes| kilobytes * 1024.0).ok_or_else(|| format!("process {pid} can't be looked at"))
}

/// Clock ticks that a process has used, in user and kernel mode.
pub(super) fn used_ticks(pid: u32) -> Result<f64, String> {
    ticks_in(pid, &read(&format!("/proc/{pid}/stat")))
}

/// The time that the first thread of a process has worked, in nanoseconds.
pub(super) fn first_thread_ns(pid: u32) -> Result<f64, String> {
    let ticks = ticks_in(pid, &read(&format!("/proc/{pid}/task/{pid}/stat")))?;
    Ok(ticks * 1e9 / rustix::param::clock_ticks_per_second() as f64)
}

fn ticks_in(pid: u32, stat: &str) -> Result<f64, String> {
    // The name in parentheses may hold anything; what follows it does not.
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let field = |at: usize| after.split_whitespace().nth(at)?.parse::<f64>().ok();
    let used = field(11).zip(field(12)).map(|(user, system)| user + system);
    used.ok_or_else(|| format!("process {pid} can't be looked at"))
}

/// This thread and the first threads of some processes on one core, as long as this lives.
pub(super) struct OneCore {
    before: CpuSet,
    pids: Vec<Option<Pid>>,
}

impl OneCore {
    pub(super) fn of(processes: &[u32]) -> Result<OneCore, String> {
        let describe = |error: rustix::io::Errno| format!("processes can't be kept on one core: {error}");
        let before = sched_getaffinity(None).map_err(describe)?;
        let core = (0..CpuSet::MAX_CPU).rfind(|core| before.is_set(*core)).unwrap_or(0);
        let mut one = CpuSet::new();
        one.set(core);
        let pids = processes.iter().map(|pid| Pid::from_raw(*pid as i32)).chain([None]).collect();
        let kept = OneCore { before, pids };
        kept.pids.iter().try_for_each(|pid| sched_setaffinity(*pid, &one)).map_err(describe)?;
        Ok(kept)
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        for pid in &self.pids {
            let _ = sched_setaffinity(*pid, &self.before);
        }
    }
}

fn file_system(dir: &Path) -> String {
    let mounts = read("/proc/mounts");
    let mounted = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?)).filter(|(at, _)| dir.starts_with(at))
    });
    mounted.max_by_key(|(at, _)| at.len()).map_or_else(|| "unknown".into(), |(_, kind)| kind.to_owned())
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
