//! What somebody does about pools, chosen by chance.

use comity_core::agents::Process;
use comity_core::notices::NoticeAsk;
use comity_core::pools::{Loss, PoolAsk, PoolKind, SlotId, TabLocation, Take};
use comity_core::queues::QueueAsk;
use comity_core::{AgentId, Ask, Millis, Principal};

use super::Scene;

/// The pools of a life, how large they are at most, and what their slots are.
const POOLS: [(&str, usize, PoolKind); 2] = [("tabs", 4, PoolKind::Tabs), ("build", 2, PoolKind::Lease)];

impl Scene<'_> {
    /// Who asks, and what.
    pub(super) fn pool(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let (name, most, kind) = POOLS[usize::from(self.rng.happens(40))];
        let pool: Box<str> = name.into();
        let shelf = self.oracle.shelves.by_name.get(name);
        if shelf.is_none() || self.rng.happens(2) {
            let least = usize::from(!self.rng.happens(10));
            let capacity = self.rng.between(least as u64, most as u64) as usize;
            return (Principal::System, Ask::Pool(PoolAsk::Configure { pool, kind, capacity }));
        }
        let agent = self.rng.pick(living).copied();
        let who = agent.filter(|_| !self.rng.happens(8)).map_or(Principal::Human, Principal::Agent);
        let slots: Vec<(SlotId, Principal)> = shelf
            .map(|shelf| shelf.slots.iter().map(|(id, kept)| (*id, kept.owner)).collect())
            .unwrap_or_default();
        let (slot, owner) = self.rng.pick(&slots).copied().unwrap_or((SlotId(1), who));
        // Mostly one's own.
        let own = if self.rng.happens(85) { owner } else { who };
        let other = self.rng.pick(living).map_or(Principal::Human, |to| Principal::Agent(*to));
        let (who, ask) = match self.rng.below(100) {
            0..34 => (who, PoolAsk::Take(Box::new(self.wish(pool)))),
            34..54 => (who, PoolAsk::Request { pool }),
            54..56 => (who, PoolAsk::CancelRequest { pool }),
            56..69 => (own, PoolAsk::Free { slot, reason: None }),
            69..74 => (own, PoolAsk::Grant { pool }),
            74..78 => (Principal::System, PoolAsk::MarkOpened { slot }),
            78..80 => {
                let url = format!("http://localhost/{}", self.rng.below(3)).into();
                let at = Box::new(TabLocation { container: "1".into(), context: None, url });
                (Principal::System, PoolAsk::Note { slot, at, reopened: self.rng.happens(30) })
            }
            80..84 => (Principal::System, PoolAsk::Lose { slot, loss: self.loss() }),
            84..87 => (own, PoolAsk::HandOver { slot, to: other, reason: None }),
            87..89 => (own, PoolAsk::Share { slot, with: other }),
            89..90 => {
                let viewers = shelf.and_then(|shelf| shelf.slots.get(&slot)).map(|kept| &kept.viewers[..]);
                let with = self.rng.pick(viewers.unwrap_or_default()).copied().unwrap_or(other);
                (own, PoolAsk::Unshare { slot, with })
            }
            90..92 => (own, PoolAsk::Extend { slot, ttl: Millis(self.rng.between(1_000, 60_000)) }),
            92..98 => {
                // Mostly one of somebody who has several, and does not use it.
                let has_several = |who| slots.iter().filter(|(_, other)| *other == who).count() > 1;
                let spare: Vec<SlotId> =
                    slots.iter().filter(|(_, owner)| has_several(*owner)).map(|(slot, _)| *slot).collect();
                let slot = self.rng.pick(&spare).copied().unwrap_or(slot);
                let idle = Millis(self.rng.between(200_000, 1_200_000));
                (Principal::System, PoolAsk::Reclaim { slot, idle })
            }
            _ => return self.give_up_place(who),
        };
        (who, Ask::Pool(ask))
    }

    /// Cookies that several share.
    pub(super) fn context(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let (pool, anybody) = (Box::from("tabs"), self.anybody(living));
        let context = ["login", "shop"][self.rng.below(2)].into();
        let slots = self.oracle.shelves.by_name.get(&pool).map(|shelf| &shelf.slots);
        let slots: Vec<(SlotId, Principal)> =
            slots.into_iter().flatten().map(|(id, kept)| (*id, kept.owner)).collect();
        let slot = self.rng.pick(&slots).copied();
        let owner = slot.map(|(_, owner)| owner).filter(|_| self.rng.happens(85)).unwrap_or(anybody);
        let ask = match slot {
            Some((slot, _)) if self.rng.happens(55) => PoolAsk::EnterContext { slot, context },
            _ => PoolAsk::Admit { pool, context, whom: self.anybody(living) },
        };
        (owner, Ask::Pool(ask))
    }

    fn wish(&mut self, pool: Box<str>) -> Take {
        Take {
            pool,
            label: None,
            wait: self.rng.happens(60).then(|| Millis(self.rng.between(1_000, 120_000))),
            evict_oldest: self.rng.happens(10),
            ttl: self.rng.happens(30).then(|| Millis(self.rng.between(1_000, 120_000))),
            by_page: false,
            process: self.rng.happens(20).then(|| Process { pid: 9, start: self.rng.between(1, 4) }),
        }
    }

    fn loss(&mut self) -> Loss {
        let losses =
            [Loss::ClosedByUser, Loss::PageCrashed, Loss::BrowserDied, Loss::TimedOut, Loss::ProcessEnded];
        self.rng.pick(&losses).cloned().unwrap_or(Loss::TimedOut)
    }

    fn give_up_place(&mut self, who: Principal) -> (Principal, Ask) {
        let lines = self.oracle.shelves.by_name.values().flat_map(|shelf| &shelf.line);
        let places: Vec<_> = lines.map(|(ticket, stand)| (*ticket, stand.who)).collect();
        let Some((ticket, owner)) = self.rng.pick(&places).copied() else {
            return (who, Ask::Notice(NoticeAsk::Take));
        };
        (if self.rng.happens(80) { owner } else { who }, Ask::Queue(QueueAsk::Cancel { ticket }))
    }
}
