//! Defaults.

/// Every setting with a fixed name, and its default.
pub const DEFAULTS: &[(&str, &str)] = &[
    ("agent.timeout", "\"10m\""),
    ("agent.max", "8"),
    ("agent.disconnect_grace", "\"5s\""),
    ("spawn.auto", "(nothing)"),
    ("spawn.backend", "\"process\""),
    ("spawn.idle", "\"10m\""),
    ("lock.ttl", "\"5m\""),
    ("pool.reservation", "\"30s\""),
    ("log.keep_segments", "(keep all)"),
    ("guard.auto_lock", "true"),
    ("guard.permissions", "false"),
    ("guard.watch", "true"),
    ("guard.confine", "\"auto\""),
    ("guard.plan_network", "false"),
    ("guard.program_settings", "false"),
    ("guard.policy", "\"closed\""),
    ("permission.wait", "\"5m\""),
    ("git.hung_after", "\"30s\""),
    ("git.program", "(git on the PATH, the system's first)"),
    ("worktree.dir", "(beside the repository)"),
    ("worktree.ready", "1"),
    ("worktree.trash_days", "7"),
    ("worktree.create_hook", "[]"),
    ("worktree.remove_hook", "[]"),
    ("browser.path", "(firefox-esr or firefox on the PATH)"),
    ("browser.visible", "false"),
    ("browser.tabs", "12"),
    ("browser.allow", "[]"),
    ("browser.deny", "[]"),
    ("browser.schemes", "[\"http\", \"https\", \"about:blank\"]"),
    ("browser.loopback", "true"),
    ("browser.evaluate", "true"),
    ("browser.downloads", "true"),
    ("http.port", "(the same as last time, else any)"),
    ("http.off", "false"),
    ("inbox.notify", "false"),
    ("server.idle_exit", "(never)"),
];

#[cfg(test)]
mod tests {
    use comity_core::limits;

    use super::super::{Config, ProjectConfig};
    use super::*;
    use crate::span::Span;

    #[test]
    fn each_is_a_setting_and_none_is_missing() {
        let guide = include_str!("../../../../docs/guide/settings.md");
        for (key, default) in DEFAULTS {
            let (section, name) = key.split_once('.').expect("a section");
            assert!(guide.contains(&format!("\n{name} = ")), "{key} is not in the guide");
            if default.starts_with('(') {
                continue;
            }
            let text = format!("[{section}]\n{name} = {default}\n");
            toml::from_str::<Config>(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        // Whatever the guide shows is here, but for tables that people name themselves and the project's own.
        let block =
            guide.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).expect("settings");
        let table: toml::Table = block.parse().expect("TOML");
        let known = |key: &str| DEFAULTS.iter().any(|(known, _)| *known == key);
        for (key, _) in super::super::sources::flat(&table) {
            assert!(known(&key) || key.starts_with("roles.") || key.starts_with("pools."), "{key}");
        }
        assert!(ProjectConfig::read(std::path::Path::new("/nowhere")).is_ok());
    }

    #[test]
    fn spans_are_those_of_the_rules() {
        let default = |key: &str| {
            let (_, text) = DEFAULTS.iter().find(|(known, _)| *known == key).expect("a setting");
            text.trim_matches('"').parse::<Span>().expect("a span").0
        };
        assert_eq!(default("agent.timeout"), limits::AGENT_TIMEOUT);
        assert_eq!(default("agent.disconnect_grace"), limits::DISCONNECT_GRACE);
        assert_eq!(default("lock.ttl"), limits::LOCK_TTL);
        assert_eq!(default("pool.reservation"), limits::SLOT_RESERVATION_TTL);
        let days = comity_git::worktree::TRASH_KEPT_FOR.as_secs() / (24 * 60 * 60);
        assert!(DEFAULTS.contains(&("worktree.trash_days", &*days.to_string())));
        assert!(DEFAULTS.contains(&("agent.max", &*limits::AGENT_LIMIT.to_string())));
    }
}
