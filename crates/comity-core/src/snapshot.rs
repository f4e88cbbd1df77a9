//! A world as one document, so that a start need not read the whole log.

use serde::{Deserialize, Serialize};

use crate::agents::Agent;
use crate::answers::Answers;
use crate::control::Shutdowns;
use crate::deadlines::Due;
use crate::decisions::Decisions;
use crate::ids::{Fence, ProjectId, Ticket};
use crate::locks::{Lock, Wait, watch};
use crate::mail::Mail;
use crate::moves::Moves;
use crate::people::People;
use crate::permissions::PermissionFacts;
use crate::pools::Pools;
use crate::projects::Project;
use crate::reads::{ReadFact, Reads};
use crate::tasks::TaskFacts;
use crate::teams::Teams;
use crate::time::Timestamp;
use crate::worktrees::Worktree;
use crate::world::{Patience, World};

/// The version of the form below; a newer one is refused, an older one is read.
pub const VERSION: u32 = 1;

/// The facts of a world; what can be derived from them is not in here.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The version of this form.
    pub version: u32,
    /// The last record that is in it.
    pub head: u64,
    now: Timestamp,
    fence: Fence,
    ticket: Ticket,
    agents: Vec<Agent>,
    locks: Vec<Lock>,
    waits: Vec<Wait>,
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
    agents_limit: Option<usize>,
}

impl Snapshot {
    /// Takes the facts of a world.
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
            agents_limit: world.agents_limit,
        }
    }

    /// Makes the world again, indexes and deadlines included.
    pub fn restore(self, patience: Patience) -> World {
        let mut world = World::new(patience);
        (world.head, world.now, world.fence, world.ticket) = (self.head, self.now, self.fence, self.ticket);
        (world.projects, world.answers) = (self.projects, self.answers);
        world.reads = Reads::restore(self.reads);
        world.teams = self.teams;
        (world.mail, world.shutdowns, world.decisions) = (self.mail, self.shutdowns, self.decisions);
        for (receipt, at) in world.mail.lapses() {
            world.deadlines.set(Due::Offer(receipt), Some(at));
        }
        for (request, shutdown) in &world.shutdowns.open {
            world.deadlines.set(Due::Shutdown(*request), Some(shutdown.until));
        }
        crate::permissions::restore(&mut world, self.permissions);
        self.tasks.restore(&mut world);
        world.pools = self.pools;
        crate::pools::watch(&mut world);
        world.people = self.people;
        (world.moves, world.agents_limit) = (self.moves, self.agents_limit);
        self.worktrees.into_iter().for_each(|worktree| world.worktrees.insert(worktree));
        for agent in self.agents {
            let id = agent.id;
            world.agents.insert(agent);
            world.watch_agent(id);
        }
        for lock in self.locks {
            let fence = lock.fence;
            world.locks.insert(lock);
            watch(&mut world, fence);
        }
        for wait in self.waits {
            world.deadlines.set(Due::Wait(wait.ticket), Some(wait.deadline));
            world.locks.insert_wait(wait);
        }
        world
    }
}

/// Writes a map whose keys are not strings as a list of pairs.
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
