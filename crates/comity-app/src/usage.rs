//! What agent programs do and have used, as their hooks and the transcripts that those name tell.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use comity_core::AgentId;
use comity_guard::payload::{HookCall, HookEvent};
use serde::Deserialize;

use crate::plain_file;

/// Agents that something is known of; of more, those that were heard last.
const AGENTS_MAX: usize = 256;
/// Bytes that are read of a transcript at once; what is over is read at the next hook.
const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is known of all agents whose programs have hooks.
#[derive(Default)]
pub(crate) struct UsageBook(Mutex<BTreeMap<AgentId, HookUsage>>);

/// What is known of one.
#[derive(Clone, Debug)]
pub(crate) struct HookUsage {
    /// When its hook was called last.
    pub(crate) heard: Instant,
    pub(crate) last_tool: Option<String>,
    pub(crate) used: UsedTokens,
    transcript: Option<ProgramTranscript>,
}

/// Tokens, as far as a program tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct UsedTokens {
    /// All that it was asked with, what was cached included.
    pub(crate) input: u64,
    pub(crate) output: u64,
    /// In its context now.
    pub(crate) context: Option<u64>,
    /// That its context may have.
    pub(crate) context_max: Option<u64>,
}

impl UsageBook {
    /// Notes what a hook tells.
    pub(crate) fn note(&self, agent: AgentId, call: &HookCall) {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !book.contains_key(&agent);
        if is_new && book.len() >= AGENTS_MAX {
            let oldest = book.iter().min_by_key(|(_, usage)| usage.heard).map(|(agent, _)| *agent);
            oldest.map(|oldest| book.remove(&oldest));
        }
        let usage = book.entry(agent).or_insert_with(|| HookUsage {
            heard: Instant::now(),
            last_tool: None,
            used: UsedTokens::default(),
            transcript: None,
        });
        usage.heard = Instant::now();
        if call.event == HookEvent::BeforeTool {
            usage.last_tool.clone_from(&call.tool);
        }
        let Some(path) = call.transcript.as_deref().map(Path::new) else { return };
        let transcript = usage.transcript.get_or_insert_with(|| ProgramTranscript::of(path));
        if transcript.path != path {
            *transcript = ProgramTranscript::of(path);
        }
        // What can't be read tells nothing.
        let _ = transcript.read_on();
        usage.used = transcript.used();
    }

    pub(crate) fn of(&self, agent: AgentId) -> Option<HookUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&agent).cloned()
    }
}

/// A file of lines that a program writes about its session, and what was found in it so far.
#[derive(Clone, Debug)]
struct ProgramTranscript {
    path: PathBuf,
    /// The beginning of the line that is not whole yet.
    read_to: u64,
    /// Before the last message, which may be told again with more in it.
    before: UsedTokens,
    last: (String, UsedTokens),
}

impl ProgramTranscript {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), read_to: 0, before: UsedTokens::default(), last: Default::default() }
    }

    fn used(&self) -> UsedTokens {
        let (_, last) = &self.last;
        UsedTokens {
            input: self.before.input.saturating_add(last.input),
            output: self.before.output.saturating_add(last.output),
            context: last.context,
            context_max: last.context_max,
        }
    }

    fn read_on(&mut self) -> std::io::Result<()> {
        let mut file = plain_file::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read_to))?;
        let mut bytes = Vec::new();
        file.take(READ_BYTES_MAX).read_to_end(&mut bytes)?;
        let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            // A line that is longer is passed over.
            None if bytes.len() as u64 == READ_BYTES_MAX => bytes.len(),
            None => 0,
        };
        self.read_to += whole as u64;
        let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).for_each(|line| self.take(line));
        Ok(())
    }

    fn take(&mut self, line: TranscriptLine) {
        match line {
            TranscriptLine { message: Some(ClaudeMessage { id, usage: Some(usage) }), .. } => {
                if id != self.last.0 {
                    (self.before, self.last.0) = (self.used(), id);
                }
                let input = usage.all_input();
                let context = Some(input.saturating_add(usage.output_tokens));
                let output = usage.output_tokens;
                self.last.1 = UsedTokens { input, output, context, context_max: None };
            }
            TranscriptLine { payload: Some(CodexPayload { info: Some(info) }), .. } => {
                let context = info.last_token_usage.map(|last| last.total_tokens);
                let (all, context_max) = (info.total_token_usage, info.model_context_window);
                self.before = UsedTokens::default();
                self.last.1 =
                    UsedTokens { input: all.input_tokens, output: all.output_tokens, context, context_max };
            }
            TranscriptLine { .. } => {}
        }
    }
}

/// A line, as Claude Code writes it (with a message) or Codex (with a payload).
#[derive(Deserialize)]
struct TranscriptLine {
    message: Option<ClaudeMessage>,
    payload: Option<CodexPayload>,
}

#[derive(Deserialize)]
struct ClaudeMessage {
    #[serde(default)]
    id: String,
    usage: Option<MessageUsage>,
}

#[derive(Deserialize)]
struct MessageUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl MessageUsage {
    fn all_input(&self) -> u64 {
        let parts = [self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

#[derive(Deserialize)]
struct CodexPayload {
    info: Option<TokenInfo>,
}

#[derive(Deserialize)]
struct TokenInfo {
    total_token_usage: TokenCount,
    last_token_usage: Option<TokenCount>,
    model_context_window: Option<u64>,
}

#[derive(Deserialize)]
struct TokenCount {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn after(transcript: &mut ProgramTranscript, text: &str) -> (u64, u64, Option<u64>, Option<u64>) {
        let mut file = std::fs::File::options().append(true).open(&transcript.path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        transcript.read_on().unwrap();
        let used = transcript.used();
        (used.input, used.output, used.context, used.context_max)
    }

    fn transcript() -> (tempfile::TempPath, ProgramTranscript) {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let transcript = ProgramTranscript::of(&file);
        (file, transcript)
    }

    #[test]
    fn a_message_that_is_told_again_counts_once() {
        let (_file, mut of) = transcript();
        let line = |id: &str, output: u64| {
            format!(
                r#"{{"type":"assistant","message":{{"id":"{id}","content":[],"usage":{{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":{output}}}}}}}"#
            )
        };
        assert_eq!(
            after(&mut of, "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n"),
            (0, 0, None, None)
        );
        assert_eq!(after(&mut of, &format!("{}\n", line("a", 1))), (100, 1, Some(101), None));
        assert_eq!(after(&mut of, &format!("{}\n", line("a", 5))), (100, 5, Some(105), None));
        // Half a line is none yet.
        let next = line("b", 7);
        let (half, rest) = next.split_at(40);
        assert_eq!(after(&mut of, half), (100, 5, Some(105), None));
        assert_eq!(after(&mut of, &format!("{rest}\nnonsense\n")), (200, 12, Some(107), None));
    }

    #[test]
    fn counts_of_a_whole_session_are_not_added_up() {
        let (_file, mut of) = transcript();
        let line = |input: u64| {
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{input},"output_tokens":6,"total_tokens":1}},"last_token_usage":{{"total_tokens":55}},"model_context_window":1000}}}}}}"#
            )
        };
        assert_eq!(after(&mut of, &format!("{}\n", line(10))), (10, 6, Some(55), Some(1000)));
        assert_eq!(after(&mut of, &format!("{}\n", line(30))), (30, 6, Some(55), Some(1000)));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), dir.path(), Path::new("/dev/zero"), Path::new("/no/such/file")] {
            assert!(ProgramTranscript::of(path).read_on().is_err(), "{}", path.display());
        }
    }
}
