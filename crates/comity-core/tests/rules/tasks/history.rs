//! What is remembered of attempts that came to nothing.

use comity_core::limits::PAST_ATTEMPTS_MAX;
use comity_core::tasks::AttemptEnd;

use super::words;
use crate::script::{Stage, project};

fn played(script: &str) -> Stage {
    let mut stage = Stage::default();
    script.lines().map(str::trim).for_each(|line| words::play(&mut stage, line));
    stage
}

fn history(stage: &Stage, id: &str) -> Vec<String> {
    let task = stage.world.tasks.get(project(), id).expect("a task");
    let told = |past: &comity_core::tasks::PastAttempt| {
        let how = match &past.end {
            AttemptEnd::SentBack { by, reason, evidence } => {
                format!("sent back by {}: {reason} ({evidence})", stage.world.name_of(*by))
            }
            AttemptEnd::Failed { reason } => format!("failed: {reason}"),
            AttemptEnd::TakenAway { by } => format!("taken away by {}", stage.world.name_of(*by)),
            AttemptEnd::Reopened { by } => format!("reopened by {}", stage.world.name_of(*by)),
            other @ (AttemptEnd::Died | AttemptEnd::GivenBack | AttemptEnd::NotStarted) => {
                format!("{other:?}")
            }
        };
        format!("{} {} {how}", past.attempt, stage.world.name_of(past.by))
    };
    task.past.iter().map(told).collect()
}

#[test]
fn each_attempt_that_came_to_nothing_is_remembered_with_why() {
    let stage = played(
        "human declares a reviewed
         ann starts a
         ann finishes a because commit 1
         human sends-back a because the tests fail
         ann starts a
         ann crashes
         bob starts a
         bob gives-back a
         cid starts a
         human assigns a to dan
         dan starts a
         dan fails a because no compiler
         human retries a
         eve starts a
         eve finishes a because commit 2
         human accepts a
         human reopens a",
    );
    assert_eq!(
        history(&stage, "a"),
        [
            "1 ann sent back by the human: the tests fail (commit 1)",
            "2 ann Died",
            "3 bob GivenBack",
            "4 cid taken away by the human",
            "5 dan failed: no compiler",
            "6 eve reopened by the human",
        ]
    );
}

#[test]
fn only_the_newest_attempts_are_remembered() {
    let mut stage = played("human declares a");
    for _ in 0..PAST_ATTEMPTS_MAX + 3 {
        words::play(&mut stage, "ann starts a");
        words::play(&mut stage, "ann gives-back a");
    }
    let history = history(&stage, "a");
    assert_eq!(history.len(), PAST_ATTEMPTS_MAX);
    assert_eq!(history[0], "4 ann GivenBack");
}
