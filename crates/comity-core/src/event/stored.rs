//! How events are stored: `{"mail":{"sent":{...}}}`, but without the feature's name for the oldest features:
//! `{"lock_acquired":{...}}`.
//!
//! Records are read for ever, so neither form changes.

use std::fmt;

use serde::de::{DeserializeSeed, EnumAccess, Error, IntoDeserializer, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};

use crate::features::Event;

/// Goes through the features whose events are stored without the feature's name, the most frequent first.
macro_rules! stored_without_feature {
    ($($feature:ident)*) => {
        impl Event {
            pub fn is_stored_with_feature(&self) -> bool {
                !matches!(self, $(Event::$feature(_))|*)
            }
        }

        impl Serialize for Event {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Event::$feature(event) => event.serialize(serializer),)*
                    with_name => Event::serialize(with_name, serializer),
                }
            }
        }

        fn read_any<'de, V: VariantAccess<'de>>(named: &mut Named<'_, V>) -> Result<Option<Event>, V::Error> {
            $(if let Some(event) = named.read()? {
                return Ok(Some(Event::$feature(event)));
            })*
            Ok(named.read()?.map(|WithName(event)| event))
        }
    };
}

stored_without_feature!(Lock Agent Read Server Project Write Commit Move Worktree Notice);

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Event, D::Error> {
        deserializer.deserialize_enum("Event", &[], StoredVisitor)
    }
}

struct StoredVisitor;

impl<'de> Visitor<'de> for StoredVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Event, A::Error> {
        let (name, body) = data.variant::<String>()?;
        let mut named = Named { name: &name, body: Some(body), others: Vec::new() };
        read_any(&mut named)?.ok_or_else(|| {
            let others = named.others.join("`, `");
            A::Error::custom(format_args!("unknown variant `{name}`, expected one of `{others}`"))
        })
    }
}

struct WithName(Event);

impl<'de> Deserialize<'de> for WithName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WithName, D::Error> {
        Event::deserialize(deserializer).map(WithName)
    }
}

/// An event whose name was read, to be tried on each feature.
struct Named<'a, V> {
    name: &'a str,
    body: Option<V>,
    /// The names that the features tried so far have.
    others: Vec<&'static str>,
}

impl<'a, V> Named<'a, V> {
    /// Reads it as a `T`, if `T` has a variant with this name.
    fn read<'de, T: Deserialize<'de>>(&mut self) -> Result<Option<T>, V::Error>
    where
        V: VariantAccess<'de>,
    {
        match T::deserialize(&mut *self) {
            Ok(event) => Ok(Some(event)),
            Err(_) if self.body.is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<'de, B: VariantAccess<'de>> Deserializer<'de> for &mut Named<'_, B> {
    type Error = B::Error;

    fn deserialize_enum<W: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: W,
    ) -> Result<W::Value, B::Error> {
        let is_known = variants.contains(&self.name);
        match self.body.take_if(|_| is_known) {
            Some(body) => visitor.visit_enum(Variant { name: self.name, body }),
            None => {
                self.others.extend(variants);
                Err(B::Error::custom(""))
            }
        }
    }

    fn deserialize_any<W: Visitor<'de>>(self, _: W) -> Result<W::Value, B::Error> {
        Err(B::Error::custom("an event is one of several"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Variant<'a, V> {
    name: &'a str,
    body: V,
}

impl<'de, V: VariantAccess<'de>> EnumAccess<'de> for Variant<'_, V> {
    type Error = V::Error;
    type Variant = V;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, V), V::Error> {
        Ok((seed.deserialize(self.name.into_deserializer())?, self.body))
    }
}
