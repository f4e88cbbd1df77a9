//! What the model makes of what is told of the outside: worktrees, what is known of files, what went past a guard, tokens.

use std::collections::BTreeMap;

use comity_core::commits::CommitEvent;
use comity_core::people::PersonEvent;
use comity_core::reads::ReadEvent;
use comity_core::worktrees::WorktreeEvent;
use comity_core::writes::WriteEvent;
use comity_core::{AgentId, ContentHash, Event, Principal, ProjectId, Record, World};

use super::{Found, Oracle};

/// What each agent knows of files.
pub(super) type KnownContents = BTreeMap<(AgentId, ProjectId, Box<str>), ContentHash>;

/// A worktree as the model sees it.
#[derive(Debug)]
pub(crate) struct ModelTree {
    pub(crate) owner: Principal,
    branch: Box<str>,
    released: Option<Principal>,
}

impl Oracle {
    pub(super) fn observe_outside(&mut self, record: &Record) -> Found {
        let (by, seq) = (record.by, record.seq);
        match &record.event {
            Event::Worktree(event) => self.observe_worktree(record, event),
            Event::Read(ReadEvent::FileKnown { project, file }) => {
                let Principal::Agent(agent) = by else { return Err(format!("{by} knows a file")) };
                self.known.insert((agent, *project, file.path.clone()), file.content);
                Ok(())
            }
            Event::Write(WriteEvent::Unlocked(write)) => {
                self.only_comity(by, "a write")?;
                write.holder.into_iter().for_each(|holder| self.tell(holder, seq));
                self.tell_author(&write.candidates, seq);
                Ok(())
            }
            Event::Commit(CommitEvent::Unguarded(commit)) => {
                self.only_comity(by, "a commit")?;
                self.tell(commit.holder, seq);
                self.tell_author(&commit.candidates, seq);
                Ok(())
            }
            Event::Person(event) => self.observe_person(by, event),
            _ => Ok(()),
        }
    }

    fn only_comity(&self, by: Principal, what: &str) -> Found {
        match by {
            Principal::System => Ok(()),
            other => Err(format!("{other} told of {what} that went past the guard")),
        }
    }

    /// Whoever did it is told, if only one can have.
    fn tell_author(&mut self, candidates: &[AgentId], seq: u64) {
        if let [author] = candidates {
            self.tell(Principal::Agent(*author), seq);
        }
    }

    fn observe_worktree(&mut self, record: &Record, event: &WorktreeEvent) -> Found {
        let (by, seq) = (record.by, record.seq);
        match event {
            WorktreeEvent::Added { project, tree } => {
                let added = ModelTree { owner: by, branch: tree.branch.clone(), released: None };
                match self.trees.insert((*project, tree.slug.clone()), added) {
                    None => Ok(()),
                    Some(before) => {
                        Err(format!("{by} made a worktree in the place of one of {}", before.owner))
                    }
                }
            }
            WorktreeEvent::Released { project, slug } => {
                let owner = self.trees.get(&(*project, slug.clone())).map(|tree| tree.owner);
                let may = match (by, owner) {
                    (_, None) | (Principal::Nobody, _) => false,
                    (Principal::Human | Principal::System, _) => true,
                    (Principal::Agent(me), Some(Principal::Agent(other))) => {
                        me == other || self.has_started(me, other)
                    }
                    (Principal::Agent(_), Some(_)) => false,
                };
                let tree = self.trees.get_mut(&(*project, slug.clone())).filter(|_| may);
                let Some(tree) = tree.filter(|tree| tree.released.is_none()) else {
                    return Err(format!("{by} released the worktree {slug} of {owner:?}"));
                };
                tree.released = Some(by);
                Ok(())
            }
            WorktreeEvent::Kept { project, slug, .. } => {
                let tree = self.trees.get_mut(&(*project, slug.clone()));
                let Some(who) = tree.and_then(|tree| tree.released.take()) else {
                    return Err(format!("the worktree {slug} is kept, but nobody has released it"));
                };
                self.tell(who, seq);
                Ok(())
            }
            WorktreeEvent::Removed { project, slug, .. } => {
                self.trees.remove(&(*project, slug.clone()));
                Ok(())
            }
            WorktreeEvent::PassedOn { project, slug, to } => {
                let before = self.trees.get(&(*project, slug.clone())).and_then(|tree| tree.owner.agent());
                let follows = before.is_some_and(|before| self.comes_after(*to, before));
                match self.trees.get_mut(&(*project, slug.clone())).filter(|_| follows) {
                    Some(tree) => {
                        tree.owner = Principal::Agent(*to);
                        Ok(())
                    }
                    None => Err(format!("{to} got the worktree {slug} of {before:?}")),
                }
            }
            WorktreeEvent::BranchMerged { .. } | WorktreeEvent::MergeConflicted { .. } => Ok(()),
        }
    }

    fn observe_person(&mut self, by: Principal, event: &PersonEvent) -> Found {
        let is_right = match event {
            PersonEvent::TokenMade { name, .. } => self.tokens.insert(name.clone()),
            PersonEvent::TokenRevoked { name } => self.tokens.remove(name),
            PersonEvent::PassphraseSet { verifier } => {
                self.has_passphrase = verifier.is_some();
                true
            }
            PersonEvent::ActedFromNewPlace { .. } | PersonEvent::Recognised { .. } => true,
        };
        match is_right && by == Principal::Human {
            true => Ok(()),
            false => Err(format!("{by} changed what proves a person: {event:?}")),
        }
    }

    pub(super) fn agrees_on_outside(&self, world: &World) -> Found {
        let trees =
            world.worktrees.iter().map(|tree| (tree.project, &tree.tree.slug, tree.owner, tree.released));
        let known =
            self.trees.iter().map(|((project, slug), tree)| (*project, slug, tree.owner, tree.released));
        if !trees.eq(known) {
            return Err("the world's worktrees are not those of its log".into());
        }
        let tokens = world.people.tokens().map(|(name, _)| name);
        let is_same = tokens.eq(self.tokens.iter().map(|name| &**name));
        if !is_same || world.people.passphrase().is_some() != self.has_passphrase {
            return Err("what proves a person is not what the log says".into());
        }
        let is_known =
            |((agent, project, path), content): (&(AgentId, ProjectId, Box<str>), &ContentHash)| {
                world.reads.known(*agent, *project, path) == Some(*content)
            };
        match self.known.iter().all(is_known) {
            true => Ok(()),
            false => Err("what agents know of files is not what the log says".into()),
        }
    }

    /// Whose a worktree is, and who has released it.
    pub(super) fn of_worktree(&self, event: &WorktreeEvent) -> Option<Principal> {
        match event {
            WorktreeEvent::Released { project, slug }
            | WorktreeEvent::Kept { project, slug, .. }
            | WorktreeEvent::PassedOn { project, slug, .. }
            | WorktreeEvent::Removed { project, slug, .. } => {
                Some(self.trees.get(&(*project, slug.clone()))?.owner)
            }
            WorktreeEvent::BranchMerged { project, source, .. }
            | WorktreeEvent::MergeConflicted { project, source, .. } => {
                let mut trees = self.trees.iter().filter(|((of, _), _)| of == project);
                trees.find(|(_, tree)| tree.branch == *source).map(|(_, tree)| tree.owner)
            }
            WorktreeEvent::Added { .. } => None,
        }
    }
}
