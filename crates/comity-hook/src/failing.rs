//! What a guard that cannot ask does: it says no, unless the user's settings say otherwise.

/// Whether `guard.policy` is "open" in the user's settings. Only looked at when something went wrong.
///
/// Not where agents have to ask for permission: what nobody could be asked for is not allowed.
pub(crate) fn is_open() -> bool {
    let Ok(home) = comity_wire::Home::from_env() else { return false };
    // What is in another user's directory opens nothing, nor does it close by accident.
    if home.check().is_err_and(|problem| problem.kind() == std::io::ErrorKind::PermissionDenied) {
        return false;
    }
    let in_home = Some(home.path().join("comity.toml"));
    let files = in_home.into_iter().chain(comity_wire::user_settings());
    let settings: Vec<String> = files.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let first = |name: &str| settings.iter().find_map(|text| says(text, name));
    if first("permissions").is_some_and(|value| value != "false") {
        return false;
    }
    match std::env::var("COMITY_GUARD_POLICY").ok().filter(|policy| !policy.is_empty()) {
        Some(policy) => policy == "open",
        None => first("policy").is_some_and(is_open_word),
    }
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
