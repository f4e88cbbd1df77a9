//! The rings: which crate may depend on what. Dependencies point inwards, and the core has almost none.

use super::Finding;
use super::tree::Tree;

struct Ring {
    manifest: &'static str,
    /// If given, everything else is refused, except for tests.
    only: Option<&'static [&'static str]>,
    /// Refused even for tests.
    never: &'static [&'static str],
    next: &'static str,
}

const RINGS: &[Ring] = &[
    Ring {
        manifest: "crates/comity-core/Cargo.toml",
        only: Some(&["serde", "unicode-normalization", "schemars"]),
        never: &[
            "tokio",
            "mio",
            "rusqlite",
            "rand",
            "getrandom",
            "uuid",
            "jiff",
            "chrono",
            "time",
            "axum",
            "rustix",
            "tempfile",
            "comity",
            "comity-app",
            "comity-git",
            "comity-mcp",
            "comity-sim",
            "comity-wire",
            "comity-hook",
        ],
        next: "the core is a pure function: pass values in, and leave effects to comity-app or a driver",
    },
    Ring {
        manifest: "crates/comity-app/Cargo.toml",
        only: None,
        never: &["axum", "tokio", "clap", "clap_complete", "comity"],
        next: "doors and their libraries belong to the `comity` crate; the app is called by them",
    },
    Ring {
        manifest: "crates/comity-git/Cargo.toml",
        only: None,
        never: &["comity-app", "comity"],
        next: "a driver knows the core only; the app calls it through a trait",
    },
    Ring {
        manifest: "crates/comity-browser/Cargo.toml",
        only: Some(&["data-encoding", "idna_adapter", "rustix", "serde", "serde_json", "tungstenite", "url"]),
        never: &["tokio", "comity-core", "comity-app", "comity"],
        next: "the browser driver works with nothing else of ours; the app calls it",
    },
    Ring {
        manifest: "crates/comity-mailbox/Cargo.toml",
        only: Some(&["rustix", "serde", "serde_json"]),
        never: &["comity-core", "comity-app", "comity"],
        next: "the file mailbox works with nothing else of ours; the app calls it",
    },
    Ring {
        manifest: "crates/comity-guard/Cargo.toml",
        only: Some(&["comity-core", "serde_json", "toml_edit"]),
        never: &["rustix", "comity-app", "comity-git", "comity-wire", "comity"],
        next: "the guard judges values; whoever calls it reads files and asks the server",
    },
    Ring {
        manifest: "crates/comity-mcp/Cargo.toml",
        only: Some(&["data-encoding", "serde", "serde_json"]),
        never: &["tokio", "rustix", "comity-core", "comity-app", "comity"],
        next: "MCP has no input and output here: messages in, steps out",
    },
    Ring {
        manifest: "crates/comity-wire/Cargo.toml",
        only: Some(&["rustix", "serde", "serde_json"]),
        never: &["tokio", "comity-core", "comity-app", "comity"],
        next: "the protocol carries what others mean by it",
    },
    Ring {
        manifest: "crates/comity-watch/Cargo.toml",
        only: Some(&["comity-git", "rustix"]),
        never: &["comity-core", "comity-app", "comity"],
        next: "the watcher knows no locks; the app judges what it tells",
    },
    Ring {
        manifest: "crates/comity-confine/Cargo.toml",
        only: Some(&["libc", "rustix"]),
        never: &["comity-core", "comity-app", "comity-wire", "comity"],
        next: "confinement takes paths; who holds them is the caller's business",
    },
    Ring {
        manifest: "crates/comity-runner/Cargo.toml",
        only: Some(&["rustix", "serde", "serde_json", "signal-hook"]),
        never: &["comity-core", "comity-app", "comity-guard", "comity"],
        next: "the runner starts programs, and knows nothing of agents; the app says which",
    },
    Ring {
        manifest: "crates/comity-hook/Cargo.toml",
        only: Some(&["comity-confine", "comity-core", "comity-wire", "serde_json"]),
        never: &["clap", "tokio", "schemars", "comity-app", "comity-guard", "comity-git", "comity"],
        next: "agents wait for it before every call: it asks one question, and the server answers",
    },
    Ring {
        manifest: "crates/comity/Cargo.toml",
        only: None,
        // For its tests it may start the soak.
        never: &["comity-bench", "comity-fuzz", "comity-sim"],
        next: "the simulator and what measures the product are programs of their own",
    },
];

/// No part of the product, though its tests use them.
const FOR_TESTS: [&str; 2] = ["comity-skip", "comity-soak"];

/// Manifests name only what their ring may use.
pub(super) fn rings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ring in RINGS {
        let manifest = tree.file(ring.manifest).and_then(|file| file.text.as_deref());
        for dependency in dependencies(manifest.unwrap_or_default()) {
            let name = dependency.name.as_str();
            let unlisted = ring.only.is_some_and(|only| !only.contains(&name));
            let only_for_tests = unlisted || FOR_TESTS.contains(&name);
            if ring.never.contains(&name) || (only_for_tests && !dependency.for_tests) {
                let says = format!("this crate must not depend on `{name}`");
                findings.push(Finding::new(ring.manifest, dependency.line, says, ring.next));
            }
        }
    }
    findings
}

struct Dependency {
    name: String,
    line: usize,
    for_tests: bool,
}

/// Reads the dependency tables of a manifest; knows as much TOML as manifests use.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut table = None;
    for (index, line) in manifest.lines().enumerate() {
        let (line, number) = (line.split('#').next().unwrap_or_default().trim(), index + 1);
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = Table::of(header);
            if let Some(Table { for_tests, entry: Some(name) }) = &table {
                found.push(Dependency { name: name.clone(), line: number, for_tests: *for_tests });
            }
            continue;
        }
        let (Some(table), Some((key, value))) = (&table, line.split_once('=')) else { continue };
        let name = match &table.entry {
            None => renamed(line).unwrap_or_else(|| first_key(key).to_owned()),
            Some(_) if key.trim() == "package" => value.trim().trim_matches('"').to_owned(),
            Some(_) => continue,
        };
        found.push(Dependency { name, line: number, for_tests: table.for_tests });
    }
    found
}

/// A table of dependencies, or of one dependency.
struct Table {
    for_tests: bool,
    entry: Option<String>,
}

impl Table {
    fn of(header: &str) -> Option<Self> {
        ["dependencies", "build-dependencies", "dev-dependencies"].iter().find_map(|kind| {
            let for_tests = *kind == "dev-dependencies";
            if header == *kind || header.ends_with(&format!(".{kind}")) {
                return Some(Self { for_tests, entry: None });
            }
            let (before, entry) = header.split_once(&format!("{kind}."))?;
            (before.is_empty() || before.ends_with('.'))
                .then(|| Self { for_tests, entry: Some(entry.to_owned()) })
        })
    }
}

/// `serde` of `serde.workspace`.
fn first_key(key: &str) -> &str {
    key.split('.').next().unwrap_or(key).trim().trim_matches('"')
}

/// The crate behind `name = { package = "crate" }`.
fn renamed(line: &str) -> Option<String> {
    let (_, value) = line.split_once("package")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    value.split('"').next().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn the_core_uses_what_is_listed() {
        check(
            "rings",
            r#"
            == crates/comity-core/Cargo.toml
            [package]
            name = "comity-core"
            [dependencies]
            serde.workspace = true
            schemars = { workspace = true }
            # tokio = "1"
            [dev-dependencies]
            proptest = "1"
            [lints]
            workspace = true"#,
            expect![""],
        );
        check(
            "rings",
            r#"
            == crates/comity-core/Cargo.toml
            [dependencies]
            serde_json.workspace = true
            clock = { package = "jiff" }
            [dependencies.anyhow]
            version = "1"
            [target.'cfg(unix)'.dependencies]
            rustix = "1"
            [dev-dependencies]
            tokio = "1""#,
            expect![[r#"
                crates/comity-core/Cargo.toml:2: this crate must not depend on `serde_json` [rings]
                crates/comity-core/Cargo.toml:3: this crate must not depend on `jiff` [rings]
                crates/comity-core/Cargo.toml:4: this crate must not depend on `anyhow` [rings]
                crates/comity-core/Cargo.toml:7: this crate must not depend on `rustix` [rings]
                crates/comity-core/Cargo.toml:9: this crate must not depend on `tokio` [rings]"#]],
        );
    }

    #[test]
    fn what_is_no_part_of_the_product_is_not_in_it() {
        check(
            "rings",
            "
            == crates/comity/Cargo.toml
            [dependencies]
            comity-app.workspace = true
            comity-soak.workspace = true
            [dev-dependencies]
            comity-soak.workspace = true
            comity-sim.workspace = true
            == crates/comity-runner/Cargo.toml
            [dependencies]
            comity-core.workspace = true
            rustix.workspace = true
            [dev-dependencies]
            comity-skip.workspace = true",
            expect![[r#"
                crates/comity-runner/Cargo.toml:2: this crate must not depend on `comity-core` [rings]
                crates/comity/Cargo.toml:3: this crate must not depend on `comity-soak` [rings]
                crates/comity/Cargo.toml:6: this crate must not depend on `comity-sim` [rings]"#]],
        );
    }

    #[test]
    fn the_app_and_the_drivers_point_inwards() {
        check(
            "rings",
            "
            == crates/comity-app/Cargo.toml
            [dependencies]
            comity-core.workspace = true
            serde.workspace = true
            == crates/comity-git/Cargo.toml
            [dependencies]
            comity-core.workspace = true
            == crates/comity/Cargo.toml
            [dependencies]
            axum.workspace = true",
            expect![""],
        );
        check(
            "rings",
            r#"
            == crates/comity-app/Cargo.toml
            [dependencies]
            axum.workspace = true
            clap.workspace = true
            comity = { path = "../comity" }
            == crates/comity-git/Cargo.toml
            [dependencies]
            comity-app.workspace = true"#,
            expect![[r#"
                crates/comity-app/Cargo.toml:2: this crate must not depend on `axum` [rings]
                crates/comity-app/Cargo.toml:3: this crate must not depend on `clap` [rings]
                crates/comity-app/Cargo.toml:4: this crate must not depend on `comity` [rings]
                crates/comity-git/Cargo.toml:2: this crate must not depend on `comity-app` [rings]"#]],
        );
    }
}
