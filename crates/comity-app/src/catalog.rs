//! Everything that can be asked of Comity: the table of contents of the product. Every door loops over it.
//!
//! Each feature lists its operations in the `mod.rs` of its folder below `operations`; here is the order of the features.

mod schema;
#[cfg(test)]
mod tests;

use comity_core::next_call::{Argument, NextCall};
use schema::{input_schema, output_schema};
use serde_json::Value;

use crate::application::{self, Application, CallInput};
use crate::identity::WayIn;
use crate::operation::{
    AtTerminal, Audience, Caller, Effect, Failure, Operation, Pace, Plan, Rendered, Route,
};
use crate::operations::{
    agents, commits, control, decisions, guard, inbox, ledger, locks, mail, people, permissions, pools,
    server, tabs, tasks, teams, worktrees,
};

/// The features, in the order in which people read them.
const FEATURES: &[&[CatalogEntry]] = &[
    inbox::OPERATIONS,
    locks::OPERATIONS,
    pools::OPERATIONS,
    commits::OPERATIONS,
    worktrees::OPERATIONS,
    tabs::OPERATIONS,
    tasks::OPERATIONS,
    mail::OPERATIONS,
    teams::OPERATIONS,
    control::OPERATIONS,
    decisions::OPERATIONS,
    agents::OPERATIONS,
    people::OPERATIONS,
    permissions::OPERATIONS,
    ledger::OPERATIONS,
    server::OPERATIONS,
    guard::OPERATIONS,
];

/// What the commands that begin with the same word are about.
const GROUPS: &[&[Group]] = &[
    inbox::GROUPS,
    locks::GROUPS,
    pools::GROUPS,
    worktrees::GROUPS,
    tabs::GROUPS,
    tasks::GROUPS,
    mail::GROUPS,
    teams::GROUPS,
    control::GROUPS,
    decisions::GROUPS,
    agents::GROUPS,
    people::GROUPS,
    permissions::GROUPS,
    ledger::GROUPS,
    guard::GROUPS,
];

/// A word with which several commands begin, and what they are about.
pub(crate) type Group = (&'static str, &'static str);

const COUNT: usize = {
    let (mut count, mut feature) = (0, 0);
    while feature < FEATURES.len() {
        count += FEATURES[feature].len();
        feature += 1;
    }
    count
};

/// All operations.
pub static CATALOG: &[CatalogEntry] = &{
    let mut all = [FEATURES[0][0]; COUNT];
    let (mut count, mut feature) = (0, 0);
    while feature < FEATURES.len() {
        let mut at = 0;
        while at < FEATURES[feature].len() {
            all[count] = FEATURES[feature][at];
            count += 1;
            at += 1;
        }
        feature += 1;
    }
    all
};

/// What the commands that begin with the same word are about.
pub fn about_group(word: &str) -> Option<&'static str> {
    GROUPS.iter().copied().flatten().find(|(group, _)| *group == word).map(|(_, about)| *about)
}

/// The operation that the words begin with, however it is spelled, and how many of them are its command.
pub fn spelled<'a>(typed: &[&'a str]) -> Option<(&'static CatalogEntry, usize)> {
    let longest = |typed: &[&'a str]| {
        let found = CATALOG.iter().filter_map(|entry| Some((entry, entry.spelled_by(typed)?)));
        found.max_by_key(|(_, count)| *count)
    };
    // `tasks` is `task list`, and `tasks add` is `task add`.
    let plural = || {
        let (first, rest) = typed.split_first()?;
        let group = first.strip_suffix('s').filter(|group| about_group(group).is_some())?;
        let below = |rest: &[&'a str]| longest(&[&[group], rest].concat()).filter(|(_, count)| *count > 1);
        below(rest).or_else(|| below(&["list"]).map(|(entry, _)| (entry, 1)))
    };
    longest(typed).or_else(plural)
}

/// The words of commands directly below another word.
pub(crate) fn words_below(group: &str) -> impl Iterator<Item = &'static str> {
    CATALOG
        .iter()
        .flat_map(|entry| entry.also.iter().map(|other| other.split(' ')).chain([entry.usage.split(' ')]))
        .filter_map(move |mut words| (words.next() == Some(group)).then(|| words.next())?)
        .filter(|word| !word.starts_with('<'))
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
    /// The words after `comity`, then the fields that are given without a flag: `lock <paths>`. Empty if it is none of
    /// people's business.
    usage: &'static str,
    /// Other words for the same command.
    pub also: &'static [&'static str],
    /// Commands to learn from, without the name of the program.
    pub examples: &'static [&'static str],
    pub input: fn() -> Value,
    pub output: fn() -> Value,
    type_id: fn() -> std::any::TypeId,
    type_name: fn() -> &'static str,
    /// Reads the input and plans the operation; in words, too, if that is wanted.
    pub(crate) plan: PlanOperation,
}

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
    /// An operation that only looks, for people; what is otherwise is said behind it.
    pub(crate) const fn of<O: Operation>(
        name: &'static str,
        usage: &'static str,
        method: &'static str,
        path: &'static str,
    ) -> CatalogEntry {
        CatalogEntry {
            name,
            tool: name,
            effect: Effect::Reads,
            pace: Pace::Quick,
            lets_in: None,
            writes_files: false,
            audience: Audience::People,
            always_loaded: false,
            unlisted: &[],
            route: Route { method, path },
            waits: false,
            keeps_answer: false,
            is_offer: false,
            is_structured: false,
            has_image: false,
            at_terminal: AtTerminal::Asks,
            is_watched: false,
            answers: None,
            usage,
            also: &[],
            examples: &[],
            input: input_schema::<O>,
            output: output_schema::<O::Output>,
            type_id: std::any::TypeId::of::<O>,
            type_name: std::any::type_name::<O>,
            plan: application::plan::<O>,
        }
    }

    pub(crate) const fn changes(self) -> CatalogEntry {
        CatalogEntry { effect: Effect::Changes, ..self }
    }

    pub(crate) const fn acts(self) -> CatalogEntry {
        CatalogEntry { effect: Effect::Acts, ..self }
    }

    pub(crate) const fn removes(self) -> CatalogEntry {
        CatalogEntry { effect: Effect::Removes, ..self }
    }

    pub(crate) const fn for_agents(self) -> CatalogEntry {
        CatalogEntry { audience: Audience::Agents, ..self }
    }

    pub(crate) const fn for_browsing(self) -> CatalogEntry {
        CatalogEntry { audience: Audience::Browsing, ..self }
    }

    pub(crate) const fn internal(self) -> CatalogEntry {
        CatalogEntry { audience: Audience::Internal, ..self }
    }

    pub(crate) const fn long(self) -> CatalogEntry {
        CatalogEntry { pace: Pace::Long, ..self }
    }

    pub(crate) const fn writes_files(self) -> CatalogEntry {
        CatalogEntry { writes_files: true, ..self }
    }

    pub(crate) const fn lets_in(self, way_in: WayIn) -> CatalogEntry {
        CatalogEntry { lets_in: Some(way_in), ..self }
    }

    pub(crate) const fn tool(self, tool: &'static str) -> CatalogEntry {
        CatalogEntry { tool, ..self }
    }

    pub(crate) const fn always_loaded(self) -> CatalogEntry {
        CatalogEntry { always_loaded: true, ..self }
    }

    pub(crate) const fn unlisted(self, unlisted: &'static [&'static str]) -> CatalogEntry {
        CatalogEntry { unlisted, ..self }
    }

    pub(crate) const fn waits(self) -> CatalogEntry {
        CatalogEntry { waits: true, ..self }
    }

    /// Keeps its answer for a repeated call.
    pub(crate) const fn keeps_answer(self) -> CatalogEntry {
        CatalogEntry { keeps_answer: true, ..self }
    }

    pub(crate) const fn offers(self) -> CatalogEntry {
        CatalogEntry { is_offer: true, ..self }
    }

    pub(crate) const fn structured(self) -> CatalogEntry {
        CatalogEntry { is_structured: true, ..self }
    }

    pub(crate) const fn image(self) -> CatalogEntry {
        CatalogEntry { has_image: true, ..self }
    }

    pub(crate) const fn at_terminal(self, at_terminal: AtTerminal) -> CatalogEntry {
        CatalogEntry { at_terminal, ..self }
    }

    pub(crate) const fn watched(self) -> CatalogEntry {
        CatalogEntry { is_watched: true, ..self }
    }

    /// Answers something that the inbox lists.
    pub(crate) const fn answers(self, prefix: &'static str, answer: &'static str) -> CatalogEntry {
        CatalogEntry { answers: Some((prefix, answer)), ..self }
    }

    pub(crate) const fn also(self, also: &'static [&'static str]) -> CatalogEntry {
        CatalogEntry { also, ..self }
    }

    pub(crate) const fn examples(self, examples: &'static [&'static str]) -> CatalogEntry {
        CatalogEntry { examples, ..self }
    }

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
