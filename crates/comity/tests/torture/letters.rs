//! Judges mail: what senders were told, what receivers got and what the log has must be one story.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A letter that somebody sent; its text is the sender's own id of it too, and no other letter has the same.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) text: String,
    /// The numbers that the sender was told; none if nobody knows what became of it.
    pub(crate) told: Vec<String>,
}

/// A letter that somebody got.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) to: String,
    pub(crate) from: String,
    pub(crate) text: String,
    /// Whether it said that it was offered before.
    pub(crate) again: bool,
}

impl Arrived {
    /// The letters of one answer, in order.
    pub(crate) fn all(to: &str, inbox: &Value) -> Vec<Arrived> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let messages = inbox["messages"].as_array().expect("letters").iter();
        let arrived = messages.map(|message| Arrived {
            to: to.into(),
            from: text(&message["from"]),
            text: text(&message["text"]),
            again: message["again"] == true,
        });
        arrived.collect()
    }
}

/// What is wrong; nothing if what each sender sent is in order in `sent`, and what each receiver got in `arrived`.
pub(crate) fn check(sent: &[Sent], arrived: &[Arrived], log: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    let stored = stored(log);
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut newest: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let by_text: BTreeMap<&str, (usize, &Sent)> =
        sent.iter().enumerate().map(|(at, letter)| (letter.text.as_str(), (at, letter))).collect();
    for one in arrived {
        let found = by_text.get(one.text.as_str());
        let Some((at, _)) =
            found.filter(|(_, letter)| letter.from == one.from && letter.to.contains(&one.to))
        else {
            findings.push(format!("nobody sent {one:?}"));
            continue;
        };
        if !seen.insert((&one.to, &one.text)) {
            if !one.again {
                findings.push(format!("came twice, and does not say so: {one:?}"));
            }
            continue;
        }
        let last = newest.entry((&one.from, &one.to)).or_insert(*at);
        if at < last {
            findings.push(format!("came after {}: {one:?}", sent[*last].text));
        }
        *last = *at.max(last);
    }
    for letter in sent {
        let ids = stored.get(&(letter.from.clone(), letter.text.clone())).map_or(&[][..], Vec::as_slice);
        if ids.len() > 1 {
            findings.push(format!("stored more than once, as {ids:?}: {letter:?}"));
        }
        if letter.told.iter().any(|told| ids != std::slice::from_ref(told)) {
            findings.push(format!("lost, or told wrongly: {letter:?}; the log has {ids:?}"));
        }
        if !letter.told.is_empty() {
            let missing = letter.to.iter().filter(|to| !seen.contains(&(to, &letter.text)));
            findings.extend(missing.map(|to| format!("did not reach {to}: {letter:?}")));
        }
    }
    findings
}

/// The numbers of the letters in the log, by sender and text.
fn stored(log: &[Value]) -> BTreeMap<(String, String), Vec<String>> {
    let mut stored: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for entry in log.iter().filter(|entry| entry["event"] == "mail:sent") {
        let details = &entry["details"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = format!("m{}", details["id"]);
        stored.entry((text(&entry["actor"]), text(&details["text"]))).or_default().push(id);
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sent(text: &str, told: &[&str]) -> Sent {
        let told = told.iter().map(|id| (*id).to_owned()).collect();
        Sent { from: "ann".into(), to: vec!["rex".into()], text: text.into(), told }
    }

    fn arrived(text: &str, again: bool) -> Arrived {
        Arrived { to: "rex".into(), from: "ann".into(), text: text.into(), again }
    }

    fn logged(id: u64, text: &str) -> Value {
        json!({ "event": "mail:sent", "actor": "ann", "details": { "id": id, "text": text } })
    }

    /// How many findings there are for two letters, the second of them unanswered, and these arrivals.
    fn judged(arrivals: &[Arrived], log: &[Value]) -> usize {
        check(&[sent("a1", &["m1", "m1"]), sent("a2", &[])], arrivals, log).len()
    }

    #[test]
    fn each_kind_of_finding_is_found() {
        let log = [logged(1, "a1"), logged(2, "a2")];
        let (first, second) = (arrived("a1", false), arrived("a2", false));
        let of_bob = Arrived { from: "bob".into(), ..second.clone() };
        let to_sue = Arrived { to: "sue".into(), ..second.clone() };
        let table: [(&str, &[Arrived], &[Value], usize); 12] = [
            ("a true story", &[first.clone(), second.clone()], &log, 0),
            ("the unanswered one never happened", std::slice::from_ref(&first), &log[..1], 0),
            ("twice, and says so", &[first.clone(), arrived("a1", true)], &log, 0),
            ("twice, and does not", &[first.clone(), first.clone()], &log, 1),
            ("not arrived", std::slice::from_ref(&second), &log, 1),
            ("not in the log", std::slice::from_ref(&first), &log[1..], 1),
            ("out of order", &[second.clone(), first.clone()], &log, 1),
            ("from nowhere", &[first.clone(), arrived("a3", false)], &log, 1),
            ("from somebody else", &[first.clone(), of_bob], &log, 1),
            ("to somebody else", &[first.clone(), to_sue], &log, 1),
            ("stored with another number", std::slice::from_ref(&first), &[logged(3, "a1")], 1),
            ("stored twice", std::slice::from_ref(&first), &[logged(1, "a1"), logged(3, "a1")], 2),
        ];
        for (what, arrivals, log, expected) in table {
            assert_eq!(judged(arrivals, log), expected, "{what}");
        }
    }
}
