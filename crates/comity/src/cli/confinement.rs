//! What `comity doctor` says about confinement: whether it works here, and for which agent programs.

use comity_app::config::ConfinePolicy;
use comity_wire::Home;

use super::agent_programs;
use super::doctor::{Finding, bad, good, short};
use crate::init::configured::Configured;
use crate::init::{User, programs, shells};

const WHAT: &str = "confinement";

pub(super) fn look(home: &Home, policy: ConfinePolicy) -> Finding {
    if policy == ConfinePolicy::Off {
        return good(WHAT, "off by guard.confine: shell commands are judged by hooks alone");
    }
    // If it is optional, a missing feature is no fault.
    let missing = |found: String, next: &str| match policy {
        ConfinePolicy::Required => bad(WHAT, found, next),
        ConfinePolicy::Auto | ConfinePolicy::Off => short(WHAT, found, next),
    };
    let (connection, user) = match (programs(home), User::from_env()) {
        (Ok(connection), Ok(user)) => (connection, user),
        (Err(problem), _) | (_, Err(problem)) => return missing(problem, ""),
    };
    if let Err(problem) = shells::probe(&connection.confine()) {
        let found = format!("not possible here: {problem}; shell commands are judged by hooks alone");
        return missing(found, shells::advice());
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let here = agent_programs::here(&user).into_iter();
    for dialect in here.filter(|dialect| Configured::has_traces(*dialect, &user)) {
        match Configured::look(dialect, &user, &connection).shell {
            Ok(_) => match Configured::exceptions(dialect, &user, &connection)[..] {
                [] => with.push(dialect.name().to_owned()),
                ref not => with.push(format!("{dialect} (not {})", not.join("; not "))),
            },
            Err(why) => without.push(format!("{dialect} ({why})")),
        }
    }
    let with = with.join(", ");
    match (with.is_empty(), without.is_empty()) {
        (true, true) => good(WHAT, "works here; set up agent programs for it with: comity init"),
        (false, true) => good(WHAT, format!("works here, for {with}")),
        (true, false) => missing(
            format!("works here, but not for {}", without.join(", ")),
            "set them up with: comity init (it says what is left to do by hand)",
        ),
        (false, false) => missing(
            format!("works here, for {with}, but not for {}", without.join(", ")),
            "set them up with: comity init (it says what is left to do by hand)",
        ),
    }
}

/// Whether an unconfined program can type into the terminal that it was started in, where a person's shell reads it.
pub(super) fn look_at_terminals() -> Finding {
    let setting = std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").ok();
    terminals(setting.as_deref(), cfg!(target_os = "linux"))
}

/// The same for a kernel setting.
fn terminals(setting: Option<&str>, is_linux: bool) -> Finding {
    const WHAT: &str = "terminals";
    let found = "an agent whose commands are not confined can type into the terminal that it was started in, as if it were you";
    match setting.map(str::trim) {
        Some("0") => good(WHAT, "the kernel lets no program type into its terminal"),
        Some(_) => short(
            WHAT,
            found,
            "forbid it: sudo sysctl dev.tty.legacy_tiocsti=0 (and in /etc/sysctl.d, to make it permanent)",
        ),
        None if is_linux => short(WHAT, found, "Linux 6.2 or newer can forbid it"),
        None => good(WHAT, "not looked at: this is not Linux"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_lets_programs_type_is_named_with_what_forbids_it() {
        let check = |setting, is_linux, part: &str| {
            let Finding { found, next, .. } = terminals(setting, is_linux);
            assert!(format!("{found}; {next}").contains(part), "{setting:?}: {found}; {next}");
        };
        check(Some("1\n"), true, "type into the terminal that it was started in");
        check(Some("1\n"), true, "sysctl dev.tty.legacy_tiocsti=0");
        check(None, true, "Linux 6.2 or newer");
        let Finding { next, .. } = terminals(Some("0\n"), true);
        assert_eq!(next, "");
        check(None, false, "not looked at");
    }
}
