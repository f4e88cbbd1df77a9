//! The connected clients, and which of them is closed first when there are too many.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Waker};

use tokio::time::Instant;

use super::unsent::UNSENT_BYTES_MAX;

/// Clones share the clients.
#[derive(Clone, Default)]
pub(super) struct Peers(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    /// In order of arrival.
    peers: BTreeMap<u64, Weak<Peer>>,
    next: u64,
    /// Bytes that wait for all of them.
    unsent: usize,
}

pub(super) struct Peer {
    id: u64,
    all: Peers,
    state: Mutex<PeerState>,
}

struct PeerState {
    doing: ClientActivity,
    /// When it last did something.
    since: Instant,
    is_closing: bool,
    /// Bytes that wait for it.
    unsent: usize,
    /// Wakes whoever waits for it.
    waker: Option<Waker>,
}

/// What a client does; earlier variants are closed first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ClientActivity {
    /// It has not shown a token.
    Entering,
    Idle,
    /// It sends the rest of its request.
    Sending,
    /// It follows the log, and continues from its cursor when it comes back.
    Following,
    /// It waits for an answer, and is not closed.
    Waiting,
}

impl Peers {
    pub(super) fn enter(&self) -> Arc<Peer> {
        let mut all = lock(&self.0);
        let id = all.next;
        all.next += 1;
        let state = PeerState {
            doing: ClientActivity::Entering,
            since: Instant::now(),
            is_closing: false,
            unsent: 0,
            waker: None,
        };
        let peer = Arc::new(Peer { id, all: self.clone(), state: Mutex::new(state) });
        all.peers.insert(id, Arc::downgrade(&peer));
        peer
    }

    /// Closes the client that goes first, unless all of them wait for answers.
    pub(super) fn close_one(&self) {
        let peers = self.connected();
        let first = peers.iter().filter_map(|peer| {
            let state = lock(&peer.state);
            (state.doing < ClientActivity::Waiting && !state.is_closing).then_some((
                state.doing,
                state.since,
                peer,
            ))
        });
        if let Some((.., peer)) = first.min_by_key(|(doing, since, _)| (*doing, *since)) {
            peer.close();
        }
    }

    /// Closes those that have read nothing for longest, until what waits for the others is within bounds.
    fn close_slowest(&self) {
        let peers = self.connected();
        let mut slow: Vec<(Instant, usize, &Arc<Peer>)> = peers
            .iter()
            .filter_map(|peer| {
                let state = lock(&peer.state);
                (state.unsent > 0 && !state.is_closing).then_some((state.since, state.unsent, peer))
            })
            .collect();
        slow.sort_unstable_by_key(|(since, ..)| *since);
        let mut unsent: usize = slow.iter().map(|(_, unsent, _)| unsent).sum();
        for (_, of_peer, peer) in slow {
            if unsent <= UNSENT_BYTES_MAX {
                return;
            }
            unsent -= of_peer;
            peer.close();
        }
    }

    fn connected(&self) -> Vec<Arc<Peer>> {
        lock(&self.0).peers.values().filter_map(Weak::upgrade).collect()
    }
}

impl Peer {
    pub(super) fn now(&self, doing: ClientActivity) {
        let mut state = lock(&self.state);
        (state.doing, state.since) = (doing, Instant::now());
    }

    /// Its request is answered, unless it follows the log from here on.
    pub(super) fn ends_request(&self) {
        if lock(&self.state).doing != ClientActivity::Following {
            self.now(ClientActivity::Idle);
        }
    }

    /// It has received something.
    pub(super) fn acted(&self) {
        lock(&self.state).since = Instant::now();
    }

    /// More bytes wait for it; if that is too much in total, the slowest are closed.
    pub(super) fn queue(&self, bytes: usize) {
        {
            let mut state = lock(&self.state);
            if state.unsent == 0 {
                state.since = Instant::now();
            }
            state.unsent += bytes;
        }
        let is_too_much = {
            let mut all = lock(&self.all.0);
            all.unsent += bytes;
            all.unsent > UNSENT_BYTES_MAX
        };
        if is_too_much {
            self.all.close_slowest();
        }
    }

    pub(super) fn unqueue(&self, bytes: usize) {
        lock(&self.state).unsent -= bytes;
        lock(&self.all.0).unsent -= bytes;
    }

    /// Since when it could have asked something and has not.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        let state = lock(&self.state);
        matches!(state.doing, ClientActivity::Entering | ClientActivity::Idle).then_some(state.since)
    }

    /// An error if it was closed; otherwise wakes the caller when it is.
    pub(super) fn check(&self, context: &Context<'_>) -> io::Result<()> {
        let mut state = lock(&self.state);
        if state.is_closing {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Ok(())
    }

    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closing = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        lock(&self.all.0).peers.remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::unsent::Unsent;
    use super::*;

    #[tokio::test]
    async fn the_slowest_go_when_too_much_waits() {
        let third = UNSENT_BYTES_MAX / 3;
        let all = Peers::default();
        let [slow, reads, idle, last] = [(); 4].map(|()| all.enter());
        let closing = |peer: &Arc<Peer>| lock(&peer.state).is_closing;
        let kept = [&slow, &reads].map(|peer| Unsent::new(peer, third));
        for peer in [&slow, &idle] {
            lock(&peer.state).since -= Duration::from_secs(1);
        }
        let fits = Unsent::new(&last, third);
        assert!([&slow, &reads, &idle, &last].iter().all(|peer| !closing(peer)));
        let more = Unsent::new(&last, third);
        assert!(closing(&slow));
        assert!(
            [&reads, &idle, &last].iter().all(|peer| !closing(peer)),
            "only those for whom something waits"
        );
        drop((kept, fits, more));
        assert_eq!((lock(&all.0).unsent, lock(&slow.state).unsent), (0, 0));
    }
}
