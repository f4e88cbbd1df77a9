//! Where the files are, and what users are told of each program.

use std::path::{Path, PathBuf};

use comity_guard::Dialect;
use comity_guard::connect::{gaps, places};
use expect_test::{Expect, expect};

fn check(variable: impl Fn(&str) -> Option<PathBuf> + Copy, expect: &Expect) {
    let lines = Dialect::ALL.into_iter().flat_map(|dialect| {
        places(dialect).iter().map(move |place| {
            let file = place.file(Path::new("/h"), variable);
            format!("{dialect}: {} {:?}\n", file.display(), place.kind)
        })
    });
    expect.assert_eq(&lines.collect::<String>());
}

#[test]
fn files_are_below_the_home() {
    let expected = expect![[r#"
        claude: /h/.claude/settings.json Hooks
        claude: /h/.claude.json Mcp
        codex: /h/.codex/hooks.json Hooks
        codex: /h/.codex/config.toml Mcp
        gemini: /h/.gemini/settings.json HooksAndMcp
        gemini: /h/.gemini/.env Variables
        copilot: /h/.copilot/hooks/comity.json Hooks
        copilot: /h/.copilot/mcp-config.json Mcp
        cursor: /h/.cursor/hooks.json Hooks
        cursor: /h/.cursor/mcp.json Mcp
        opencode: /h/.config/opencode/opencode.json Mcp
        opencode: /h/.config/opencode/plugins/comity.js Plugin
    "#]];
    check(|_| None, &expected);
    check(|_| Some(PathBuf::new()), &expected);
}

#[test]
fn variables_move_them() {
    check(
        |name| Some(Path::new("/v").join(name)),
        &expect![[r#"
        claude: /v/CLAUDE_CONFIG_DIR/settings.json Hooks
        claude: /v/CLAUDE_CONFIG_DIR/.claude.json Mcp
        codex: /v/CODEX_HOME/hooks.json Hooks
        codex: /v/CODEX_HOME/config.toml Mcp
        gemini: /h/.gemini/settings.json HooksAndMcp
        gemini: /h/.gemini/.env Variables
        copilot: /v/COPILOT_HOME/hooks/comity.json Hooks
        copilot: /v/COPILOT_HOME/mcp-config.json Mcp
        cursor: /h/.cursor/hooks.json Hooks
        cursor: /h/.cursor/mcp.json Mcp
        opencode: /v/XDG_CONFIG_HOME/opencode/opencode.json Mcp
        opencode: /v/XDG_CONFIG_HOME/opencode/plugins/comity.js Plugin
    "#]],
    );
}

#[test]
fn every_program_has_gaps_and_they_are_sentences() {
    for dialect in Dialect::ALL {
        assert!(gaps(dialect).len() > 1, "{dialect}: shell commands alone are one");
        for gap in gaps(dialect) {
            assert!(gap.ends_with('.') && !gap.contains("  "), "{gap}");
        }
    }
}
