//! Files that cannot be edited safely, and paths that cannot be run, are refused.

use comity_guard::Dialect::{self, ClaudeCode, Cursor, GeminiCli, OpenCode};
use comity_guard::connect::{Connected, ProgramPaths, SettingsKind, connect, disconnect, is_connected};
use expect_test::{Expect, expect};

use crate::connection;

fn check(dialect: Dialect, kind: SettingsKind, text: &str, expect: Expect) {
    let problem = connect(dialect, kind, Some(text), &connection()).expect_err(text);
    expect.assert_eq(&format!("{}\n{}", problem.message, problem.hint));
    assert_eq!(is_connected(dialect, kind, text, &connection()), Connected::No);
}

#[test]
fn what_is_no_plain_json_is_refused() {
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\n  // mine\n  \"a\": 1\n}",
        expect![[r#"
            the file isn't plain JSON: key must be a string at line 2 column 3
            take out comments and trailing commas, which an edit could lose, or connect by hand"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\"a\": 1,}",
        expect![[r#"
            the file isn't plain JSON: key must be a string at line 1 column 9
            take out comments and trailing commas, which an edit could lose, or connect by hand"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\"a\": 1} {}",
        expect![[r#"
            the file isn't plain JSON: trailing characters at line 1 column 10
            take out comments and trailing commas, which an edit could lose, or connect by hand"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "\u{feff}{}",
        expect![[r#"
            the file isn't plain JSON: expected value at line 1 column 1
            take out comments and trailing commas, which an edit could lose, or connect by hand"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "[{}]",
        expect![[r#"
            the file is JSON, but no object
            make it an object, or move it away"#]],
    );
    check(
        OpenCode,
        SettingsKind::Mcp,
        "/* never closed {}",
        expect![[r#"
            the file can't be read as JSON: expected value at line 1 column 1
            fix it: the program can't read it either"#]],
    );
    check(
        GeminiCli,
        SettingsKind::HooksAndMcp,
        "{\"a\": 1,} // Gemini CLI reads comments, and no such commas",
        expect![[r#"
            the file can't be read as JSON: key must be a string at line 1 column 9
            fix it: the program can't read it either"#]],
    );
    check(
        OpenCode,
        SettingsKind::Mcp,
        "{\"a\": [1,,]}",
        expect![[r#"
            the file can't be read as JSON: expected value at line 1 column 10
            fix it: the program can't read it either"#]],
    );
}

#[test]
fn the_wrong_type_where_we_write_is_refused() {
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\"hooks\": []}",
        expect![[r#"
            "hooks" is not an object
            make it an object, or take it out; the program itself would not understand it"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\"hooks\": null}",
        expect![[r#"
            "hooks" is not an object
            make it an object, or take it out; the program itself would not understand it"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\"hooks\": {\"PostToolUse\": {}}}",
        expect![[r#"
            "PostToolUse" is not a list
            make it a list, or take it out; the program itself would not understand it"#]],
    );
    check(
        GeminiCli,
        SettingsKind::HooksAndMcp,
        "{\"mcpServers\": \"a\"}",
        expect![[r#"
            "mcpServers" is not an object
            make it an object, or take it out; the program itself would not understand it"#]],
    );
    check(
        OpenCode,
        SettingsKind::Mcp,
        "{\"mcp\": [1]}",
        expect![[r#"
            "mcp" is not an object
            make it an object, or take it out; the program itself would not understand it"#]],
    );
    check(
        Cursor,
        SettingsKind::Hooks,
        "{\"version\": 2}",
        expect![[r#"
            the file is of version 2, not 1
            look for a newer Comity, which may know that version"#]],
    );
}

#[test]
fn a_key_that_is_there_twice_where_we_write_is_refused() {
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\"hooks\": {}, \"h\\u006foks\": {}}",
        expect![[r#"
            "hooks" is there twice
            merge the two: programs read only one of them"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        "{\"hooks\": {\"PreToolUse\": [], \"PreToolUse\": []}}",
        expect![[r#"
            "PreToolUse" is there twice
            merge the two: programs read only one of them"#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Mcp,
        "{\"mcpServers\": {\"comity\": {}, \"comity\": {}}}",
        expect![[r#"
            "comity" is there twice
            merge the two: programs read only one of them"#]],
    );
    check(
        Cursor,
        SettingsKind::Hooks,
        "{\"version\": 1, \"version\": 1}",
        expect![[r#"
            "version" is there twice
            merge the two: programs read only one of them"#]],
    );
    let group = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"comity-hook\"}], \"hooks\": []}]}}";
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        group,
        expect![[r#"
            "hooks" is there twice
            merge the two: programs read only one of them"#]],
    );
    assert!(disconnect(ClaudeCode, SettingsKind::Hooks, group).is_err());
}

#[test]
fn a_plugin_of_somebody_else_is_left_alone() {
    check(
        OpenCode,
        SettingsKind::Plugin,
        "export const Mine = async () => ({});\n",
        expect![[r#"
            a plugin of somebody else has the name of ours
            give that plugin another name"#]],
    );
}

#[test]
fn a_program_has_only_its_own_files() {
    check(
        ClaudeCode,
        SettingsKind::Plugin,
        "",
        expect![[r#"
            claude has no file of the kind Plugin
            ask for one of the places that it has"#]],
    );
    check(
        GeminiCli,
        SettingsKind::Hooks,
        "{}",
        expect![[r#"
            gemini has no file of the kind Hooks
            ask for one of the places that it has"#]],
    );
    assert!(disconnect(GeminiCli, SettingsKind::Hooks, "{}").is_err());
}

#[test]
fn paths_that_cannot_be_run_are_refused() {
    let check = |hook: &str, comity: &str, expect: Expect| {
        let connection =
            ProgramPaths { hook: hook.to_owned(), comity: comity.to_owned(), ..crate::connection() };
        let problem = connect(ClaudeCode, SettingsKind::Hooks, None, &connection).expect_err(hook);
        expect.assert_eq(&format!("{}\n{}", problem.message, problem.hint));
    };
    check(
        "comity-hook",
        "/a/comity",
        expect![[r#"
            "comity-hook" isn't an absolute path
            give the whole path of the program: agents run it from other folders"#]],
    );
    check(
        "/a/comity-hook",
        "bin/comity",
        expect![[r#"
            "bin/comity" isn't an absolute path
            give the whole path of the program: agents run it from other folders"#]],
    );
    check(
        "/a\nb/comity-hook",
        "/a/comity",
        expect![[r#"
            the path "/a\nb/comity-hook" has control characters in it
            install the program in a folder with a plain name"#]],
    );
    check(
        "/a/comity-hook",
        "/a\u{1b}/comity",
        expect![[r#"
            the path "/a\u{1b}/comity" has control characters in it
            install the program in a folder with a plain name"#]],
    );
    check(
        "/a/hook",
        "/a/comity",
        expect![[r#"
            "/a/hook" is not called comity-hook
            give the hook program its own name: by that it is found again when it is removed"#]],
    );
}
