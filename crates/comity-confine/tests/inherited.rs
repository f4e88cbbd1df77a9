//! What a command has from before it was confined.
#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;

use support::{BEFORE, Place, said};

#[test]
fn a_directory_that_was_open_before_leads_nowhere_else() {
    use std::os::fd::AsRawFd;
    let place = Place::new();
    let opened = fs::File::open(place.at("")).expect("a directory");
    // Not closed on exec: the command inherits it.
    rustix_dup(&opened, 9);
    let output = place
        .run(&place.held(&["src/a.rs"]), "ls /proc/self/fd/9/src && echo more >/proc/self/fd/9/src/a.rs");
    assert!(said(&output).contains("a.rs") && !output.status.success(), "{}", said(&output));
    assert_eq!(place.read("src/a.rs"), BEFORE);
    assert!(opened.as_raw_fd() != 9);
}

#[expect(unsafe_code, reason = "a number that is given away is owned by nobody")]
fn rustix_dup(from: &fs::File, to: i32) {
    use std::os::fd::AsRawFd;
    // SAFETY: nobody in this test has that number.
    assert_eq!(unsafe { libc::dup2(from.as_raw_fd(), to) }, to);
}
