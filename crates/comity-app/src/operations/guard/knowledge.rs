//! What an agent knows of files, and whether it may overwrite one.

use std::path::Path;
use std::time::Duration;

use comity_core::reads::{FileContent, ReadAsk, StaleRead, may_overwrite};
use comity_core::{Ask, Principal, ProjectId, Refusal};
use comity_git::Checkout;
use comity_guard::GitVersion;
use similar::TextDiff;

use crate::application::Application;
use crate::contents::StoredContent;
use crate::operation::Failure;

/// How long git may take to show a file.
const GIT_PATIENCE: Duration = Duration::from_secs(3);
/// Context lines of a difference.
const AROUND_LINES: usize = 2;
const DIFFERENCE_BYTES_MAX: usize = 6_000;

/// Refuses if somebody changed the file after the agent read it, and shows what.
pub(super) fn check_overwrite(
    app: &Application,
    who: Principal,
    (project, path): (ProjectId, &str),
    file: &Path,
) -> Result<(), Failure> {
    let known = who.agent().and_then(|agent| app.engine().world().reads.known(agent, project, path));
    let Some(known) = known else { return Ok(()) };
    let now =
        StoredContent::read(file).map_err(|error| Failure::Fault(format!("{}: {error}", file.display())))?;
    let Some(now) = now else { return Ok(()) };
    let may = may_overwrite(&app.engine().world(), who, project, path, now.hash);
    match may {
        Err(Refusal::Read(StaleRead { path, .. })) => {
            let difference = app.contents().get(known).map(|before| difference(&before, &now.bytes));
            Err(Refusal::Read(StaleRead { path, difference }).into())
        }
        other => other.map_err(Into::into),
    }
}

/// The ask that records the agent's knowledge of a file, if there is something to know.
pub(super) fn learned(app: &Application, project: ProjectId, path: &str, file: &Path) -> Option<Ask> {
    let content = StoredContent::read(file).ok()??;
    app.contents().keep(&content);
    Some(Ask::Read(ReadAsk::KnowFile {
        project,
        file: FileContent { path: path.into(), content: content.hash },
    }))
}

/// The same for a file as git showed it, if the agent knows nothing of it: what it wrote since is newer.
pub(super) fn learned_of_version(
    app: &Application,
    who: Principal,
    cwd: &Path,
    path: &str,
    version: &GitVersion,
) -> Option<Ask> {
    let dir = cwd.join(&version.of);
    let place = app.projects().at(&dir).ok()?;
    let is_from_here = path.starts_with("./") || path.starts_with("../");
    let from = if is_from_here { dir.as_path() } else { place.repository().root() };
    let pattern = place.resolve_file(&from.join(path).to_string_lossy()).ok()?;
    let (project, path) = (place.project(), pattern.readable());
    if app.engine().world().reads.known(who.agent()?, project, &path).is_some() {
        return None;
    }
    let revision = version.name.split_once(':')?.0;
    let checkout = Checkout::at(place.repository().root()).ok()??;
    let content = StoredContent::of(checkout.version(&format!("{revision}:{path}"), GIT_PATIENCE)?);
    app.contents().keep(&content);
    Some(Ask::Read(ReadAsk::KnowFile {
        project,
        file: FileContent { path: path.into(), content: content.hash },
    }))
}

fn difference(before: &[u8], now: &[u8]) -> String {
    let (Ok(before), Ok(now)) = (str::from_utf8(before), str::from_utf8(now)) else {
        return "(it is not text)".into();
    };
    let diff = TextDiff::from_lines(before, now);
    let mut text =
        diff.unified_diff().context_radius(AROUND_LINES).header("as you read it", "as it is").to_string();
    if text.len() > DIFFERENCE_BYTES_MAX {
        let end = (0..=DIFFERENCE_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n(and more)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_and_bounded() {
        let text = difference(b"one\ntwo\nthree\n", b"one\n2\nthree\n");
        assert_eq!(text, "--- as you read it\n+++ as it is\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
        let long: String = (0..5_000).map(|line| format!("line {line} \u{e4}\n")).collect();
        let text = difference(b"", long.as_bytes());
        assert!(text.len() < DIFFERENCE_BYTES_MAX + 20 && text.ends_with("(and more)"));
        assert_eq!(difference(b"\xff", b"x"), "(it is not text)");
    }
}
