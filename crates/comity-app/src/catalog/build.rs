//! How a feature's table describes an operation.

use super::CatalogEntry;
use super::schema::{input_schema, output_schema};
use crate::application;
use crate::identity::WayIn;
use crate::operation::{AtTerminal, Audience, Effect, HelpSection, Operation, Pace, Route};

impl CatalogEntry {
    /// An operation that only looks, for people; the methods below say what is different.
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
            updates: None,
            section: None,
            usage,
            also: &[],
            examples: &[],
            input: input_schema::<O>,
            output: output_schema::<O::Output>,
            misread: None,
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

    /// Answers an inbox entry.
    pub(crate) const fn answers(self, prefix: &'static str, answer: &'static str) -> CatalogEntry {
        CatalogEntry { answers: Some((prefix, answer)), ..self }
    }

    /// Takes a document: what is wrong in it is told with its place.
    pub(crate) const fn takes_documents<O: Operation>(self) -> CatalogEntry {
        CatalogEntry { misread: Some(crate::misread::problem::<O>), ..self }
    }

    /// Where the list of all commands has it.
    pub(crate) const fn under(self, section: HelpSection) -> CatalogEntry {
        CatalogEntry { section: Some(section), ..self }
    }

    pub(super) const fn below(self, of_feature: HelpSection) -> CatalogEntry {
        let section = match self.section {
            Some(own) => own,
            None => of_feature,
        };
        CatalogEntry { section: Some(section), ..self }
    }

    /// Does what one field of the update tool for tasks does.
    pub(crate) const fn updates(self, field: &'static str, given: &'static str) -> CatalogEntry {
        CatalogEntry { updates: Some((field, given)), ..self }
    }

    pub(crate) const fn also(self, also: &'static [&'static str]) -> CatalogEntry {
        CatalogEntry { also, ..self }
    }

    pub(crate) const fn examples(self, examples: &'static [&'static str]) -> CatalogEntry {
        CatalogEntry { examples, ..self }
    }
}
