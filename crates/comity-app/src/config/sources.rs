//! Where the settings come from, and where a mistake in them is.

use std::path::Path;

use super::{Config, ENVIRONMENT, GivenSetting};
use crate::plain_file;

/// A file or an environment variable.
enum SettingsSource<'a> {
    File { path: &'a Path, text: String },
    Variable { name: &'static str, text: String, table: toml::Table },
}

/// The settings of all sources, later ones over earlier ones; or the mistake, and where it is.
pub(super) fn read(files: &[&Path], env: impl Fn(&str) -> Option<String>) -> Result<Config, String> {
    let mut sources = Vec::new();
    for path in files {
        match plain_file::read_to_string(path) {
            Ok(text) => sources.push(SettingsSource::File { path, text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    for (name, section, key) in ENVIRONMENT {
        let Some(text) = env(name).filter(|text| !text.is_empty()) else { continue };
        // For a number of milliseconds the name says so.
        let written = if name.ends_with("_MS") { format!("{text}ms") } else { text.clone() };
        let setting = toml::Table::from_iter([((*key).to_owned(), value(&written))]);
        let table = toml::Table::from_iter([((*section).to_owned(), setting.into())]);
        sources.push(SettingsSource::Variable { name, text, table });
    }
    let mut merged = toml::Table::new();
    for source in &sources {
        merge(&mut merged, source.table()?);
    }
    let config: Result<Config, toml::de::Error> = merged.try_into();
    let mut config = config.map_err(|error| {
        // One file may lack what another has, so a single one is to blame only if all together are wrong.
        let blamed = sources.iter().find_map(|source| source.mistake());
        blamed.unwrap_or_else(|| format!("settings: {}", one_line(error.message())))
    })?;
    for source in &sources {
        for (key, value) in flat(&source.table()?) {
            config.given.insert(key, GivenSetting { value, from: source.name() });
        }
    }
    Ok(config)
}

/// Every setting of a table, by full key.
pub(super) fn flat(table: &toml::Table) -> Vec<(String, String)> {
    let below = |(key, value): (&String, &toml::Value)| match value {
        toml::Value::Table(inner) => {
            flat(inner).into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)).collect()
        }
        value => vec![(key.clone(), value.to_string())],
    };
    table.iter().flat_map(below).collect()
}

impl SettingsSource<'_> {
    fn table(&self) -> Result<toml::Table, String> {
        match self {
            SettingsSource::File { path, text } => {
                toml::from_str(text).map_err(|error: toml::de::Error| in_file(path, text, &error))
            }
            SettingsSource::Variable { table, .. } => Ok(table.clone()),
        }
    }

    /// Where a person finds it.
    fn name(&self) -> String {
        match self {
            SettingsSource::File { path, .. } => path.display().to_string(),
            SettingsSource::Variable { name, .. } => (*name).to_owned(),
        }
    }

    /// What is wrong with this one alone.
    fn mistake(&self) -> Option<String> {
        match self {
            SettingsSource::File { path, text } => {
                toml::from_str::<Config>(text).err().map(|error| in_file(path, text, &error))
            }
            SettingsSource::Variable { name, text, table } => {
                let alone: Result<Config, toml::de::Error> = table.clone().try_into();
                let error = alone.err()?;
                Some(format!("{name} is {text:?}: {}", one_line(error.message())))
            }
        }
    }
}

pub(super) fn in_file(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    format!("{}:{line}: {}", path.display(), one_line(error.message()))
}

fn one_line(message: &str) -> String {
    message.lines().collect::<Vec<&str>>().join(", ")
}

fn value(text: &str) -> toml::Value {
    let number = || text.parse().map(toml::Value::Integer);
    text.parse().map(toml::Value::Boolean).or_else(|_| number()).unwrap_or_else(|_| text.into())
}

fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => merge(old, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}
