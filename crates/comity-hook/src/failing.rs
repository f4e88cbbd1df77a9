//! What a guard that cannot ask does: it says no, unless the user's settings say otherwise.

/// Whether `guard.policy` is "open" in the user's settings. Only looked at when something went wrong.
pub(crate) fn is_open() -> bool {
    let set = std::env::var("COMITY_GUARD_POLICY").ok().filter(|policy| !policy.is_empty());
    if let Some(policy) = set {
        return policy == "open";
    }
    let in_home = comity_wire::Home::from_env().ok().map(|home| home.path().join("comity.toml"));
    let files = in_home.into_iter().chain(comity_wire::user_settings());
    let mut said = files.filter_map(|file| says(&std::fs::read_to_string(file).ok()?));
    said.next().unwrap_or(false)
}

/// Reads just this one setting, `policy` below `[guard]`: whether it is "open", if it is there.
fn says(settings: &str) -> Option<bool> {
    let mut section = "";
    for line in settings.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
        }
        let setting = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        match (section, setting) {
            ("guard", Some(("policy", value))) | ("", Some(("guard.policy", value))) => {
                return Some(matches!(value, "\"open\"" | "'open'"));
            }
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
            assert_eq!(says(settings), is_open, "{settings:?}");
        }
    }
}
