//! Output at a terminal: colors, width, and a pager for what is too long.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use comity_core::display;

use super::output;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// Shows text: formatted for a terminal, plain otherwise.
pub(super) fn show(text: &str) {
    let Some((columns, rows)) = size() else { return output::print(text) };
    let shown = fitted(text, columns, has_colors(&std::io::stdout()));
    if shown.lines().count() < rows || !page(&shown) {
        output::print(&shown);
    }
}

/// The part of the text that fits, for repeated drawing.
pub(super) fn screenful(text: &str) -> String {
    let Some((columns, rows)) = size() else { return text.to_owned() };
    let fitted = fitted(text, columns, has_colors(&std::io::stdout()));
    fitted.lines().take(rows.saturating_sub(2)).collect::<Vec<_>>().join("\n")
}

/// Wraps a line between words at the terminal's width, with an indent; unchanged without a terminal.
pub(super) fn wrapped(line: &str, indent: usize) -> String {
    size().map_or_else(|| line.to_owned(), |(columns, _)| wrapped_at(line, indent, columns))
}

fn wrapped_at(line: &str, indent: usize, columns: usize) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if width + length > columns && width > indent {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            width = indent;
        }
        text.push_str(word);
        // Text with lines of its own continues from the last one.
        width = match word.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => width + word.chars().count(),
        };
    }
    text
}

/// Help as a terminal shows it; plain without one.
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

/// Fits a table, which has a header in capitals, perhaps below its project's name. If it is wider than the terminal,
/// its widest columns shrink; what is below it stays whole, because it is there to be copied.
fn fitted(text: &str, width: usize, colors: bool) -> Cow<'_, str> {
    let is_header = |line: &str| {
        line.contains("  ") && line.chars().any(char::is_uppercase) && !line.chars().any(char::is_lowercase)
    };
    let Some(at) = text.lines().take(2).position(is_header) else { return text.into() };
    let Some(header) = text.lines().nth(at) else { return text.into() };
    let starts = starts(header);
    let is_row = |line: &&str| is_row(line, &starts);
    let rows: Vec<Vec<&str>> =
        text.lines().skip(at).take_while(is_row).map(|line| cells(line, &starts)).collect();
    let widths = widths(&rows, width);
    let mut lines: Vec<String> = text.lines().take(at).map(str::to_owned).collect();
    for (number, row) in rows.iter().enumerate() {
        let line = row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width));
        let line = line.collect::<Vec<_>>().join(GAP).trim_end().to_owned();
        lines.push(if number == 0 && colors { format!("{BOLD}{line}{PLAIN}") } else { line });
    }
    lines.extend(text.lines().skip(at + rows.len()).map(str::to_owned));
    lines.join("\n").into()
}

const GAP: &str = "  ";
/// No column gets narrower than the first of these while that is enough, then the second, and so on. The first column
/// says what the line is about, and shrinks only before and after the others.
const NARROWEST: [usize; 3] = [12, 6, 3];

/// Where the columns begin.
fn starts(header: &str) -> Vec<usize> {
    let chars: Vec<char> = header.chars().collect();
    let is_start = |at: &usize| {
        *at == 0 || (chars[*at] != ' ' && *at >= 2 && chars[*at - 1] == ' ' && chars[*at - 2] == ' ')
    };
    (0..chars.len()).filter(is_start).collect()
}

/// The line from the character that is drawn at a column.
fn from_column(line: &str, start: usize) -> &str {
    let mut column = 0;
    for (at, c) in line.char_indices() {
        if column >= start {
            return &line[at..];
        }
        column += display::column(c);
    }
    ""
}

/// Whether a line has a gap wherever the header has one.
fn is_row(line: &str, starts: &[usize]) -> bool {
    let has_gap =
        |start: &usize| *start == 0 || from_column(line, start - 2).chars().take(2).all(|c| c == ' ');
    !line.is_empty() && starts.iter().all(has_gap) && (starts.len() < 2 || !line.contains(": comity "))
}

fn cells<'a>(line: &'a str, starts: &[usize]) -> Vec<&'a str> {
    let ends = starts.iter().skip(1).map(Some).chain([None]);
    let cell = |(start, end): (&usize, Option<&usize>)| {
        let from = from_column(line, *start);
        let length = end.map_or(from.len(), |end| from.len() - from_column(line, *end).len());
        from[..length].trim_end()
    };
    starts.iter().zip(ends).map(cell).collect()
}

/// How wide each column is drawn: the widest shrink first.
fn widths(rows: &[Vec<&str>], width: usize) -> Vec<usize> {
    let count = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| rows.iter().map(|row| display::columns(row[column])).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    let gaps = GAP.len() * count.saturating_sub(1);
    for narrowest in NARROWEST {
        while widths.iter().sum::<usize>() + gaps > width {
            let may_give =
                |column: usize, width: usize| width > narrowest && (column > 0 || narrowest != NARROWEST[1]);
            let widest = widths.iter_mut().enumerate().filter(|(column, width)| may_give(*column, **width));
            match widest.max_by_key(|(_, width)| **width) {
                Some((_, widest)) => *widest -= 1,
                None => break,
            }
        }
    }
    widths
}

/// A cell in its column: truncates a path at its beginning, and anything else at its end.
fn padded(cell: &str, width: usize) -> String {
    let taken = display::columns(cell);
    if taken <= width {
        return format!("{cell}{}", " ".repeat(width - taken));
    }
    let fitting = |chars: &mut dyn Iterator<Item = char>| {
        let mut left = width.saturating_sub(1);
        let fits = |c: &char| {
            let column = display::column(*c);
            let fits = column <= left;
            left = left.saturating_sub(column);
            fits
        };
        chars.take_while(fits).collect::<Vec<char>>()
    };
    let cut = match cell.starts_with('/') || (cell.contains('/') && !cell.contains(' ')) {
        true => {
            let mut end = fitting(&mut cell.chars().rev());
            end.push('…');
            end.iter().rev().collect::<String>()
        }
        false => fitting(&mut cell.chars()).into_iter().chain(['…']).collect(),
    };
    let padding = width.saturating_sub(display::columns(&cut));
    format!("{cut}{}", " ".repeat(padding))
}

/// Shows the text in a pager; false if there is none.
fn page(text: &str) -> bool {
    let var = |name: &str| std::env::var(name).ok();
    let pager = var("COMITY_PAGER").or_else(|| var("PAGER")).unwrap_or_else(|| "less".into());
    if pager.trim().is_empty() || pager == "cat" {
        return false;
    }
    let mut command = Command::new("sh"); // shell: a pager is a line of it
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if var("LESS").is_none() {
        // Keeps colors, cuts long lines, and just prints what fits.
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

/// An error message as shown: highlights its prefix at a terminal.
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
    fn lines_go_on_below_themselves_between_words() {
        let line = "ok   settings  in order; tabs are opened with firefox";
        assert_eq!(
            wrapped_at(line, 15, 30),
            "ok   settings  in order; tabs\n               are opened with\n               firefox"
        );
        assert_eq!(wrapped_at(line, 15, 80), line);
        let long = "BAD  a/very/long/path/that/fits/nowhere";
        assert_eq!(wrapped_at(long, 5, 10), long, "a word is whole");
    }

    #[test]
    fn one_long_value_gives_way_and_the_others_stay() {
        let header = "NAME  PATH                                 STATE";
        let row = "ann   /data/ann/shop.comity/worktrees/ann  kept";
        let hint = "take it with: git -C /data/ann/shop merge refs/comity/merged/main";
        let table = [header, row, hint].join("\n");
        let (header, row) = ("NAME  PATH               STATE", "ann   …ty/worktrees/ann  kept");
        assert_eq!(fitted(&table, 30, false), [header, row, hint].join("\n"));
        assert_eq!(fitted(&table, 80, false), table, "it fits");
    }

    #[test]
    fn what_is_drawn_wide_is_counted_so() {
        let table = "PATH     HOLDER\n日本.rs  somebody with a long name";
        assert_eq!(fitted(table, 20, false), "PATH     HOLDER\n日本.rs  somebody w…");
    }

    #[test]
    fn headers_stand_out_and_what_is_no_table_is_left_alone() {
        let table = "PATH      HOLDER\nsrc/a.rs  ann and more\n3 more in other projects: comity lock list --all-projects";
        assert!(fitted(table, 80, true).starts_with("\x1b[1mPATH      HOLDER\x1b[0m\n"));
        assert!(fitted(&format!("in shop:\n{table}"), 80, true).starts_with("in shop:\n\x1b[1mPATH"));
        assert!(
            fitted(table, 12, false).ends_with("\n3 more in other projects: comity lock list --all-projects")
        );
        for text in ["nothing is locked in a very small place", "", "A  word and more of them here"] {
            assert_eq!(fitted(text, 5, true), text);
        }
    }
}
