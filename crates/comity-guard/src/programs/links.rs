//! Links that a line creates and then writes through.

use super::walk::Walk;
use crate::arguments::Argument;
use crate::effects::{FileTarget, Write, WriteKind};

impl Walk<'_> {
    pub(super) fn linked(&mut self, link: &Argument, to: &Argument) {
        for link in self.base.targets(link) {
            self.links.extend(self.base.targets(to).into_iter().map(|to| (link.clone(), to)));
        }
    }

    /// What is written to a link is written to its target.
    pub(super) fn through_links(&mut self) {
        for (link, to) in std::mem::take(&mut self.links) {
            if !self.spends(self.found.writes.len()) {
                return;
            }
            let is_through = |write: &&Write| {
                let changes = matches!(
                    write.how,
                    WriteKind::Whole | WriteKind::Edit | WriteKind::Append | WriteKind::Mode
                );
                let is_within = match (&write.target, &link) {
                    (FileTarget::Path(path), FileTarget::Path(link)) => {
                        path == link || path.strip_prefix(link).is_some_and(|rest| rest.starts_with('/'))
                    }
                    (target, link) => target == link,
                };
                changes && is_within
            };
            if let Some(how) = self.found.writes.iter().find(is_through).map(|write| write.how) {
                self.found.write(Write::new(to, how));
            }
        }
    }
}
