//! How the program is linked: at a fixed address, so that nothing has to be relocated at each start
//! (docs/design/0028-size-of-the-program.md).

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let has =
        |name: &str, value: &str| env::var(name).is_ok_and(|found| found.split(',').any(|one| one == value));
    let is_static = has("CARGO_CFG_TARGET_FEATURE", "crt-static");
    if has("CARGO_CFG_TARGET_OS", "linux")
        && has("CARGO_CFG_TARGET_ENV", "gnu")
        && has("PROFILE", "release")
        && !is_static
    {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
