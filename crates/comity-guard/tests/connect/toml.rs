//! Our server in the TOML of Codex.

use comity_guard::Dialect::Codex;
use comity_guard::connect::{
    Connected, SettingsKind, ShellStart, connect, disconnect, is_connected, shell_start,
};
use expect_test::{Expect, expect};

use crate::{connected, connection};

const FILES: &[&str] = &[
    "model = \"gpt\"\n",
    "model = \"gpt\"",
    "# mine\nmodel = \"gpt\" # why\n\n\n",
    "model = \"gpt\"\n[a]\nb = 1",
    "[mcp_servers.github]\nargs = [\n  \"-y\", # yes\n]\n\n[mcp_servers.github.env]\nA = \"1\"\n# last",
    "[mcp_servers]\n",
    "\n[profiles.\"größe\"]\nx = '''\n[mcp_servers.comity]\n'''\n",
    "mcp_servers.github.command = \"npx\"\n",
    "[shell_environment_policy]\ninherit = \"all\"\n",
];

/// Whether a line ends without a carriage return.
fn has_bare_newline(text: &str) -> bool {
    text.replace("\r\n", "").contains('\n')
}

#[test]
fn everything_else_stays_byte_for_byte() {
    let ends = ["", "\n", "\n\n", "\n# end", "\n\n# end\n", "\n[z]\n", "\n[z.\"a\"]\nb = [\n1]"];
    let files = FILES.iter().flat_map(|file| ends.iter().map(move |end| format!("{file}{end}")));
    let files = files.flat_map(|file| [file.replace('\n', "\r\n"), file]);
    for existing in files.collect::<Vec<_>>() {
        let existing = existing.as_str();
        let text = connected(Codex, SettingsKind::Mcp, Some(existing));
        assert!(text.starts_with(existing), "{text}");
        assert!(existing.contains('\r') || !text.contains('\r'), "{text:?}");
        assert!(!existing.contains('\r') || !has_bare_newline(&text), "{text:?}");
    }
    let new = connected(Codex, SettingsKind::Mcp, None);
    expect![[r#"
        [mcp_servers.comity]
        command = "/opt/comity/bin/comity"
        args = ["mcp"]

        [shell_environment_policy.set]
        ZDOTDIR = "/opt/comity/state/comity-zsh"
        BASH_ENV = "/opt/comity/state/comity-confine.sh"
    "#]]
    .assert_eq(&new);
    for existing in ["", "\n"] {
        assert_eq!(connected(Codex, SettingsKind::Mcp, Some(existing)), new);
    }
}

#[test]
fn a_server_with_more_in_it_keeps_that_until_it_goes() {
    let text = "[mcp_servers.comity] # theirs\nargs = [\"mcp\"]\ncommand = '/old/comity' # old\n\
                env.A = \"1\"\n\n[mcp_servers.comity.tools.lock]\nmode = \"approve\"\n\n[other]\na = 1\n";
    assert_eq!(is_connected(Codex, SettingsKind::Mcp, text, &connection()), Connected::Otherwise);
    let with = connect(Codex, SettingsKind::Mcp, Some(text), &connection()).expect("connected");
    let policy = "\n[shell_environment_policy.set]\nZDOTDIR = \"/opt/comity/state/comity-zsh\"\n\
                  BASH_ENV = \"/opt/comity/state/comity-confine.sh\"\n";
    assert_eq!(with, text.replace("'/old/comity'", "\"/opt/comity/bin/comity\"") + policy);
    let without = disconnect(Codex, SettingsKind::Mcp, &with).expect("edited");
    assert_eq!(without.as_deref(), Some("\n[other]\na = 1\n"));
}

#[test]
fn what_our_table_misses_is_put_in() {
    let check = |text: &str, expect: Expect| {
        let with = connect(Codex, SettingsKind::Mcp, Some(text), &connection()).expect("connected");
        assert_eq!(is_connected(Codex, SettingsKind::Mcp, &with, &connection()), Connected::Yes);
        expect.assert_eq(&with);
    };
    check(
        "[mcp_servers.comity]",
        expect![[r#"
            [mcp_servers.comity]
            command = "/opt/comity/bin/comity"
            args = ["mcp"]

            [shell_environment_policy.set]
            ZDOTDIR = "/opt/comity/state/comity-zsh"
            BASH_ENV = "/opt/comity/state/comity-confine.sh""#]],
    );
    check(
        "[mcp_servers.comity]\nenabled = true\n[z]\n",
        expect![[r#"
            [mcp_servers.comity]
            command = "/opt/comity/bin/comity"
            args = ["mcp"]
            enabled = true
            [z]

            [shell_environment_policy.set]
            ZDOTDIR = "/opt/comity/state/comity-zsh"
            BASH_ENV = "/opt/comity/state/comity-confine.sh"
        "#]],
    );
    check(
        "[mcp_servers.comity]\ncommand = 1\nargs = [\"mcp\", 2]\n",
        expect![[r#"
            [mcp_servers.comity]
            command = "/opt/comity/bin/comity"
            args = ["mcp"]

            [shell_environment_policy.set]
            ZDOTDIR = "/opt/comity/state/comity-zsh"
            BASH_ENV = "/opt/comity/state/comity-confine.sh"
        "#]],
    );
    check(
        "[mcp_servers.comity.env]\nA = \"1\"\n",
        expect![[r#"
            [mcp_servers.comity.env]
            A = "1"

            [mcp_servers.comity]
            command = "/opt/comity/bin/comity"
            args = ["mcp"]

            [shell_environment_policy.set]
            ZDOTDIR = "/opt/comity/state/comity-zsh"
            BASH_ENV = "/opt/comity/state/comity-confine.sh"
        "#]],
    );
}

#[test]
fn forms_that_cannot_be_edited_are_refused() {
    let check = |text: &str, expect: Expect| {
        let problem = connect(Codex, SettingsKind::Mcp, Some(text), &connection()).expect_err(text);
        expect.assert_eq(&format!("{}\n{}", problem.message, problem.hint));
    };
    check(
        "a = \n",
        expect![[r#"
        the file isn't TOML (line 1)
        fix it; Codex can't read it either"#]],
    );
    check(
        "mcp_servers = 1\n",
        expect![[r#"
            "mcp_servers" is not a table
            make it a table, or take it out; the program itself would not understand it"#]],
    );
    check(
        "mcp_servers = { github = { command = \"npx\" } }\n",
        expect![[r#"
            "mcp_servers" is written in a form that can't be edited
            give every server a header of its own, such as [mcp_servers.comity]"#]],
    );
    check(
        "[mcp_servers]\ncomity = { command = \"/old/comity\" }\n",
        expect![[r#"
            "mcp_servers" is written in a form that can't be edited
            give every server a header of its own, such as [mcp_servers.comity]"#]],
    );
    check(
        "[[mcp_servers]]\na = 1\n",
        expect![[r#"
            "mcp_servers" is not a table
            make it a table, or take it out; the program itself would not understand it"#]],
    );
    check(
        "[mcp_servers.comity.command]\na = 1\n[mcp_servers.comity]\n",
        expect![[r#"
            "mcp_servers" is written in a form that can't be edited
            give every server a header of its own, such as [mcp_servers.comity]"#]],
    );
    assert!(disconnect(Codex, SettingsKind::Mcp, "mcp_servers.comity.command = \"/old/comity\"\n").is_err());
}

#[test]
fn variables_of_the_users_own_stay() {
    let server = "[mcp_servers.comity]\ncommand = \"/opt/comity/bin/comity\"\nargs = [\"mcp\"]\n";
    for users in [
        "[shell_environment_policy.set]\nBASH_ENV = \"/srv/ann/env\"\n",
        "[shell_environment_policy]\nset = { A = \"1\", BASH_ENV = \"/srv/ann/env\" }\n",
        "[shell_environment_policy]\nset.A = \"1\"\n",
        "shell_environment_policy.inherit = \"all\"\n",
    ] {
        let text = connect(Codex, SettingsKind::Mcp, Some(users), &connection()).expect("connected");
        assert_eq!(text, format!("{users}\n{server}"));
        assert_eq!(disconnect(Codex, SettingsKind::Mcp, &text).expect("edited").as_deref(), Some(users));
    }
    let users = "[shell_environment_policy.set]\nA = \"1\"\n\n[z]\n";
    let text = connect(Codex, SettingsKind::Mcp, Some(users), &connection()).expect("connected");
    assert!(text.contains("BASH_ENV = \"/opt/comity/state/comity-confine.sh\"\nA = \"1\"\n\n[z]"), "{text}");
    assert_eq!(disconnect(Codex, SettingsKind::Mcp, &text).expect("edited").as_deref(), Some(users));
}

#[test]
fn tables_in_braces_are_added_to() {
    let check = |users: &str, expected: &str| {
        let text = connected(Codex, SettingsKind::Mcp, Some(users));
        let (policy, _server) = text.split_once("\n[mcp_servers").expect("our server is there, too");
        assert_eq!(policy.trim_end(), expected, "{users}");
        let start = shell_start(Codex, SettingsKind::Mcp, &text);
        let ours = connection().bash_env;
        assert_eq!(start, Some(ShellStart::BashEnv(ours)), "Codex reads it: {text}");
    };
    let ours =
        "BASH_ENV = \"/opt/comity/state/comity-confine.sh\", ZDOTDIR = \"/opt/comity/state/comity-zsh\"";
    check(
        "[shell_environment_policy]\nset = { A = \"1\" } # mine\ninherit = \"all\"\n",
        &format!("[shell_environment_policy]\nset = {{ A = \"1\", {ours} }} # mine\ninherit = \"all\""),
    );
    check(
        "shell_environment_policy = { set = {A=\"1\"}, inherit = \"all\" }",
        &format!("shell_environment_policy = {{ set = {{A=\"1\", {ours}}}, inherit = \"all\" }}"),
    );
    check(
        "shell_environment_policy = { inherit = \"all\" }\n",
        &format!("shell_environment_policy = {{ inherit = \"all\", set = {{{ours}}} }}"),
    );
    for (empty, filled) in [("{}", format!("{{ {ours}}}")), ("{ }", format!("{{ {ours} }}"))] {
        check(
            &format!("shell_environment_policy.set = {empty}\n"),
            &format!("shell_environment_policy.set = {filled}"),
        );
        check(
            &format!("shell_environment_policy = {{ set = {empty} }}\n"),
            &format!("shell_environment_policy = {{ set = {filled} }}"),
        );
        check(
            &format!("shell_environment_policy = {empty}\n"),
            &format!("shell_environment_policy = {}", filled.replace(ours, &format!("set = {{{ours}}}"))),
        );
    }
}

#[test]
fn what_codex_starts_its_shell_through_is_read_in_every_form() {
    let check = |text: &str, expected: ShellStart| {
        assert_eq!(shell_start(Codex, SettingsKind::Mcp, text), Some(expected), "{text}");
    };
    let users = |setting, value: &str| ShellStart::Users { setting, value: value.to_owned() };
    check("", ShellStart::Plain);
    check("not TOML", ShellStart::Plain);
    check("[shell_environment_policy]\nset.A = \"1\"\n", ShellStart::Plain);
    check("shell_environment_policy.set.BASH_ENV = \"/srv/ann/env\"\n", users("BASH_ENV", "/srv/ann/env"));
    let ours = "shell_environment_policy.set.BASH_ENV = \"/any/comity-confine.sh\"\n";
    check(ours, ShellStart::BashEnv("/any/comity-confine.sh".to_owned()));
    for (only, is_kept) in [
        ("\"PATH\"", false),
        ("\"PATH\", \"bash_*\"", true),
        ("\"*\"", true),
        ("\"*_HOME\"", false),
        ("", true),
    ] {
        let text = format!("{ours}shell_environment_policy.include_only = [{only}]\n");
        let expected = match is_kept {
            true => ShellStart::BashEnv("/any/comity-confine.sh".to_owned()),
            false => users("include_only", &format!("[{only}]")),
        };
        check(&text, expected);
    }
}
