//! A world as one document, so that a start need not read the whole log.

use serde::{Deserialize, Serialize};

use crate::agents::{self, Agent};
use crate::answers::Answers;
use crate::branch_moves::Moves;
use crate::control::{self, Shutdowns};
use crate::decisions::Decisions;
use crate::ids::{Fence, ProjectId, Ticket};
use crate::locks::{self, Lock, LockWait};
use crate::mail::{self, Mail};
use crate::people::People;
use crate::permissions::{self, PermissionFacts};
use crate::pools::{self, Pools};
use crate::projects::Project;
use crate::reads::{ReadFact, Reads};
use crate::runs::AgentRuns;
use crate::tasks::TaskFacts;
use crate::teams::Teams;
use crate::time::Timestamp;
use crate::worktrees::Worktree;
use crate::world::{Timeouts, World};

/// A newer one is refused, an older one is read.
pub const VERSION: u32 = 1;

/// The facts of a world, without what can be derived from them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    pub version: u32,
    /// The last record in it.
    pub head: u64,
    now: Timestamp,
    fence: Fence,
    ticket: Ticket,
    agents: Vec<Agent>,
    locks: Vec<Lock>,
    waits: Vec<LockWait>,
    #[serde(with = "pairs")]
    projects: std::collections::BTreeMap<ProjectId, Project>,
    answers: Answers,
    #[serde(default)]
    reads: Vec<ReadFact>,
    #[serde(default)]
    worktrees: Vec<Worktree>,
    #[serde(default)]
    teams: Teams,
    #[serde(default)]
    mail: Mail,
    #[serde(default)]
    shutdowns: Shutdowns,
    #[serde(default)]
    decisions: Decisions,
    #[serde(default)]
    permissions: PermissionFacts,
    #[serde(default)]
    tasks: TaskFacts,
    #[serde(default)]
    pools: Pools,
    #[serde(default)]
    people: People,
    #[serde(default)]
    moves: Moves,
    #[serde(default)]
    runs: AgentRuns,
    #[serde(default)]
    agents_limit: Option<usize>,
}

impl Snapshot {
    /// The facts of a world.
    pub fn of(world: &World) -> Snapshot {
        Snapshot {
            version: VERSION,
            head: world.head,
            now: world.now,
            fence: world.fence,
            ticket: world.ticket,
            agents: world.agents.iter().cloned().collect(),
            locks: world.locks.iter().cloned().collect(),
            waits: world.locks.waits().cloned().collect(),
            projects: world.projects.clone(),
            answers: world.answers.clone(),
            reads: world.reads.facts(),
            worktrees: world.worktrees.iter().cloned().collect(),
            teams: world.teams.clone(),
            mail: world.mail.clone(),
            shutdowns: world.shutdowns.clone(),
            decisions: world.decisions.clone(),
            permissions: world.permissions.facts(),
            tasks: world.tasks.facts(),
            pools: world.pools.clone(),
            people: world.people.clone(),
            moves: world.moves.clone(),
            runs: world.runs.clone(),
            agents_limit: world.agents.limit.set,
        }
    }

    /// Restores the world, with indexes and deadlines.
    pub fn restore(self, patience: Timeouts) -> World {
        let mut world = World::new(patience);
        (world.head, world.now, world.fence, world.ticket) = (self.head, self.now, self.fence, self.ticket);
        (world.projects, world.answers) = (self.projects, self.answers);
        world.reads = Reads::restore(self.reads);
        (world.teams, world.decisions, world.people) = (self.teams, self.decisions, self.people);
        (world.moves, world.runs, world.agents.limit.set) = (self.moves, self.runs, self.agents_limit);
        mail::restore(&mut world, self.mail);
        control::restore(&mut world, self.shutdowns);
        permissions::restore(&mut world, self.permissions);
        self.tasks.restore(&mut world);
        pools::restore(&mut world, self.pools);
        self.worktrees.into_iter().for_each(|worktree| world.worktrees.insert(worktree));
        agents::restore(&mut world, self.agents);
        locks::restore(&mut world, self.locks, self.waits);
        world
    }
}

/// Serializes a map whose keys are not strings as a list of pairs.
pub(crate) mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer, K: Serialize, V: Serialize>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(crate) fn deserialize<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        D: Deserializer<'de>,
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
    {
        Vec::<(K, V)>::deserialize(deserializer).map(|pairs| pairs.into_iter().collect())
    }
}
