//! What is added: an operation that only reads, and a feature with a rule.

use super::{Addition, Edit, NewFile, OPERATIONS};

pub(super) const ALL: [&Addition; 2] = [&READING_OPERATION, &FEATURE];

const READING_OPERATION: Addition = Addition {
    what: "an operation that only reads",
    files_max: 2,
    new: &[NewFile {
        path: "crates/comity-app/src/operations/locks/count_held.rs",
        text: r#"//! Counts locks.

use std::fmt;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Counts the locks that are held.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountHeld {}

#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldCount {
    pub held: usize,
}

impl Operation for CountHeld {
    type Output = HeldCount;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<HeldCount>, Failure> {
        Ok(Plan::Answer(HeldCount { held: app.engine().world().locks.iter().count() }))
    }
}

impl fmt::Display for HeldCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} locks are held", self.held)
    }
}
"#,
    }],
    edits: &[
        Edit { path: LOCKS, before: "mod extend;", lines: "mod count_held;" },
        Edit { path: LOCKS, before: "pub use extend::", lines: "pub use count_held::CountHeld;" },
        Edit {
            path: LOCKS,
            before: "    CatalogEntry::of::<Extend>",
            lines: r#"    CatalogEntry::of::<CountHeld>("count_held", "count-held", GET, "/api/coordination/locks/count"),"#,
        },
    ],
};

const LOCKS: &str = "crates/comity-app/src/operations/locks/mod.rs";

const FEATURE: Addition = Addition {
    what: "a feature with a rule",
    files_max: 14,
    new: &[
        NewFile { path: "crates/comity-core/src/bookmarks.rs", text: BOOKMARKS },
        NewFile {
            path: "crates/comity-app/src/operations/bookmarks/mod.rs",
            text: r#"//! Bookmarks.

mod add;

pub use add::AddBookmark;

use crate::catalog::{CatalogEntry, POST};

/// The operations, in the order in which people read them.
pub(crate) const OPERATIONS: &[CatalogEntry] =
    &[CatalogEntry::of::<AddBookmark>("bookmark", "bookmark <name>", POST, "/api/bookmarks").changes()];
"#,
        },
        NewFile {
            path: "crates/comity-app/src/operations/bookmarks/add.rs",
            text: r#"//! Adds a bookmark.

use std::fmt;

use comity_core::Ask;
use comity_core::bookmarks::BookmarkAsk;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Adds a bookmark.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddBookmark {
    pub name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BookmarkAdded {
    pub bookmarks: usize,
}

impl Operation for AddBookmark {
    type Output = BookmarkAdded;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<BookmarkAdded>, Failure> {
        let ask = BookmarkAsk::Add { name: self.name.into() };
        let finish = |_: &[_], world: &comity_core::World, _| BookmarkAdded { bookmarks: world.bookmarks.len() };
        Ok(Plan::change(vec![Ask::Bookmark(ask)], finish))
    }
}

impl fmt::Display for BookmarkAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bookmarks", self.bookmarks)
    }
}
"#,
        },
    ],
    edits: &[
        Edit {
            path: FEATURES,
            before: "use crate::commits::",
            lines: "use crate::bookmarks::{BookmarkAsk, BookmarkEvent};",
        },
        Edit { path: FEATURES, before: "    Server(ServerAsk),", lines: "    Bookmark(BookmarkAsk)," },
        Edit { path: FEATURES, before: "    Mail(MailEvent),", lines: "    Bookmark(BookmarkEvent)," },
        Edit {
            path: FEATURES,
            before: "            Ask::Server(ask) => ask,",
            lines: "            Ask::Bookmark(ask) => ask,",
        },
        Edit {
            path: FEATURES,
            before: "            Event::Server(event) => event,",
            lines: "            Event::Bookmark(event) => event,",
        },
        Edit {
            path: "crates/comity-core/src/lib.rs",
            before: "pub mod commits;",
            lines: "pub mod bookmarks;",
        },
        Edit { path: FEATURES, before: "    MailEvent::TYPES,", lines: "    BookmarkEvent::TYPES," },
        Edit { path: WORLD, before: "use crate::control::", lines: "use crate::bookmarks::Bookmarks;" },
        Edit { path: WORLD, before: "    pub agents: Agents,", lines: "    pub bookmarks: Bookmarks," },
        Edit { path: SNAPSHOT, before: "use crate::control::", lines: "use crate::bookmarks::Bookmarks;" },
        Edit {
            path: SNAPSHOT,
            before: "    agents: Vec<Agent>,",
            lines: "    #[serde(default)]\n    bookmarks: Bookmarks,",
        },
        Edit {
            path: SNAPSHOT,
            before: "            agents: world.",
            lines: "            bookmarks: world.bookmarks.clone(),",
        },
        Edit {
            path: SNAPSHOT,
            before: "        mail::restore(",
            lines: "        world.bookmarks = self.bookmarks;",
        },
        Edit {
            path: "crates/comity-core/src/limits.rs",
            before: "/// Remembered decisions",
            lines: "/// Bookmarks.\npub const BOOKMARKS_MAX: usize = 100;",
        },
        Edit {
            path: "crates/comity-core/src/invariants.rs",
            before: "    locks::check(world)?;",
            lines: "    crate::bookmarks::check(world)?;",
        },
        Edit { path: OPERATIONS, before: "pub mod commits;", lines: "pub mod bookmarks;" },
        Edit {
            path: "crates/comity-app/src/catalog.rs",
            before: "    (HelpSection::Files, locks::OPERATIONS),",
            lines: "    (HelpSection::Files, crate::operations::bookmarks::OPERATIONS),",
        },
        Edit {
            path: "crates/comity-sim/src/chance.rs",
            before: "            435..445 =>",
            lines: "            435 => {\n                let ask = comity_core::bookmarks::BookmarkAsk::Add { name: \"here\".into() };\n                \
                    return self.asked(Principal::Human, Ask::Bookmark(ask));\n            }",
        },
        Edit {
            path: "crates/comity-sim/src/oracle/mod.rs",
            before: "            Event::Mail(event) =>",
            lines: "            Event::Bookmark(_) => Ok(()),",
        },
    ],
};

const FEATURES: &str = "crates/comity-core/src/features.rs";
const WORLD: &str = "crates/comity-core/src/world.rs";
const SNAPSHOT: &str = "crates/comity-core/src/snapshot.rs";

const BOOKMARKS: &str = r#"//! Bookmarks: names, each once.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::decide::AskResult;
use crate::event::{Event, Record, durable, event_types};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::AgentId;
use crate::limits::BOOKMARKS_MAX;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

#[derive(Clone, PartialEq, Debug)]
pub enum BookmarkAsk {
    Add { name: Box<str> },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BookmarkEvent {
    Added { name: Box<str> },
}

/// All bookmarks.
pub type Bookmarks = BTreeSet<Box<str>>;

impl FeatureAsk for BookmarkAsk {
    fn decide(&self, world: &World, _: &Asker) -> Result<AskResult, Refusal> {
        let BookmarkAsk::Add { name } = self;
        if world.bookmarks.len() >= BOOKMARKS_MAX {
            return Err(Refusal::bad_input("there are too many bookmarks", "remove one"));
        }
        Ok(vec![Event::Bookmark(BookmarkEvent::Added { name: name.clone() })].into())
    }
}

event_types!(BookmarkEvent {
    BookmarkEvent::Added { .. } => durable("bookmark_added", "bookmark:added"),
});

impl FeatureEvent for BookmarkEvent {
    fn apply(&self, world: &mut World, _: &Record) {
        let BookmarkEvent::Added { name } = self;
        world.bookmarks.insert(name.clone());
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        vec![]
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let BookmarkEvent::Added { name } = self;
        format!("{} added the bookmark {name}", telling.by())
    }
}

pub(crate) fn check(world: &World) -> Result<(), String> {
    let count = world.bookmarks.len();
    if count > BOOKMARKS_MAX { Err(format!("{count} bookmarks")) } else { Ok(()) }
}
"#;
