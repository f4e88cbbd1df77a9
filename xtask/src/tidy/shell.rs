//! The product starts programs with arguments, never through a shell.

use super::Finding;
use super::shape::in_product;
use super::tree::Tree;

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];

/// What a shell would read as syntax, a program gets as it is.
pub(super) fn shell(tree: &Tree) -> Vec<Finding> {
    let next = "start the program itself; if a shell is the point, end the line with `// shell: why`";
    let mut findings = Vec::new();
    for (path, source) in tree.sources().filter(|(path, _)| in_product(path)) {
        for line in source.lines.iter().filter(|line| !line.in_test) {
            let starts = line.code.contains("Command::new(");
            let called = SHELLS.iter().find(|shell| {
                let named = line.literal.contains(&format!("\"{shell}\""))
                    || line.literal.contains(&format!("/{shell}\""));
                (starts && named) || runs_line(&line.literal, shell)
            });
            if let Some(shell) = called.filter(|_| !source.excused(line, "shell:")) {
                findings.push(Finding::new(
                    path,
                    line.number,
                    format!("a line is run through `{shell}`"),
                    next,
                ));
            }
        }
    }
    findings
}

fn runs_line(literal: &str, shell: &str) -> bool {
    literal.match_indices(&format!("{shell} -c")).any(|(start, _)| {
        let before = literal[..start].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
    })
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn no_shell_in_the_product() {
        check(
            "shell",
            "== crates/a/src/a.rs\nCommand::new(\"git\").args([\"-c\", \"a=b\"]); // sh -c",
            expect![""],
        );
        check("shell", "== crates/a/tests/a.rs\nCommand::new(\"sh\")", expect![""]);
        check(
            "shell",
            "== crates/a/src/a.rs\nCommand::new(\"sh\") // shell: the user wrote a line",
            expect![""],
        );
        check("shell", "== crates/a/src/a.rs\nlet a = \"git push -c\";", expect![""]);
        check(
            "shell",
            r#"
            == crates/a/src/a.rs
            Command::new("sh")
            Command::new("/bin/bash")
            let a = "exec sh -c 'a'";"#,
            expect![[r#"
                crates/a/src/a.rs:1: a line is run through `sh` [shell]
                crates/a/src/a.rs:2: a line is run through `bash` [shell]
                crates/a/src/a.rs:3: a line is run through `sh` [shell]"#]],
        );
    }
}
