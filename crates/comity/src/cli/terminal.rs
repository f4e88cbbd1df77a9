//! Output at a terminal: colors, its width, and a pager for what is longer than it.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use super::output;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// Shows text: as it is where nobody looks, else as fits the terminal.
pub(super) fn show(text: &str) {
    let Some((columns, rows)) = size() else { return output::print(text) };
    let shown = fitted(text, columns, has_colors(&std::io::stdout()));
    if shown.lines().count() < rows || !page(&shown) {
        output::print(&shown);
    }
}

/// The part of the text that fits, for what is drawn again and again.
pub(super) fn screenful(text: &str) -> String {
    let Some((columns, rows)) = size() else { return text.to_owned() };
    let fitted = fitted(text, columns, has_colors(&std::io::stdout()));
    fitted.lines().take(rows.saturating_sub(2)).collect::<Vec<_>>().join("\n")
}

/// Help as a terminal shows it; plain where nobody looks.
pub(super) fn styled(text: &clap::builder::StyledStr) -> String {
    let text = if has_colors(&std::io::stdout()) { text.ansi().to_string() } else { text.to_string() };
    text.trim_end().to_owned()
}

/// Columns and lines of the terminal, if standard output is one.
fn size() -> Option<(usize, usize)> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

fn has_colors(stream: &impl IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A table has a header in capitals, perhaps below the name of its project; its lines are cut where the terminal ends, and
/// nothing else is.
fn fitted(text: &str, columns: usize, colors: bool) -> Cow<'_, str> {
    let is_header = |line: &str| {
        line.contains("  ") && line.chars().any(char::is_uppercase) && !line.chars().any(char::is_lowercase)
    };
    let Some(header) = text.lines().take(2).position(is_header) else { return text.into() };
    let cut = |line: &str| match line.char_indices().nth(columns) {
        None => line.to_owned(),
        Some(_) => line.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
    };
    let lines = text.lines().enumerate().map(|(number, line)| match (number, colors) {
        (number, true) if number == header => format!("{BOLD}{}{PLAIN}", cut(line)),
        // A hint that ends a table is whole: it is there to be copied.
        _ if line.contains(": comity ") => line.to_owned(),
        _ => cut(line),
    });
    lines.collect::<Vec<_>>().join("\n").into()
}

/// Gives the text to a pager; false if there is none.
fn page(text: &str) -> bool {
    let var = |name: &str| std::env::var(name).ok();
    let pager = var("COMITY_PAGER").or_else(|| var("PAGER")).unwrap_or_else(|| "less".into());
    if pager.trim().is_empty() || pager == "cat" {
        return false;
    }
    let mut command = Command::new("sh"); // shell: a pager is a line of it
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if var("LESS").is_none() {
        // Colors are colors, long lines are cut, and what fits is only printed.
        command.env("LESS", "FRX");
    }
    let Ok(mut pager) = command.spawn() else { return false };
    if let Some(mut input) = pager.stdin.take() {
        // Whoever leaves the pager early has seen enough.
        let _ = writeln!(input, "{text}");
    }
    // 127: the shell found no such program.
    !matches!(pager.wait().map(|end| end.code()), Ok(Some(127)) | Err(_))
}

/// A complaint as it is shown: whose it is stands out at a terminal.
pub(super) fn complaint(text: &str) -> Cow<'_, str> {
    let colored = |label: &str, color: &str| {
        let rest = text.strip_prefix(label)?;
        has_colors(&std::io::stderr()).then(|| format!("{color}{label}{PLAIN}{rest}"))
    };
    colored("comity:", RED).or_else(|| colored("note:", YELLOW)).map_or(text.into(), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_cut_where_the_terminal_ends() {
        let table = "PATH      HOLDER\nsrc/a.rs  ann and more\n3 more in other projects: comity lock list --all-projects";
        let cut = fitted(table, 12, false);
        assert_eq!(
            cut,
            "PATH      H…\nsrc/a.rs  a…\n3 more in other projects: comity lock list --all-projects"
        );
        assert!(fitted(table, 80, true).starts_with("\x1b[1mPATH      HOLDER\x1b[0m\n"));
        assert!(
            fitted(&format!("in shop:\n{table}"), 12, true)
                .starts_with("in shop:\n\x1b[1mPATH      H…\x1b[0m\n")
        );
        for text in ["nothing is locked in a very small place", "", "A  word and more of them here"] {
            assert_eq!(fitted(text, 5, true), text);
        }
    }
}
