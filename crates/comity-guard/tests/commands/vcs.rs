//! What git does to a work tree.

use super::check;

#[test]
fn git() {
    let tree = "the work tree of .";
    let whole = &format!("write {tree}");
    let edit = &format!("edit {tree}");
    check(&[
        ("git status && git diff && git log -3", ""),
        ("git add -A && git commit -m 'a > b'", ""),
        ("git push origin main", ""),
        ("git checkout -- a b", "write a; write b"),
        ("git checkout HEAD~1 -- a", "write a"),
        ("git checkout HEAD a b", "write a; write b"),
        ("git checkout .", "write ."),
        ("git checkout main", whole),
        ("git checkout -b new", ""),
        ("git checkout -b new origin/main", whole),
        ("git switch main", whole),
        ("git switch -c new", ""),
        ("git restore a b", "write a; write b"),
        ("git restore --staged a", ""),
        ("git restore --staged --worktree a", "write a"),
        ("git restore --source=HEAD~2 a", "write a"),
        ("git restore '*.rs'", "write glob *.rs"),
        ("git restore :/src/a", "write src/a from the top of ."),
        ("git restore :/", whole),
        ("git rm a", "delete a"),
        ("git rm --cached a", ""),
        ("git rm -r a", "delete a"),
        ("git mv a b", "move a; move all below b or b/a"),
        ("git stash", edit),
        ("git stash pop", edit),
        ("git stash list", ""),
        ("git stash push -- a b", "write a; write b"),
        ("git reset --hard", whole),
        ("git reset --hard HEAD~1", whole),
        ("git reset HEAD a", ""),
        ("git clean -fdx", "delete all below ."),
        ("git clean -n", ""),
        ("git clean -fd sub", "delete all below sub"),
        ("git pull --rebase", edit),
        ("git merge other", edit),
        ("git rebase -i HEAD~3", edit),
        ("git cherry-pick abc", edit),
        ("git revert HEAD", edit),
        ("git -C sub reset --hard", "write the work tree of sub"),
        ("cd sub && git stash", "edit the work tree of sub"),
        ("cd $x && git stash", "edit unclear the work tree"),
        ("git --work-tree=w checkout -- a", "write w/a"),
        ("git -c a=b -C s -C t rm x", "delete s/t/x"),
        ("git submodule update", edit),
        ("git archive -o a.tar HEAD", "write a.tar"),
        ("git clone https://x.example/r.git", "create all below r"),
        ("git clone https://x.example/r.git dir", "create all below dir"),
        ("git diff > a.patch", "write a.patch"),
    ]);
}
