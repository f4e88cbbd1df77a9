//! What an agent says and does, as people read it: text, a line for each tool call, what is asked and how a turn ends.
//!
//! It has no control characters but line ends and tabs, so it can be shown in any terminal.

use super::schema::{Chunk, ContentBlock, PlanUpdate, ToolCallChange};

/// Of what a tool gave back, at most.
const RESULT_BYTES_MAX: usize = 2000;
/// A title of a tool call, at most.
const TITLE_BYTES_MAX: usize = 500;
/// The last words of an agent, at most.
pub(super) const LAST_WORDS_BYTES_MAX: usize = 4000;

/// Whose words the last ones were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Voice {
    #[default]
    Nobody,
    Agent,
    Thoughts,
    User,
}

#[derive(Default, Debug)]
pub(super) struct Transcript {
    /// What is new, for the scroll-back.
    text: String,
    voice: Voice,
    in_line: bool,
    last_words: String,
}

impl Transcript {
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// What the agent said last, without its thoughts and tools.
    pub(super) fn take_last_words(&mut self) -> String {
        std::mem::take(&mut self.last_words)
    }

    pub(super) fn prompt(&mut self, text: &str) {
        self.last_words.clear();
        for line in text.lines() {
            self.line(&format!("> {line}"));
        }
    }

    pub(super) fn chunk(&mut self, voice: Voice, chunk: &Chunk) {
        let text = words_of(&chunk.content);
        if text.is_empty() {
            return;
        }
        if self.voice != voice {
            self.end_line();
            self.voice = voice;
            match voice {
                Voice::Thoughts => self.push("(thinks) "),
                Voice::User => self.push("> "),
                Voice::Agent => self.last_words.clear(),
                Voice::Nobody => {}
            }
        }
        if voice == Voice::Agent {
            self.last_words.push_str(&text);
            if self.last_words.len() > LAST_WORDS_BYTES_MAX {
                let from = self.last_words.len() - LAST_WORDS_BYTES_MAX;
                let from = (from..).find(|at| self.last_words.is_char_boundary(*at)).unwrap_or(from);
                self.last_words.drain(..from);
            }
        }
        self.push(&text);
    }

    pub(super) fn tool(&mut self, title: &str, change: &ToolCallChange) {
        let title = clip(title, TITLE_BYTES_MAX);
        match change.status.as_deref() {
            Some("completed") => self.line(&format!("  done: {title}")),
            Some("failed") => self.line(&format!("  failed: {title}")),
            Some(_) | None => return,
        }
        for content in change.content.iter().flatten() {
            if let Some(path) = &content.path {
                self.line(&format!("  changed {path}"));
            }
            let Some(block) = &content.content else { continue };
            for line in clip(&words_of(block), RESULT_BYTES_MAX).lines() {
                self.line(&format!("  | {line}"));
            }
        }
    }

    pub(super) fn tool_begins(&mut self, title: &str) {
        self.line(&format!("* {}", clip(title, TITLE_BYTES_MAX)));
    }

    pub(super) fn plan(&mut self, plan: &PlanUpdate) {
        self.line("plan:");
        for entry in &plan.entries {
            let mark = match entry.status.as_deref() {
                Some("completed") => 'x',
                Some("in_progress") => '>',
                Some(_) | None => ' ',
            };
            self.line(&format!("  [{mark}] {}", clip(&entry.content, TITLE_BYTES_MAX)));
        }
    }

    /// Something that is said of it, not by it.
    pub(super) fn note(&mut self, text: &str) {
        self.line(&format!("-- {}", clip(text, RESULT_BYTES_MAX)));
    }

    /// What its program wrote to standard error.
    pub(super) fn error_output(&mut self, text: &str) {
        for line in text.lines() {
            self.line(&format!("! {}", clip(line, RESULT_BYTES_MAX)));
        }
    }

    fn line(&mut self, text: &str) {
        self.end_line();
        self.voice = Voice::Nobody;
        self.push(text);
        self.end_line();
    }

    fn end_line(&mut self) {
        if self.in_line {
            self.text.push('\n');
            self.in_line = false;
        }
    }

    fn push(&mut self, text: &str) {
        self.text.extend(text.chars().filter_map(shown));
        self.in_line = !self.text.ends_with('\n') && (self.in_line || !text.is_empty());
    }
}

/// A control character as its picture: none of them reaches a terminal.
fn shown(character: char) -> Option<char> {
    match character {
        '\n' | '\t' => Some(character),
        '\r' => None,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some('\u{fffd}'),
        _ => Some(character),
    }
}

fn words_of(block: &ContentBlock) -> String {
    match (&*block.r#type, &block.text, &block.uri) {
        ("text", Some(text), _) => text.clone(),
        ("text", None, _) => String::new(),
        (kind, _, Some(uri)) => format!("({kind}: {uri})"),
        (kind, _, None) => format!("({kind})"),
    }
}

/// The beginning of a text that is too long.
pub(super) fn clip(text: &str, bytes_max: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= bytes_max {
        return text.into();
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", text.get(..end).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(transcript: &mut Transcript, voice: Voice, text: &str) {
        let content = ContentBlock { r#type: "text".into(), text: Some(text.into()), uri: None };
        transcript.chunk(voice, &Chunk { content });
    }

    #[test]
    fn words_of_one_voice_go_on_in_a_line() {
        let mut transcript = Transcript::default();
        transcript.prompt("do it\nnow");
        says(&mut transcript, Voice::Thoughts, "how");
        says(&mut transcript, Voice::Thoughts, "ever");
        says(&mut transcript, Voice::Agent, "I ");
        says(&mut transcript, Voice::Agent, "will.\n");
        transcript.tool_begins("Write a.txt");
        says(&mut transcript, Voice::Agent, "Done");
        transcript.note("end");
        let expected = "> do it\n> now\n(thinks) however\nI will.\n* Write a.txt\nDone\n-- end\n";
        assert_eq!(transcript.take(), expected);
        assert_eq!(transcript.take_last_words(), "Done");
        assert_eq!(transcript.take(), "");
    }

    #[test]
    fn nothing_in_it_steers_a_terminal() {
        let mut transcript = Transcript::default();
        says(&mut transcript, Voice::Agent, "\u{1b}[2Ja\r\nb\u{7f}\u{9b}31m\u{7}\tc");
        assert_eq!(transcript.take(), "\u{241b}[2Ja\nb\u{2421}\u{fffd}31m\u{2407}\tc");
        transcript.error_output("one\r\ntwo\u{1b}");
        assert_eq!(transcript.take(), "\n! one\n! two\u{241b}\n");
    }

    #[test]
    fn what_a_tool_gave_back_is_shown_in_part() {
        let mut transcript = Transcript::default();
        let change = |text: &str| serde_json::from_str::<ToolCallChange>(text).unwrap();
        transcript.tool("ls", &change(r#"{"toolCallId":"1","status":"in_progress"}"#));
        assert_eq!(transcript.take(), "");
        let long = "x".repeat(3 * RESULT_BYTES_MAX);
        let content = format!(
            r#"[{{"type":"content","content":{{"type":"text","text":"{long}"}}}},
            {{"type":"diff","path":"/r/a","oldText":null,"newText":""}}, {{"type":"terminal","terminalId":"t"}}]"#
        );
        transcript.tool(
            "ls",
            &change(&format!(r#"{{"toolCallId":"1","status":"completed","content":{content}}}"#)),
        );
        let text = transcript.take();
        assert!(text.starts_with("  done: ls\n  | xxx"), "{text}");
        assert!(text.ends_with("…\n  changed /r/a\n"), "{text}");
        assert!(text.len() < 2 * RESULT_BYTES_MAX);
    }

    #[test]
    fn last_words_are_bounded() {
        let mut transcript = Transcript::default();
        for _ in 0..LAST_WORDS_BYTES_MAX {
            says(&mut transcript, Voice::Agent, "üx");
        }
        assert!(transcript.take_last_words().len() <= LAST_WORDS_BYTES_MAX);
    }
}
