//! The catalog of all operations, the product's table of contents. Every door goes through it.
//!
//! Each feature lists its operations in the `mod.rs` of its folder below `operations`; here is the order of the
//! features.

mod build;
mod schema;
mod spelling;
#[cfg(test)]
mod tests;

use comity_core::next_call::{Argument, NextCall};
use serde_json::Value;
pub(crate) use spelling::words_below;
pub use spelling::{about_group, spelled};

use crate::application::{Application, CallInput};
use crate::identity::WayIn;
use crate::misread::{DocumentForm, DocumentProblem};
use crate::operation::{
    AtTerminal, Audience, Caller, Effect, Failure, HelpSection, Operation, Pace, Plan, Rendered, Route,
};
use crate::operations::{
    agents, commits, control, decisions, guard, inbox, ledger, locks, mail, people, permissions, pools, runs,
    server, tabs, tasks, teams, worktrees,
};

/// The features in the order of help texts, and the section of the command list in which each appears.
const FEATURES: &[(HelpSection, &[CatalogEntry])] = &[
    (HelpSection::GoingOn, inbox::OPERATIONS),
    (HelpSection::Files, locks::OPERATIONS),
    (HelpSection::Shared, pools::OPERATIONS),
    (HelpSection::Files, commits::OPERATIONS),
    (HelpSection::Files, worktrees::OPERATIONS),
    (HelpSection::Shared, tabs::OPERATIONS),
    (HelpSection::Work, tasks::OPERATIONS),
    (HelpSection::Work, mail::OPERATIONS),
    (HelpSection::Agents, teams::OPERATIONS),
    (HelpSection::Agents, control::OPERATIONS),
    (HelpSection::Work, decisions::OPERATIONS),
    (HelpSection::Agents, agents::OPERATIONS),
    (HelpSection::Programs, runs::OPERATIONS),
    (HelpSection::You, people::OPERATIONS),
    (HelpSection::Agents, permissions::OPERATIONS),
    (HelpSection::GoingOn, ledger::OPERATIONS),
    (HelpSection::Server, server::OPERATIONS),
    (HelpSection::Setup, guard::OPERATIONS),
];

/// The first word of several commands, and what they are about.
pub(crate) type Group = (&'static str, &'static str);

const COUNT: usize = {
    let (mut count, mut feature) = (0, 0);
    while feature < FEATURES.len() {
        count += FEATURES[feature].1.len();
        feature += 1;
    }
    count
};

pub static CATALOG: &[CatalogEntry] = &{
    let mut all = [FEATURES[0].1[0]; COUNT];
    let (mut count, mut feature) = (0, 0);
    while feature < FEATURES.len() {
        let mut at = 0;
        while at < FEATURES[feature].1.len() {
            all[count] = FEATURES[feature].1[at].below(FEATURES[feature].0);
            count += 1;
            at += 1;
        }
        feature += 1;
    }
    all
};

/// Where the command list has those with this first word: where it has the first of them.
pub fn listed(word: &str) -> Option<(HelpSection, usize)> {
    let at = CATALOG.iter().position(|entry| entry.words().next() == Some(word))?;
    Some((CATALOG[at].section?, at))
}

pub(crate) const GET: &str = "GET";
pub(crate) const POST: &str = "POST";
pub(crate) const DELETE: &str = "DELETE";

/// One operation, as the doors see it.
#[derive(Clone, Copy)]
pub struct CatalogEntry {
    /// In the catalog and on the socket.
    pub name: &'static str,
    /// Among the MCP tools.
    pub tool: &'static str,
    pub effect: Effect,
    pub pace: Pace,
    /// Whether an unknown agent program may call it, and becomes known by that.
    pub(crate) lets_in: Option<WayIn>,
    /// Whether it changes files or branches, or starts what may, which is refused in plan mode.
    pub(crate) writes_files: bool,
    pub audience: Audience,
    /// Whether a model should see its tool at once, without searching for it.
    pub always_loaded: bool,
    /// Fields that are accepted but not shown to models: they are rarely needed, and every agent reads the whole
    /// list.
    pub unlisted: &'static [&'static str],
    pub route: Route,
    /// Whether it may wait for others, as long as its field `wait` says.
    pub waits: bool,
    /// Whether its answer is kept for repeats, because the world does not remember what it did.
    keeps_answer: bool,
    /// Whether its output offers mail, for as long as its field `lease` says.
    pub is_offer: bool,
    /// Whether MCP gives its output as data, too: others know the names of its fields.
    pub is_structured: bool,
    pub has_image: bool,
    pub at_terminal: AtTerminal,
    /// Whether it can be watched at a terminal, as every list can.
    is_watched: bool,
    /// The prefix of the inbox entries that it answers, and the word for this answer.
    pub(crate) answers: Option<(&'static str, &'static str)>,
    /// The section of the command list, if not its feature's.
    section: Option<HelpSection>,
    /// The field of the update tool for tasks that does the same, and its value; empty for the receiver.
    pub(crate) updates: Option<(&'static str, &'static str)>,
    /// The words after `comity`, then the fields that need no flag: `lock <paths>`. Empty if it is not for people.
    usage: &'static str,
    /// Other words for the same command.
    pub also: &'static [&'static str],
    /// Examples, without the name of the program.
    pub examples: &'static [&'static str],
    pub input: fn() -> Value,
    pub output: fn() -> Value,
    /// What is wrong in a document that is given for a field, and where, if it takes documents of a form of its own.
    pub misread: Option<Misread>,
    type_id: fn() -> std::any::TypeId,
    type_name: fn() -> &'static str,
    /// Parses the input and plans the operation; also renders text, if wanted.
    pub(crate) plan: PlanOperation,
}

type Misread = fn(field: &str, text: &str, form: DocumentForm) -> Option<DocumentProblem>;

pub(crate) type PlanOperation =
    fn(&CatalogEntry, &Application, &Caller, CallInput<'_>, bool) -> Result<Plan<Rendered>, Failure>;

/// The operation with this name.
pub fn find(name: &str) -> Option<&'static CatalogEntry> {
    place(name).map(|at| &CATALOG[at])
}

/// The operation behind an MCP tool.
pub fn find_tool(name: &str) -> Option<&'static CatalogEntry> {
    CATALOG.iter().find(|entry| entry.tool == name)
}

/// The catalog entry of an operation.
pub fn entry_of<O: Operation>() -> &'static CatalogEntry {
    let found = CATALOG.iter().find(|entry| entry.is::<O>());
    found.unwrap_or_else(|| unreachable!("an operation that no feature lists"))
}

/// The name of an operation, for programs that call it.
pub fn name_of<O: Operation>() -> &'static str {
    entry_of::<O>().name
}

/// The operation that offers what waits for an agent.
pub fn offering() -> &'static CatalogEntry {
    let found = CATALOG.iter().find(|entry| entry.is_offer);
    found.unwrap_or_else(|| unreachable!("no operation offers mail"))
}

/// The call of an operation, for a text that suggests it.
pub(crate) fn next_call<O: Operation>(input: impl IntoIterator<Item = (&'static str, Argument)>) -> NextCall {
    NextCall::of(name_of::<O>(), input)
}

/// The operation's position in the catalog.
pub(crate) fn place(name: &str) -> Option<usize> {
    CATALOG.iter().position(|entry| entry.name == name)
}

impl CatalogEntry {
    /// Whether its answer is kept for repeats, because the world does not remember what it did.
    pub(crate) fn is_kept(&self) -> bool {
        self.keeps_answer || (self.audience == Audience::Browsing && self.effect != Effect::Reads)
    }

    /// Whether it can be shown again whenever something happens.
    pub fn is_watchable(&self) -> bool {
        self.effect == Effect::Reads && (self.is_watched || self.words().last() == Some("list"))
    }

    /// What it does, in a sentence: the doc comment of its struct.
    pub fn summary(&self) -> String {
        (self.input)()["description"].as_str().unwrap_or_default().to_owned()
    }

    /// The feature that lists it.
    pub fn feature(&self) -> &'static str {
        (self.type_name)().split("::").nth(2).unwrap_or_default()
    }

    pub fn is<O: Operation>(&self) -> bool {
        (self.type_id)() == std::any::TypeId::of::<O>()
    }

    /// The words after `comity`; none if it is not offered there.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.usage.split_whitespace().take_while(|word| !word.starts_with('<'))
    }

    /// The fields that need no flag, in order.
    pub fn operands(&self) -> impl Iterator<Item = &'static str> {
        self.usage.split_whitespace().filter_map(|word| word.strip_prefix('<')?.strip_suffix('>'))
    }

    /// How many of the typed words are this command, however it is spelled.
    fn spelled_by(&self, typed: &[&str]) -> Option<usize> {
        let count = |spelling: &mut dyn Iterator<Item = &'static str>| {
            let mut count = 0;
            for word in spelling {
                if typed.get(count) != Some(&word) {
                    return None;
                }
                count += 1;
            }
            (count > 0).then_some(count)
        };
        let others = self.also.iter().filter_map(|other| count(&mut other.split(' ')));
        others.chain(count(&mut self.words())).max()
    }

    /// The command, as a person types it.
    pub fn command(&self) -> String {
        self.words().collect::<Vec<_>>().join(" ")
    }
}
