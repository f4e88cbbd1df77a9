//! What a guard that cannot ask does: it says no, unless the user's settings say otherwise.

/// Whether `guard.policy` is "open" in the user's settings. Only read when something went wrong.
///
/// Never if agents have to ask for permission: what nobody could be asked for is not allowed.
pub(crate) fn is_open() -> bool {
    let Some(settings) = settings() else { return false };
    let first = |name: &str| settings.iter().find_map(|text| says(text, name));
    if first("permissions").is_some_and(|value| value != "false") {
        return false;
    }
    match std::env::var("COMITY_GUARD_POLICY").ok().filter(|policy| !policy.is_empty()) {
        Some(policy) => policy == "open",
        None => first("policy").is_some_and(is_open_word),
    }
}

/// Whether `guard.confine` has this value in the user's settings.
pub(crate) fn confine_is(word: &str) -> bool {
    let is_it = |value: &str| value.trim_matches(['"', '\'']) == word;
    match std::env::var("COMITY_GUARD_CONFINE").ok().filter(|policy| !policy.is_empty()) {
        Some(policy) => is_it(&policy),
        None => {
            settings().unwrap_or_default().iter().find_map(|text| says(text, "confine")).is_some_and(is_it)
        }
    }
}

/// The user's settings, the overriding ones first. What is in another user's directory does not count, in either
/// direction.
fn settings() -> Option<Vec<String>> {
    let home = comity_wire::Home::from_env().ok()?;
    if home.check().is_err_and(|problem| problem.kind() == std::io::ErrorKind::PermissionDenied) {
        return None;
    }
    let files = Some(home.path().join("comity.toml")).into_iter().chain(comity_wire::user_settings());
    Some(files.filter_map(|file| std::fs::read_to_string(file).ok()).collect())
}

fn is_open_word(value: &str) -> bool {
    matches!(value, "\"open\"" | "'open'")
}

/// Reads just one setting below `[guard]`, as it is written there.
fn says<'a>(settings: &'a str, name: &str) -> Option<&'a str> {
    let mut section = "";
    for line in settings.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
        }
        let setting = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        match (section, setting) {
            ("guard", Some((key, value))) if key == name => return Some(value),
            ("", Some((key, value))) if key.strip_prefix("guard.") == Some(name) => return Some(value),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_opens_the_guard() {
        for (settings, is_open) in [
            ("", None),
            ("[guard]\npolicy = \"open\"\n", Some(true)),
            ("[guard]\nauto_lock = true\npolicy='open' # for now\n", Some(true)),
            ("guard.policy = \"open\"", Some(true)),
            ("[guard]\npolicy = \"closed\"\n", Some(false)),
            ("[guard]\n# policy = \"open\"\n", None),
            ("[other]\npolicy = \"open\"\n", None),
            ("[guard]\npolicy = open\n", Some(false)),
            ("not toml at all [guard] policy = \"open\"", None),
        ] {
            assert_eq!(says(settings, "policy").map(is_open_word), is_open, "{settings:?}");
        }
        let both = "[guard]\npolicy = \"open\"\npermissions = true # agents ask\n";
        assert_eq!(says(both, "permissions"), Some("true"));
    }
}
