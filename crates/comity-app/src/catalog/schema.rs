//! The JSON schemas of inputs and outputs.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

pub(super) fn input_schema<T: JsonSchema>() -> Value {
    finish_schema(T::json_schema, T::schema_name, SchemaSettings::draft2020_12())
}

/// What is omitted when empty is not required.
pub(super) fn output_schema<T: JsonSchema>() -> Value {
    finish_schema(T::json_schema, T::schema_name, SchemaSettings::draft2020_12().for_serialize())
}

/// The part that is the same for all types, so that it is compiled once.
fn finish_schema(
    make: fn(&mut SchemaGenerator) -> Schema,
    name: fn() -> Cow<'static, str>,
    mut settings: SchemaSettings,
) -> Value {
    settings.inline_subschemas = true;
    let mut schema = make(&mut settings.into_generator());
    RecursiveTransform(without_plain_default).transform(&mut schema);
    schema.ensure_object().entry("title").or_insert_with(|| name().into());
    schema.to_value()
}

fn without_plain_default(schema: &mut Schema) {
    let is_plain = |default: &Value| match default {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if schema.get("default").is_some_and(is_plain) {
        schema.remove("default");
    }
}
