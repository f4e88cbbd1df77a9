//! What is remembered of a tab's pages: which frame a reference is in, and earlier outlines.

use std::collections::{HashMap, VecDeque};

use super::outline::OutlineNode;

/// Remembered number ranges; a reference in an older one is stale.
const RUNS_MAX: usize = 500;
/// Outlines that are kept to compare with.
const OUTLINES_MAX: usize = 6;
/// Frames whose place in their parent is remembered.
const FRAMES_MAX: usize = 500;

#[derive(Debug)]
pub(crate) struct PageMemory {
    next: u64,
    runs: VecDeque<NumberRange>,
    frames: HashMap<String, Frame>,
    outlines: VecDeque<Outline>,
    revision: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The context that it is in.
    pub(crate) parent: String,
    /// The number of its element there.
    pub(crate) element: u64,
    /// How deep its parts are in the outline.
    pub(crate) depth: usize,
}

/// A range of numbers that one document gave.
#[derive(Debug)]
struct NumberRange {
    first: u64,
    next: u64,
    context: String,
}

#[derive(Debug)]
struct Outline {
    revision: u64,
    /// The question that it answered: only answers to the same can be compared.
    question: String,
    nodes: Vec<OutlineNode>,
}

impl Default for PageMemory {
    fn default() -> PageMemory {
        PageMemory {
            next: 1,
            runs: VecDeque::new(),
            frames: HashMap::new(),
            outlines: VecDeque::new(),
            revision: 0,
        }
    }
}

impl PageMemory {
    /// The first number that a document may give.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn given(&mut self, context: &str, first: u64, next: u64) {
        self.next = self.next.max(next);
        if first >= next {
            return;
        }
        match self.runs.back_mut() {
            Some(run) if run.context == context && run.next == first => run.next = next,
            _ => self.runs.push_back(NumberRange { first, next, context: context.to_owned() }),
        }
        if self.runs.len() > RUNS_MAX {
            self.runs.pop_front();
        }
    }

    /// The context that a reference is in.
    pub(crate) fn context_of(&self, number: u64) -> Option<&str> {
        let run = self.runs.iter().rev().find(|run| (run.first..run.next).contains(&number))?;
        Some(&run.context)
    }

    pub(crate) fn frame_found(&mut self, context: &str, frame: Frame) {
        if self.frames.len() >= FRAMES_MAX {
            self.frames.clear();
        }
        self.frames.insert(context.to_owned(), frame);
    }

    pub(crate) fn frame(&self, context: &str) -> Option<Frame> {
        self.frames.get(context).cloned()
    }

    pub(crate) fn frame_of(&self, parent: &str, element: u64) -> Option<(String, Frame)> {
        let found = self.frames.iter().find(|(_, frame)| frame.parent == parent && frame.element == element);
        found.map(|(context, frame)| (context.clone(), frame.clone()))
    }

    /// Remembers an outline; returns its revision, which is the old one if nothing has changed.
    pub(crate) fn remember(&mut self, question: &str, nodes: &[OutlineNode]) -> u64 {
        let last = self.outlines.iter().rev().find(|outline| outline.question == question);
        if let Some(last) = last.filter(|last| last.nodes == nodes) {
            return last.revision;
        }
        self.revision += 1;
        if self.outlines.len() == OUTLINES_MAX {
            self.outlines.pop_front();
        }
        self.outlines.push_back(Outline {
            revision: self.revision,
            question: question.to_owned(),
            nodes: nodes.to_vec(),
        });
        self.revision
    }

    /// The outline of a revision, if it is remembered and answers the same question.
    pub(crate) fn outline(&self, revision: u64, question: &str) -> Option<&[OutlineNode]> {
        let found =
            self.outlines.iter().find(|known| known.revision == revision && known.question == question)?;
        Some(&found.nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::outline::tests::node;
    use super::*;

    #[test]
    fn numbers_lead_to_their_frames() {
        let mut memory = PageMemory::default();
        memory.given("top", 1, 10);
        memory.given("frame", 10, 12);
        memory.given("top", 12, 12);
        memory.given("top", 12, 15);
        memory.given("top", 15, 16);
        assert_eq!(memory.next(), 16);
        assert_eq!(memory.runs.len(), 3, "numbers that follow each other are one run");
        let table = [
            (1, Some("top")),
            (9, Some("top")),
            (10, Some("frame")),
            (15, Some("top")),
            (16, None),
            (0, None),
        ];
        for (number, expected) in table {
            assert_eq!(memory.context_of(number), expected, "{number}");
        }
        for run in 0..RUNS_MAX as u64 {
            memory.given(&format!("c{run}"), 100 + run, 101 + run);
        }
        assert_eq!(memory.context_of(1), None, "the oldest are forgotten");
    }

    #[test]
    fn a_revision_changes_with_the_outline() {
        let mut memory = PageMemory::default();
        let (one, two) = (vec![node("0 link a e1")], vec![node("0 link b e1")]);
        assert_eq!(memory.remember("all", &one), 1);
        assert_eq!(memory.remember("all", &one), 1);
        assert_eq!(memory.remember("links", &one), 2);
        assert_eq!(memory.remember("all", &two), 3);
        assert_eq!(memory.outline(1, "all"), Some(one.as_slice()));
        assert_eq!(memory.outline(1, "links"), None);
        assert_eq!(memory.outline(9, "all"), None);
        for index in 0..OUTLINES_MAX {
            memory.remember("all", &[node(&format!("0 link c{index} e1"))]);
        }
        assert_eq!(memory.outline(1, "all"), None);
    }
}
