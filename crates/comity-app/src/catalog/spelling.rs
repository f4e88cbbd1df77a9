//! Commands as people spell them: synonyms, plurals, and groups with the same first word.

use super::{CATALOG, CatalogEntry, Group};
use crate::operations::{
    agents, control, decisions, guard, inbox, ledger, locks, mail, people, permissions, pools, tabs, tasks,
    teams, worktrees,
};

/// What commands with the same first word are about.
pub(super) const GROUPS: &[&[Group]] = &[
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

/// What commands with the same first word are about.
pub fn about_group(word: &str) -> Option<&'static str> {
    GROUPS.iter().copied().flatten().find(|(group, _)| *group == word).map(|(_, about)| *about)
}

/// The operation that the words begin with, however it is spelled, and how many words it takes.
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
