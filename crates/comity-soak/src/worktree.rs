//! Worktrees of agents: made, worked in, merged, removed and brought back.

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::agent::SoakAgent;
use crate::run_dir::MERGED_INTO;
use crate::told::Told;

/// A worktree that there is now.
struct Tree {
    slug: String,
    cwd: String,
}

impl SoakAgent<'_> {
    /// Makes a worktree, commits in it, merges it and lets it go. Every third one conflicts with another of its own, and
    /// every third one comes back once.
    pub(crate) fn worktree(&mut self) {
        self.trees += 1;
        let (conflicts, comes_back) = (self.trees % 3 == 1, self.trees % 3 == 2);
        let Some(tree) = self.add_tree("") else { return };
        let path = format!("trees/{}.txt", self.me.name);
        let mut other = None;
        if let Some(fence) = self.locked_in(&tree.cwd, &path) {
            let from = Instant::now();
            self.commit(Some(&tree.cwd), &path, "");
            if conflicts {
                other = self.conflict(&tree, &path);
            }
            self.merge(&tree, &[]);
            self.held(fence, &path, false, from);
            if self.ask("unlock", json!({ "paths": [path] }), &[]).is_some() {
                self.tell(Told::Unlocked { fence });
            }
        }
        for tree in [Some(&tree), other.as_ref()].into_iter().flatten() {
            self.remove(tree);
        }
        if comes_back && self.load.goes_on() {
            self.come_back(&tree, &path);
        }
    }

    fn add_tree(&mut self, what: &str) -> Option<Tree> {
        let slug = format!("{}{what}", self.unique());
        let made = self.ask("worktree_add", json!({ "slug": slug, "base": MERGED_INTO }), &[])?;
        let Some(cwd) = made["path"].as_str().filter(|_| made["fallback"].is_null()) else {
            self.wrong(format!("no worktree: {made}"));
            return None;
        };
        self.tell(Told::TreeAdded { slug: slug.clone() });
        Some(Tree { slug, cwd: cwd.to_owned() })
    }

    fn locked_in(&mut self, cwd: &str, path: &str) -> Option<u64> {
        let lock = json!({ "paths": [path], "reason": self.unique(), "wait": "5s" });
        let granted = self.ask_from(cwd, "lock", lock, &[])?;
        granted["locks"][0]["fence"].as_u64()
    }

    /// Merges; nothing if it was refused with one of these codes.
    fn merge(&mut self, Tree { slug, .. }: &Tree, expected: &[&str]) -> Option<()> {
        let merge = json!({ "slug": slug, "into": MERGED_INTO });
        let merged = self.ask("worktree_merge", merge, expected)?;
        match (merged["state"].as_str(), merged["commit"].as_str()) {
            (Some("merged"), Some(commit)) => self.tell(Told::Merged { commit: commit.to_owned() }),
            // A server that was killed in the middle had merged it.
            (Some("already"), _) => {}
            _ => self.wrong(format!("merge of {slug}: {merged}")),
        }
        Some(())
    }

    /// Merges the same file from another worktree first, then finishes the merge that git cannot make. Gives the other one.
    fn conflict(&mut self, tree: &Tree, path: &str) -> Option<Tree> {
        let other = self.add_tree("-other")?;
        self.locked_in(&other.cwd, path)?;
        self.commit(Some(&other.cwd), path, " of the other");
        self.merge(&other, &[]);
        if self.merge(tree, &["not_allowed"]).is_some() {
            self.wrong(format!("{} is merged, though it conflicts", tree.slug));
            return Some(other);
        }
        let load = self.load;
        let git = |arguments: &[&str]| load.place.git_in(Path::new(&tree.cwd), arguments);
        if git(&["merge", "--quiet", MERGED_INTO]).is_ok() {
            self.wrong(format!("git merges {}, though it conflicts", tree.slug));
            return Some(other);
        }
        let theirs = git(&["rev-parse", "MERGE_HEAD"]);
        match (theirs, self.commit(Some(&tree.cwd), path, " of both")) {
            (Ok(theirs), Some(commit)) => {
                self.tell(Told::MergeFinished { commit, theirs: theirs.trim().to_owned() });
                self.is_clean(tree);
            }
            (theirs, _) => self.wrong(format!("the merge of {} is not finished: {theirs:?}", tree.slug)),
        }
        Some(other)
    }

    /// Looks whether git knows that a merge is over.
    fn is_clean(&mut self, Tree { slug, cwd }: &Tree) {
        let git = |arguments: &[&str]| self.load.place.git_in(Path::new(cwd), arguments);
        match (
            git(&["status", "--porcelain"]).as_deref(),
            git(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]),
        ) {
            (Ok(""), Err(_)) => {}
            not_so => self.load.not_in_effect(format!("the merge in {slug} is finished: {not_so:?}")),
        }
    }

    fn remove(&mut self, Tree { slug, .. }: &Tree) {
        if self.ask("worktree_remove", json!({ "slug": slug, "wait": true }), &[]).is_some() {
            self.tell(Told::TreeRemoved { slug: slug.clone() });
        }
    }

    /// Brings a worktree back from the trash, looks whether it is as it was, and lets it go again.
    fn come_back(&mut self, tree: &Tree, path: &str) {
        let Some(back) = self.ask("worktree_restore", json!({ "slug": tree.slug }), &[]) else { return };
        self.tell(Told::TreeRestored { slug: tree.slug.clone() });
        let text = std::fs::read_to_string(Path::new(&tree.cwd).join(path)).unwrap_or_default();
        let is_same = back["path"] == *tree.cwd && back["branch"] == format!("comity/{}", tree.slug);
        if !is_same || text != format!("// {}\n", self.unique()) {
            self.load.not_in_effect(format!("{} came back with {path} {text:?}: {back}", tree.slug));
        }
        self.remove(tree);
    }
}
