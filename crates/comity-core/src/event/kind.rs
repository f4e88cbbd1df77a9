//! What a kind of event is called, and how durable it must be.

/// One row of the catalogue of event types: the name in the log, on the wire, and how durable it must be.
pub struct EventType {
    /// The name in the ledger, as `--type` takes it.
    pub action: &'static str,
    /// The name on the event stream.
    pub stream: &'static str,
    /// Whether it must be on the disk before it is answered.
    pub durable: bool,
}

pub(crate) const fn durable(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: true }
}

pub(crate) const fn live(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: false }
}
