//! What is left to do after a call was taken.

/// What is left to do after a call was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// Nothing: it was answered.
    Answered,
    /// It was submitted; [`Engine::drive`](crate::engine::Engine::drive) runs it quickly.
    Quick,
    /// It was submitted and waits for the disk; [`Engine::kick`](crate::engine::Engine::kick) runs it elsewhere.
    Slow,
}

impl Taken {
    /// What is left to do after both.
    pub fn and(self, other: Taken) -> Taken {
        match (self, other) {
            (Taken::Slow, _) | (_, Taken::Slow) => Taken::Slow,
            (Taken::Quick, _) | (_, Taken::Quick) => Taken::Quick,
            (Taken::Answered, Taken::Answered) => Taken::Answered,
        }
    }
}
