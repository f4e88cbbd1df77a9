//! Worktrees of agents: made, worked in, merged and removed.

use std::time::Instant;

use serde_json::json;

use crate::agent::SoakAgent;
use crate::run_dir::MERGED_INTO;
use crate::told::Told;

impl SoakAgent<'_> {
    /// Makes a worktree, commits in it, merges it and lets it go.
    pub(crate) fn worktree(&mut self) {
        let slug = self.unique();
        let Some(made) = self.ask("worktree_add", json!({ "slug": slug, "base": MERGED_INTO }), &[]) else {
            return;
        };
        let Some(cwd) = made["path"].as_str().filter(|_| made["fallback"].is_null()) else {
            return self.wrong(format!("no worktree: {made}"));
        };
        self.tell(Told::TreeAdded { slug: slug.clone() });
        let path = format!("trees/{}.txt", self.me.name);
        if let Some(fence) = self.locked_in(cwd, &path) {
            let from = Instant::now();
            self.commit(Some(cwd), &path);
            let merge = json!({ "slug": slug, "into": MERGED_INTO });
            if let Some(merged) = self.ask("worktree_merge", merge, &[]) {
                match (merged["state"].as_str(), merged["commit"].as_str()) {
                    (Some("merged"), Some(commit)) => self.tell(Told::Merged { commit: commit.to_owned() }),
                    // A server that was killed in the middle had merged it.
                    (Some("already"), _) => {}
                    _ => self.wrong(format!("merge of {slug}: {merged}")),
                }
            }
            self.held(fence, &path, false, from);
            if self.ask("unlock", json!({ "paths": [path] }), &[]).is_some() {
                self.tell(Told::Unlocked { fence });
            }
        }
        // Asked again after a kill, it is gone already.
        let expected = ["unknown_worktree", "not_found", "bad_input"];
        if self.ask("worktree_remove", json!({ "slug": slug, "wait": true }), &expected).is_some() {
            self.tell(Told::TreeRemoved { slug });
        }
    }

    fn locked_in(&mut self, cwd: &str, path: &str) -> Option<u64> {
        let lock = json!({ "paths": [path], "reason": self.unique(), "wait": "5s" });
        let granted = self.ask_from(cwd, "lock", lock, &[])?;
        granted["locks"][0]["fence"].as_u64()
    }
}
