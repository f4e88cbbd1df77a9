//! What an operation is: one struct that every door can offer.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use comity_core::agents::Process;
use comity_core::mail::Receipt;
use comity_core::people::{Asker, Origin, PersonRefusal, Proof};
use comity_core::{Key, Principal, Refusal};
pub(crate) use schemars::JsonSchema;
use serde::de::DeserializeOwned;
pub(crate) use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use crate::application::Application;
use crate::identity::{Identity, IdentityDoubt, WayIn};
use crate::lineage::Lineage;
pub use crate::plan::Plan;
use crate::time_zone::ZoneName;
use crate::wording::Wording;

/// A section of the command list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HelpSection {
    GoingOn,
    Files,
    Shared,
    Work,
    Agents,
    Programs,
    You,
    Server,
    Setup,
}

impl HelpSection {
    pub const ALL: [HelpSection; 9] = [
        HelpSection::GoingOn,
        HelpSection::Files,
        HelpSection::Shared,
        HelpSection::Work,
        HelpSection::Agents,
        HelpSection::Programs,
        HelpSection::You,
        HelpSection::Server,
        HelpSection::Setup,
    ];

    pub fn title(self) -> &'static str {
        match self {
            HelpSection::GoingOn => "What is going on",
            HelpSection::Files => "Files",
            HelpSection::Shared => "Shared things",
            HelpSection::Work => "Work",
            HelpSection::Agents => "Agents",
            HelpSection::Programs => "Programs",
            HelpSection::You => "You",
            HelpSection::Server => "Server",
            HelpSection::Setup => "Setup",
        }
    }
}

/// Whether an operation changes something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It changes something that can be changed back.
    Changes,
    /// It does something in a page, such as a click, which is forgotten with the server: done twice is done twice.
    Acts,
    /// It takes something away from somebody.
    Removes,
}

/// How long an operation may take before it is answered or passed to the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Microseconds: it looks at memory, and at most at a file or two.
    Quick,
    /// Perhaps seconds: it runs git or walks a tree, on a thread of its own.
    Long,
}

/// Whom an operation is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Audience {
    /// Agents, and so everybody; these are in the default list of MCP tools.
    Agents,
    /// Agents that browse: these are in the list of MCP tools if a browser is asked for.
    Browsing,
    /// People, and agents that ask for more tools.
    People,
    /// Comity's own programs.
    Internal,
}

/// What the command line does besides asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtTerminal {
    Asks,
    /// It starts no server.
    AsksWhoRuns,
    /// It reads page after page, and can go on.
    ReadsPages,
    /// Without a server it leaves what was given in a file.
    LeavesInFile,
    AsksPassphrase,
    AsksNewPassphrase,
    /// It attaches to a terminal.
    Attaches,
    /// It can go on showing what is written.
    FollowsOutput,
    /// It tells which terminal it is.
    TellsTerminal,
}

/// The REST route of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: &'static str,
    /// `{name}` is a field of the input.
    pub path: &'static str,
}

/// Who calls, and from where. Doors make it from the connection and the token, never from the input.
#[derive(Clone, Debug)]
pub struct Caller {
    pub who: Principal,
    /// Where from, if it is the human.
    pub origin: Option<Arc<Origin>>,
    /// What is missing, if it is nobody.
    pub doubt: Option<IdentityDoubt>,
    /// The directory that paths are relative to.
    pub cwd: Option<PathBuf>,
    /// The time zone that it reads and writes times in; the server's if it does not say.
    pub zone: Option<ZoneName>,
    /// The process at the other end and those above it, as the kernel knows them.
    pub lineage: Option<Arc<Lineage>>,
    /// The idempotency key of the call; [`Application::call`] sets it.
    pub key: Option<Key>,
    /// The key as the caller gave it: nobody else knows it, and it is not stored.
    pub given_key: Option<Arc<str>>,
}

/// Why there is no output.
#[derive(Clone, Debug)]
pub enum Failure {
    Refused(Refusal),
    Fault(String),
}

/// An output, ready for a door.
#[derive(Clone, Debug)]
pub struct Rendered {
    pub json: String,
    /// If text was asked for.
    pub text: Option<String>,
    /// The offer in it that the door acknowledges once it has reached the caller.
    pub receipt: Option<Receipt>,
}

/// One thing that can be asked of Comity, through every door. Everything but its logic is in the table of its
/// feature.
pub trait Operation: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its answer; as text by its `Display`.
    type Output: Serialize + JsonSchema + Display + 'static;

    /// The offer in an output that has to be acknowledged once it has arrived.
    fn receipt(_output: &Self::Output) -> Option<Receipt> {
        None
    }

    /// Looks at the world and says how to go on.
    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Self::Output>, Failure>;
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(refusal)
    }
}

impl Failure {
    /// A fault, in words.
    pub fn fault(problem: impl Display) -> Failure {
        Failure::Fault(problem.to_string())
    }

    /// The error for programs: `{"code", "message", "hint", ...}`.
    pub fn to_json(&self, wording: Wording) -> String {
        let value = match self {
            Failure::Refused(refusal) => {
                let mut value = serde_json::json!({
                    "code": refusal.code(),
                    "message": wording.spell(&refusal.to_string()),
                    "hint": wording.spell(&refusal.hint()),
                });
                if let (Value::Object(value), Ok(Value::Object(told))) =
                    (&mut value, serde_json::to_value(refusal))
                {
                    value.extend(told);
                }
                value
            }
            Failure::Fault(problem) => serde_json::json!({
                "code": "fault", "message": problem, "hint": "look at the server's log, or ask: comity doctor",
            }),
        };
        value.to_string()
    }

    /// The error as text, with the next step.
    pub fn to_text(&self, wording: Wording) -> String {
        match self {
            Failure::Refused(refusal) => {
                let text = format!("{refusal}\n{}", refusal.hint());
                wording.refused(&text)
            }
            Failure::Fault(problem) => problem.clone(),
        }
    }
}

impl Caller {
    /// The person at the socket.
    pub fn human(cwd: impl Into<PathBuf>) -> Caller {
        Caller::new(Principal::Human, Some(cwd.into()))
    }

    /// A caller in a directory.
    pub fn new(who: Principal, cwd: Option<PathBuf>) -> Caller {
        Caller { who, origin: None, doubt: None, cwd, zone: None, lineage: None, key: None, given_key: None }
    }

    /// A caller that was identified, in a directory.
    pub fn identified(identity: Identity, cwd: Option<PathBuf>) -> Caller {
        let Identity { who, origin, doubt } = identity;
        Caller { origin, doubt, ..Caller::new(who, cwd) }
    }

    /// The process at the other end, as it was when it connected.
    pub fn process(&self) -> Option<Process> {
        self.lineage.as_ref()?.links.first().map(|link| link.process)
    }

    pub fn asker(&self) -> Asker {
        Asker { who: self.who, origin: self.origin.clone() }
    }

    /// Refuses persons who are not present, for acts that are not asks of the rules.
    pub fn check_presence(&self, act: &'static str) -> Result<(), Refusal> {
        match self.origin.as_ref().map(|origin| &origin.proof) {
            Some(Proof::Lineage { lacks }) if self.who == Principal::Human => {
                Err(Refusal::Person(PersonRefusal::NotPresent { act, lacks: lacks.to_string() }))
            }
            _ => Ok(()),
        }
    }

    /// How it becomes known, if it is nobody.
    pub(crate) fn way_in(&self) -> Option<WayIn> {
        self.doubt.as_ref()?.way_in
    }

    /// The refusal if nothing is proven.
    pub fn unproven(&self) -> Refusal {
        let why = self.doubt.as_ref().map_or("nothing proves who you are", |doubt| &*doubt.why);
        Refusal::Person(PersonRefusal::Unproven { why: why.into() })
    }
}
