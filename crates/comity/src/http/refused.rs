//! Records refused callers: the first at once, later ones in batches.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_app::Application;
use comity_core::server::ServerAsk;
use comity_core::{Ask, Refusal};

/// How long callers are counted before the next line in the log.
pub(super) const TOGETHER: Duration = Duration::from_secs(30);

/// Records refused callers.
#[derive(Clone)]
pub(super) struct Refused {
    together: Duration,
    counted: Arc<Mutex<RefusalCount>>,
}

#[derive(Default)]
struct RefusalCount {
    /// Whether the counted ones will be recorded.
    is_waiting: bool,
    count: u64,
    why: String,
}

impl Refused {
    /// Those within this time of the first are recorded together.
    pub(super) fn within(together: Duration) -> Refused {
        Refused { together, counted: Arc::default() }
    }

    pub(super) fn note(&self, app: &Application, refusal: &Refusal) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let why = refusal.to_string();
        if counted.is_waiting {
            counted.count += 1;
            counted.why = why;
            return;
        }
        counted.is_waiting = true;
        write_down(app, why, 1);
        let (later, app, together) = (self.clone(), app.clone(), self.together);
        tokio::spawn(async move {
            tokio::time::sleep(together).await;
            later.flush(&app);
        });
    }

    /// Records those that were only counted.
    pub(super) fn flush(&self, app: &Application) {
        let counted = std::mem::take(&mut *self.counted.lock().unwrap_or_else(PoisonError::into_inner));
        if counted.count > 0 {
            write_down(app, counted.why, counted.count);
        }
    }
}

fn write_down(app: &Application, why: String, count: u64) {
    app.tell_engine(Ask::Server(ServerAsk::NoteRefusedEntries { why: why.into(), count }));
}
