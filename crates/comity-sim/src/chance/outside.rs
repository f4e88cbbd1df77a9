//! What is told of the outside by chance: by the server, by the watcher, by whoever makes worktrees and reads files.

use comity_core::commits::{CommitAsk, UnguardedCommit};
use comity_core::projects::ProjectAsk;
use comity_core::reads::{FileContent, ReadAsk};
use comity_core::server::ServerAsk;
use comity_core::worktrees::{WorktreeAsk, WorktreeInfo};
use comity_core::writes::{UnlockedWrite, WriteAsk};
use comity_core::{AgentId, Ask, CaseRule, ContentHash, Principal, ProjectId};

use super::Scene;

/// So few that they come again.
const TREES: u64 = 6;
const FILES: u64 = 3;

impl Scene<'_> {
    pub(super) fn outside(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let project = self.spot().project;
        match self.rng.below(100) {
            0..35 => self.worktree(living, project),
            35..60 => {
                let path = format!("src/{}.rs", self.rng.between(1, FILES)).into();
                let content = ContentHash([self.rng.below(3) as u8; 32]);
                let file = FileContent { path, content };
                (self.anybody(living), Ask::Read(ReadAsk::KnowFile { project, file }))
            }
            60..75 => {
                let write = UnlockedWrite {
                    project,
                    path: "src/main.rs".into(),
                    tree: "/repo".into(),
                    holder: self.rng.happens(60).then(|| self.anybody(living)),
                    candidates: self.some_agents(living),
                    others: self.rng.below(3),
                };
                (self.comity(living), Ask::Write(WriteAsk::SawUnlocked(Box::new(write))))
            }
            75..85 => {
                let commit = UnguardedCommit {
                    project,
                    commit: "0123456789abcdef".into(),
                    branch: self.rng.happens(50).then(|| "main".into()),
                    paths: vec!["src/main.rs".into()],
                    others: self.rng.below(3),
                    holder: self.anybody(living),
                    candidates: self.some_agents(living),
                };
                (self.comity(living), Ask::Commit(CommitAsk::SawUnguarded(Box::new(commit))))
            }
            85..90 => {
                let (common_dir, case) = ("/repo/.git".into(), CaseRule::Exact);
                (self.anybody(living), Ask::Project(ProjectAsk::Add { project, common_dir, case }))
            }
            90..95 => {
                let ask = ServerAsk::NoteRefusedEntries { why: "no token".into(), count: 1 };
                (self.comity(living), Ask::Server(ask))
            }
            _ => (self.anybody(living), Ask::Server(ServerAsk::NoteReusedKey { op: "lock".into() })),
        }
    }

    fn worktree(&mut self, living: &[AgentId], project: ProjectId) -> (Principal, Ask) {
        let slug: Box<str> = format!("tree{}", self.rng.between(1, TREES)).into();
        let owner = self.oracle.trees.get(&(project, slug.clone())).map(|tree| tree.owner);
        let anybody = self.anybody(living);
        let owner = owner.filter(|owner| self.oracle.is_alive(*owner) && self.rng.happens(80));
        let (who, ask) = match self.rng.below(100) {
            0..40 => {
                let (path, branch) = (format!("/{slug}").into(), format!("comity/{slug}").into());
                let tree = Box::new(WorktreeInfo { slug, path, branch, base: "0".into() });
                (anybody, WorktreeAsk::Add { project, tree })
            }
            40..65 => (owner.unwrap_or(anybody), WorktreeAsk::Release { project, slug }),
            65..80 => (Principal::System, WorktreeAsk::Keep { project, slug, why: "work is in it".into() }),
            80..92 => {
                let rescue = "refs/comity/rescue/1".into();
                (Principal::System, WorktreeAsk::Remove { project, slug, rescue })
            }
            _ => {
                let (source, target) = (format!("comity/{slug}").into(), "main".into());
                let paths = vec!["src/main.rs".into()];
                (anybody, WorktreeAsk::RecordConflict { project, source, target, paths })
            }
        };
        (who, Ask::Worktree(ask))
    }

    pub(super) fn anybody(&mut self, living: &[AgentId]) -> Principal {
        let agent = self.rng.pick(living).copied().filter(|_| !self.rng.happens(15));
        agent.map_or(Principal::Human, Principal::Agent)
    }

    /// Comity itself, or now and then somebody who may not say so.
    fn comity(&mut self, living: &[AgentId]) -> Principal {
        if self.rng.happens(90) { Principal::System } else { self.anybody(living) }
    }

    fn some_agents(&mut self, living: &[AgentId]) -> Vec<AgentId> {
        living.iter().copied().filter(|_| self.rng.happens(25)).collect()
    }
}
