//! Shows the settings.

use std::collections::BTreeMap;
use std::fmt;

use comity_core::table::table;

use crate::config::{Config, DEFAULTS, GivenSetting, ProjectConfig};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Show the settings in force, and where each one comes from: your files, this project's, the environment, or the default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowSettings {}

/// Every setting, whether it was set or not.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingsView {
    /// By key.
    pub settings: Vec<SettingView>,
    /// The files that are read, whether they are there or not; later ones win.
    pub files: Vec<String>,
    /// Whether the server has to restart to take all of it up.
    pub restart: bool,
    /// What is wrong with the files as they are now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A setting, and where its value comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingView {
    /// Its name, such as lock.ttl.
    pub key: String,
    /// What is in force, as it is written in TOML.
    pub value: String,
    /// The file or the variable that sets it, or default.
    pub from: String,
    /// What it will be after a restart, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Operation for ShowSettings {
    type Output = SettingsView;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<SettingsView>, Failure> {
        let own = app.home().join("comity.toml");
        let files: Vec<_> = app.server().settings.iter().cloned().chain([own]).collect();
        let paths: Vec<&std::path::Path> = files.iter().map(std::path::PathBuf::as_path).collect();
        let now = Config::read(&paths, |name| std::env::var(name).ok());
        let in_force = &app.config().given;
        let (next, problem) = match now {
            Ok(config) => (config.given, None),
            Err(problem) => (in_force.clone(), Some(problem)),
        };
        // A project's file is read for every command.
        let root = app.projects().place(caller).ok().map(|place| place.repository().root().to_owned());
        // A refused file has no effect.
        let (project, refused) = match root.as_deref().map(|root| ProjectConfig::read(root).map(|_| root)) {
            Some(Ok(root)) => (ProjectConfig::given(root), None),
            Some(Err(refused)) => (Given::new(), Some(refused)),
            None => (Given::new(), None),
        };
        let problems: Vec<String> = problem.into_iter().chain(refused).collect();
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        let settings = all(in_force, &next, &project);
        let restart = settings.iter().any(|setting| setting.next.is_some());
        let project_file = root.map(|root| root.join("comity.toml"));
        let files = files.into_iter().chain(project_file).map(|file| file.display().to_string()).collect();
        Ok(Plan::Answer(SettingsView { settings, files, restart, problem }))
    }
}

type Given = BTreeMap<String, GivenSetting>;

fn all(in_force: &Given, next: &Given, project: &Given) -> Vec<SettingView> {
    let defaults: BTreeMap<&str, &str> = DEFAULTS.iter().copied().collect();
    let mut keys: Vec<&str> = DEFAULTS.iter().map(|(key, _)| *key).collect();
    let others = in_force.keys().chain(next.keys()).chain(project.keys()).map(String::as_str);
    keys.extend(others.filter(|key| !defaults.contains_key(key)).collect::<std::collections::BTreeSet<_>>());
    let value = |given: &Given, key: &str| match given.get(key) {
        Some(setting) => setting.value.clone(),
        None => defaults.get(key).copied().unwrap_or("(not set)").to_owned(),
    };
    let view = |key: &str| {
        let (now, later) = (value(in_force, key), value(next, key));
        let setting = project.get(key).or_else(|| in_force.get(key));
        SettingView {
            key: key.to_owned(),
            value: setting.map_or_else(|| now.clone(), |setting| setting.value.clone()),
            from: setting.map_or_else(|| "default".to_owned(), |setting| setting.from.clone()),
            next: (now != later).then_some(later),
        }
    };
    keys.into_iter().map(view).collect()
}

impl fmt::Display for SettingsView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| comity_core::display::visible(text).into_owned();
        let rows: Vec<Vec<String>> = self
            .settings
            .iter()
            .map(|one| {
                let next = one.next.as_deref().map(shown).unwrap_or_default();
                vec![one.key.clone(), shown(&one.value), shown(&one.from), next]
            })
            .collect();
        f.write_str(&table(&["SETTING", "VALUE", "FROM", "AFTER RESTART"], &rows))?;
        write!(f, "\n\nRead, later ones over earlier ones: {}", shown(&self.files.join(", ")))?;
        if self.restart {
            f.write_str("\nChanged since the server started; take it up with: comity restart")?;
        }
        match &self.problem {
            Some(problem) => write!(f, "\nThe files are wrong as they are now: {}", shown(problem)),
            None => Ok(()),
        }
    }
}
