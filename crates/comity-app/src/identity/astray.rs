//! Processes that may be orphans of an agent.

use comity_core::agents::Process;

use super::{desktop, marks};
use crate::application::Application;
use crate::lineage::{Lineage, LineageProcess};
use crate::processes;

impl Application {
    /// The process in the lineage that may be an orphan of an agent, if there is one.
    pub(super) fn astray<'a>(&self, lineage: &'a Lineage, asked: &[Process]) -> Option<&'a LineageProcess> {
        let caller = lineage.links.first()?;
        lineage.adopted().find(|link| {
            let world = self.engine().world();
            let may_be_an_agents = |is_group: &dyn Fn(Option<&str>) -> bool| {
                world.people.may_be_an_agents(link.process.start, is_group)
            };
            // Nothing is older than its parent, and what starts in a control group stays there.
            if !may_be_an_agents(&|_| true) {
                return false;
            }
            let own = processes::group(link).filter(|_| desktop::is_kept_apart(link));
            let is_own_group = |of: Option<&str>| of.zip(own.as_deref()).is_none_or(|(of, own)| of == own);
            let is_in_first_session =
                |of: Option<&str>| of.is_none_or(|of| of.starts_with(processes::FIRST_SESSION));
            let is_suspect = may_be_an_agents(&is_own_group);
            let is_typed =
                is_child_of_a_shell_that_is_first(link, lineage) && !may_be_an_agents(&is_in_first_session);
            drop(world);
            // Only the system starts processes of another user.
            is_suspect && !is_typed && marks::same_user(link, caller) && !self.is_attended(link, asked)
        })
    }
}

/// In a container a person's shell may be the first process, which adopts all orphans.
fn is_child_of_a_shell_that_is_first(link: &LineageProcess, lineage: &Lineage) -> bool {
    let leads_its_group = lineage.links.iter().any(|other| other.process.pid == link.group);
    link.parent == 1 && link.session == 1 && leads_its_group && link.foreground == link.group as i32
}
