//! `comity-confine --probe`: whether commands can be confined here, tested on this program's own file.

use std::io::Write;

use comity_confine::{Confinement, Extent, NetworkAccess, enter, is_read_only};

use crate::{FAULT, say};

pub(super) fn run() -> u8 {
    match attempt() {
        Ok(()) => {
            let _ = writeln!(std::io::stdout(), "commands can be confined here");
            0
        }
        Err(why) => {
            say(&why);
            FAULT
        }
    }
}

fn attempt() -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let held = Extent::Held(vec![own.clone()]);
    enter(&Confinement { extent: held, network: NetworkAccess::Shared, hidden: vec![] })
        .map_err(|problem| problem.to_string())?;
    match is_read_only(&own) {
        true => Ok(()),
        false => Err("a file that was made read-only is not".into()),
    }
}
