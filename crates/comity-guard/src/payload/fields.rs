//! Fields of a payload, which each program names differently.

use serde_json::{Map, Value};

#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// The first of these fields that has a value.
    pub(super) fn get(&self, names: &[&str]) -> Option<&'a Value> {
        names.iter().find_map(|name| self.0.get(*name)).filter(|value| !value.is_null())
    }

    /// The first of these fields with a text that is not empty.
    pub(super) fn text(&self, names: &[&str]) -> Option<&'a str> {
        let texts = names.iter().filter_map(|name| self.0.get(*name)?.as_str());
        texts.into_iter().find(|text| !text.is_empty())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}
