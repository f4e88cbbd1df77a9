//! Control groups, and how they prove that an agent did not start a process.

use crate::lineage::LineageProcess;
use crate::processes::control_group;
use crate::terminal_programs::is_window;

/// Whether only the system can have put a process into its control group. A user's service manager starts whatever
/// any of the user's programs asks for; of what it started, only terminal windows count.
pub(super) fn is_kept_apart(link: &LineageProcess) -> bool {
    let groups = control_group(link.process.pid).unwrap_or_default();
    !is_the_users_to_give(&groups) || is_window(link)
}

/// Whether one of these groups is below a user's service manager.
fn is_the_users_to_give(groups: &str) -> bool {
    groups.split(['/', '\n']).any(|part| part.starts_with("user@") && part.ends_with(".service"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_service_manager_proves_nothing() {
        let by_manager = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u5.service\n";
        assert!(is_the_users_to_give(by_manager));
        assert!(is_the_users_to_give("1:name=systemd:/user.slice/user@7.service\n0::/\n"));
        assert!(!is_the_users_to_give("0::/user.slice/user-1000.slice/session-3.scope\n"));
        assert!(!is_the_users_to_give("0::/\n"));
    }
}
