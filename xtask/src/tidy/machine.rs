//! Nothing in the repository belongs to one machine, and nothing in it is large.

use super::Finding;
use super::tree::Tree;

const SIZE_BYTES_MAX: u64 = 700 * 1024;
/// Folders of one machine; the home folders need a name behind them.
const MACHINE_FOLDERS: &[&str] = &["/root", "/work", "/home"];

/// A path of the author's machine works nowhere else.
pub(super) fn paths(tree: &Tree) -> Vec<Finding> {
    let next = "use a relative path, a temporary folder, or an invented path such as /srv/project";
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(found) = machine_path(line) {
                findings.push(Finding::new(
                    path,
                    index + 1,
                    format!("`{found}` is a path of one machine"),
                    next,
                ));
            }
        }
    }
    findings
}

/// Large files make every clone slow for ever.
pub(super) fn sizes(tree: &Tree) -> Vec<Finding> {
    let large = tree.files.iter().filter(|file| file.size_bytes > SIZE_BYTES_MAX);
    large
        .map(|file| {
            let says = format!("{} KB, more than {} KB", file.size_bytes / 1024, SIZE_BYTES_MAX / 1024);
            Finding::new(&file.path, 1, says, "generate it when needed, or keep it outside of git")
        })
        .collect()
}

fn machine_path(line: &str) -> Option<&str> {
    MACHINE_FOLDERS.iter().find_map(|folder| {
        line.match_indices(folder).find_map(|(start, _)| {
            let mut end = start + folder.len();
            if *folder == "/home" {
                let name = line[end..].strip_prefix('/')?;
                end += 1 + name.find(|c: char| !is_name(c)).filter(|length| *length > 0)?;
            }
            (begins_a_path(&line[..start]) && line[end..].starts_with('/')).then(|| &line[start..end])
        })
    })
}

/// Whether a slash behind this text is the root, and not a step further down.
fn begins_a_path(before: &str) -> bool {
    let is_further_down = |c: char| is_name(c) || matches!(c, '/' | '~' | '}' | ')' | ']' | '>' | '*' | '$');
    before.ends_with("file://") || !before.ends_with(is_further_down)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    // The folders are put in when the test runs: this file, too, is checked.
    fn check_line(line: &str, expect: expect_test::Expect) {
        let line = line.replace("ROOT", "/root").replace("HOME", "/home").replace("WORK", "/work");
        check("machine-paths", &format!("== a.md\n{line}"), expect);
    }

    #[test]
    fn no_path_of_one_machine() {
        check_line(
            "src-ROOT/a, ~WORK/a, docsWORK/a, ROOTs/a, HOME/<name>/a, HOME/$USER/a, {dir}WORK/",
            expect![""],
        );
        check_line("cd ROOT/a", expect!["a.md:1: `/root` is a path of one machine [machine-paths]"]);
        check_line("\"HOME/ann/a\"", expect!["a.md:1: `/home/ann` is a path of one machine [machine-paths]"]);
        check_line("PATH=WORK/bin", expect!["a.md:1: `/work` is a path of one machine [machine-paths]"]);
        check_line("file://ROOT/a", expect!["a.md:1: `/root` is a path of one machine [machine-paths]"]);
    }

    #[test]
    fn no_large_file() {
        check("file-size", &format!("== a.bin\n{}", "a".repeat(700 * 1024)), expect![""]);
        check(
            "file-size",
            &format!("== a.bin\n{}", "a".repeat(701 * 1024)),
            expect!["a.bin:1: 701 KB, more than 700 KB [file-size]"],
        );
    }
}
