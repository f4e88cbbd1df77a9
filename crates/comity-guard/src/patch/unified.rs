//! Unified diffs, as `git apply` and `patch` read them.

use super::Malformed;
use crate::effects::{FileTarget, Write, WriteKind};

/// How much of the front of a path is stripped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strip {
    Components(usize),
    /// All of it, as `patch` does by default.
    ToName,
}

/// The files that a unified diff changes.
pub fn unified(patch: &str, strip: Strip) -> Result<Vec<Write>, Malformed> {
    let mut diff = UnifiedDiff { strip, writes: Vec::new(), file: PatchFile::default(), left: None };
    let mut line_number = 0;
    for line in patch.lines() {
        line_number += 1;
        diff.take(line).map_err(|why| Malformed { line: line_number, why })?;
    }
    diff.finish().map_err(|why| Malformed { line: line_number.max(1), why })
}

struct UnifiedDiff {
    strip: Strip,
    writes: Vec<Write>,
    file: PatchFile,
    /// Old and new lines of the current hunk that are still to come.
    left: Option<(usize, usize)>,
}

/// The headers of one file.
#[derive(Default)]
struct PatchFile {
    old: Option<String>,
    new: Option<String>,
    from: Option<String>,
    to: Option<String>,
    /// The names after `diff --git`, if they can be told apart.
    named: Option<String>,
    is_git: bool,
    is_new: bool,
    is_deleted: bool,
    is_mode: bool,
    has_hunks: bool,
}

impl UnifiedDiff {
    fn take(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some(left) = self.left {
            return self.take_in_hunk(line, left);
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.close()?;
            self.file.is_git = true;
            self.file.named = one_name(names);
        } else if let Some(path) = line.strip_prefix("--- ") {
            // After hunks, or without git's own header, this begins another file.
            if self.file.has_hunks || self.file.old.is_some() {
                self.close()?;
            }
            self.file.old = Some(path_of(path)?);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            if self.file.old.is_none() {
                return Err("\"+++\" without \"---\" before it");
            }
            self.file.new = Some(path_of(path)?);
        } else if line.starts_with("@@ ") {
            if self.file.new.is_none() {
                return Err("a change without the name of a file before it");
            }
            self.file.has_hunks = true;
            self.left = Some(hunk_lines(line).ok_or("the header of a change can't be read")?);
            self.left = self.left.filter(|left| *left != (0, 0));
        } else if self.file.is_git {
            self.take_git_header(line)?;
        }
        Ok(())
    }

    fn take_git_header(&mut self, line: &str) -> Result<(), &'static str> {
        let file = &mut self.file;
        let renamed = |prefixes: [&str; 2]| {
            let name = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix));
            name.map(|name| unquoted(name).ok_or("a name in quotes can't be read")).transpose()
        };
        file.from = renamed(["rename from ", "rename old "])?.or(file.from.take());
        file.to = renamed(["rename to ", "copy to "])?.or(file.to.take());
        file.is_new |= line.starts_with("new file mode ");
        file.is_deleted |= line.starts_with("deleted file mode ");
        file.is_mode |= line.starts_with("new mode ");
        Ok(())
    }

    fn take_in_hunk(&mut self, line: &str, (old, new): (usize, usize)) -> Result<(), &'static str> {
        let left = match line.as_bytes().first() {
            // Some programs drop the blank of an empty line.
            Some(b' ') | None => old.checked_sub(1).zip(new.checked_sub(1)),
            Some(b'-') => old.checked_sub(1).map(|old| (old, new)),
            Some(b'+') => new.checked_sub(1).map(|new| (old, new)),
            Some(b'\\') => Some((old, new)),
            Some(_) => None,
        };
        self.left = Some(left.ok_or("a change has other lines than its header says")?);
        self.left = self.left.filter(|left| *left != (0, 0));
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Write>, &'static str> {
        if self.left.is_some() {
            return Err("a change has fewer lines than its header says");
        }
        self.close()?;
        if self.writes.is_empty() { Err("it has no file in it") } else { Ok(self.writes) }
    }

    /// Finishes the current file.
    fn close(&mut self) -> Result<(), &'static str> {
        let file = std::mem::take(&mut self.file);
        if let (Some(from), Some(to)) = (&file.from, &file.to) {
            // Names in a rename have no prefix, whatever is stripped elsewhere.
            self.write(from.clone(), WriteKind::Move);
            self.write(to.clone(), WriteKind::Move);
            return Ok(());
        }
        if let Some(to) = &file.to {
            self.write(to.clone(), WriteKind::Create);
            return Ok(());
        }
        let is_there = |path: &Option<String>| path.clone().filter(|path| path != "/dev/null");
        match (is_there(&file.old), is_there(&file.new)) {
            (None, None) if file.old.is_some() => return Err("a file without a name"),
            (None, None) if !file.is_git => {}
            (None, None) => {
                let named = file.named.ok_or("the name of a file can't be read")?;
                let how = match (file.is_new, file.is_deleted, file.is_mode) {
                    (true, ..) => WriteKind::Create,
                    (_, true, _) => WriteKind::Delete,
                    (_, _, true) => WriteKind::Mode,
                    _ => WriteKind::Whole,
                };
                let path = self.stripped(&named)?;
                self.write(path, how);
            }
            (Some(_), None) if file.new.is_none() => return Err("\"---\" without \"+++\" behind it"),
            (Some(old), None) => {
                let path = self.stripped(&old)?;
                self.write(path, WriteKind::Delete);
            }
            (None, Some(new)) => {
                let path = self.stripped(&new)?;
                self.write(path, WriteKind::Create);
            }
            (Some(old), Some(new)) => {
                let (old, new) = (self.stripped(&old)?, self.stripped(&new)?);
                // If the names differ, programs disagree about which one counts.
                if old != new {
                    self.write(old, WriteKind::Edit);
                }
                self.write(new, WriteKind::Edit);
            }
        }
        Ok(())
    }

    fn write(&mut self, path: String, how: WriteKind) {
        self.writes.push(Write::new(FileTarget::Path(path), how));
    }

    fn stripped(&self, path: &str) -> Result<String, &'static str> {
        let stripped = match self.strip {
            Strip::ToName => path.rsplit('/').next(),
            Strip::Components(count) => path.splitn(count + 1, '/').nth(count),
        };
        let stripped = stripped.filter(|path| !path.is_empty());
        stripped.map(str::to_owned).ok_or("a name has fewer directories than are to be stripped")
    }
}

/// The path of a `---` or `+++` line, which a tab ends.
fn path_of(text: &str) -> Result<String, &'static str> {
    let path =
        if text.starts_with('"') { unquoted(text) } else { text.split('\t').next().map(str::to_owned) };
    let path = path.map(|path| path.trim_end().to_owned()).filter(|path| !path.is_empty());
    path.ok_or("the name of a file can't be read")
}

/// The name in `a/NAME b/NAME`, with its first prefix.
fn one_name(names: &str) -> Option<String> {
    if let Some(quoted) = names.strip_prefix('"') {
        let end = quoted.find("\" ")? + 2;
        return unquoted(&names[..end]);
    }
    let middle = names.len() / 2;
    let (old, new) = (names.get(..middle)?, names.get(middle + 1..)?);
    let same = old.split_once('/')?.1 == new.split_once('/')?.1;
    (same && names.as_bytes().get(middle) == Some(&b' ')).then(|| old.to_owned())
}

/// A name that git has quoted.
fn unquoted(text: &str) -> Option<String> {
    let Some(inner) = text.strip_prefix('"') else { return Some(text.to_owned()) };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return String::from_utf8(bytes).ok(),
            b'\\' => bytes.push(match rest.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'a' => 0x07,
                b'b' => 0x08,
                b'f' => 0x0c,
                b'r' => b'\r',
                b'v' => 0x0b,
                digit @ b'0'..=b'3' => {
                    let (second, third) = (rest.next()?, rest.next()?);
                    let octal = [digit, second, third];
                    u8::from_str_radix(std::str::from_utf8(&octal).ok()?, 8).ok()?
                }
                other => other,
            }),
            other => bytes.push(other),
        }
    }
    None
}

/// How many old and new lines a hunk has: `@@ -1,3 +1,4 @@`.
fn hunk_lines(line: &str) -> Option<(usize, usize)> {
    let ranges = line.strip_prefix("@@ ")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(' ')?;
    let count = |range: &str, sign| {
        let range = range.strip_prefix(sign)?;
        match range.split_once(',') {
            Some((start, count)) => start.parse::<usize>().ok().and(count.parse().ok()),
            None => range.parse::<usize>().ok().map(|_| 1),
        }
    };
    Some((count(old, '-')?, count(new, '+')?))
}
