//! What happens when a hook is called.

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A tool is about to be used; this can be stopped.
    BeforeTool,
    /// A tool was used.
    AfterTool,
    /// A session begins, or is taken up again.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A person has written something.
    UserPrompt,
    /// The agent has ended its turn.
    Stop,
    /// Something else.
    Other,
}

impl Event {
    /// What an event of this name is. The names of different programs do not contradict each other.
    pub fn of(name: &str) -> Event {
        match name {
            "PreToolUse" | "preToolUse" | "BeforeTool" | "tool.execute.before" => Event::BeforeTool,
            "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" | "beforeTabFileRead" => {
                Event::BeforeTool
            }
            "PostToolUse" | "postToolUse" | "AfterTool" | "tool.execute.after" => Event::AfterTool,
            "PostToolUseFailure" | "postToolUseFailure" => Event::AfterTool,
            "afterShellExecution" | "afterMCPExecution" | "afterFileEdit" | "afterTabFileEdit" => {
                Event::AfterTool
            }
            "SessionStart" | "sessionStart" | "session.created" => Event::SessionStart,
            "SessionEnd" | "sessionEnd" | "session.deleted" => Event::SessionEnd,
            "UserPromptSubmit" | "userPromptSubmitted" | "BeforeAgent" | "beforeSubmitPrompt"
            | "chat.message" => Event::UserPrompt,
            "Stop" | "stop" | "agentStop" | "AfterAgent" | "session.idle" => Event::Stop,
            _ => Event::Other,
        }
    }
}
