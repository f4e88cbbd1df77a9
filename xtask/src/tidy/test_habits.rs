//! Tests neither sleep, nor measure time, nor listen on a fixed port.

use super::Finding;
use super::source::{Line, Source, has_word};
use super::tree::Tree;

const SLEEPS: &[&str] = &["thread::sleep", "time::sleep"];
const HOSTS: &[&str] = &["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"];
/// Ports that people write without a host.
const WELL_KNOWN_PORTS: &[&str] =
    &["3000", "4000", "5000", "5173", "8000", "8080", "8081", "8443", "8888", "9000"];

/// A sleeping test is slow on a fast machine and fails on a slow one.
pub(super) fn sleeps(tree: &Tree) -> Vec<Finding> {
    let next =
        "wait for the event itself or move the clock; if it must sleep, end the line with `// sleeps: why`";
    test_findings(tree, "sleeps:", next, |line| {
        let sleep = SLEEPS.iter().find(|sleep| line.code.contains(*sleep))?;
        Some(format!("a test calls `{sleep}`"))
    })
}

/// How long something takes says how busy the machine is. To give up on what never happens, a deadline is called PATIENCE.
pub(super) fn clocks(tree: &Tree) -> Vec<Finding> {
    let next = "count what happens instead; if time itself is tested, end the line with `// clock: why`";
    test_findings(tree, "clock:", next, |line| {
        let gives_up = ["PATIENCE", "patience"].iter().any(|name| has_word(&line.code, name));
        (line.code.contains(".elapsed()") && !gives_up).then(|| "a test measures time".to_owned())
    })
}

/// A fixed port makes two runs at once fail.
pub(super) fn ports(tree: &Tree) -> Vec<Finding> {
    let next =
        "bind port 0 and ask for the address; if nothing listens there, end the line with `// port: why`";
    test_findings(tree, "port:", next, |line| {
        let port = fixed_port(&line.literal)?;
        Some(format!("a test names the fixed port {port}"))
    })
}

fn fixed_port(literal: &str) -> Option<&str> {
    literal.match_indices(':').find_map(|(colon, _)| {
        let after = &literal[colon + 1..];
        let digits = &after[..after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())];
        let has_host = HOSTS.iter().any(|host| literal[..colon].ends_with(host));
        let is_port = digits.parse::<u16>().is_ok_and(|port| port != 0);
        (is_port && (has_host || WELL_KNOWN_PORTS.contains(&digits))).then_some(digits)
    })
}

fn test_findings(
    tree: &Tree,
    excuse: &str,
    next: &'static str,
    find: impl Fn(&Line) -> Option<String>,
) -> Vec<Finding> {
    // The rules' own tests are full of what the rules refuse.
    let sources = tree.sources().filter(|(path, _)| !path.starts_with("xtask/src/tidy/"));
    let lines = |(path, source): (&str, &Source)| -> Vec<Finding> {
        let tests = source.lines.iter().filter(|line| line.in_test && !source.excused(line, excuse));
        tests.filter_map(|line| Some(Finding::new(path, line.number, find(line)?, next))).collect()
    };
    sources.flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn tests_do_not_sleep() {
        check("sleeps", "== src/a.rs\nstd::thread::sleep(tick);\n#[cfg(test)]\nmod tests {}", expect![""]);
        check(
            "sleeps",
            "== tests/a.rs\nthread::sleep(tick); // sleeps: the kernel tells nobody",
            expect![""],
        );
        check(
            "sleeps",
            "
            == tests/a.rs
            use std::thread::sleep;
            tokio::time::sleep(tick).await; // sleeps:
            == src/b.rs
            #[cfg(test)]
            mod tests {
             thread::sleep(tick);
            }",
            expect![[r#"
                tests/a.rs:1: a test calls `thread::sleep` [sleeps]
                tests/a.rs:2: a test calls `time::sleep` [sleeps]
                src/b.rs:3: a test calls `thread::sleep` [sleeps]"#]],
        );
    }

    #[test]
    fn tests_do_not_measure_time() {
        check("clocks", "== src/a.rs\nif begun.elapsed() > MAX {}", expect![""]);
        check(
            "clocks",
            "
            == tests/a.rs
            assert!(begun.elapsed() < PATIENCE);
            // clock: a timeout is tested
            assert!(begun.elapsed() > SHORT);
            assert!(begun.elapsed() < SHORT);",
            expect!["tests/a.rs:4: a test measures time [clocks]"],
        );
    }

    #[test]
    fn tests_do_not_name_ports() {
        check("ports", "== tests/a.rs\nbind(\"127.0.0.1:0\"); let a = \"12:30\"; // :8080", expect![""]);
        check("ports", "== src/a.rs\nconst DEFAULT: &str = \"127.0.0.1:7777\";", expect![""]);
        check("ports", "== tests/a.rs\n// port: only parsed\nparse(\"localhost:7777\");", expect![""]);
        check(
            "ports",
            r#"
            == tests/a.rs
            bind("127.0.0.1:7777");
            get("http://localhost:81/");
            bind(":8080");"#,
            expect![[r#"
                tests/a.rs:1: a test names the fixed port 7777 [ports]
                tests/a.rs:2: a test names the fixed port 81 [ports]
                tests/a.rs:3: a test names the fixed port 8080 [ports]"#]],
        );
    }
}
