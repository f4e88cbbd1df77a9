//! What the log says of one agent: read backwards, to where it joined.

use comity_core::agents::AgentEvent;
use comity_core::{AgentId, Event, Record};

use crate::application::Application;
use crate::operation::Failure;
use crate::page_size::PageSize;

/// Records that are searched at a time.
const STRETCH: u64 = 1_000;
/// Records that are searched at most.
const LOOKED_THROUGH_MAX: u64 = 200_000;

/// The newest matching records, newest first, at most a number, back to the first one for which `is_end` is true.
pub(in crate::operations) fn newest_records(
    app: &Application,
    max: usize,
    is_wanted: impl Fn(&Record) -> bool,
    is_end: impl Fn(&Record) -> bool,
) -> Result<Vec<Record>, Failure> {
    let head = app.engine().world().head;
    let (mut end, mut found) = (head, Vec::new());
    while end > head.saturating_sub(LOOKED_THROUGH_MAX) && found.len() < max {
        let start = end.saturating_sub(STRETCH);
        let mut stretch = Vec::new();
        let mut cursor = start;
        while cursor < end {
            let page = PageSize { records: STRETCH as usize, bytes: 1024 * 1024 };
            let read = app.reader()?.read_page(cursor, page).map_err(Failure::Fault)?;
            let Some(last) = read.last() else { break };
            cursor = last.seq;
            stretch.extend(read.into_iter().take_while(|record| record.seq <= end));
        }
        for record in stretch.into_iter().rev() {
            let is_last = is_end(&record);
            if is_wanted(&record) {
                found.push(record);
            }
            if is_last || found.len() >= max {
                return Ok(found);
            }
        }
        end = start;
    }
    Ok(found)
}

pub(in crate::operations) fn is_join_of(record: &Record, agent: AgentId) -> bool {
    matches!(&record.event, Event::Agent(AgentEvent::Joined { agent: joined, .. }) if *joined == agent)
}
