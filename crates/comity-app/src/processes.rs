//! Processes, as the kernel knows them: identity that survives the reuse of numbers.

use comity_core::agents::Process;

use crate::lineage::link;

/// The process with this number, if it is there.
pub fn identify(pid: u32) -> Option<Process> {
    link(pid).map(|link| link.process)
}

/// Whether this very process is still there.
pub fn is_alive(process: Process) -> bool {
    identify(process.pid) == Some(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_process_with_the_same_number_is_another() {
        let own = identify(std::process::id()).expect("this process");
        assert!(is_alive(own));
        assert!(!is_alive(Process { start: own.start + 1, ..own }));
        assert_eq!(identify(u32::MAX), None);
    }
}
