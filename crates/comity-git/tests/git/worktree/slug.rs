//! Which names a worktree may have.

use comity_git::worktree::{Branch, FailureKind, InnerPath, NewWorktree, SLUG_CHARS_MAX, Setup, Slug};

use super::yard::Yard;

#[test]
fn names_that_are_taken_as_they_are() {
    for name in [
        "ann", "Ann", "a", "a.b_c-d", "team/ann", "a/b/c", "0", "v1.0", "_x", "console", "nullable", "com",
        "com10",
    ] {
        let slug = Slug::parse(name).expect(name);
        assert_eq!(slug.as_str(), name);
        assert_eq!(slug.branch(), format!("comity/{name}"));
        assert_eq!(slug.folder(), name.replace('/', "+"));
    }
    assert!(Slug::parse(&"x".repeat(SLUG_CHARS_MAX)).is_ok());
}

#[test]
fn hostile_names_are_refused() {
    let long = "x".repeat(SLUG_CHARS_MAX + 1);
    let names = [
        "",
        "/",
        ".",
        "..",
        "a/..",
        "a/../b",
        "../a",
        "a/./b",
        "/a",
        "a/",
        "a//b",
        "-a",
        "a/-b",
        "--force",
        "-",
        "a b",
        "a\nb",
        "a\0b",
        "a\tb",
        "caf\u{e9}",
        "\u{202e}a",
        "\u{ff0f}",
        "a:b",
        "a\\b",
        "a~1",
        "a^",
        "a?",
        "a*",
        "a[b]",
        "a@{0}",
        "@",
        "@{",
        "a.lock",
        "a.lock/b",
        "a/b.lock",
        ".a",
        "a/.b",
        "a..b",
        "a.",
        "a/b.",
        "$HOME",
        "`id`",
        "a;b",
        "a|b",
        "'a'",
        "\"a\"",
        "%2e%2e",
        "a+b",
        "CON",
        "con",
        "Nul.txt",
        "aux",
        "team/PRN",
        "COM1",
        "lpt9.log",
        &long,
        ".git",
        "a/.git",
    ];
    for name in names {
        let no = Slug::parse(name).expect_err(name);
        assert_eq!(no.kind(), FailureKind::BadName, "{name:?}");
    }
}

#[test]
fn every_slug_is_a_branch_to_git() {
    let yard = Yard::new();
    for name in ["a.b_c-d", "team/ann", "0", "_x"] {
        let branch = Slug::parse(name).expect(name).branch();
        yard.sandbox.git("main", &["check-ref-format", "--branch", &branch]);
    }
}

#[test]
fn branches_by_the_rule_of_git() {
    let yard = Yard::new();
    let names = "trunk a/b caf\u{e9} a@b @a a.b a..b a.lock a/.b a~ a^ a: a? a* a[ a\\ @{ a@{b a. /a a/ a//b a\u{7f} a\tb";
    for name in names.split(' ') {
        let said = std::process::Command::new("git")
            .args(["check-ref-format", &format!("refs/heads/{name}")])
            .current_dir(yard.path("main"))
            .output()
            .expect("git");
        assert_eq!(Branch::parse(name).is_ok(), said.status.success(), "{name:?}");
    }
    for name in ["-a", "HEAD", "@", "", "a b"] {
        assert!(Branch::parse(name).is_err(), "{name:?}");
    }
}

#[test]
fn paths_that_stay_inside() {
    for path in
        ["node_modules", ".next", "packages/app/node_modules", ".claude/settings.local.json", "target/"]
    {
        assert!(InnerPath::parse(path).is_ok(), "{path}");
    }
    for path in
        ["", "/", "/etc", "..", "a/../b", "./a", "a//b", ".git", "a/.GIT/hooks", "-a", "a b", "a\nb", "~/a"]
    {
        assert!(InnerPath::parse(path).is_err(), "{path}");
    }
}

/// Makes one worktree, then asks for another one.
fn check(first: &str, second: &str, expected: Option<FailureKind>) {
    let yard = Yard::new();
    yard.make(first);
    let slug = Slug::parse(second).expect("a slug");
    let setup = Setup::default();
    let made = yard.driver.create(&NewWorktree {
        slug: &slug,
        branch: None,
        base: "trunk",
        setup: &setup,
        reserved: None,
    });
    assert_eq!(made.err().map(|failure| failure.kind()), expected, "{first} {second}");
}

#[test]
fn names_that_collide() {
    check("ann", "ann", Some(FailureKind::Taken));
    check("ann", "Ann", Some(FailureKind::Taken));
    check("ann", "ann/x", Some(FailureKind::Taken));
    check("ann/x", "ann", Some(FailureKind::Taken));
    check("ann/x", "ANN/y", Some(FailureKind::Taken));
    check("ann", "annika", None);
    check("ann/x", "ann/y", None);
}

#[test]
fn branches_of_the_user_are_not_taken_over() {
    for name in ["comity/ann", "comity/ANN", "comity/ann/deep", "comity"] {
        let yard = Yard::new();
        yard.sandbox.git("main", &["branch", name]);
        let slug = Slug::parse("ann").expect("a slug");
        let setup = Setup::default();
        let no = yard.driver.create(&NewWorktree {
            slug: &slug,
            branch: None,
            base: "trunk",
            setup: &setup,
            reserved: None,
        });
        assert_eq!(no.expect_err(name).kind(), FailureKind::Taken, "{name}");
        assert!(yard.exists(&format!("refs/heads/{name}")), "{name} stays");
        assert!(!yard.path("trees/worktrees/ann").exists());
    }
}
