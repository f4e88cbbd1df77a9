//! A list of patterns in the syntax of `.gitignore`: what it names, and where it reaches.

use super::glob::Glob;

/// Patterns of one list; those behind are left out.
const PATTERNS_MAX: usize = 1_000;
/// Bytes of one pattern; a longer one is left out.
const PATTERN_BYTES_MAX: usize = 1_024;

/// Patterns, of which the last one that matches a path decides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    glob: Glob,
    is_negated: bool,
    is_for_dirs: bool,
    /// Without a slash in it, a pattern is compared with the last name of a path only.
    is_for_names: bool,
    /// The beginnings of a pattern with slashes: directories that it looks into.
    ways: Vec<Way>,
}

#[derive(Clone, Debug)]
struct Way {
    glob: Glob,
    /// Whether it goes on into all directories below.
    is_deep: bool,
}

impl Patterns {
    /// Reads the lines of a file.
    pub(crate) fn parse(text: &[u8]) -> Patterns {
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let fits = |line: &&[u8]| !line.starts_with(b"#") && line.len() <= PATTERN_BYTES_MAX;
        Patterns { patterns: lines.filter(fits).filter_map(Pattern::parse).take(PATTERNS_MAX).collect() }
    }

    /// Whether the list names a path, or a directory above it.
    pub(crate) fn name(&self, path: &[u8], kind: Kind) -> bool {
        let above =
            path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &path[..slash]);
        above.into_iter().any(|dir| self.decides(dir, Kind::Dir)) || self.decides(path, kind)
    }

    /// Whether a pattern looks into a directory that it does not name.
    ///
    /// One that could match in any directory at all (`.env`, `**/.env`) does not: it would make us walk through
    /// everything that is ignored.
    pub(crate) fn look_into(&self, dir: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.looks_into(dir))
    }

    fn decides(&self, path: &[u8], kind: Kind) -> bool {
        let last = self.patterns.iter().rev().find(|pattern| pattern.matches(path, kind));
        last.is_some_and(|pattern| !pattern.is_negated)
    }
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Dir,
    File,
}

impl Pattern {
    fn parse(line: &[u8]) -> Option<Pattern> {
        let line = without_trailing_spaces(line);
        let (is_negated, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
        let (is_for_dirs, line) = line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
        if line.is_empty() {
            return None;
        }
        let is_for_names = !line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        let ways = if is_negated { Vec::new() } else { ways(line) };
        Some(Pattern { glob: Glob::parse(line), is_negated, is_for_dirs, is_for_names, ways })
    }

    fn matches(&self, path: &[u8], kind: Kind) -> bool {
        if self.is_for_dirs && kind != Kind::Dir {
            return false;
        }
        let last_name = || path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        self.glob.matches(if self.is_for_names { last_name() } else { path })
    }

    fn looks_into(&self, dir: &[u8]) -> bool {
        let leads_to = |way: &Way, dir: &[u8]| way.glob.matches(dir);
        let leads_above = |way: &Way| {
            way.is_deep && dir.iter().enumerate().any(|(at, byte)| *byte == b'/' && leads_to(way, &dir[..at]))
        };
        self.ways.iter().any(|way| leads_to(way, dir) || leads_above(way))
    }
}

/// The directories above what a pattern means, from the top; none if it means a name in any directory.
fn ways(pattern: &[u8]) -> Vec<Way> {
    let names: Vec<&[u8]> = pattern.split(|byte| *byte == b'/').collect();
    if names.first().is_some_and(|name| *name == b"**") {
        return Vec::new();
    }
    let way = |length: usize| {
        let goes_deep = names.get(length).is_some_and(|next| *next == b"**");
        Way { glob: Glob::parse(&names[..length].join(&b'/')), is_deep: goes_deep }
    };
    (1..names.len()).map(way).collect()
}

/// Spaces at the end do not count, except behind a backslash.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = line.len();
    while end > 0 && line[end - 1] == b' ' {
        let backslashes = line[..end - 1].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 1 {
            break;
        }
        end -= 1;
    }
    &line[..end]
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
            let patterns = Patterns::parse(pattern.as_bytes());
            assert_eq!(patterns.look_into(dir.as_bytes()), expected, "{pattern} {dir}");
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
        let begun = std::time::Instant::now();
        assert!(!Patterns::parse(pattern.as_bytes()).name(&[b'a'; 800], Kind::File));
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    }

    fn pattern() -> impl Strategy<Value = String> {
        let names = "a b ab * a* *b ? [ab] [!a] [^b] ** a** **b [a-b]b \\a x.y *.y [[:alpha:]] []a] a[ \\* ?b [!x]* a** ***";
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
        let said = git.output().expect("git").stdout;
        String::from_utf8_lossy(&said).split_terminator('\0').map(str::to_owned).collect()
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
            let ours = Patterns::parse(list.as_bytes());
            let ours = listed(dir.path(), &[]).into_iter().filter(|file| ours.name(file.as_bytes(), Kind::File));
            prop_assert_eq!(ours.collect::<BTreeSet<_>>(), named);
        }
    }
}
