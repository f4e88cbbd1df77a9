//! Takes here-documents out of a command line, so that the rest can be read without them.
//!
//! Shells disagree about here-documents within other things. Only the plain ones are taken out: announced on a line
//! that is complete in itself and begins a command, with a mark of letters and digits. Any other is a doubt.

use super::doubt::{Doubt, Proven};
use crate::limits::PROVEN_DOCUMENTS_MAX;
use crate::shell;
use crate::shell::syntax::Operator;

/// What a command reads in place of a document that was proven to be mere text.
const NOTHING: &str = " </dev/null ";

/// The command line without its here-documents.
pub(super) fn taken_out(text: &str) -> Result<String, Doubt> {
    if !announces(text) {
        return Ok(text.to_owned());
    }
    if text.contains("\\\n") {
        return Err(Doubt::because("a here-document next to joined lines is not read by all shells alike"));
    }
    let mut rest = String::new();
    let mut lines = text.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let Some(document) = announced(line)? else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        count += 1;
        if count > PROVEN_DOCUMENTS_MAX {
            return Err(Doubt::because(format!("it has more than {PROVEN_DOCUMENTS_MAX} here-documents")));
        }
        if shell::parse(&rest).problem.is_some() {
            return Err(Doubt::because("a here-document stands within another command").about(line));
        }
        document.lines(&mut lines)?;
        rest.push_str(&document.line);
        rest.push('\n');
    }
    Ok(rest)
}

/// Whether there is a `<<` that is no `<<<`.
fn announces(text: &str) -> bool {
    text.replace("<<<", "").contains("<<")
}

struct Document<'t> {
    /// The line that announces it, without it.
    line: String,
    mark: &'t str,
    strips_tabs: bool,
    is_literal: bool,
}

/// The here-document that a line announces. A `<<` that announces none stands in a quote or a comment.
fn announced(line: &str) -> Result<Option<Document<'_>>, Doubt> {
    if !announces(line) {
        return Ok(None);
    }
    let doubt = |reason: &str| Doubt::because(reason).about(line);
    let parsed = shell::parse(line);
    if parsed.documents.is_empty() && parsed.problem.is_none() {
        return Ok(None);
    }
    let Some((before, behind)) = line.split_once("<<") else { return Ok(None) };
    if behind.contains("<<") || behind.starts_with('<') {
        return Err(doubt("a line with a here-document must have no second one"));
    }
    // What stands before it without a blank may be the number of a descriptor.
    if !before.ends_with([' ', '\t']) {
        return Err(doubt("a here-document needs a blank before it"));
    }
    let redirects = parsed.script.steps.iter().flat_map(|step| &step.pipeline).flat_map(|it| &it.redirects);
    if redirects.filter(|redirect| redirect.operator == Operator::Document).count() != 1 {
        return Err(doubt("a here-document stands within another command"));
    }
    let strips_tabs = behind.starts_with('-');
    let behind = behind.strip_prefix('-').unwrap_or(behind).trim_start_matches([' ', '\t']);
    let quote = behind.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let unquoted = quote.map_or(behind, |_| &behind[1..]);
    let length = unquoted.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (mark, behind) = unquoted.split_at(length);
    let behind = match quote {
        Some(quote) => behind.strip_prefix(quote),
        None => Some(behind),
    };
    let ends = |behind: &&str| behind.is_empty() || behind.starts_with([' ', '\t', ';', '|', '&', '>', '<']);
    let Some(behind) = behind.filter(ends).filter(|_| !mark.is_empty()) else {
        return Err(doubt("the end mark of a here-document must be a word of letters"));
    };
    let line = format!("{before}{NOTHING}{behind}");
    if shell::parse(&line).problem.is_some() {
        return Err(doubt("a here-document must be announced on a line that is complete"));
    }
    Ok(Some(Document { line, mark, strips_tabs, is_literal: quote.is_some() }))
}

impl Document<'_> {
    /// Goes past the lines of the document, which must be mere text.
    fn lines<'l>(&self, lines: &mut impl Iterator<Item = &'l str>) -> Proven {
        for line in lines {
            let line = if self.strips_tabs { line.trim_start_matches('\t') } else { line };
            if line == self.mark {
                return Ok(());
            }
            if !self.is_literal && line.contains(['$', '`', '\\']) {
                let reason = "a here-document without quotes around its end mark runs what it has in it";
                return Err(Doubt::because(reason).about(line));
            }
        }
        Err(Doubt::because("a here-document does not end"))
    }
}
