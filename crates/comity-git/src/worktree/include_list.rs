//! A list of patterns in the syntax of `.gitignore`: what it matches, and where it reaches.

use std::path::Path;

use ignore::Error;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Further ones are dropped.
const PATTERNS_MAX: usize = 1_000;
/// A longer one is dropped.
const PATTERN_BYTES_MAX: usize = 1_024;

/// Patterns; the last one that matches a path decides.
#[derive(Debug)]
pub(crate) struct IncludeList {
    names: Gitignore,
    /// The directories on the way to what patterns with slashes mean.
    ways: Gitignore,
    /// Those of them from which a pattern reaches into all directories below.
    deep_ways: Gitignore,
}

impl IncludeList {
    /// A malformed pattern matches nothing, as in git.
    pub(crate) fn parse(text: &[u8]) -> Result<IncludeList, Error> {
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
        let fits = |line: &&str| {
            !line.trim_end().is_empty() && !line.starts_with('#') && line.len() <= PATTERN_BYTES_MAX
        };
        let [mut names, mut ways, mut deep_ways] = [(); 3].map(|()| GitignoreBuilder::new(""));
        for line in lines.filter(fits).take(PATTERNS_MAX) {
            if names.add_line(None, line).is_err() {
                continue;
            }
            for (way, goes_deep) in ways_of(line) {
                ways.add_line(None, &way)?;
                if goes_deep {
                    deep_ways.add_line(None, &way)?;
                }
            }
        }
        Ok(IncludeList { names: names.build()?, ways: ways.build()?, deep_ways: deep_ways.build()? })
    }

    /// Whether the list matches a path, or a directory above it.
    pub(crate) fn name(&self, path: &Path, is_dir: bool) -> bool {
        let is_named = |path: &Path, is_dir| self.names.matched(path, is_dir).is_ignore();
        is_named(path, is_dir) || above(path).any(|dir| is_named(dir, true))
    }

    /// Whether a pattern reaches into a directory that it does not match.
    ///
    /// One that could match in any directory at all (`.env`, `**/.env`) does not: it would make us search everything
    /// that is ignored.
    pub(crate) fn look_into(&self, dir: &Path) -> bool {
        self.ways.matched(dir, true).is_ignore()
            || above(dir).any(|dir| self.deep_ways.matched(dir, true).is_ignore())
    }
}

fn above(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty())
}

/// The directories above what a pattern means, from the top, and whether it reaches any depth from there on; none if
/// it means a name in any directory.
fn ways_of(line: &str) -> Vec<(String, bool)> {
    let pattern = line.trim_end();
    let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
    let names: Vec<&str> = pattern.strip_prefix('/').unwrap_or(pattern).split('/').collect();
    if pattern.starts_with('!') || names[0] == "**" {
        return Vec::new();
    }
    let way = |length: usize| (format!("/{}", names[..length].join("/")), names[length] == "**");
    (1..names.len()).map(way).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn directories_that_a_pattern_looks_into() {
        let check = |pattern: &str, dir: &str, expected: bool| {
            let patterns = IncludeList::parse(pattern.as_bytes()).expect(pattern);
            assert_eq!(patterns.look_into(Path::new(dir)), expected, "{pattern} {dir}");
        };
        check("conf/local.json", "conf", true);
        check("/conf/local.json", "conf", true);
        check("conf/local.json", "other", false);
        check("conf/local.json", "conf/deeper", false);
        check("conf/*/local.json", "conf/deeper", true);
        check("conf/**/local.json", "conf/deeper/still", true);
        check("conf/**", "conf", true);
        check("*/local.json", "conf", true);
        check(".env", "node_modules", false);
        check("**/.env", "node_modules", false);
        check("/.env", "node_modules", false);
        check("!conf/local.json", "conf", false);
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern = format!("{}b", "*a".repeat(400));
        let list = IncludeList::parse(pattern.as_bytes()).expect("a list");
        assert!(!list.name(Path::new(&"a".repeat(800)), false));
    }

    /// What is known to mean something else to git. Nobody writes it; a list that does names less, or other files.
    #[test]
    fn what_git_reads_otherwise() {
        let names = |pattern: &str, path: &str| {
            IncludeList::parse(pattern.as_bytes()).expect(pattern).name(Path::new(path), false)
        };
        assert!(!names("[[:alpha:]]", "a"), "git knows classes by name");
        assert!(
            !names("a**/b", "a/c/b"),
            "to git, two stars may span directories also behind the first letters"
        );
    }

    fn pattern() -> impl Strategy<Value = String> {
        let names = "a b ab * a* *b ? [ab] [!a] [^b] ** **b [a-b]b \\a x.y *.y []a] \\* ?b [!x]*";
        let name = prop::sample::select(names.split(' ').collect::<Vec<_>>());
        let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
        let begin = prop::sample::select(vec!["", "", "", "/", "!", "!/", "**/"]);
        let end = prop::sample::select(vec!["", "", "/", "/**", "/*", " ", "\\ "]);
        (begin, path, end).prop_map(|(begin, path, end)| format!("{begin}{path}{end}"))
    }

    fn file() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec!["a", "b", "ab", "bb", "x.y", "aab", "*", "a "]);
        prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
    }

    fn listed(dir: &Path, options: &[&str]) -> BTreeSet<String> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--others"])
            .args(options)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = git.output().expect("git").stdout;
        String::from_utf8_lossy(&output).split_terminator('\0').map(str::to_owned).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_same_files_are_named_as_by_git(
            patterns in prop::collection::vec(pattern(), 1..5),
            files in prop::collection::btree_set(file(), 1..16),
        ) {
            let dir = tempfile::tempdir().expect("a directory");
            let init = Command::new("git").args(["init", "-q"]).current_dir(dir.path()).status();
            prop_assert!(init.expect("git").success());
            for file in &files {
                let path = dir.path().join(file);
                // One of them may be a directory to another one.
                if fs::create_dir_all(path.parent().expect("a parent")).is_ok() && !path.is_dir() {
                    fs::write(path, "").expect("written");
                }
            }
            let list = patterns.join("\n");
            fs::write(dir.path().join(".git/list"), &list).expect("written");
            let named = listed(dir.path(), &["--ignored", "--exclude-from=.git/list"]);
            let ours = IncludeList::parse(list.as_bytes()).expect("a list");
            let ours = listed(dir.path(), &[]).into_iter().filter(|file| ours.name(Path::new(file), false));
            prop_assert_eq!(ours.collect::<BTreeSet<_>>(), named);
        }
    }
}
