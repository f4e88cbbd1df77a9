//! Counters, in Prometheus' format.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::catalog::CATALOG;
use crate::engine::Engine;

/// Counters of one server.
#[derive(Debug)]
pub struct Metrics {
    calls: [AtomicU64; OPERATIONS_MAX],
    refusals: AtomicU64,
    faults: AtomicU64,
    connections: AtomicU64,
}

const OPERATIONS_MAX: usize = 128;

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            calls: [const { AtomicU64::new(0) }; OPERATIONS_MAX],
            refusals: AtomicU64::default(),
            faults: AtomicU64::default(),
            connections: AtomicU64::default(),
        }
    }
}

impl Metrics {
    /// Counts a call of the operation at this position in the catalog.
    pub(crate) fn count_call(&self, place: usize) {
        if let Some(counter) = self.calls.get(place) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_fault(&self) {
        self.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a client that connected.
    pub fn count_connection(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// All counters, as text for a scraper.
    pub fn render(&self, engine: &Engine) -> String {
        let mut text = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
            let _ = writeln!(text, "# HELP comity_{name} {help}\n# TYPE comity_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "comity_{name}{labels} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value)];
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let calls: Vec<(String, u64)> = CATALOG
            .iter()
            .zip(&self.calls)
            .map(|(entry, count)| (format!("{{operation=\"{}\"}}", entry.name), of(count)))
            .collect();
        metric("calls_total", "counter", "Calls by operation.", &calls);
        metric("refusals_total", "counter", "Calls that the rules refused.", &one(of(&self.refusals)));
        metric("faults_total", "counter", "Calls that failed for another reason.", &one(of(&self.faults)));
        metric("connections_total", "counter", "Connections to the socket.", &one(of(&self.connections)));
        let world = engine.world();
        metric("agents", "gauge", "Agents that are here.", &one(world.agents.live().count() as u64));
        metric("locks", "gauge", "Locks that are held.", &one(world.locks.len() as u64));
        metric("waits", "gauge", "Asks in the queue.", &one(world.locks.waits().count() as u64));
        metric("log_records_total", "counter", "Records in the log.", &one(world.head));
        text
    }
}
