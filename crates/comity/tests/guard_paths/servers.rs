//! Tools of other MCP servers: looking at what is locked passes, and whatever may write to it does not.

use serde_json::{Value, json};

use super::Yard;

/// Calls that may write to ann's `src/a.rs`, her directory `deep` or her `src/g*.txt`.
fn writing(held: &str) -> Vec<(&'static str, Value)> {
    vec![
        // The name looks, and something that it is given does not: an output, a content, a mode, an act, an option.
        ("mcp__fs__get", json!({ "out": held, "data": "x" })),
        ("mcp__fs__get", json!({ "url": "https://example.org", "output": held })),
        ("mcp__fs__get", json!({ "url": "https://example.org", "save_to": held })),
        ("mcp__fs__get", json!({ "url": "https://example.org", "to": held })),
        ("mcp__fs__get_file", json!({ "path": held, "mode": "w", "text": "x" })),
        ("mcp__fs__get_file", json!({ "path": held, "mode": "a+" })),
        ("mcp__fs__get_file", json!({ "path": held, "flags": ["O_RDWR"] })),
        ("mcp__fs__get_file", json!({ "path": held, "text": "x" })),
        ("mcp__fs__read", json!({ "path": held, "options": { "write": { "data": "x" } } })),
        ("mcp__fs__read", json!({ "path": held, "action": "write" })),
        ("mcp__fs__read", json!({ "path": held, "operation": "overwrite" })),
        ("mcp__fs__view", json!({ "path": held, "in_place": true })),
        ("mcp__fs__search", json!({ "path": held, "replacement": "x" })),
        ("mcp__fs__search", json!({ "path": held, "fix": true })),
        ("mcp__fs__search", json!({ "query": "x", "args": "--output=src/a.rs" })),
        ("mcp__fs__search", json!({ "query": "x", "args": ["-o", "src/a.rs"] })),
        ("mcp__fs__list", json!({ "path": "src", "flags": "> src/a.rs" })),
        ("mcp__fs__list", json!({ "items": [{ "dest": held }] })),
        // Paths as names of arguments, and in arguments of programs.
        ("mcp__fs__do", json!({ "src/a.rs": "new content" })),
        ("mcp__fs__do", json!({ "link.rs": "new content" })),
        ("mcp__fs__do", json!({ "deep/new.rs": "new content" })),
        ("mcp__fs__do", json!({ "x": { "y": { "src/a.rs": { "z": 1 } } } })),
        ("mcp__fs__do", json!({ "args": "--out=src/a.rs" })),
        ("mcp__fs__do", json!({ "args": "-o src/a.rs" })),
        ("mcp__fs__do", json!({ "args": "-osrc/a.rs" })),
        ("mcp__fs__do", json!({ "args": "if=/dev/zero of=src/a.rs" })),
        ("mcp__fs__do", json!({ "args": ["--out=src/a.rs"] })),
        ("mcp__fs__do", json!({ "args": ["-v", "-o", "src/a.rs"] })),
        ("mcp__fs__do", json!({ "args": ["--out", "'src/a.rs'"] })),
        ("mcp__fs__do", json!({ "x": "convert this > src/a.rs" })),
        ("mcp__fs__do", json!({ "args": format!("{} -o src/a.rs", "-v ".repeat(3_000)) })),
        ("mcp__fs__do", json!({ "cwd": "src", "args": "--out=a.rs" })),
        ("mcp__fs__do", json!({ "x": "deep/new.rs" })),
        // A name that begins like looking and goes on with an act, or has a word that nobody has told us about.
        ("mcp__fs__list_and_fix", json!({ "path": "src" })),
        ("mcp__fs__list_and_frobnicate", json!({ "path": "src" })),
        ("mcp__fs__findThenPatch", json!({ "root": "src" })),
        ("mcp__fs__get_and_obliterate", json!({ "path": held })),
        ("mcp__fs__read_frobnicate", json!({ "path": held })),
        ("mcp__fs__frobnicate_tree", json!({ "path": held })),
        ("mcp__eslint__fix", json!({ "path": "src" })),
        ("mcp__fs__delete_files", json!({ "pattern": "src/*.rs" })),
        ("mcp__fs__delete_files", json!({ "glob": "**/a.rs" })),
        ("mcp__fs__convert", json!({ "file_pattern": "src/g?.txt" })),
        // Outputs of tools that are no tools for files.
        ("mcp__playwright__browser_take_screenshot", json!({ "filename": held })),
        ("mcp__playwright__browser_network_requests", json!({ "filename": held })),
        ("mcp__playwright__browser_pdf_save", json!({ "filename": held })),
        ("mcp__git__git_checkout", json!({ "repo_path": ".", "branch_name": "x" })),
        ("mcp__fetch__download", json!({ "url": "https://example.org", "to": held })),
    ]
}

/// Calls that are no write to anything of ann's.
fn harmless(held: &str, repo: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("mcp__filesystem__read_file", json!({ "path": held, "head": 10 })),
        ("mcp__filesystem__read_text_file", json!({ "path": held, "tail": 10 })),
        ("mcp__filesystem__read_media_file", json!({ "path": held })),
        ("mcp__filesystem__read_multiple_files", json!({ "paths": [held, "src/b.rs"] })),
        ("mcp__filesystem__list_directory_with_sizes", json!({ "path": "src", "sortBy": "name" })),
        ("mcp__filesystem__directory_tree", json!({ "path": repo, "excludePatterns": ["*.rs"] })),
        ("mcp__filesystem__search_files", json!({ "path": repo, "pattern": "src/*.rs" })),
        ("mcp__filesystem__get_file_info", json!({ "path": held })),
        ("mcp__filesystem__list_allowed_directories", json!({})),
        ("mcp__filesystem__create_directory", json!({ "path": "src" })),
        ("mcp_filesystem_read_text_file", json!({ "path": held })),
        ("acme-files-read_file", json!({ "path": held })),
        ("mcp__git__git_status", json!({ "repo_path": repo })),
        ("mcp__git__git_diff", json!({ "repo_path": repo, "target": "main", "context_lines": 3 })),
        ("mcp__git__git_diff_unstaged", json!({ "repo_path": repo })),
        ("mcp__git__git_log", json!({ "repo_path": repo, "max_count": 10 })),
        ("mcp__git__git_show", json!({ "repo_path": repo, "revision": "HEAD:src/b.rs" })),
        ("mcp__git__git_blame", json!({ "repo_path": repo, "path": held })),
        ("mcp__git__git_commit", json!({ "repo_path": repo, "message": "Change src/a.rs" })),
        ("mcp__github__get_file_contents", json!({ "owner": "o", "repo": "r", "path": held, "ref": "main" })),
        ("mcp__github__list_commits", json!({ "owner": "o", "repo": "r", "path": held })),
        ("mcp__github__get_commit", json!({ "sha": "abc", "include_diff": true, "path": held })),
        ("mcp__github__get_pull_request_files", json!({ "pullNumber": 3, "path": held })),
        ("mcp__github__search_code", json!({ "query": "path:src/a.rs out -o x" })),
        ("mcp__github__create_issue", json!({ "title": "x", "body": "see src/a.rs", "labels": ["bug"] })),
        ("mcp__github__add_issue_comment", json!({ "issue_number": 1, "body": "src/a.rs is wrong" })),
        ("mcp__playwright__browser_navigate", json!({ "url": "https://example.org/src/a.rs" })),
        ("mcp__playwright__browser_snapshot", json!({})),
        ("mcp__playwright__browser_click", json!({ "element": "link to src/a.rs", "ref": "e3" })),
        ("mcp__playwright__browser_type", json!({ "element": "box", "ref": "e3", "text": "src/a.rs" })),
        ("mcp__playwright__browser_take_screenshot", json!({ "type": "png", "filename": "shot.png" })),
        (
            "mcp__fetch__fetch",
            json!({ "url": "https://example.org/src/a.rs", "max_length": 5000, "raw": true }),
        ),
        ("mcp__brave__brave_web_search", json!({ "query": "src/a.rs", "count": 3 })),
        ("mcp__rg__search", json!({ "path": held, "pattern": "a > b", "output_format": "json" })),
        ("mcp__rg__search", json!({ "path": held, "text": "fn main", "mode": "content" })),
        ("mcp__rg__count-matches", json!({ "path": held, "pattern": "--output=x" })),
        ("mcp__serena__get_symbols_overview", json!({ "relative_path": held, "max_answer_chars": 100 })),
        ("mcp__serena__find_referencing_symbols", json!({ "relative_path": held, "name_path": "main" })),
        ("mcp__serena__search_for_pattern", json!({ "relative_path": held, "substring_pattern": "x" })),
        ("mcp__jetbrains__get_file_text_by_path", json!({ "pathInProject": held, "maxLinesCount": 9 })),
        ("mcp__jetbrains__search_in_files_by_text", json!({ "searchText": "x", "directoryToSearch": "src" })),
        ("mcp__lsp__definition", json!({ "file": held, "line": 1 })),
        ("mcp__ide__getDiagnostics", json!({ "uri": held })),
        ("mcp__context7__get-library-docs", json!({ "context7CompatibleLibraryID": "/vercel/next.js" })),
        ("mcp__thinking__sequentialthinking", json!({ "thought": "src/a.rs", "thoughtNumber": 1 })),
        (
            "mcp__memory__create_entities",
            json!({ "entities": [{ "name": "x", "observations": ["src/a.rs"] }] }),
        ),
        ("mcp__fs__do", json!({ "args": "--out=src/b.rs" })),
        ("mcp__fs__do", json!({ "src/b.rs": "see src/a.rs" })),
        (
            "mcp__fs__do",
            json!({ "args": ["--in", "main", "-v"], "version": "1.2.3", "branch": "origin/main" }),
        ),
    ]
}

#[test]
fn only_what_looks_in_every_way_passes() {
    let mut yard = Yard::new();
    let repo = yard.place.repo.to_str().expect("a text").to_owned();
    let held = format!("{repo}/src/a.rs");
    let (bad, good) = (writing(&held), harmless(&held, &repo));
    assert!(bad.len() >= 40 && good.len() >= 40, "{} and {}", bad.len(), good.len());
    let mut wrong = Vec::new();
    for (calls, is_bad) in [(&bad, true), (&good, false)] {
        for (tool, input) in calls {
            let no = yard.judge("claude", Some(tool), input);
            yard.tidy();
            if no.is_some() != is_bad {
                let mut input = input.to_string();
                input.truncate(200);
                wrong.push(format!("{tool} {input}: {}", no.unwrap_or_else(|| "was let pass".into())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cursor names a tool of another server as that server does.
#[test]
fn a_servers_tool_with_the_name_of_one_of_the_programs_own() {
    let mut yard = Yard::new();
    for tool in ["read_file", "list", "view", "grep", "read_many_files"] {
        yard.denied("cursor", tool, &json!({ "path": "src/a.rs", "mode": "w", "data": "x" }));
        yard.denied("cursor", tool, &json!({ "out": "src/a.rs" }));
        yard.passes("cursor", tool, &json!({ "path": "src/a.rs" }));
    }
}
