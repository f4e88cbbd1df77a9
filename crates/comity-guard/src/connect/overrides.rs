//! Codex's settings as flags, each a key and its TOML value. They apply to one start, and change no file.

use toml_edit::Value;

use super::piece::Piece;
use super::shell::BASH_ENV;
use super::{EditProblem, ProgramPaths, SERVER, servers_member, wanted_hooks};
use crate::dialect::Dialect;

/// The settings that connect Codex to our hook and tools, each as `key=value`.
pub fn codex_overrides(connection: &ProgramPaths) -> Result<Vec<String>, EditProblem> {
    connection.check()?;
    let server = toml(&super::server(Dialect::Codex, connection));
    let servers = servers_member(Dialect::Codex);
    let bash_env = Value::from(connection.bash_env.as_str());
    let mut overrides = vec![
        format!("{servers}.{SERVER}={server}"),
        format!("shell_environment_policy.set.{BASH_ENV}={bash_env}"),
    ];
    let hooks = wanted_hooks(Dialect::Codex, connection);
    overrides.extend(hooks.iter().map(|hook| format!("hooks.{}=[{}]", hook.event, toml(&hook.entry))));
    Ok(overrides)
}

fn toml(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => Value::from(text.as_str()).to_string(),
        Piece::Number(number) => number.to_string(),
        Piece::Flag(flag) => flag.to_string(),
        Piece::List(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Piece::Members(members) => {
            let members = members.iter().map(|(key, value)| format!("{key} = {}", toml(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_a_setting_of_codex() {
        let paths = ProgramPaths {
            hook: "/a dir/comity-hook".into(),
            comity: "/a dir/comity".into(),
            bash_env: "/a/comity-confine.sh".into(),
            home: Some("/state \"dir\"".into()),
        };
        let all = codex_overrides(&paths).expect("flags").join("\n");
        let read: toml_edit::DocumentMut = all.parse().unwrap_or_else(|error| panic!("{error}: {all}"));
        assert_eq!(read["mcp_servers"]["comity"]["command"].as_str(), Some("/a dir/comity"));
        assert_eq!(read["mcp_servers"]["comity"]["env"]["COMITY_HOME"].as_str(), Some("/state \"dir\""));
        assert_eq!(
            read["shell_environment_policy"]["set"]["BASH_ENV"].as_str(),
            Some("/a/comity-confine.sh")
        );
        let before = &read["hooks"]["PreToolUse"][0];
        assert!(before["matcher"].as_str().is_some_and(|names| names.contains("apply_patch")), "{all}");
        let command = before["hooks"][0]["command"].as_str().expect("a command");
        assert!(command.contains("'/a dir/comity-hook' codex"), "{command}");
    }
}
