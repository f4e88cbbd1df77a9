//! The patches of `apply_patch`: `*** Begin Patch`, one section per file, `*** End Patch`.

use super::Malformed;
use crate::effects::{FileTarget, Write, WriteKind};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// The files that an `apply_patch` patch changes.
pub fn envelope(patch: &str) -> Result<Vec<Write>, Malformed> {
    let lines: Vec<&str> = unwrapped(patch).lines().collect();
    let begin = lines.iter().position(|line| !line.trim().is_empty());
    let Some(begin) = begin.filter(|begin| lines[*begin].trim() == BEGIN) else {
        return Err(Malformed { line: 1, why: "it does not begin with \"*** Begin Patch\"" });
    };
    let end = lines.iter().rposition(|line| !line.trim().is_empty()).unwrap_or(begin);
    if lines[end].trim() != END {
        return Err(Malformed { line: end + 1, why: "it does not end with \"*** End Patch\"" });
    }
    let mut writes = Vec::new();
    let mut section = Section::None;
    for (index, line) in lines.iter().enumerate().take(end).skip(begin + 1) {
        let malformed = |why| Malformed { line: index + 1, why };
        if let Some(next) = section.header(line) {
            section.close(&mut writes).map_err(malformed)?;
            section = next;
        }
        section.take(line).map_err(malformed)?;
    }
    section.close(&mut writes).map_err(|why| Malformed { line: end + 1, why })?;
    match writes.is_empty() {
        true => Err(Malformed { line: end + 1, why: "it has no file in it" }),
        false => Ok(writes),
    }
}

/// The patch within a here-document, as some models write it.
fn unwrapped(patch: &str) -> &str {
    let patch = patch.trim();
    let inner = ["<<EOF", "<<'EOF'", "<<\"EOF\""]
        .iter()
        .find_map(|mark| patch.strip_prefix(mark)?.strip_suffix("EOF").map(str::trim));
    inner.unwrap_or(patch)
}

/// The part of a patch about one file.
enum Section {
    None,
    Add { path: String, content: String, begun: bool },
    Delete { path: String, begun: bool },
    Update { path: String, to: Option<String>, begun: bool, lines: usize },
}

impl Section {
    /// The section that a line begins. In the body of an update, a header must be at the very start of its line.
    fn header(&self, line: &str) -> Option<Section> {
        let line = match self {
            Section::Update { lines, .. } if *lines > 0 => line,
            _ => line.trim_start(),
        };
        let path = |marker| line.strip_prefix(marker).map(|path| path.trim().to_owned());
        None.or_else(|| path(ADD).map(|path| Section::Add { path, content: String::new(), begun: false }))
            .or_else(|| path(DELETE).map(|path| Section::Delete { path, begun: false }))
            .or_else(|| path(UPDATE).map(|path| Section::Update { path, to: None, begun: false, lines: 0 }))
    }

    /// Takes a line: first the header, then the body.
    fn take(&mut self, line: &str) -> Result<(), &'static str> {
        match self {
            Section::None if line.trim().is_empty() => Ok(()),
            Section::None => Err("this belongs to no file"),
            Section::Add { path, begun: begun @ false, .. }
            | Section::Delete { path, begun: begun @ false }
            | Section::Update { path, begun: begun @ false, .. } => {
                *begun = true;
                if path.is_empty() { Err("the file has no name") } else { Ok(()) }
            }
            Section::Add { content, .. } => match line.strip_prefix('+') {
                Some(added) => {
                    content.push_str(added);
                    content.push('\n');
                    Ok(())
                }
                None if line.trim().is_empty() => Ok(()),
                None => Err("a line of a new file does not begin with \"+\""),
            },
            Section::Delete { .. } if line.trim().is_empty() => Ok(()),
            Section::Delete { .. } => Err("a deleted file has lines"),
            Section::Update { to, lines: 0, .. } if to.is_none() && line.trim().starts_with(MOVE) => {
                let path = line.trim().strip_prefix(MOVE).unwrap_or_default().trim();
                *to = Some(path.to_owned());
                if path.is_empty() { Err("the file has no new name") } else { Ok(()) }
            }
            Section::Update { lines, .. } => {
                let belongs = line.is_empty()
                    || line.starts_with([' ', '+', '-'])
                    || line.starts_with("@@")
                    || line.trim_end() == END_OF_FILE;
                *lines += usize::from(!line.is_empty());
                if belongs { Ok(()) } else { Err("a line of a change begins with nothing that is known") }
            }
        }
    }

    fn close(&mut self, writes: &mut Vec<Write>) -> Result<(), &'static str> {
        match std::mem::replace(self, Section::None) {
            Section::None => {}
            Section::Add { path, content, .. } => {
                writes.push(Write {
                    target: FileTarget::Path(path),
                    how: WriteKind::Create,
                    content: Some(content),
                });
            }
            Section::Delete { path, .. } => {
                writes.push(Write::new(FileTarget::Path(path), WriteKind::Delete))
            }
            Section::Update { path, to: Some(to), .. } => {
                writes.push(Write::new(FileTarget::Path(path), WriteKind::Move));
                writes.push(Write::new(FileTarget::Path(to), WriteKind::Move));
            }
            Section::Update { lines: 0, .. } => return Err("the change of the file before is empty"),
            Section::Update { path, to: None, .. } => {
                writes.push(Write::new(FileTarget::Path(path), WriteKind::Edit))
            }
        }
        Ok(())
    }
}
