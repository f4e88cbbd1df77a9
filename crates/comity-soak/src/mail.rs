//! The mail of agents: letters that are sent once, or again with the same id, and what arrives.

use std::time::Instant;

use serde_json::{Value, json};

use crate::agent::SoakAgent;
use crate::run_dir::PATIENCE;
use crate::told::{History, Told};

/// How long an offer may take: one that is lost with a server is made again soon.
const LEASE: &str = "1s";

impl SoakAgent<'_> {
    pub(crate) fn send(&mut self) {
        let Some(to) = self.random.pick(&self.load.members).map(|other| other.name.clone()) else { return };
        let text = self.unique();
        let input = json!({ "to": [to], "message": text, "client_id": text });
        for _ in 0..1 + self.random.below(3) / 2 {
            let Some(sent) = self.ask("mail_send", input.clone(), &[]) else { return };
            let id = sent["id"].as_str().unwrap_or_default().to_owned();
            let (from, to, text) = (self.me.name.clone(), to.clone(), text.clone());
            self.tell(Told::Sent { from, to, text, id });
        }
    }

    /// Takes what there is, and acknowledges it, gives it back, or forgets about it.
    pub(crate) fn read(&mut self) {
        let op = ["mail_read", "next"][self.random.below(2)];
        let mut input = json!({ "lease": LEASE });
        if op == "mail_read" && self.random.happens(30) {
            input["wait"] = "100ms".into();
        }
        let Some(inbox) = self.ask(op, input, &[]) else { return };
        let Some(receipt) = inbox["receipt"].as_u64() else { return };
        let returned = self.random.happens(10);
        if !returned && self.random.happens(5) {
            // It has arrived, but nobody says so: it comes again, and says that.
            return self.arrived(&inbox);
        }
        self.ask("mail_ack", json!({ "receipt": receipt, "returned": returned }), &[]);
        if !returned {
            self.arrived(&inbox);
        }
    }

    fn arrived(&mut self, inbox: &Value) {
        for letter in inbox["messages"].as_array().into_iter().flatten() {
            let text = |name: &str| letter[name].as_str().unwrap_or_default().to_owned();
            let (from, to) = (text("from"), self.me.name.clone());
            self.tell(Told::Arrived { from, to, text: text("text"), is_again: letter["again"] == true });
        }
    }

    /// Reads until nothing is left, lost offers included.
    pub(crate) fn read_all(mut self) -> History {
        let begun = Instant::now();
        loop {
            let inbox = self.ask("mail_read", json!({ "lease": "10s", "wait": "500ms" }), &[]);
            let Some(inbox) = inbox else { return self.history };
            if let Some(receipt) = inbox["receipt"].as_u64() {
                self.arrived(&inbox);
                self.ask("mail_ack", json!({ "receipt": receipt }), &[]);
                continue;
            }
            let Some(boxes) = self.ask("mailboxes", json!({}), &[]) else { return self.history };
            let boxes = boxes["boxes"].as_array().cloned().unwrap_or_default();
            if !boxes.iter().any(|one| one["owner"] == *self.me.name) {
                return self.history;
            }
            if begun.elapsed() > PATIENCE {
                self.wrong(format!("waits in vain for what is in its box: {boxes:?}"));
                return self.history;
            }
        }
    }
}
