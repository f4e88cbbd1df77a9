//! One session with one agent, from the first word to the last.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::activity::{AcpActivity, AcpState, AcpUsage};
use super::asks::{KnownCalls, OpenAsks};
use super::schema::{
    AUTH_REQUIRED, AgentHello, Cancel, ClientCapabilities, ClientName, FileCapabilities, Initialize,
    OpenedSession, PROTOCOL, PromptTurn, Prompted, Text,
};
use super::transcript::Transcript;
use super::wire::{self, AcpError, AgentMessage, LineBuffer};
use super::{AcpNews, AcpStart, AcpTurnEnd};

/// How many prompts wait for the turn to end.
const PROMPTS_MAX: usize = 16;
/// How many lines that are no messages are shown.
const GARBLED_SHOWN_MAX: u32 = 20;
/// Bytes that an agent has not taken yet; nothing more is read from it while there are more.
const OUTBOUND_BYTES_MAX: usize = 1024 * 1024;

pub(crate) struct AcpSession {
    pub(super) start: AcpStart,
    pub(super) cwd: String,
    pub(super) stage: SessionStage,
    last_call: u64,
    pub(super) sent: BTreeMap<u64, OpenCall>,
    lines: LineBuffer,
    pub(super) outbound: Vec<u8>,
    pub(super) news: Vec<AcpNews>,
    pub(super) transcript: Transcript,
    pub(super) id: Option<String>,
    pub(super) prompts: VecDeque<String>,
    pub(super) asks: OpenAsks,
    pub(super) calls: KnownCalls,
    pub(super) usage: AcpUsage,
    pub(super) last_tool: Option<String>,
    pub(super) login: Option<String>,
    pub(super) can_load: bool,
    pub(super) can_resume: bool,
    garbled: u32,
    heard: Instant,
    is_ending: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum SessionStage {
    Starting,
    Idle,
    Turn {
        /// Whether the agent was told to end it.
        interrupted: bool,
    },
    Failed(String),
}

/// What was asked of the agent and is not answered.
pub(super) enum OpenCall {
    Initialize,
    Open { resumes: bool },
    Setting { what: String },
    Prompt,
}

/// Why a session does not do what it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionRefusal {
    TooManyPrompts,
    Over,
}

impl AcpSession {
    /// A session that is about to begin in this directory.
    pub(crate) fn begin(start: AcpStart, cwd: String) -> Self {
        let mut session = Self {
            start,
            cwd,
            stage: SessionStage::Starting,
            last_call: 0,
            sent: BTreeMap::new(),
            lines: LineBuffer::default(),
            outbound: Vec::new(),
            news: Vec::new(),
            transcript: Transcript::default(),
            id: None,
            prompts: VecDeque::new(),
            asks: OpenAsks::default(),
            calls: KnownCalls::default(),
            usage: AcpUsage::default(),
            last_tool: None,
            login: None,
            can_load: false,
            can_resume: false,
            garbled: 0,
            heard: Instant::now(),
            is_ending: false,
        };
        let fs = FileCapabilities { read_text_file: false, write_text_file: true };
        let client_info = ClientName { name: "comity", title: "Comity", version: env!("CARGO_PKG_VERSION") };
        let client_capabilities = ClientCapabilities { fs, terminal: false };
        let hello = Initialize { protocol_version: PROTOCOL, client_capabilities, client_info };
        session.call(OpenCall::Initialize, "initialize", hello);
        session
    }

    /// Takes what the agent wrote.
    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        if matches!(self.stage, SessionStage::Failed(_)) {
            return;
        }
        self.heard = Instant::now();
        self.lines.push(bytes);
        loop {
            match self.lines.next() {
                Ok(Some(line)) => self.line(&line),
                Ok(None) => return,
                Err(wire::EndlessLine) => {
                    self.lines = LineBuffer::default();
                    return self.fail("it sent a message without an end".into());
                }
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        match AgentMessage::parse(line) {
            Some(AgentMessage::Request { id, method, params }) => self.request(id, &method, &params),
            Some(AgentMessage::Notification { method, params }) => self.notification(&method, &params),
            Some(AgentMessage::Response { id, result }) => match self.sent.remove(&id) {
                Some(sent) => self.response(sent, result),
                None => self.garbled("an answer to nothing"),
            },
            None if line.trim_ascii().is_empty() => {}
            None => self.garbled(&String::from_utf8_lossy(line)),
        }
    }

    /// Something that is no message: some programs write to their standard output besides.
    pub(super) fn garbled(&mut self, line: &str) {
        self.garbled = self.garbled.saturating_add(1);
        match self.garbled.cmp(&GARBLED_SHOWN_MAX) {
            std::cmp::Ordering::Less => self.transcript.note(&format!("not understood: {line}")),
            std::cmp::Ordering::Equal => {
                self.transcript.note("not understood; more of the kind is left out");
            }
            std::cmp::Ordering::Greater => {}
        }
    }

    fn response(&mut self, sent: OpenCall, result: Result<Box<RawValue>, AcpError>) {
        match sent {
            OpenCall::Initialize => match parsed::<AgentHello>(result) {
                Ok(initialized) => self.initialized(initialized),
                Err(error) => self.fail(self.why_not("start", &error)),
            },
            OpenCall::Open { resumes } => match (parsed::<Option<OpenedSession>>(result), resumes) {
                (Ok(opened), _) => self.opened(opened.unwrap_or_default(), resumes),
                (Err(error), true) if error.code != AUTH_REQUIRED => {
                    self.transcript.note(&format!("the session can't be resumed: {}", error.message));
                    self.start.session = None;
                    self.open();
                }
                (Err(error), _) => self.fail(self.why_not("begin a session", &error)),
            },
            OpenCall::Setting { what } => {
                if let Err(error) = result {
                    self.transcript.note(&format!("{what} can't be set: {}", error.message));
                }
                self.settled();
            }
            OpenCall::Prompt => self.turn_ended(parsed::<Option<Prompted>>(result)),
        }
    }

    /// OpenAsks something of the agent, now or once it is done with what it does.
    pub(crate) fn prompt(&mut self, text: &str) -> Result<(), SessionRefusal> {
        if self.is_ending || matches!(self.stage, SessionStage::Failed(_)) {
            return Err(SessionRefusal::Over);
        }
        if self.prompts.len() >= PROMPTS_MAX {
            return Err(SessionRefusal::TooManyPrompts);
        }
        self.prompts.push_back(text.to_owned());
        self.next_turn();
        Ok(())
    }

    pub(super) fn next_turn(&mut self) {
        let (SessionStage::Idle, Some(id), false) = (&self.stage, self.id.clone(), self.is_ending) else {
            return;
        };
        let Some(text) = self.prompts.pop_front() else { return };
        self.stage = SessionStage::Turn { interrupted: false };
        self.news.push(AcpNews::TurnStarted);
        self.transcript.prompt(&text);
        let text = Text { r#type: "text", text: &text };
        self.call(OpenCall::Prompt, "session/prompt", PromptTurn { session_id: &id, prompt: [text] });
    }

    fn turn_ended(&mut self, result: Result<Option<Prompted>, AcpError>) {
        let interrupted = self.stage == SessionStage::Turn { interrupted: true };
        let how = match result {
            Ok(prompted) => {
                prompted.iter().filter_map(|it| it.usage.as_ref()).for_each(|usage| self.usage.add(usage));
                match prompted.and_then(|it| it.stop_reason).as_deref() {
                    Some("cancelled") => AcpTurnEnd::Interrupted,
                    Some("end_turn") | None => AcpTurnEnd::Done,
                    Some(other) => AcpTurnEnd::Failed(other.to_owned()),
                }
            }
            Err(_) if interrupted => AcpTurnEnd::Interrupted,
            Err(error) => AcpTurnEnd::Failed(error.message),
        };
        self.withdraw_all();
        self.transcript.note(&match &how {
            AcpTurnEnd::Done => "turn ended".to_owned(),
            AcpTurnEnd::Interrupted => "turn interrupted".to_owned(),
            AcpTurnEnd::Failed(why) => format!("turn failed: {why}"),
        });
        let last_words = self.transcript.take_last_words();
        self.stage = SessionStage::Idle;
        self.news.push(AcpNews::TurnEnded { how, last_words });
        self.next_turn();
    }

    /// Ends the turn and not the session; tells whether there was one.
    pub(crate) fn interrupt(&mut self) -> bool {
        let (SessionStage::Turn { interrupted }, Some(id)) = (&mut self.stage, self.id.clone()) else {
            return false;
        };
        if !std::mem::replace(interrupted, true) {
            wire::call(&mut self.outbound, None, "session/cancel", Cancel { session_id: &id });
        }
        self.withdraw_all();
        true
    }

    /// Nothing new is begun; tells whether a turn has to end first.
    pub(crate) fn end(&mut self) -> bool {
        self.is_ending = true;
        self.prompts.clear();
        self.interrupt()
    }

    pub(super) fn fail(&mut self, why: String) {
        if matches!(self.stage, SessionStage::Failed(_)) {
            return;
        }
        self.withdraw_all();
        self.transcript.note(&why);
        self.stage = SessionStage::Failed(why);
    }

    /// The program has ended, or does not speak any more.
    pub(crate) fn over(&mut self) {
        self.withdraw_all();
    }

    pub(crate) fn too_slow(&mut self) {
        self.fail("it didn't answer in time".into());
    }

    pub(crate) fn closed(&mut self) {
        self.fail("it closed its standard output".into());
    }

    /// Why it can't be used.
    pub(crate) fn failure(&self) -> Option<&str> {
        match &self.stage {
            SessionStage::Failed(why) => Some(why),
            SessionStage::Starting | SessionStage::Idle | SessionStage::Turn { .. } => None,
        }
    }

    pub(crate) fn is_starting(&self) -> bool {
        self.stage == SessionStage::Starting
    }

    pub(crate) fn is_in_turn(&self) -> bool {
        matches!(self.stage, SessionStage::Turn { .. })
    }

    /// Whether more may be read from the agent: one that takes no answers gets to ask nothing.
    pub(crate) fn has_room(&self) -> bool {
        self.outbound.len() <= OUTBOUND_BYTES_MAX
    }

    pub(crate) fn outbound(&mut self) -> &mut Vec<u8> {
        &mut self.outbound
    }

    pub(crate) fn take_news(&mut self) -> Vec<AcpNews> {
        std::mem::take(&mut self.news)
    }

    pub(crate) fn take_transcript(&mut self) -> String {
        self.transcript.take()
    }

    pub(crate) fn error_output(&mut self, bytes: &[u8]) {
        self.transcript.error_output(&String::from_utf8_lossy(bytes));
    }

    pub(crate) fn activity(&self) -> AcpActivity {
        let state = match &self.stage {
            SessionStage::Starting => AcpState::Starting,
            SessionStage::Idle => AcpState::Idle,
            SessionStage::Turn { interrupted: true } => AcpState::Interrupting,
            SessionStage::Turn { interrupted: false } if self.asks.has_calls() => AcpState::Waiting,
            SessionStage::Turn { interrupted: false } => AcpState::Working,
            SessionStage::Failed(_) => AcpState::Failed,
        };
        AcpActivity {
            state,
            session: self.id.clone(),
            last_tool: self.last_tool.clone(),
            usage: self.usage.clone(),
            heard: self.heard,
        }
    }

    pub(super) fn call(&mut self, sent: OpenCall, method: &str, params: impl serde::Serialize) {
        self.last_call += 1;
        self.sent.insert(self.last_call, sent);
        wire::call(&mut self.outbound, Some(self.last_call), method, params);
    }

    fn why_not(&self, what: &str, error: &AcpError) -> String {
        match (&self.login, error.code) {
            (Some(ways), AUTH_REQUIRED) => {
                format!("it wants you to log in first ({ways}): {}", error.message)
            }
            _ => format!("it can't {what}: {}", error.message),
        }
    }
}

fn parsed<T: DeserializeOwned>(result: Result<Box<RawValue>, AcpError>) -> Result<T, AcpError> {
    let not_understood = |error: serde_json::Error| AcpError {
        code: 0,
        message: format!("its answer isn't understood: {error}"),
    };
    serde_json::from_str(result?.get()).map_err(not_understood)
}

#[cfg(test)]
mod tests;
