//! Branches that are moved, and what came of it, told by who moved them or found out later.

use comity_core::branch_moves::{Move, MoveAsk, MoveCause};
use comity_core::commits::Commit;
use comity_core::{AgentId, Ask, Fence, Key, Principal};

use super::{Happening, Scene};

impl Scene<'_> {
    pub(super) fn branch(&mut self, living: &[AgentId]) -> Happening {
        let open: Vec<(u64, Principal)> =
            self.oracle.moves.iter().map(|(number, (by, _))| (*number, *by)).collect();
        // Most are over before anything else happens.
        let next = if self.rng.happens(70) { open.last() } else { self.rng.pick(&open) };
        if let Some((number, by)) = next.copied().filter(|_| self.rng.happens(60)) {
            let who = match self.rng.below(10) {
                0..4 => by,
                4..9 => Principal::System,
                _ => Principal::Human,
            };
            let ask = Ask::Move(MoveAsk::Settle { number, has_moved: self.rng.happens(60) });
            // It is remembered under the key of the call that announced it.
            return Happening::Asked { who: who.into(), ask, key: None };
        }
        let who = self.rng.pick(living).map_or(Principal::Human, |agent| Principal::Agent(*agent));
        let intended = self.intended(who);
        self.asked(who, Ask::Move(MoveAsk::Intend(Box::new(intended))))
    }

    fn intended(&mut self, who: Principal) -> Move {
        // So few that the same one is made again now and then.
        let new: Box<str> = format!("commit{}", self.rng.below(30)).into();
        let act = if self.rng.happens(70) {
            let own =
                self.oracle.locks.iter().filter(|(_, lock)| lock.holder == who).map(|(fence, _)| *fence);
            let own: Vec<Fence> = own.collect();
            let frees = own.into_iter().filter(|_| self.rng.happens(50)).collect();
            let (branch, subject) = (Some("main".into()), "a change".into());
            let commit = Commit { id: new.clone(), branch, subject, files: vec![], files_total: 1 };
            MoveCause::Commit { commit, message: "hash".into(), frees }
        } else {
            let target = if self.rng.happens(50) { "main" } else { "next" }.into();
            MoveCause::Merge { source: "comity/a".into(), target, files_total: 1 }
        };
        let key = self.rng.happens(50).then(|| Key::new(&self.rng.bits().to_string())).flatten();
        let project = self.spot().project;
        Move { project, worktree: None, branch: None, old: None, new, act, key }
    }
}
