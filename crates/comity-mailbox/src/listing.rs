//! Which boxes there are.

use std::path::PathBuf;

use crate::boxes::Mailboxes;
use crate::failure::MailboxError;
use crate::limits::LISTED_MAX;
use crate::mailbox_dir::MailboxDir;
use crate::name::{BoxName, SET_ASIDE};

/// The boxes below a root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    pub boxes: Vec<Listed>,
    /// Teams that are not real directories, such as symlinks; they are not entered.
    pub refused: Vec<PathBuf>,
    /// Whether there are more than were listed.
    pub is_cut: bool,
}

/// A box in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    pub name: BoxName,
    /// What was set aside, for somebody to look at.
    pub set_aside: Vec<PathBuf>,
}

impl Mailboxes {
    /// Lists the boxes, without those whose name is invalid.
    pub fn boxes(&self) -> Result<Listing, MailboxError> {
        let mut listing = Listing::default();
        let Some(root) = MailboxDir::root(&self.root)? else { return Ok(listing) };
        let Some(teams) = root.below("teams")? else { return Ok(listing) };
        for team in teams.names()? {
            // Checks the team's name; any agent's name will do for that.
            if BoxName::new(&team, "any").is_err() {
                continue;
            }
            let inboxes = teams.below(&team).and_then(|team| match team {
                Some(team) => team.below("inboxes"),
                None => Ok(None),
            });
            match inboxes {
                Ok(Some(inboxes)) => listing.add(&team, &inboxes)?,
                Ok(None) => {}
                Err(MailboxError::BadPlace(path)) => listing.refused.push(path),
                Err(failure) => return Err(failure),
            }
        }
        listing.is_cut = listing.boxes.len() > LISTED_MAX;
        listing.boxes.truncate(LISTED_MAX);
        Ok(listing)
    }
}

impl Listing {
    fn add(&mut self, team: &str, inboxes: &MailboxDir) -> Result<(), MailboxError> {
        let names = inboxes.names()?;
        for mail in &names {
            let Some(agent) = mail.strip_suffix(".json") else { continue };
            let Ok(name) = BoxName::new(team, agent) else { continue };
            let set_aside = names.iter().filter(|name| is_set_aside(mail, name)).take(LISTED_MAX);
            let set_aside = set_aside.map(|name| inboxes.path(name)).collect();
            self.boxes.push(Listed { name, set_aside });
        }
        Ok(())
    }
}

/// Whether the file was set aside for a box, or for another file of that box.
fn is_set_aside(mail: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(mail) else { return false };
    let kinds = ["", ".lock", ".tmp", ".archive"];
    let unique = kinds.iter().find_map(|kind| rest.strip_prefix(kind)?.strip_prefix(SET_ASIDE));
    unique.is_some_and(|unique| unique.chars().all(|c| c.is_ascii_hexdigit() || c == '-'))
}
