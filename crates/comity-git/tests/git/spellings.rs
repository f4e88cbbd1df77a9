//! Spellings and what they mean.

use crate::sandbox::{Sandbox, canonical};

fn tree() -> Sandbox {
    let sandbox = Sandbox::with(&[
        "src/a.rs",
        "src/auth/login.rs",
        "app/[id]/page.tsx",
        "app/{x}/y.ts",
        "odd/a,b.rs",
        "odd/*.rs",
        "caf\u{e9}/menu.md",
        "docs/guide.md",
    ]);
    sandbox.link("src", "main/sources");
    sandbox.link("auth/login.rs", "main/src/entry.rs");
    sandbox.link("../docs", "main/src/docs");
    sandbox.link("not/yet.rs", "main/dangling");
    sandbox.link("main", "checkout");
    sandbox.git("main", &["worktree", "add", "-q", "../linked", "-b", "linked"]);
    sandbox.git("main", &["worktree", "add", "-q", "trees/inner", "-b", "inner"]);
    sandbox.git("main", &["worktree", "add", "-q", ".git/kept/there", "-b", "there"]);
    sandbox
}

#[test]
fn spellings_from_the_root() {
    let sandbox = tree();
    let repository = sandbox.repository("main");
    let check = |text: &str, expected: &str| {
        assert_eq!(canonical(&repository, &sandbox.main(), text), expected, "{text}");
    };
    // Plain paths.
    check("src/a.rs", "src/a.rs");
    check("./src//./a.rs", "src/a.rs");
    check("src\\auth\\..\\a.rs", "src/a.rs");
    check("src/new.rs", "src/new.rs");
    check("src/new/deep/../x.rs", "src/new/x.rs");
    check("new/../src/a.rs", "src/a.rs");
    check("new/../../main/src/a.rs", "src/a.rs");
    check("src/a.rs/", "src/a.rs");
    // Directories.
    check("src", "src/");
    check("src/", "src/");
    check("src/auth/..", "src/");
    check("new/", "new/");
    check("new/.", "new/");
    check("new", "new");
    check(".", "**");
    check("src/..", "**");
    check("trees", "trees/");
    // Symlinks.
    check("sources/a.rs", "src/a.rs");
    check("sources", "src/");
    check("src/entry.rs", "src/auth/login.rs");
    check("sources/docs/guide.md", "docs/guide.md");
    check("src/docs/../src/a.rs", "src/a.rs");
    check("dangling", "not/yet.rs");
    check("dangling/../x.rs", "not/x.rs");
    check("sources/docs/*.md", "docs/*.md");
    // Globs.
    check("src/*.rs", "src/*.rs");
    check("src/**", "src/");
    check("**/*.rs", "**/*.rs");
    check("src/*/", "src/*/**");
    check("src/*/../a.rs", "src/a.rs");
    check("src/[ac].rs", "src/[ac].rs");
    check("sources/{a,auth/login}.rs", "{src/a.rs,src/auth/login.rs}");
    check("{src,docs}", "{docs/,src/}");
    check("{src/a.rs,sources/a.rs}", "src/a.rs");
    check("new/{a,b}/c", "{new/a/c,new/b/c}");
    check(&format!("src/{{{}}}", vec!["x.rs"; 60].join(",")), "src/x.rs");
    // Characters of globs in names that exist.
    check("app/[id]/page.tsx", "app/[[]id[]]/page.tsx");
    check("app/[id]", "app/[[]id[]]/");
    check("app/[id]/*.tsx", "app/[[]id[]]/*.tsx");
    check("app/[id]/{page,new}.tsx", "{app/[[]id[]]/new.tsx,app/[[]id[]]/page.tsx}");
    check("app/{x}/y.ts", "app/[{]x[}]/y.ts");
    check("app/{x}/{y,z}.ts", "{app/[{]x[}]/y.ts,app/[{]x[}]/z.ts}");
    check("app/[on]/page.tsx", "app/[n-o]/page.tsx");
    check("odd/*.rs", "odd/[*].rs");
    check("odd/{a,b}.rs", "{odd/a.rs,odd/b.rs}");
    // Unicode forms.
    check("cafe\u{301}/menu.md", "caf\u{e9}/menu.md");
    check("cafe\u{301}", "caf\u{e9}/");
}

#[test]
fn spellings_from_elsewhere() {
    let sandbox = tree();
    let check = |repository: &str, cwd: &str, text: &str, expected: &str| {
        let repository = sandbox.repository(repository);
        let text = text.replace("TOP", sandbox.path("").to_str().expect("a path").trim_end_matches('/'));
        assert_eq!(canonical(&repository, &sandbox.path(cwd), &text), expected, "{cwd}: {text}");
    };
    check("main", "main/src/auth", "login.rs", "src/auth/login.rs");
    check("main", "main/src/auth", "../a.rs", "src/a.rs");
    check("main", "main/sources/auth", "../a.rs", "src/a.rs");
    check("main", "checkout/sources", "a.rs", "src/a.rs");
    check("main", "main", "TOP/main/src/a.rs", "src/a.rs");
    check("main", "main", "TOP/checkout/./src/a.rs", "src/a.rs");
    check("main", "linked", "src/a.rs", "src/a.rs");
    check("main", "main", "TOP/linked/src/a.rs", "src/a.rs");
    check("main", "main", "../linked/src/*.rs", "src/*.rs");
    check("main", "main", "{TOP/linked/src/a.rs,TOP/main/docs/}", "{docs/,src/a.rs}");
    check("main", "main", "trees/inner/src/new.rs", "src/new.rs");
    check("main", "main", "trees/inner", "**");
    check("main", "main", ".git/kept/there/src/a.rs", "src/a.rs");
    check("main/.git/kept/there", "main/.git/kept/there/src", "a.rs", "src/a.rs");
    check("linked", "linked/src", "a.rs", "src/a.rs");
    check("linked", "linked", "TOP/main/src/a.rs", "src/a.rs");
    check("linked", "linked", "TOP/main/trees/inner/src/a.rs", "src/a.rs");
    check("main/trees/inner", "main/trees/inner", "../../src/a.rs", "src/a.rs");
    check("main/trees/inner", "main/trees/inner/src", "*.rs", "src/*.rs");
}

#[test]
fn hooks_name_files_and_no_globs() {
    let sandbox = tree();
    let repository = sandbox.repository("main");
    let check = |text: &str, expected: &str| {
        let pattern = repository.resolve_file(&sandbox.main(), text).expect(text);
        assert_eq!(pattern.readable(), expected, "{text}");
    };
    check("app/[slug]/page.tsx", "app/[slug]/page.tsx");
    check("app/{a,b}.ts", "app/{a,b}.ts");
    check("sources/*", "src/*");
    check("src/{", "src/{");
    check("src", "src/");
    check("dangling", "not/yet.rs");
}
