//! What a real agent program asks its user before a command, and what it notes of it, is as it would be without us.

use std::fs;
use std::ops::Not;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::ways;
use super::window::Window;
use crate::support::clients::{self, codex_home};
use crate::support::model::{Call, Model};
use crate::support::{Place, eventually, eventually_within, has_program, skip};

const ALLOWED: &str = "python3 tool.py allowed";
const REFUSED: &str = "python3 tool.py refused";
/// Tries to write what bob holds, and then what nobody does.
const TOOL: &str = "import sys\ntry: open('src/a.rs', 'a').write('x')\nexcept OSError as error: print(error)\nopen(sys.argv[1], 'w')\n";

/// How a program asks its user at the terminal.
struct Asks {
    /// What its question begins with.
    with: &'static str,
    yes: &'static str,
    no: &'static str,
}

/// How often the screen is looked at before a key is pressed again: some seconds.
const ANSWER_LOOKS: usize = 500;

/// How long a program may take from its start to its first question: some look for a network.
const ASKS_MAX: Duration = Duration::from_secs(150);

impl Asks {
    /// The question on a screen, to the line with the no.
    fn seen(&self, screen: &str) -> Option<String> {
        let asked = &screen[screen.find(self.with)?..];
        let no = asked.find(self.no)?;
        let end = asked[no..].find('\n').map_or(asked.len(), |end| no + end);
        Some(asked[..end].to_owned())
    }

    /// Waits for the question about a command, and gives it as it is on the screen once that stands still.
    fn about(&self, command: &str, window: &Window) -> String {
        let mut asked = String::new();
        eventually_within(ASKS_MAX, &format!("it asks about {command}"), || {
            let seen = self.seen(&window.screen()).unwrap_or_default();
            let stands = seen == asked && asked.contains(command);
            asked = seen;
            stands
        });
        asked
    }

    /// Answers the question about a command. Some programs take no answer in the first moment.
    fn answer(&self, key: &str, command: &str, window: &Window) {
        let is_asked = || self.seen(&window.screen()).is_some_and(|asked| asked.contains(command));
        eventually("it takes the answer", || {
            window.presses(key);
            (0..ANSWER_LOOKS).all(|_| is_asked()).not()
        });
    }
}

/// Runs a command that is allowed and one that is not; gives both questions.
fn session(place: &Place, asks: &Asks, window: &Window) -> [String; 2] {
    let has_run = |name: &str| place.repo.join(name).exists();
    let allowed = asks.about(ALLOWED, window);
    assert!(!has_run("allowed"), "it was asked first");
    asks.answer(asks.yes, ALLOWED, window);
    let refused = asks.about(REFUSED, window);
    assert!(has_run("allowed"), "{}", window.screen());
    asks.answer("Escape", REFUSED, window);
    [allowed, refused]
}

/// The notes of sessions that a program has below a directory, in files and databases.
fn notes(dir: &Path) -> String {
    let mut found = String::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found += &notes(&path);
        } else if path.extension().is_some_and(|end| ["jsonl", "db", "db-wal"].iter().any(|it| end == *it)) {
            found += &String::from_utf8_lossy(&fs::read(&path).unwrap_or_default());
        }
    }
    found
}

/// Has a session without us and one with us, and compares.
fn check(
    test: &str,
    name: &str,
    asks: &Asks,
    call: fn(&str) -> Call,
    make: fn(&str, &Place, &Model) -> Option<Command>,
    home: fn(&Place) -> std::path::PathBuf,
) {
    if !has_program("tmux") {
        return skip(test, "there is no tmux");
    }
    let mut questions = Vec::new();
    for is_ours in [false, true] {
        let place = Place::new();
        ways::repository(&place.repo);
        fs::write(place.repo.join("tool.py"), TOOL).expect("written");
        let model = Model::start([ALLOWED, REFUSED].map(call).into());
        let Some(mut client) = make(test, &place, &model) else { return };
        let bob = place.join(&["bob"]);
        place.json_as(&bob, &["lock", ways::FILE, "--ttl", "30m"]);
        if is_ours {
            clients::install(&place);
            clients::init(&place, name, &client);
        }
        // What `comity init` asks its user to do by hand.
        if is_ours && name == "copilot" {
            client.arg("--bash-env=on").env("BASH_ENV", place.home.join("comity-confine.sh"));
        }
        let window = Window::open(&place, &client);
        questions.push(session(&place, asks, &window));
        let told = model.told();
        assert_eq!(model.was_told("Read-only file system"), is_ours, "{told:?}");
        assert_eq!(ways::is_untouched(&place.repo), is_ours, "{told:?}");
        let mut noted = String::new();
        eventually("both are noted", || {
            noted = notes(&home(&place));
            noted.contains(ALLOWED) && noted.contains(REFUSED)
        });
        assert!(!place.repo.join("refused").exists(), "{}", window.screen());
        assert!(!noted.contains("comity-confine") && !noted.contains("BASH_ENV"), "{noted}");
    }
    assert_eq!(questions[0], questions[1], "the same is asked with us as without");
}

#[test]
fn claude_code_asks_its_user_as_without_us() {
    let asks = Asks { with: "Bash command", yes: "1", no: "No" };
    let call = |line: &str| Call::new("Bash", json!({ "command": line, "description": "x" }));
    let test = "claude_code_asks_its_user_as_without_us";
    check(test, "claude", &asks, call, clients::claude_at_a_terminal, |place| place.dir().join("claude"));
}

#[test]
fn codex_asks_its_user_as_without_us() {
    let asks = Asks { with: "Would you like to run", yes: "y", no: "No" };
    let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
    let codex = |test: &str, place: &Place, model: &Model| {
        let mut codex = clients::codex_at_a_terminal(test, place, model)?;
        let rule = "prefix_rule(pattern = [\"python3\"], decision = \"prompt\")\n";
        clients::write(&codex_home(place).join("rules/default.rules"), rule);
        codex.env("SHELL", "/bin/bash");
        Some(codex)
    };
    check("codex_asks_its_user_as_without_us", "codex", &asks, call, codex, codex_home);
}

#[test]
fn gemini_cli_asks_its_user_as_without_us() {
    let asks = Asks { with: "? Shell", yes: "1", no: "No, suggest" };
    let call = |line: &str| Call::new("run_shell_command", json!({ "command": line, "description": "x" }));
    let test = "gemini_cli_asks_its_user_as_without_us";
    check(test, "gemini", &asks, call, clients::gemini_at_a_terminal, |place| {
        place.dir().join(".gemini/tmp")
    });
}

#[test]
fn opencode_asks_its_user_as_without_us() {
    let asks = Asks { with: "Permission required", yes: "Enter", no: "Reject" };
    let call = |line: &str| Call::new("bash", json!({ "command": line, "description": "x" }));
    let opencode = |test: &str, place: &Place, model: &Model| {
        let mut opencode = clients::opencode_at_a_terminal(test, place, model)?;
        opencode.env("SHELL", "/bin/bash");
        Some(opencode)
    };
    let home = |place: &Place| place.dir().join(".local/share/opencode");
    check("opencode_asks_its_user_as_without_us", "opencode", &asks, call, opencode, home);
}

#[test]
fn copilot_cli_asks_its_user_as_without_us() {
    let asks = Asks { with: "│ x ", yes: "1", no: "No, and tell" };
    let call = |line: &str| Call::new("bash", json!({ "command": line, "description": "x" }));
    let test = "copilot_cli_asks_its_user_as_without_us";
    let home = |place: &Place| place.dir().join(".copilot/session-state");
    check(test, "copilot", &asks, call, clients::copilot_at_a_terminal, home);
}
