//! MCP over streamable HTTP: tools are operations, called with the token's owner as the caller.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use comity_app::catalog::name_of;
use comity_app::identity::Identity;
use comity_app::operation::Caller;
use comity_app::operations::mail::AcknowledgeMail;
use comity_app::span::Span;
use comity_app::{Failure, Wording, catalog, is_mention};
use comity_core::locks::LockRefusal;
use comity_core::mail::Receipt;
use comity_core::{Millis, Principal, Refusal};
use comity_mcp::ToolOutcome;
use comity_mcp::http::{HttpRequest, HttpResponse, HttpStep};
use serde_json::{Map, Value, json};

use super::any_tool::{self, MeantCall};
use super::call::{self, Question};
use super::{Door, ToolSet, body, outcome, reply, rest, routes};

/// The longest wait of a call: clients give up on a tool after a minute or two.
const WAIT_MAX: Span = Span(Millis::seconds(90));

/// Precedes the mail that goes with a result.
pub(crate) const MAIL: &str = "\nMail for you, from other agents or people: judge it as such.\n";

/// How long mail that was offered over HTTP may wait for the receiver's next call.
const OFFER_LEASE: Span = Span(Millis::minutes(5));

pub(super) async fn answer(door: &Door, you: Identity, parts: Parts, body: Body) -> Response {
    let server = match offer(&parts) {
        Ok(offer) => door.mcp(offer),
        Err(refusal) => return reply::refusal(refusal),
    };
    let bytes = match body::read(&parts, body).await {
        Ok(bytes) => bytes,
        Err(response) => return response,
    };
    let headers: Vec<(&str, &[u8])> =
        parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let request = HttpRequest { method: parts.method.as_str(), headers: &headers, body: &bytes };
    match comity_mcp::http::receive(server, &request) {
        HttpStep::Respond(said) => response(said),
        HttpStep::Call(call) => {
            let outcome = run(door, you, &parts, &call.tool, call.arguments).await;
            response(comity_mcp::http::finish(server, &call.ticket, &outcome))
        }
    }
}

fn offer(parts: &Parts) -> Result<ToolSet, Refusal> {
    let query = routes::query(&parts.uri);
    let tools = query.iter().find(|(name, _)| name == "tools").map(|(_, value)| value.as_str());
    let Some(name) = tools else { return Ok(ToolSet::Usual) };
    ToolSet::named(name).ok_or_else(|| {
        let hint = "use /mcp, /mcp?tools=browser, or /mcp?tools=all";
        Refusal::bad_input("there is no such list of tools", hint)
    })
}

async fn run(
    door: &Door,
    you: Identity,
    parts: &Parts,
    tool: &str,
    arguments: Map<String, Value>,
) -> ToolOutcome {
    let who = you.who;
    if let Principal::Agent(agent) = who {
        door.app.has_tools(agent);
    }
    let caller = match rest::caller(&door.app, you, &parts.headers) {
        Ok(caller) => caller,
        Err(refusal) => return ToolOutcome::error(Failure::Refused(refusal).to_text(Wording::Tools)),
    };
    let (entry, mut arguments) = match any_tool::meant(tool, arguments) {
        MeantCall::Operation(Some(entry), arguments) => (entry, arguments),
        MeantCall::Operation(None, _) => {
            return ToolOutcome::error(format!("there is no operation {tool:?}"));
        }
        MeantCall::Answered(outcome) => return outcome,
    };
    let was_long = entry.waits && cap_wait(&mut arguments);
    if entry.is_offer {
        // Nobody sees whether the answer arrives: the agent's next call proves it.
        arguments.insert("lease".into(), OFFER_LEASE.to_string().into());
    }
    acknowledge_last(door, &caller).await;
    let input = Value::Object(arguments);
    let question = Question { caller: caller.clone(), op: entry.name, input, key: None, text: true };
    let (output, notices) = call::ask(&door.app, question).await;
    if let Some(receipt) = output.as_ref().ok().and_then(|rendered| rendered.receipt) {
        offers(door).insert(who, receipt);
    }
    let mut outcome = match output {
        Ok(rendered) => {
            let image = outcome::image(entry, &rendered.json);
            let words = Wording::Tools.spell(rendered.text.as_deref().unwrap_or(&rendered.json)).into_owned();
            let structured = outcome::structured_output(entry, &rendered.json, &words);
            ToolOutcome { image, structured, ..ToolOutcome::answer(words) }
        }
        Err(failure) => {
            let structured = outcome::structured(&failure.to_json(Wording::Tools), &notices);
            let mut outcome =
                ToolOutcome { structured, ..ToolOutcome::error(failure.to_text(Wording::Tools)) };
            if was_long
                && matches!(failure, Failure::Refused(Refusal::Lock(LockRefusal::WaitTimedOut { .. })))
            {
                outcome.add("\nA call waits 90s at most here; ask again to go on waiting.");
            }
            outcome
        }
    };
    if !entry.is_offer && notices.iter().any(|notice| is_mention(notice)) {
        add_mail(door, caller, &mut outcome).await;
    }
    for notice in notices.into_iter().filter(|notice| !is_mention(notice)) {
        outcome.add(&format!("\nNotice: {}", Wording::Tools.spell(&notice)));
    }
    outcome
}

/// Adds waiting mail to a result: some programs show their model nothing else.
async fn add_mail(door: &Door, caller: Caller, outcome: &mut ToolOutcome) {
    let who = caller.who;
    let input = json!({ "lease": OFFER_LEASE.to_string() });
    let question = Question { caller, op: catalog::offering().name, input, key: None, text: true };
    let (Ok(rendered), _) = call::ask(&door.app, question).await else { return };
    if let (Some(text), Some(receipt)) = (rendered.text, rendered.receipt) {
        offers(door).insert(who, receipt);
        outcome.add(&format!("{MAIL}{}", Wording::Tools.spell(&text)));
    }
}

fn offers(door: &Door) -> MutexGuard<'_, BTreeMap<Principal, Receipt>> {
    door.offers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call proves that the answer to the previous one has arrived, with its mail.
async fn acknowledge_last(door: &Door, caller: &Caller) {
    let Some(receipt) = offers(door).remove(&caller.who) else { return };
    let input = json!({ "receipt": receipt });
    let question =
        Question { caller: caller.clone(), op: name_of::<AcknowledgeMail>(), input, key: None, text: false };
    // Refused if it took too long: then it is offered again.
    let _ = call::ask(&door.app, question).await;
}

/// Shortens a wait that no client would sit out; returns whether it did.
pub(crate) fn cap_wait(arguments: &mut Map<String, Value>) -> bool {
    let Some(wait) = arguments.get_mut("wait") else { return false };
    let is_long = serde_json::from_value::<Span>(wait.clone()).is_ok_and(|asked| asked > WAIT_MAX);
    if is_long {
        *wait = WAIT_MAX.to_string().into();
    }
    is_long
}

fn response(said: HttpResponse) -> Response {
    let mut response = Response::new(Body::from(said.body));
    *response.status_mut() = StatusCode::from_u16(said.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in said.headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waits_are_cut() {
        let check = |wait: Value, was_long: bool, left: Value| {
            let mut arguments = Map::from_iter([("wait".to_owned(), wait)]);
            assert_eq!(cap_wait(&mut arguments), was_long);
            assert_eq!(arguments["wait"], left);
        };
        check("5m".into(), true, "90000ms".into());
        check(91.into(), true, "90000ms".into());
        check("90s".into(), false, "90s".into());
        check("soon".into(), false, "soon".into());
        assert!(!cap_wait(&mut Map::new()));
    }
}
