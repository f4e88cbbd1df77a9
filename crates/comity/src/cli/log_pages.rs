//! Reads the log in as many answers as it takes: large letters do not fit into one.

use std::borrow::Cow;
use std::collections::VecDeque;

use comity_app::catalog::name_of;
use comity_app::operations::ledger::ReadLog;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::session::{ServerAnswer, Session, SessionError};

/// A page, with its entries as they came.
#[derive(Serialize, Deserialize)]
struct RawLogPage<'a> {
    #[serde(borrow)]
    entries: Vec<Cow<'a, RawValue>>,
    cursor: u64,
    head: u64,
    #[serde(default)]
    more: bool,
}

#[derive(Clone, Copy, Deserialize)]
struct Numbered {
    seq: u64,
}

/// Asks for the log until everything requested is there, and returns it as one answer.
pub(crate) fn ask(session: &mut Session, input: &Value) -> Result<ServerAnswer, SessionError> {
    let describe = |error: serde_json::Error| SessionError::Fault(error.to_string());
    let limit = input["limit"].as_u64().unwrap_or(ReadLog::LIMIT as u64);
    let is_forwards = !input["after"].is_null();
    let (mut answers, mut input, mut count) = (VecDeque::new(), input.clone(), 0);
    loop {
        let answer = session.ask(name_of::<ReadLog>(), &input)?;
        let page: RawLogPage<'_> = serde_json::from_str(answer.json.get()).map_err(describe)?;
        let (more, cursor, entries) = (page.more, page.cursor, page.entries.len() as u64);
        let first = page.entries.first().map(|entry| serde_json::from_str::<Numbered>(entry.get()));
        let first = first.transpose().map_err(describe)?;
        count += entries;
        let is_first = answers.is_empty();
        match (is_forwards, first) {
            (_, None) if !is_first => break,
            (true, _) => answers.push_back(answer),
            (false, _) => answers.push_front(answer),
        }
        match first {
            Some(first) if more && count < limit => {
                input["limit"] = (limit - count).into();
                if is_forwards {
                    input["after"] = cursor.into();
                } else {
                    input["before"] = first.seq.into();
                }
            }
            _ => break,
        }
    }
    joined(answers.into())
}

fn joined(mut answers: Vec<ServerAnswer>) -> Result<ServerAnswer, SessionError> {
    if answers.len() == 1 {
        return answers.pop().ok_or_else(|| SessionError::Fault("the log gave no answer".into()));
    }
    let describe = |error: serde_json::Error| SessionError::Fault(error.to_string());
    let pages = answers.iter().map(|answer| serde_json::from_str::<RawLogPage<'_>>(answer.json.get()));
    let pages = pages.collect::<Result<Vec<_>, _>>().map_err(describe)?;
    let whole = RawLogPage {
        cursor: pages.last().map_or(0, |page| page.cursor),
        head: pages.iter().map(|page| page.head).max().unwrap_or(0),
        entries: pages.into_iter().flat_map(|page| page.entries).collect(),
        more: false,
    };
    let json = serde_json::value::to_raw_value(&whole).map_err(describe)?;
    let texts: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
    let text = texts.join("\n");
    let notices = answers.iter().flat_map(|answer| answer.notices.clone()).collect();
    let inbox = answers.last().and_then(|answer| answer.inbox);
    Ok(ServerAnswer { json, text, notices, receipt: None, inbox })
}
