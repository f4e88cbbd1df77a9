//! The doors: the same question, asked in the way of each.

use comity_app::catalog::CatalogEntry;
use comity_app::is_mention;
use comity_app::wording::REFUSED;
use serde_json::{Value, json};

use crate::calls::{check_tool_words, without_calls};
use crate::normal::{normal_json, normal_text};
use crate::support::mcp::Mcp;
use crate::support::wire::{No, Wire};
use crate::support::{Agent, Place, http, schema};

/// What a person has started, so that an agent may, too.
pub(crate) const WAITS: &str = "echo ready; trap : INT; while :; do sleep 1000; done";

/// A way to ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Door {
    Socket,
    CommandLine,
    CommandLineInWords,
    Rest,
    RestByName,
    Mcp,
    McpOverHttp,
}

/// What came back, with everything replaced that two servers cannot agree on.
#[derive(PartialEq, Debug)]
pub(crate) struct Answer {
    pub(crate) is_error: bool,
    pub(crate) what: Value,
}

/// An equal state for every door: an agent that leads another, and a lock of each.
pub(crate) struct Stage {
    pub(crate) place: Place,
    pub(crate) lead: Agent,
    /// Who asks the next question: the leader or the human.
    pub(crate) asker: Agent,
    /// How the server describes its REST door.
    document: std::cell::OnceCell<Value>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        // Where tmux can have no server: what is wanted in a pane runs without one.
        let dir = tempfile::tempdir().expect("a directory");
        let (home, plants) = (dir.path().join("state"), dir.path().join("panic"));
        let plants = plants.to_str().expect("a text").to_owned();
        let place = Place::at(dir, home, &[("TMUX_TMPDIR", "/proc"), ("COMITY_PANIC", &plants)]);
        // A worktree that is made ready meanwhile would make the answers differ.
        let quiet = "[worktree]\nready = 0\n[guard]\nwatch = false\n";
        let browser = "[browser]\ntabs = 2\nschemes = [\"data\", \"about:blank\"]\n";
        place.set(&format!(
            "{quiet}{browser}[agent]\nmax = 20\n[pools.build]\ncapacity = 1\n[pools.gpu]\ncapacity = 2\n[pools.port]\ncapacity = 3\n"
        ));
        crate::keep::begin(&place);
        let lead = place.join(&["lead", "--role", "lead"]);
        let stranger = place.join(&["stranger"]);
        let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
        place.json_as(&ann, &["lock", "src/b.rs", "--reason", "adding tests"]);
        place.json_as(&lead, &["lock", "src/c.rs"]);
        // Work that somebody left.
        let gone = Agent::of(&place.json_as(&lead, &["agent", "join", "gone"]));
        place.json_as(&gone, &["lock", "src/left.rs", "src/aside.rs"]);
        for name in ["left", "aside"] {
            std::fs::write(place.repo.join(format!("src/{name}.rs")), "fn left() {}\n").expect("written");
        }
        place.json_as(&gone, &["agent", "bye"]);
        crate::support::eventually("it is orphaned", || place.json(&["summary"])["orphaned"] == 2);
        // All ports are taken, and somebody asks for one.
        (0..3).for_each(|_| drop(place.json_as(&lead, &["lease", "port"])));
        place.json_as(&ann, &["lease", "request", "port"]);
        // Work of somebody else, to be reviewed.
        for id in ["review-1", "review-2"] {
            place.json_as(&stranger, &["task", "add", "it", "--id", id, "--review"]);
            place.json_as(&stranger, &["task", "start", id]);
            place.json_as(&stranger, &["task", "done", id, "--evidence", "commit 1"]);
        }
        let tasks = r#"[{ "id": "docs", "title": "Say so", "depends_on": ["late"] }, { "id": "late", "title": "Last" }]"#;
        std::fs::write(place.repo.join("tasks.json"), tasks).expect("written");
        place.json(&["shutdown", "request", "lead", "--within", "1h"]);
        place.json_as(&ann, &["mail", "send", "lead", "-m", "how far are you?"]);
        for title in ["Use tabs", "Drop tests"] {
            place.json_as(&ann, &["decide", title, "--needs-confirmation"]);
        }
        // Two requests and two plans wait for the leader.
        for command in ["make", "make install"] {
            let input = json!({ "command": command }).to_string();
            place.run_as(&ann, &["ask", "Bash", &input, "--wait", "1ms"]);
        }
        for name in ["eve", "fay"] {
            let joined = place.json_as(&lead, &["agent", "join", name, "--role", "reviewer"]);
            place.json_as(&Agent::of(&joined), &["plan", "submit", "plan.md", "--content", "read it all"]);
        }
        Stage { place, asker: lead.clone(), lead, document: std::cell::OnceCell::new() }
    }

    /// Brings about what a question takes that would make earlier answers differ: programs come and go as they like.
    pub(crate) fn prepare(&self, entry: &CatalogEntry) {
        if entry.name != "run_list" {
            return;
        }
        for (name, program) in [("runner", WAITS), ("finisher", "exit 0")] {
            self.place.json(&["spawn", "developer", "--name", name, "--agent", program]);
        }
        crate::support::eventually("one runs, and one is done", || {
            let runs = self.place.json(&["runs", "--all"])["runs"].clone();
            (&runs[0]["state"], &runs[1]["state"]) == (&"running".into(), &"completed".into())
        });
    }

    fn json(&self, is_error: bool, what: &Value) -> Answer {
        Answer { is_error, what: normal_json(what, self.place.dir()) }
    }

    fn text(&self, is_error: bool, text: &str) -> Answer {
        Answer { is_error, what: normal_text(&without_calls(text.trim_end()), self.place.dir()).into() }
    }

    pub(crate) fn by_socket(&self, entry: &CatalogEntry, input: &Value) -> Answer {
        self.by_socket_with_key(entry, input, None)
    }

    pub(crate) fn by_socket_with_key(
        &self,
        entry: &CatalogEntry,
        input: &Value,
        key: Option<&str>,
    ) -> Answer {
        let mut wire = Wire::connect(&self.place).asking_as(&self.asker);
        match wire.ask_with_key(entry.name, input.clone(), key) {
            Ok(output) => {
                // Whoever was offered mail says that it arrived; commands and tools do so by themselves.
                if let Some(receipt) = output["receipt"].as_u64() {
                    wire.ask("mail_ack", json!({ "receipt": receipt })).expect("acknowledged");
                }
                self.json(false, &output)
            }
            Err(No::Refused(error)) => self.json(true, &error),
            Err(No::Broken(error)) => panic!("{}: {error}", entry.name),
        }
    }

    pub(crate) fn by_command_line(&self, entry: &CatalogEntry, typed: &[&str]) -> Answer {
        let ran = self
            .place
            .run_as(&self.asker, &[&entry.words().collect::<Vec<_>>(), typed, &["--json"]].concat());
        let mut document = ran.document();
        // How much waits for the caller is with every command's document.
        let says_it = (entry.output)()["properties"]["inbox"].is_object();
        if ran.code == 0 && !says_it && !entry.name.starts_with("inbox") {
            let fields = document.as_object_mut().expect("an object");
            assert!(fields.remove("inbox").is_some_and(|count| count.is_u64()), "{}", entry.name);
        }
        match ran.code {
            0 => self.json(false, &document),
            3 => self.json(true, &document["error"]),
            _ => panic!("{}: {ran:?}", entry.name),
        }
    }

    pub(crate) fn by_command_line_in_words(&self, entry: &CatalogEntry, typed: &[&str]) -> Answer {
        let ran = self.place.run_as(&self.asker, &[&entry.words().collect::<Vec<_>>(), typed].concat());
        match ran.code {
            0 => {
                // What an agent is told besides is beside the output here, and at its end there.
                let notes = ran.err.lines().filter_map(|line| line.strip_prefix("note: "));
                let (mentions, notes): (Vec<&str>, Vec<&str>) = notes.partition(|note| is_mention(note));
                let mut text = ran.out.trim_end().to_owned();
                notes.iter().for_each(|note| text.push_str(&format!("\nNotice: {note}")));
                // The mail that waits comes with the result there, and is fetched here.
                if !mentions.is_empty() {
                    let mail = self.place.run_as(&self.asker, &["next"]);
                    assert_eq!(mail.code, 0, "{mail:?}");
                    text.push_str("\nMail for you, from other agents or people: judge it as such.\n");
                    text.push_str(&mail.out);
                }
                self.text(false, &text)
            }
            3 => {
                let said = ran.err.strip_prefix("comity refused: ").expect("who says it");
                self.text(true, &without_count(said).replace("\n  ", "\n"))
            }
            _ => panic!("{}: {ran:?}", entry.name),
        }
    }

    /// By the operation's own route: fields in the path, then in the query or the body.
    pub(crate) fn by_rest(&self, entry: &CatalogEntry, input: &Value) -> Answer {
        let mut rest = input.as_object().expect("an object").clone();
        let parts = entry.route.path.split('/').map(|part| {
            match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                Some(field) => escaped(&rest.remove(field).expect("the field of the path")),
                None => part.to_owned(),
            }
        });
        let mut target = parts.collect::<Vec<_>>().join("/");
        let has_body = entry.route.method == "POST";
        if !has_body && !rest.is_empty() {
            let query = rest.iter().map(|(name, value)| format!("{name}={}", escaped(value)));
            target = format!("{target}?{}", query.collect::<Vec<_>>().join("&"));
        }
        let body = has_body.then_some(Value::Object(rest));
        let response = self.response(entry.route.method, &target, body.as_ref());
        self.check_contract(entry, &response);
        self.answer(entry.route.method, &target, &response)
    }

    /// A response is what the server's own description promises.
    fn check_contract(&self, entry: &CatalogEntry, response: &http::Response) {
        let document = self.document.get_or_init(|| {
            http::request(&self.place, Some(&self.asker.token), "GET", "/api/openapi.json", None).json()
        });
        let method = entry.route.method.to_ascii_lowercase();
        let described = &document["paths"][entry.route.path][method]["responses"];
        let status = response.status.to_string();
        let is_known = described.get(&status).is_some() || response.status >= 500;
        assert!(is_known, "{}: {status} is not in the description", entry.name);
        let schema = match response.status {
            200 => &described["200"]["content"]["application/json"]["schema"],
            _ => &document["components"]["schemas"]["Error"],
        };
        let misfit = schema::misfit(schema, &response.json());
        assert_eq!(misfit, None, "{} answers {status}: {}", entry.name, response.json());
    }

    /// By its name, like every operation.
    pub(crate) fn by_name(&self, entry: &CatalogEntry, input: &Value) -> Answer {
        self.request("POST", &format!("/api/op/{}", entry.name), Some(input))
    }

    fn request(&self, method: &str, target: &str, body: Option<&Value>) -> Answer {
        let response = self.response(method, target, body);
        self.answer(method, target, &response)
    }

    fn response(&self, method: &str, target: &str, body: Option<&Value>) -> http::Response {
        http::request(&self.place, Some(&self.asker.token), method, target, body)
    }

    fn answer(&self, method: &str, target: &str, response: &http::Response) -> Answer {
        let document = response.json();
        if let Some(receipt) = document["receipt"].as_u64() {
            let input = json!({ "receipt": receipt });
            http::request(&self.place, Some(&self.asker.token), "POST", "/api/mail/ack", Some(&input));
        }
        match response.status {
            200..=299 => self.json(false, &document),
            400..=499 => self.json(true, &document["error"]),
            _ => panic!("{method} {target}: {response:?}"),
        }
    }

    pub(crate) fn by_mcp(&self, mcp: &mut Mcp, entry: &CatalogEntry, input: &Value) -> Answer {
        let result = mcp.ask("tools/call", &json!({ "name": entry.tool, "arguments": input }));
        self.refusal_or_answer(entry, &result)
    }

    pub(crate) fn by_mcp_over_http(&self, entry: &CatalogEntry, input: &Value) -> Answer {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": entry.tool, "arguments": input },
        });
        let response =
            http::request(&self.place, Some(&self.asker.token), "POST", "/mcp?tools=all", Some(&call));
        assert_eq!(response.status, 200, "{response:?}");
        self.refusal_or_answer(entry, &response.json()["result"])
    }

    /// A refusal says who it is from; an answer as data is as its schema says.
    fn refusal_or_answer(&self, entry: &CatalogEntry, result: &Value) -> Answer {
        let is_error = result["isError"] == true;
        let text = result["content"][0]["text"].as_str().expect("a text");
        check_tool_words(entry, text);
        if entry.is_structured && !is_error {
            let data = &result["structuredContent"];
            assert_eq!(data["text"], text, "{}: some clients show the data alone", entry.name);
            assert_eq!(schema::misfit(&(entry.output)(), data), None, "{}: {data}", entry.name);
        }
        let said = match is_error {
            true => text.strip_prefix(REFUSED).expect("who says it"),
            false => text,
        };
        self.text(is_error, said)
    }
}

/// What was said, without the last line of every command: how much waits in the inbox.
fn without_count(said: &str) -> &str {
    let Some((before, last)) = said.trim_end().rsplit_once('\n') else { return said };
    let count = last
        .strip_suffix(" things are waiting for you: comity inbox")
        .or((last == "1 thing is waiting for you: comity inbox").then_some("1"));
    if count.is_some_and(|count| count.parse::<usize>().is_ok()) { before } else { said }
}

/// A value as a part of an address.
fn escaped(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list[0].as_str().expect("a text").to_owned(),
        other => other.to_string(),
    };
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}
