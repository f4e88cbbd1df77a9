//! `cargo xtask torture`: kills a real server again and again, and checks what it kept.

use crate::process::{self, Failure, cargo};

/// Runs the torture test; without `--kills`, the test has its own number.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut test = cargo(&["test", "-p", "comity", "--release", "--test", "torture", "--", "--nocapture"]);
    if let Some(kills) = kills(arguments)? {
        test.env("COMITY_TORTURE_KILLS", kills.to_string());
    }
    process::run(&mut test)
}

fn kills(arguments: &[String]) -> Result<Option<u32>, Failure> {
    let usage = || Failure::usage("usage: cargo xtask torture [--kills N], N a whole number from 1");
    let number = match arguments {
        [] => return Ok(None),
        [flag, number] if flag == "--kills" => number.as_str(),
        [joined] => joined.strip_prefix("--kills=").ok_or_else(usage)?,
        _ => return Err(usage()),
    };
    number.parse().ok().filter(|kills| *kills > 0).map(Some).ok_or_else(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_is_a_whole_number_from_one() {
        let check = |line: &str, expected: Result<Option<u32>, u8>| {
            let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
            assert_eq!(kills(&arguments).map_err(|failure| failure.code), expected, "{line}");
        };
        check("", Ok(None));
        check("--kills 12", Ok(Some(12)));
        check("--kills=12", Ok(Some(12)));
        check("--kills 0", Err(2));
        check("--kills many", Err(2));
        check("--kills", Err(2));
        check("12", Err(2));
    }
}
