//! `comity-confine`: see the library.
#![no_main]
#![expect(unsafe_code, reason = "the usual main would ignore a signal that the command is to find as it was")]

use std::ffi::c_int;

/// Called by the C library, which leaves out the runtime's own start: that changes how signals are handled.
#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, _words: *const *const u8) -> c_int {
    let words = std::env::args_os().skip(1).collect();
    c_int::from(comity_hook::confine(words))
}
