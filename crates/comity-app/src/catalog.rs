//! Everything that can be asked of Comity: the table of contents of the product. Every door loops over it.
//!
//! Each feature lists its operations in the `mod.rs` of its folder below `operations`; here is the order of the features.

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

/// The features, in the order in which people read them, and where the list of all commands has theirs.
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

/// A word with which several commands begin, and what they are about.
pub(crate) type Group = (&'static str, &'static str);

const COUNT: usize = {
    let (mut count, mut feature) = (0, 0);
    while feature < FEATURES.len() {
        count += FEATURES[feature].1.len();
        feature += 1;
    }
    count
};

/// All operations.
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

/// Where the list of all commands has those that begin with a word: where it has the first of them.
pub fn listed(word: &str) -> Option<(HelpSection, usize)> {
    let at = CATALOG.iter().position(|entry| entry.words().next() == Some(word))?;
    Some((CATALOG[at].section?, at))
}

/// The methods of REST.
pub(crate) const GET: &str = "GET";
pub(crate) const POST: &str = "POST";
pub(crate) const DELETE: &str = "DELETE";

/// One operation, as the doors see it.
#[derive(Clone, Copy)]
pub struct CatalogEntry {
    /// Its name in the catalog and on the socket.
    pub name: &'static str,
    /// Its name among the MCP tools.
    pub tool: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// How long it may take.
    pub pace: Pace,
    /// Whether an agent program that is not known yet may call it, and becomes known by that.
    pub(crate) lets_in: Option<WayIn>,
    /// Whether it changes files or branches: nobody does that in plan mode.
    pub(crate) writes_files: bool,
    pub audience: Audience,
    /// Whether a model should see its tool at once, without searching for it.
    pub always_loaded: bool,
    /// Fields that are taken but not shown to models: they rarely need them, and all agents read all of the list.
    pub unlisted: &'static [&'static str],
    pub route: Route,
    /// Whether it may wait for others, as long as its field `wait` says.
    pub waits: bool,
    /// Whether its answer is kept for a repeated call, because the world does not remember what it did.
    keeps_answer: bool,
    /// Whether its output offers mail, for as long as its field `lease` says.
    pub is_offer: bool,
    /// Whether MCP gives its output as data, too: its fields have names that others know.
    pub is_structured: bool,
    /// Whether its output holds a picture.
    pub has_image: bool,
    pub at_terminal: AtTerminal,
    /// Whether it can be watched at a terminal, as every list can.
    is_watched: bool,
    /// What the inbox calls its entries, before their number, and the word that is this answer.
    pub(crate) answers: Option<(&'static str, &'static str)>,
    /// Where the list of all commands has it, if not with its feature.
    section: Option<HelpSection>,
    /// The field of the tool for all changes of a task, and what it is given, that does the same; empty: to whom it goes.
    pub(crate) updates: Option<(&'static str, &'static str)>,
    /// The words after `comity`, then the fields that are given without a flag: `lock <paths>`. Empty if it is none of
    /// people's business.
    usage: &'static str,
    /// Other words for the same command.
    pub also: &'static [&'static str],
    /// Commands to learn from, without the name of the program.
    pub examples: &'static [&'static str],
    pub input: fn() -> Value,
    pub output: fn() -> Value,
    /// What is wrong in a document that is given for a field, and where, if it takes documents of a form of its own.
    pub misread: Option<Misread>,
    type_id: fn() -> std::any::TypeId,
    type_name: fn() -> &'static str,
    /// Reads the input and plans the operation; in words, too, if that is wanted.
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

/// The entry of an operation.
pub fn entry_of<O: Operation>() -> &'static CatalogEntry {
    let found = CATALOG.iter().find(|entry| entry.is::<O>());
    found.unwrap_or_else(|| unreachable!("an operation that no feature lists"))
}

/// The name of an operation, for programs that ask it.
pub fn name_of<O: Operation>() -> &'static str {
    entry_of::<O>().name
}

/// The operation that offers what waits for an agent.
pub fn offering() -> &'static CatalogEntry {
    let found = CATALOG.iter().find(|entry| entry.is_offer);
    found.unwrap_or_else(|| unreachable!("no operation offers mail"))
}

/// The call of an operation, for a text that names it.
pub(crate) fn next_call<O: Operation>(input: impl IntoIterator<Item = (&'static str, Argument)>) -> NextCall {
    NextCall::of(name_of::<O>(), input)
}

/// Where in the catalog the operation with this name is.
pub(crate) fn place(name: &str) -> Option<usize> {
    CATALOG.iter().position(|entry| entry.name == name)
}

impl CatalogEntry {
    /// Whether its answer is kept for who asks again, for the world does not remember what it did.
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

    /// Whether it is this operation.
    pub fn is<O: Operation>(&self) -> bool {
        (self.type_id)() == std::any::TypeId::of::<O>()
    }

    /// The words after `comity`; none if it is not offered there.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.usage.split_whitespace().take_while(|word| !word.starts_with('<'))
    }

    /// The fields that are given without a flag, in order.
    pub fn operands(&self) -> impl Iterator<Item = &'static str> {
        self.usage.split_whitespace().filter_map(|word| word.strip_prefix('<')?.strip_suffix('>'))
    }

    /// How many of the words that were typed are this command, however it is spelled.
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
