//! What a command cannot read: something empty is in its place, whatever somebody outside puts there.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::place::{BEFORE, Place, said};

/// The same rules, with a file and a directory out of sight.
fn hiding(place: &Place, mut rules: Value) -> Value {
    rules["hidden"] = json!([place.at("src/a.rs"), place.at("docs")]);
    rules
}

#[test]
fn what_is_hidden_is_not_read_and_all_else_is() {
    for place in Place::of_all_users() {
        for rules in [place.held(&["src"]), place.sealed()] {
            let line = "cat src/a.rs src/b.rs docs/deep/x.md; cat /proc/self/cwd/src/a.rs; ls docs | wc -l; \
                umount src/a.rs; rm src/a.rs; mv docs other; unshare -Urm sh -c 'umount src/a.rs; cat src/a.rs docs/*/*'";
            let output = place.run(&hiding(&place, rules.clone()), line);
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{BEFORE}0\n"), "{}", said(&output));
            assert_eq!(place.read("docs/deep/x.md"), BEFORE, "it is there");
            let output = place.run(&rules, "cat src/a.rs docs/deep/x.md");
            assert_eq!(String::from_utf8_lossy(&output.stdout), BEFORE.repeat(2), "{}", said(&output));
        }
    }
}

#[test]
fn what_takes_its_place_is_hidden_too() {
    for place in Place::of_all_users() {
        // In a namespace of its own, too; where everything is read-only nobody can make one.
        for (rules, within) in [
            (place.held(&["src"]), ""),
            (place.held(&["src"]), "exec unshare -Urm bash -c "),
            (place.sealed(), ""),
        ] {
            // It ends as soon as nothing can be read.
            let line =
                "echo ready; read go; while [ -s src/a.rs ] && [ $SECONDS -lt 20 ]; do :; done; cat src/a.rs";
            let line = if within.is_empty() { line.to_owned() } else { format!("{within}'{line}'") };
            let mut child = place.start(&hiding(&place, rules), &line);
            let mut lines =
                BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
            assert_eq!(lines.next().as_deref(), Some("ready"));
            let unfinished = place.at("src/.unfinished");
            fs::write(&unfinished, "a secret\n").expect("written");
            fs::rename(&unfinished, place.at("src/a.rs")).expect("renamed");
            child.stdin.take().expect("a pipe").write_all(b"go\n").expect("told");
            assert_eq!(lines.next(), None, "{within}");
            assert!(child.wait().expect("an end").success());
        }
    }
}
