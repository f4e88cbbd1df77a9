//! Presses a key in a tab.

use comity_browser::Modifier;
use comity_core::Refusal;

use super::{TabActed, TabCommand, Use};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Press a key in a tab of yours, such as Enter, Tab, ArrowDown or a, with Shift, Control, Alt or Meta if named.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PressKey {
    /// Number of the tab
    pub tab_id: u64,
    /// The key to press
    pub key: String,
    /// Hold down Alt, Control, Meta or Shift
    #[serde(default)]
    pub modifiers: Vec<String>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for PressKey {
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        let held = self.modifiers.iter().map(|name| modifier(name)).collect::<Result<Vec<_>, Refusal>>()?;
        let done = format!("pressed {}", self.key);
        let acted = command
            .act(Use::Acts, "press a key in", done, |tab, timeout| tab.press_key(&self.key, &held, timeout));
        Ok(Plan::Answer(acted?))
    }
}

fn modifier(name: &str) -> Result<Modifier, Refusal> {
    match name.to_ascii_lowercase().as_str() {
        "alt" | "option" => Ok(Modifier::Alt),
        "control" | "ctrl" => Ok(Modifier::Control),
        "meta" | "command" | "cmd" => Ok(Modifier::Meta),
        "shift" => Ok(Modifier::Shift),
        _ => Err(Refusal::bad_input(format!("{name:?} can't be held down"), "Alt, Control, Meta or Shift")),
    }
}
