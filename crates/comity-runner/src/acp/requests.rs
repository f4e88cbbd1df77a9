//! What agents ask of a client, what they tell, and how they are answered.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::AcpNews;
use super::asks::{AcpAsk, AcpToolCall, AcpWish, AskedFor, WaitingAsk, chosen};
use super::files::FileWork;
use super::schema::{
    BAD_PARAMS, CANCELLED, CancelRequest, Chunk, FileText, NO_SUCH_FILE, NO_SUCH_METHOD, Nothing,
    PermissionOutcome, PlanUpdate, REFUSED, ReadTextFile, RequestPermission, Selected, SessionUpdate,
    ToolCallChange, UpdateKind, UsageUpdate, WriteTextFile,
};
use super::session::{AcpSession, SessionStage};
use super::transcript::Voice;
use super::wire::{self, AcpError};

/// What an agent may do with a file, and where that is to be told.
pub(crate) struct GrantedFile {
    id: Box<RawValue>,
    pub(crate) work: FileWork,
}

impl AcpSession {
    pub(super) fn request(&mut self, id: Box<RawValue>, method: &str, params: &RawValue) {
        let asked = match method {
            "session/request_permission" => self.asked_permission(&id, params),
            "fs/read_text_file" => read::<ReadTextFile>(params).and_then(|file| {
                let ReadTextFile { session_id, path, line, limit } = file;
                self.is_of_session(&session_id)?;
                Ok((AcpWish::Read { path: path.clone() }, AskedFor::Read { path, line, limit }, 0))
            }),
            "fs/write_text_file" => read::<WriteTextFile>(params).and_then(|file| {
                let WriteTextFile { session_id, path, content } = file;
                self.is_of_session(&session_id)?;
                let bytes = content.len();
                let wish = AcpWish::Write { path: path.clone(), content: content.clone() };
                Ok((wish, AskedFor::Write { path, content }, bytes))
            }),
            _ => Err(AcpError { code: NO_SUCH_METHOD, message: format!("Comity has no {method:.60}") }),
        };
        let (wish, what, bytes) = match asked {
            Ok(asked) => asked,
            Err(error) => return self.answer::<Nothing>(&id, Err(error)),
        };
        // Nobody is there to be asked outside of a turn, or while one is being ended.
        let is_call = matches!(what, AskedFor::Call { .. });
        if is_call && self.stage != (SessionStage::Turn { interrupted: false }) {
            return self.answer(&id, Ok(PermissionOutcome { outcome: Selected::Cancelled }));
        }
        match self.asks.add(WaitingAsk { id, what }, bytes) {
            Ok(ask) => self.news.push(AcpNews::Asks(AcpAsk { ask, wish })),
            Err(WaitingAsk { id, .. }) => {
                let error = AcpError { code: REFUSED, message: "too much of what you asked waits".into() };
                self.answer::<Nothing>(&id, Err(error));
            }
        }
    }

    fn asked_permission(
        &mut self,
        _: &RawValue,
        params: &RawValue,
    ) -> Result<(AcpWish, AskedFor, usize), AcpError> {
        let RequestPermission { session_id, tool_call, options } = read(params)?;
        self.is_of_session(&session_id)?;
        let (call, _) = self.calls.learn(&tool_call);
        let title = title_of(&call);
        self.transcript.note(&format!("asks: {title}"));
        let bytes = call.bytes();
        Ok((AcpWish::Call(call), AskedFor::Call { title, options }, bytes))
    }

    fn is_of_session(&self, session: &str) -> Result<(), AcpError> {
        match self.id.as_deref() == Some(session) {
            true => Ok(()),
            false => Err(AcpError { code: BAD_PARAMS, message: "there is no such session".into() }),
        }
    }

    pub(super) fn notification(&mut self, method: &str, params: &RawValue) {
        match method {
            "session/update" => {
                let update = read::<SessionUpdate>(params);
                match update {
                    Ok(update) if self.is_of_session(&update.session_id).is_ok() => {
                        self.update(&update.update)
                    }
                    // Of a session within, or of one before the agent has named it.
                    Ok(_) => {}
                    Err(error) => self.garbled(&error.message),
                }
            }
            "$/cancel_request" => {
                let asked = read::<CancelRequest>(params).ok();
                if let Some(ask) = asked.and_then(|asked| self.asks.find(&asked.request_id))
                    && let Some(waiting) = self.asks.take(ask)
                {
                    self.news.push(AcpNews::Withdrawn { ask });
                    let error = AcpError { code: CANCELLED, message: "cancelled".into() };
                    self.answer::<Nothing>(&waiting.id, Err(error));
                }
            }
            _ => {}
        }
    }

    fn update(&mut self, update: &RawValue) {
        let Ok(UpdateKind { session_update }) = read(update) else {
            return self.garbled("an update without a kind");
        };
        let understood = match &*session_update {
            "agent_message_chunk" => self.chunk(Voice::Agent, update),
            "agent_thought_chunk" => self.chunk(Voice::Thoughts, update),
            // In a turn it only repeats the prompt.
            "user_message_chunk" if self.is_starting() => self.chunk(Voice::User, update),
            "tool_call" | "tool_call_update" => read(update).map(|change: ToolCallChange| {
                let (call, is_new) = self.calls.learn(&change);
                let title = title_of(&call);
                if is_new {
                    self.transcript.tool_begins(&title);
                }
                self.transcript.tool(&title, &change);
                self.last_tool = Some(title);
            }),
            "plan" => read(update).map(|plan: PlanUpdate| self.transcript.plan(&plan)),
            "usage_update" => read(update).map(|update: UsageUpdate| self.usage.update(update)),
            _ => Ok(()),
        };
        if let Err(error) = understood {
            self.garbled(&error.message);
        }
    }

    fn chunk(&mut self, voice: Voice, update: &RawValue) -> Result<(), AcpError> {
        let chunk: Chunk = read(update)?;
        self.transcript.chunk(voice, &chunk);
        Ok(())
    }

    /// Answers whether a tool call may be made; tells whether somebody waited for that.
    pub(crate) fn permit(&mut self, ask: u64, allowed: bool, by: &str) -> bool {
        let is_call = |waiting: &WaitingAsk| matches!(waiting.what, AskedFor::Call { .. });
        if !self.asks.get(ask).is_some_and(is_call) {
            return false;
        }
        let Some(WaitingAsk { id, what: AskedFor::Call { title, options } }) = self.asks.take(ask) else {
            return false;
        };
        let chosen = chosen(&options, allowed);
        let word = match (allowed, chosen) {
            (true, Some(_)) => "allowed",
            (true, None) => "not answered, for it could only be allowed for good",
            (false, _) => "denied",
        };
        let by = if by.is_empty() { String::new() } else { format!(" ({by})") };
        self.transcript.note(&format!("{word}: {title}{by}"));
        let outcome = match chosen {
            Some(option_id) => Selected::Selected { option_id },
            None => Selected::Cancelled,
        };
        self.answer(&id, Ok(PermissionOutcome { outcome }));
        true
    }

    /// Lets an agent have what it asked for of a file; whoever gets this does it.
    pub(crate) fn grant(&mut self, ask: u64) -> Option<GrantedFile> {
        let is_file = |waiting: &&WaitingAsk| !matches!(waiting.what, AskedFor::Call { .. });
        self.asks.get(ask).filter(is_file)?;
        let WaitingAsk { id, what } = self.asks.take(ask)?;
        let work = match what {
            AskedFor::Call { .. } => return None,
            AskedFor::Read { path, line, limit } => FileWork::Read { path, line, limit },
            AskedFor::Write { path, content } => FileWork::Write { path, content },
        };
        Some(GrantedFile { id, work })
    }

    /// Tells what came of it.
    pub(crate) fn granted(&mut self, granted: &GrantedFile, result: std::io::Result<String>) {
        let path = granted.work.path();
        match (result, &granted.work) {
            (Ok(content), FileWork::Read { .. }) => self.answer(&granted.id, Ok(FileText { content })),
            (Ok(_), FileWork::Write { .. }) => {
                self.transcript.note(&format!("written: {path}"));
                self.answer(&granted.id, Ok(Nothing {}));
            }
            // Agents tell a new file from a fault by these words.
            (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("Resource not found: ENOENT: no such file or directory: {path}");
                self.answer::<Nothing>(&granted.id, Err(AcpError { code: NO_SUCH_FILE, message }));
            }
            (Err(error), _) => {
                let message = format!("{path}: {error}");
                self.transcript.note(&message);
                self.answer::<Nothing>(&granted.id, Err(AcpError { code: REFUSED, message }));
            }
        }
    }

    /// Refuses an agent what it asked for of a file; tells whether it waited for that.
    pub(crate) fn refuse(&mut self, ask: u64, why: &str) -> bool {
        let Some(granted) = self.grant(ask) else { return false };
        self.transcript.note(why);
        let error = AcpError { code: REFUSED, message: why.to_owned() };
        self.answer::<Nothing>(&granted.id, Err(error));
        true
    }

    /// Nothing that was asked is answered any more: whoever asked gets to know.
    pub(super) fn withdraw_all(&mut self) {
        for ask in self.asks.numbers() {
            let Some(WaitingAsk { id, what }) = self.asks.take(ask) else { continue };
            self.news.push(AcpNews::Withdrawn { ask });
            match what {
                AskedFor::Call { title, .. } => {
                    self.transcript.note(&format!("no longer asked: {title}"));
                    self.answer(&id, Ok(PermissionOutcome { outcome: Selected::Cancelled }));
                }
                AskedFor::Read { .. } | AskedFor::Write { .. } => {
                    let error = AcpError { code: CANCELLED, message: "the turn was ended".into() };
                    self.answer::<Nothing>(&id, Err(error));
                }
            }
        }
    }

    fn answer<R: serde::Serialize>(&mut self, id: &RawValue, result: Result<R, AcpError>) {
        wire::answer(&mut self.outbound, id, result);
    }
}

fn title_of(call: &AcpToolCall) -> String {
    let title = if call.title.is_empty() { call.tool.as_deref().unwrap_or(&call.kind) } else { &call.title };
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    super::transcript::clip(&title, 500).into_owned()
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Result<T, AcpError> {
    let error = |error: serde_json::Error| AcpError { code: BAD_PARAMS, message: error.to_string() };
    serde_json::from_str(params.get()).map_err(error)
}
