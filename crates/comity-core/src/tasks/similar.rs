//! Notices similar work before it is done twice: by the words of two tasks, or by their files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Brief, Task, TaskEvent, graph};
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::{SIMILAR_COMPARED_MAX, SIMILAR_SHOWN_MAX};
use crate::teams::leader_of;
use crate::world::World;

/// How two tasks are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Similarity {
    /// They would change the same files.
    Files,
    /// The percentage of the shorter one's words that the other has, too.
    Words(u8),
}

/// Shorter words do not count.
const WORD_CHARS_MIN: usize = 3;
/// Bytes of a description that are compared.
const COMPARED_BYTES_MAX: usize = 1_024;
/// Tasks with fewer words than this say too little to be compared.
const WORDS_MIN: usize = 3;
/// More common words than this are alike.
const COMMON_PERCENT: usize = 50;
/// Words that say nothing about the work.
const STOP_WORDS: [&str; 40] = [
    "about", "add", "all", "and", "any", "are", "because", "been", "but", "can", "does", "for", "from",
    "has", "have", "into", "its", "make", "more", "must", "not", "now", "one", "only", "our", "should",
    "some", "such", "that", "the", "their", "then", "there", "this", "use", "was", "when", "will", "with",
    "you",
];

/// How alike two tasks are: common words, as a share of the words of the shorter one. That finds a short task
/// contained in a long one, but not one that merely shares a few words with it.
pub fn likeness(a: &Brief, b: &Brief) -> Option<Similarity> {
    compare(a, &words(a), b, &words(b))
}

fn compare(
    a: &Brief,
    a_words: &BTreeSet<String>,
    b: &Brief,
    b_words: &BTreeSet<String>,
) -> Option<Similarity> {
    if a.files.iter().any(|mine| b.files.iter().any(|theirs| crate::paths::overlaps(mine, theirs))) {
        return Some(Similarity::Files);
    }
    let fewer = a_words.len().min(b_words.len());
    if fewer < WORDS_MIN {
        return None;
    }
    let percent = a_words.intersection(b_words).count() * 100 / fewer;
    (percent > COMMON_PERCENT).then(|| Similarity::Words(u8::try_from(percent).unwrap_or(100)))
}

fn words(brief: &Brief) -> BTreeSet<String> {
    let description = &brief.description[..brief.description.floor_char_boundary(COMPARED_BYTES_MAX)];
    let text = [&*brief.title, description].join(" ").to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let counts = |word: &&str| word.chars().count() >= WORD_CHARS_MIN && !STOP_WORDS.contains(word);
    words.filter(counts).map(str::to_owned).collect()
}

/// Warnings about new tasks: each is compared with the newest open ones, and with one another.
pub(super) fn among_new(world: &World, who: Principal, new: &[Task]) -> Vec<Event> {
    let open = world.tasks.all().values().rev().filter(|task| !task.state.is_terminal());
    let mut known: Vec<(&Task, BTreeSet<String>)> =
        open.take(SIMILAR_COMPARED_MAX).map(|task| (task, words(&task.brief))).collect();
    known.reverse();
    let by_number: BTreeMap<u64, &Task> = new.iter().map(|task| (task.number, task)).collect();
    let find = |number| by_number.get(&number).copied().or_else(|| world.tasks.by_number(number));
    let mut events = Vec::new();
    for task in new {
        let mine = words(&task.brief);
        let alike = known.iter().rev().take(SIMILAR_COMPARED_MAX).filter_map(|(other, theirs)| {
            let likeness = compare(&task.brief, &mine, &other.brief, theirs)?;
            let same_work = other.project == task.project && !are_ordered(&find, task, other);
            same_work.then(|| looks_like(world, who, task, other, likeness))
        });
        events.extend(alike.take(SIMILAR_SHOWN_MAX));
        known.push((task, mine));
    }
    events
}

/// Warnings about a task that somebody takes: it is compared with what others have.
pub(super) fn among_taken(world: &World, who: Principal, task: &Task) -> Vec<Event> {
    let mine = words(&task.brief);
    let find = |number| world.tasks.by_number(number);
    let others = world.tasks.owned().filter(|other| {
        other.project == task.project && other.number != task.number && other.state.owner() != Some(who)
    });
    let alike = others.take(SIMILAR_COMPARED_MAX).filter_map(|other| {
        let likeness = compare(&task.brief, &mine, &other.brief, &words(&other.brief))?;
        (!are_ordered(&find, task, other)).then(|| looks_like(world, who, task, other, likeness))
    });
    alike.take(SIMILAR_SHOWN_MAX).collect()
}

/// Tasks that come one after the other are not the same work.
fn are_ordered<'a>(find: &impl Fn(u64) -> Option<&'a Task>, a: &Task, b: &Task) -> bool {
    graph::way(find, a.number, b.number).is_some() || graph::way(find, b.number, a.number).is_some()
}

fn looks_like(world: &World, who: Principal, task: &Task, other: &Task, likeness: Similarity) -> Event {
    let tell = who.agent().and_then(|agent| leader_of(world, agent).agent());
    Event::Task(TaskEvent::LooksLike { on: task.name(), other: other.id.clone(), likeness, tell })
}

impl fmt::Display for Similarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Similarity::Files => f.write_str("both would change the same files"),
            Similarity::Words(percent) => write!(f, "they have {percent} % of their words in common"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{CaseRule, PathPattern};

    fn brief(title: &str, description: &str, files: &[&str]) -> Brief {
        let pattern = |path: &&str| PathPattern::parse(path, CaseRule::Exact).expect("a pattern");
        let files = files.iter().map(pattern).collect();
        Brief { title: title.into(), description: description.into(), files, ..Brief::default() }
    }

    #[test]
    fn words_in_common_or_files_in_common_are_alike() {
        let table = [
            // Half of the words is not over half.
            ("Rewrite login form validation", "Rewrite logout form handling", None),
            ("Rewrite login form validation", "Login form validation rewrite", Some(Similarity::Words(100))),
            ("REWRITE the LOGIN form", "rewrite this login form now", Some(Similarity::Words(100))),
            ("Write tests for user API", "Write tests for billing API", Some(Similarity::Words(75))),
            // Stop words and short words say nothing; what is left is too little.
            ("Add it to the UI", "Add it to the DB", None),
            ("Fix login", "Fix login", None),
            ("Über die Straße gehen", "ÜBER DIE STRASSE gehen lernen", Some(Similarity::Words(75))),
        ];
        for (a, b, expected) in table {
            assert_eq!(likeness(&brief(a, "", &[]), &brief(b, "", &[])), expected, "{a} / {b}");
            assert_eq!(likeness(&brief(b, "", &[]), &brief(a, "", &[])), expected, "{b} / {a}");
        }
        let (short, long) = ("Rewrite login form", "Mend the pages");
        let told = "The login form is slow: rewrite it, then measure the pages again.";
        assert_eq!(likeness(&brief(short, "", &[]), &brief(long, told, &[])), Some(Similarity::Words(100)));
        let (src, glob) = (brief("One", "", &["src/"]), brief("Two", "", &["**/mod.rs"]));
        assert_eq!(likeness(&src, &glob), Some(Similarity::Files));
        assert_eq!(likeness(&src, &brief("Two", "", &["docs/"])), None);
    }
}
