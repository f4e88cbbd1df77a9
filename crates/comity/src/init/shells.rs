//! The files that make bash and zsh restart through `comity-confine`, and whether commands can be confined at all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use comity_guard::Dialect;
use comity_guard::connect::{ProgramPaths, ShellStart, is_shell_start_script, places, shell_start};

use super::User;
use super::files::FileEdit;

pub(super) fn written(connection: &ProgramPaths) -> Vec<FileEdit> {
    let (zshenv, for_zsh) = connection.zshenv();
    let written = |(file, text): (&str, String)| FileEdit::of(Path::new(file), |_| Ok(Some(text)));
    [(&*connection.bash_env, connection.bash_env_script()), (&*zshenv, for_zsh)].map(written).into()
}

/// The files that go with these programs' settings: all that they name, unless others' settings do, too.
pub(super) fn removed(connection: &ProgramPaths, user: &User, undone: &[Dialect]) -> Vec<FileEdit> {
    let (going, staying): (Vec<Dialect>, Vec<Dialect>) =
        Dialect::ALL.into_iter().partition(|dialect| undone.contains(dialect));
    let staying: BTreeSet<PathBuf> = staying.into_iter().filter_map(|dialect| named(dialect, user)).collect();
    let mut going: BTreeSet<PathBuf> = going.into_iter().filter_map(|dialect| named(dialect, user)).collect();
    going.insert(connection.bash_env.clone().into());
    let remove = |file: PathBuf| {
        FileEdit::of(&file, |text| Ok(text.filter(|text| !is_shell_start_script(text)).map(str::to_owned)))
    };
    let going = going.difference(&staying).flat_map(|file| {
        let bash_env = file.to_string_lossy().into_owned();
        let zshenv = ProgramPaths { bash_env, ..connection.clone() }.zshenv().0;
        [file.clone(), zshenv.into()]
    });
    going.map(remove).collect()
}

/// The file of ours that a program's settings name.
fn named(dialect: Dialect, user: &User) -> Option<PathBuf> {
    places(dialect).iter().find_map(|place| {
        let text = fs::read_to_string(user.file(place)).ok()?;
        match shell_start(dialect, place.kind, &text)? {
            ShellStart::BashEnv(file) => Some(file.into()),
            ShellStart::Prefix(_) | ShellStart::Users { .. } | ShellStart::Plain => None,
        }
    })
}

/// Tests whether a command can be confined; otherwise why not.
pub(crate) fn probe(confine: &str) -> Result<(), String> {
    let said = Command::new(confine).arg("--probe").stdin(Stdio::null()).output();
    let said = said.map_err(|error| format!("can't start {confine}: {error}"))?;
    match said.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&said.stderr).trim().to_owned()),
    }
}

/// What the user still has to do so that a program starts its shell through us, once its files are as they should be.
pub(super) fn by_hand(dialect: Dialect, changes: &[FileEdit], connection: &ProgramPaths) -> Option<String> {
    let script = &connection.bash_env;
    if dialect == Dialect::CopilotCli {
        return Some(format!(
            "to confine its shell commands, start it as: BASH_ENV='{script}' copilot --bash-env=on (e.g. by an alias)"
        ));
    }
    places(dialect).iter().zip(changes).find_map(|(place, change)| {
        let file = change.file.display();
        match shell_start(dialect, place.kind, change.after()?)? {
            ShellStart::Prefix(_) | ShellStart::BashEnv(_) => None,
            ShellStart::Users { setting: "include_only", .. } => Some(format!(
                "to confine its shell commands, add \"BASH_ENV\" to shell_environment_policy.include_only in {file}"
            )),
            ShellStart::Users { setting, value } => Some(format!(
                "{setting} in {file} is your own ({value}) and was left alone, so its shell commands are not confined; \
                 to confine them, remove it and run comity init again"
            )),
            ShellStart::Plain => Some(format!(
                "to confine its shell commands, set BASH_ENV to \"{script}\" in shell_environment_policy.set in {file}"
            )),
        }
    })
}

/// What the system forbids, and how to allow it, as far as it tells.
pub(crate) fn advice() -> &'static str {
    advice_by(|file| fs::read_to_string(format!("/proc/sys/{file}")).ok())
}

/// The same for given kernel settings.
fn advice_by(read: impl Fn(&str) -> Option<String>) -> &'static str {
    let says = |file: &str, value: &str| read(file).is_some_and(|text| text.trim() == value);
    if says("user/max_user_namespaces", "0") {
        "allow user namespaces: sudo sysctl user.max_user_namespaces=10000"
    } else if says("kernel/unprivileged_userns_clone", "0") {
        "allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1"
    } else if says("kernel/apparmor_restrict_unprivileged_userns", "1") {
        "give comity-confine an AppArmor profile with \"userns,\", or: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    } else if cfg!(target_os = "linux") {
        "in a container, let it make user namespaces (seccomp and /proc unmasked); Linux 5.12 or newer is needed"
    } else {
        "it needs Linux"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forbids_namespaces_is_named_with_what_allows_them() {
        let (number, clone, apparmor) = (
            "user/max_user_namespaces",
            "kernel/unprivileged_userns_clone",
            "kernel/apparmor_restrict_unprivileged_userns",
        );
        let allowed = [(number, "127000\n"), (clone, "1\n"), (apparmor, "0\n")];
        for (set, part) in [
            (&[(number, "0\n"), (clone, "0\n")][..], "sysctl user.max_user_namespaces=10000"),
            (
                &[(number, "127000\n"), (clone, "0\n"), (apparmor, "1\n")],
                "sysctl kernel.unprivileged_userns_clone=1",
            ),
            (&[(clone, "1\n"), (apparmor, "1\n")], "an AppArmor profile with \"userns,\""),
            // Nothing of the system forbids it: a container does.
            (&allowed, if cfg!(target_os = "linux") { "in a container" } else { "it needs Linux" }),
            (&[], if cfg!(target_os = "linux") { "in a container" } else { "it needs Linux" }),
        ] {
            let read =
                |file: &str| set.iter().find(|(name, _)| *name == file).map(|(_, text)| (*text).to_owned());
            let advice = advice_by(read);
            assert!(advice.contains(part), "{set:?}: {advice}");
        }
    }
}
