//! LK1, LK3, LK4, LK5: taking and giving back.

use expect_test::expect;

use crate::script::check;

#[test]
fn an_exclusive_lock_keeps_others_out() {
    check(
        "
        ann locks src/a.rs because fixing login
        bob locks src/a.rs
        bob locks src/b.rs
        show locks",
        expect![[r#"
            ann got src/a.rs (fence 1)
            bob: refused (locked): src/a.rs is locked by ann ("fixing login") for 5m more (0ms so far); wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            bob got src/b.rs (fence 2)
            fence 1: src/a.rs is locked by ann ("fixing login") for 5m more (0ms so far)
            fence 2: src/b.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn shared_locks_go_together() {
    check(
        "
        ann locks docs/ shared
        bob locks docs/ shared
        cid locks docs/guide.md
        cid locks docs/ shared",
        expect![[r#"
            ann got docs/ shared (fence 1)
            bob got docs/ shared (fence 2)
            cid: refused (locked): docs/guide.md is not free: docs/ is locked shared by ann for 5m more (0ms so far); docs/ is locked shared by bob for 5m more (0ms so far); wait for it: lock(paths=["docs/guide.md"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            cid got docs/ shared (fence 3)"#]],
    );
}

#[test]
fn a_refusal_says_who_why_since_until_and_how_many_wait() {
    check(
        "
        ann locks src/ for 10m because the big move
        4m pass
        bob locks src/a.rs waiting 5m
        12s pass
        cid locks src/a.rs
        cid locks src/** waiting 5m
        dan locks src/a.rs",
        expect![[r#"
            ann got src/ (fence 1)
            bob waits for src/a.rs (ticket 1, 5m)
            cid: refused (locked): src/a.rs is not free: src/ is locked by ann ("the big move") for 5m 48s more (4m 12s so far); bob has waited for src/a.rs for 12s; 1 ask waits for it; wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            cid waits for src/ (ticket 2, 5m)
            dan: refused (locked): src/a.rs is not free: src/ is locked by ann ("the big move") for 5m 48s more (4m 12s so far); bob has waited for src/a.rs for 12s; cid has waited for src/ for 0ms; 2 asks wait for it; wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else"#]],
    );
}

#[test]
fn a_refusal_counts_up_to_the_moment_of_the_ask() {
    check(
        "
        bob joins
        ann locks src/a.rs
        2m pass
        bob locks src/a.rs
        bob unlocks src/a.rs
        bob releases src/a.rs",
        expect![[r#"
            bob joined
            ann got src/a.rs (fence 1)
            bob: refused (locked): src/a.rs is locked by ann for 3m more (2m so far); wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            bob: refused (not_held): you hold no lock on src/a.rs: src/a.rs is locked by ann for 3m more (2m so far); only its holder can release it; if you lead the holder, or are a person, take it with: release(paths=["src/a.rs"], from="ann")
            bob: refused (not_allowed): src/a.rs is locked by ann for 3m more (2m so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may"#]],
    );
}

#[test]
fn a_refusal_names_every_holder() {
    check(
        "
        ann locks src/a.rs
        bob locks src/b.rs shared because reading
        cid locks src/*.rs",
        expect![[r#"
            ann got src/a.rs (fence 1)
            bob got src/b.rs shared (fence 2)
            cid: refused (locked): src/*.rs is not free: src/a.rs is locked by ann for 5m more (0ms so far); src/b.rs is locked shared by bob ("reading") for 5m more (0ms so far); wait for it: lock(paths=["src/*.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else"#]],
    );
}

#[test]
fn globs_overlap_exactly() {
    check(
        "
        ann locks src/**/*.rs
        bob locks src/*/mod.rs
        bob locks src/*/page.ts
        bob locks src
        cid locks {docs,tests}/*.md
        dan locks docs/guide.md
        dan locks docs/deep/guide.md",
        expect![[r#"
            ann got src/**/*.rs (fence 1)
            bob: refused (locked): src/*/mod.rs is not free: src/**/*.rs is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["src/*/mod.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            bob got src/*/page.ts (fence 2)
            bob: refused (locked): src is not free: src/**/*.rs is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["src"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            cid got {docs/*.md,tests/*.md} (fence 3)
            dan: refused (locked): docs/guide.md is not free: {docs/*.md,tests/*.md} is locked by cid for 5m more (0ms so far); wait for it: lock(paths=["docs/guide.md"], wait="60s"); or ask cid: mail_send(to=["cid"], message="TEXT"); or work on something else
            dan got docs/deep/guide.md (fence 4)"#]],
    );
}

#[test]
fn several_paths_are_all_or_nothing() {
    check(
        "
        ann locks b.rs
        bob locks a.rs b.rs c.rs
        show locks
        bob locks a.rs c.rs
        show locks",
        expect![[r#"
            ann got b.rs (fence 1)
            bob: refused (locked): b.rs is locked by ann for 5m more (0ms so far); wait for them: lock(paths=["a.rs", "b.rs", "c.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            fence 1: b.rs is locked by ann for 5m more (0ms so far)
            bob got a.rs (fence 2)
            bob got c.rs (fence 3)
            fence 1: b.rs is locked by ann for 5m more (0ms so far)
            fence 2: a.rs is locked by bob for 5m more (0ms so far)
            fence 3: c.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn locking_again_renews_and_keeps_the_fence() {
    check(
        "
        ann locks src/a.rs for 60s because one
        30s pass
        ann locks ./src//a.rs for 90s because two
        show locks
        ann locks src/a.rs src/b.rs src/a.rs",
        expect![[r#"
            ann got src/a.rs (fence 1)
            src/a.rs of ann renewed for 1m 30s (fence 1)
            fence 1: src/a.rs is locked by ann ("two") for 1m 30s more (30s so far)
            src/a.rs of ann renewed for 5m (fence 1)
            ann got src/b.rs (fence 2)"#]],
    );
}

#[test]
fn a_shared_lock_can_become_exclusive() {
    check(
        "
        ann locks a.rs shared
        ann locks a.rs
        bob locks a.rs shared
        ann locks a.rs shared",
        expect![[r#"
            ann got a.rs shared (fence 1)
            a.rs of ann given up for an exclusive one
            ann got a.rs (fence 2)
            bob: refused (locked): a.rs is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            a.rs of ann renewed for 5m (fence 2)"#]],
    );
}

#[test]
fn one_ask_for_both_modes_gets_the_stronger() {
    check(
        "
        ann locks a.rs shared
        bob locks a.rs shared
        bob unlocks a.rs
        ann locks-both a.rs
        bob locks a.rs shared",
        expect![[r#"
            ann got a.rs shared (fence 1)
            bob got a.rs shared (fence 2)
            a.rs of bob given back
            a.rs of ann given up for an exclusive one
            ann got a.rs (fence 3)
            bob: refused (locked): a.rs is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else"#]],
    );
}

#[test]
fn a_holder_may_lock_within_its_own() {
    check(
        "
        ann locks src/
        ann locks src/a.rs
        bob locks src/a.rs
        ann unlocks src/
        bob locks src/a.rs
        show locks",
        expect![[r#"
            ann got src/ (fence 1)
            ann got src/a.rs (fence 2)
            bob: refused (locked): src/a.rs is not free: src/ is locked by ann for 5m more (0ms so far); src/a.rs is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            src/ of ann given back
            bob: refused (locked): src/a.rs is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            fence 2: src/a.rs is locked by ann for 5m more (0ms so far)"#]],
    );
}

#[test]
fn giving_back() {
    check(
        "
        ann locks src/a.rs src/b.rs docs/x.md
        ann unlocks src/a.rs
        ann unlocks src/
        ann unlocks docs/y.md
        ann unlocks everything
        ann unlocks everything
        show locks",
        expect![[r#"
            ann got src/a.rs (fence 1)
            ann got src/b.rs (fence 2)
            ann got docs/x.md (fence 3)
            src/a.rs of ann given back
            src/b.rs of ann given back
            ann: refused (not_held): docs/y.md is not locked, by you or anybody else; see what is held with: locks()
            docs/x.md of ann given back
            ann: nothing changes"#]],
    );
}

#[test]
fn giving_back_what_somebody_else_holds_names_the_holder() {
    check(
        "
        ann locks src/a.rs because fixing login
        bob unlocks src/a.rs
        bob unlocks src/b.rs",
        expect![[r#"
            ann got src/a.rs (fence 1)
            bob: refused (not_held): you hold no lock on src/a.rs: src/a.rs is locked by ann ("fixing login") for 5m more (0ms so far); only its holder can release it; if you lead the holder, or are a person, take it with: release(paths=["src/a.rs"], from="ann")
            bob: refused (not_held): src/b.rs is not locked, by you or anybody else; see what is held with: locks()"#]],
    );
}

#[test]
fn projects_are_apart() {
    check(
        "
        ann locks a.rs
        bob locks-elsewhere a.rs
        bob unlocks a.rs
        show locks",
        expect![[r#"
            ann got a.rs (fence 1)
            bob got a.rs (fence 2)
            bob: refused (not_held): you hold no lock on a.rs: a.rs is locked by ann for 5m more (0ms so far); only its holder can release it; if you lead the holder, or are a person, take it with: release(paths=["a.rs"], from="ann")
            fence 1: a.rs is locked by ann for 5m more (0ms so far)
            fence 2: a.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn a_refusal_names_all_that_is_not_free_and_the_whole_ask() {
    check(
        "
        ann locks a.rs b.rs
        cid locks docs/
        bob locks a.rs free.rs b.rs
        bob locks docs/x.md docs/y.md a.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            ann got b.rs (fence 2)
            cid got docs/ (fence 3)
            bob: refused (locked): a.rs is locked by ann for 5m more (0ms so far); b.rs is locked by ann for 5m more (0ms so far); wait for them: lock(paths=["a.rs", "free.rs", "b.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            bob: refused (locked): docs/x.md, docs/y.md, a.rs are not free: docs/ is locked by cid for 5m more (0ms so far); a.rs is locked by ann for 5m more (0ms so far); wait for them: lock(paths=["docs/x.md", "docs/y.md", "a.rs"], wait="60s"); or ask cid: mail_send(to=["cid"], message="TEXT"); or work on something else"#]],
    );
}
