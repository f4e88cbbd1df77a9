//! Finds the patterns that overlap a given one, without looking at all of them.
//!
//! A trie over path components: every alternative is stored at the node of its literal prefix. A query walks down its
//! own prefix and looks only at what is stored on the way, and below it only as far as its globs reach.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::overlap::{always_meets, rests_overlap};
use super::pattern::{Component, PathPattern};

/// Patterns by id, to be searched for overlaps.
#[derive(Clone, Debug)]
pub struct PatternIndex {
    nodes: Vec<IndexNode>,
    free: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct IndexNode {
    name: Box<str>,
    parent: u32,
    children: BTreeMap<Box<str>, u32>,
    here: Vec<IndexEntry>,
}

#[derive(Clone, Debug)]
struct IndexEntry {
    id: u64,
    rest: Box<[Component]>,
}

const ROOT: u32 = 0;

impl Default for PatternIndex {
    fn default() -> Self {
        PatternIndex { nodes: vec![IndexNode::default()], free: Vec::new() }
    }
}

impl PatternIndex {
    /// One id may have several patterns.
    pub fn insert(&mut self, id: u64, pattern: &PathPattern) {
        for alternative in pattern.alternatives() {
            let mut node = ROOT;
            for name in alternative.prefix() {
                node = self.child_or_new(node, name);
            }
            self.node_mut(node).here.push(IndexEntry { id, rest: alternative.rest().into() });
        }
    }

    /// Removes a pattern that was added under this id.
    pub fn remove(&mut self, id: u64, pattern: &PathPattern) {
        for alternative in pattern.alternatives() {
            let Some(node) = self.find(alternative.prefix()) else { continue };
            let here = &mut self.node_mut(node).here;
            if let Some(at) =
                here.iter().position(|entry| entry.id == id && *entry.rest == *alternative.rest())
            {
                here.swap_remove(at);
            }
            self.prune(node);
        }
    }

    /// Visits the ids of overlapping patterns, some perhaps twice, until told to stop.
    pub fn visit_overlaps<B>(
        &self,
        pattern: &PathPattern,
        mut visit: impl FnMut(u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for alternative in pattern.alternatives() {
            let names: Vec<&str> = alternative.prefix().collect();
            self.visit_alternative(&names, alternative.rest(), &mut visit)?;
        }
        ControlFlow::Continue(())
    }

    /// The ids of overlapping patterns, in order, each once.
    pub fn overlaps(&self, pattern: &PathPattern) -> Vec<u64> {
        let mut found = Vec::new();
        let _: ControlFlow<()> = self.visit_overlaps(pattern, |id| {
            found.push(id);
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    fn visit_alternative<B>(
        &self,
        names: &[&str],
        rest: &[Component],
        visit: &mut impl FnMut(u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut node = ROOT;
        for depth in 0..=names.len() {
            let left = &names[depth..];
            for entry in &self.node(node).here {
                if always_meets(&entry.rest) || rests_overlap(&entry.rest, left, rest) {
                    visit(entry.id)?;
                }
            }
            let Some(name) = left.first() else { break };
            match self.node(node).children.get(*name) {
                Some(child) => node = *child,
                None => return ControlFlow::Continue(()),
            }
        }
        let reach = GlobReach::start(rest);
        self.visit_below(node, &reach, visit)
    }

    fn visit_below<B>(
        &self,
        node: u32,
        reach: &GlobReach<'_>,
        visit: &mut impl FnMut(u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for (name, child) in &self.node(node).children {
            let reach = reach.step(name);
            if reach.is_empty() {
                continue;
            }
            for entry in &self.node(*child).here {
                if reach.meets(&entry.rest) {
                    visit(entry.id)?;
                }
            }
            self.visit_below(*child, &reach, visit)?;
        }
        ControlFlow::Continue(())
    }

    fn find<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<u32> {
        let mut node = ROOT;
        for name in names {
            node = *self.node(node).children.get(name)?;
        }
        Some(node)
    }

    fn child_or_new(&mut self, parent: u32, name: &str) -> u32 {
        if let Some(child) = self.node(parent).children.get(name) {
            return *child;
        }
        let node = IndexNode { name: name.into(), parent, ..IndexNode::default() };
        let child = match self.free.pop() {
            Some(slot) => {
                *self.node_mut(slot) = node;
                slot
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.node_mut(parent).children.insert(name.into(), child);
        child
    }

    /// Removes nodes that hold nothing any more.
    fn prune(&mut self, mut node: u32) {
        while node != ROOT && self.node(node).here.is_empty() && self.node(node).children.is_empty() {
            let IndexNode { name, parent, .. } = std::mem::take(self.node_mut(node));
            self.node_mut(parent).children.remove(&name);
            self.free.push(node);
            node = parent;
        }
    }

    fn node(&self, node: u32) -> &IndexNode {
        &self.nodes[node as usize]
    }

    fn node_mut(&mut self, node: u32) -> &mut IndexNode {
        &mut self.nodes[node as usize]
    }
}

/// How far a query's globs can have got at a node below its prefix: a set of positions in them.
struct GlobReach<'a> {
    globs: &'a [Component],
    /// Bit `i`: the components before `i` are used up. All bits, where everything below matches anyway.
    positions: u64,
    all: bool,
}

impl<'a> GlobReach<'a> {
    fn start(globs: &'a [Component]) -> Self {
        // A plain path clashes with everything below it; a directory contains it.
        let all = always_meets(globs);
        let mut reach = GlobReach { globs, positions: 1, all };
        reach.skip_any_depth();
        reach
    }

    fn step(&self, name: &str) -> GlobReach<'a> {
        let mut next = GlobReach { globs: self.globs, positions: 0, all: self.all };
        if self.all {
            return next;
        }
        for (at, component) in self.globs.iter().enumerate() {
            if self.positions & (1 << at) == 0 {
                continue;
            }
            match component {
                Component::AnyDepth => next.positions |= 1 << at,
                Component::Name(own) if **own == *name => next.positions |= 1 << (at + 1),
                Component::Glob(segment) if segment.matches(name) => next.positions |= 1 << (at + 1),
                Component::Name(_) | Component::Glob(_) => {}
            }
        }
        next.skip_any_depth();
        next
    }

    /// `**` may also match nothing.
    fn skip_any_depth(&mut self) {
        for (at, component) in self.globs.iter().enumerate() {
            if *component == Component::AnyDepth && self.positions & (1 << at) != 0 {
                self.positions |= 1 << (at + 1);
            }
        }
    }

    fn is_empty(&self) -> bool {
        !self.all && self.positions == 0
    }

    fn meets(&self, rest: &[Component]) -> bool {
        if self.all {
            return true;
        }
        (0..=self.globs.len()).any(|at| {
            let left = &self.globs[at..];
            self.positions & (1 << at) != 0
                && if left.is_empty() { ends_here(rest) } else { meets(left, rest) }
        })
    }
}

/// The query's globs are used up at a node: what is stored there must match the node itself.
fn ends_here(rest: &[Component]) -> bool {
    rest.iter().all(|component| *component == Component::AnyDepth)
}

/// Unlike at the end of a prefix, leftover globs do not clash with a plain path: some of them match elsewhere.
fn meets(left: &[Component], rest: &[Component]) -> bool {
    if rest.is_empty() { ends_here(left) } else { rests_overlap(left, &[], rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::CaseRule;

    fn pattern(text: &str) -> PathPattern {
        PathPattern::parse(text, CaseRule::Exact).expect(text)
    }

    #[test]
    fn finds_what_overlaps_and_forgets_what_is_removed() {
        let mut index = PatternIndex::default();
        let held = ["src/a.rs", "src/*/mod.rs", "docs/", "**/*.toml", "{x,y}/z", "src/auth"];
        for (id, text) in held.iter().enumerate() {
            index.insert(id as u64, &pattern(text));
        }
        let check = |index: &PatternIndex, asked: &str, ids: &[u64]| {
            assert_eq!(index.overlaps(&pattern(asked)), ids, "{asked}");
        };
        check(&index, "src/a.rs", &[0]);
        check(&index, "src/*.rs", &[0]);
        check(&index, "src/", &[0, 1, 3, 5]);
        check(&index, "src/**/mod.rs", &[1]);
        check(&index, "src/auth/login.rs", &[5]);
        check(&index, "docs/guide/Cargo.toml", &[2, 3]);
        check(&index, "{y,q}/*", &[3, 4]);
        check(&index, "other/x", &[]);
        check(&index, "**", &[0, 1, 2, 3, 4, 5]);
        for (id, text) in held.iter().enumerate() {
            index.remove(id as u64, &pattern(text));
        }
        check(&index, "**", &[]);
        assert_eq!(index.nodes.len() - index.free.len(), 1, "only the root is left");
    }
}
