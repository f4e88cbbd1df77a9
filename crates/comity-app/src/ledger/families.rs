//! The ledger's sentences about teams, mail, control messages and decisions.

use comity_core::control::ControlEvent;
use comity_core::decisions::DecisionEvent;
use comity_core::mail::{MailEvent, MessageId};
use comity_core::people::{Origin, PersonEvent};
use comity_core::teams::TeamEvent;
use comity_core::{Principal, World};

pub(super) fn team(by: &str, event: &TeamEvent, world: &World) -> String {
    match event {
        TeamEvent::Created { name, .. } => format!("{by} made the team {name}"),
        TeamEvent::Admitted { agent, team } => {
            format!("{by} let {} into the team {team}", world.name_of(Principal::Agent(*agent)))
        }
        TeamEvent::Deleted { name } => format!("{by} ended the team {name}"),
    }
}

pub(super) fn mail(by: &str, event: &MailEvent, world: &World, may_read: bool) -> String {
    let name = |who: &Principal| world.name_of(*who);
    match event {
        MailEvent::Sent { letter, .. } => {
            let to: Vec<String> = letter.to.iter().map(name).collect();
            if !may_read {
                return format!("{} {by} to {}", letter.id, to.join(", "));
            }
            let about = letter.subject.as_deref().unwrap_or(&letter.text);
            format!("{} {by} to {}: {}", letter.id, to.join(", "), shortened(about))
        }
        MailEvent::Offered { to, letters, controls, .. } => {
            format!("{} was offered {}", name(to), offered(letters.len(), controls.len()))
        }
        MailEvent::Acknowledged { to, receipt } => format!("offer {receipt} reached {}", name(to)),
        MailEvent::Returned { to, receipt } => {
            format!("offer {receipt} is not known to have reached {}", name(to))
        }
        MailEvent::PutAside { to, letters } => {
            format!("{} for {} put aside: offered in vain too often", numbers(letters), name(to))
        }
        MailEvent::Undelivered { to, letters } => {
            format!("{} ended before {} letters reached it", name(to), letters.len())
        }
    }
}

pub(super) fn control(by: &str, event: &ControlEvent, world: &World) -> String {
    match event {
        ControlEvent::ShutdownRequested { request, agent, reason, .. } => {
            let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{by} asked {} to end ({request}){why}", world.name_of(Principal::Agent(*agent)))
        }
        ControlEvent::ShutdownApproved { request, .. } => format!("{by} agreed to end ({request})"),
        ControlEvent::ShutdownRejected { request, reason } => {
            format!("{by} does not end ({request}): {reason}")
        }
        ControlEvent::ShutdownOverdue { request } => format!("nobody answered {request} in time"),
        ControlEvent::IdleReported { summary, .. } => format!("{by} waits for work: {summary}"),
    }
}

pub(super) fn decision(by: &str, event: &DecisionEvent) -> String {
    match event {
        DecisionEvent::Made { id, title, pending: false, .. } => format!("{by} decided {id}: {title}"),
        DecisionEvent::Made { id, title, pending: true, .. } => format!("{by} proposes {id}: {title}"),
        DecisionEvent::Confirmed { id } => format!("{by} confirmed {id}"),
        DecisionEvent::Rejected { id, reason } => {
            let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{by} turned {id} down{why}")
        }
    }
}

pub(super) fn person(by: &str, event: &PersonEvent, from: Option<&Origin>) -> String {
    match event {
        PersonEvent::TokenMade { name, .. } => format!("{by} made the token {name}"),
        PersonEvent::TokenRevoked { name } => format!("{by} revoked the token {name}"),
        PersonEvent::PassphraseSet { verifier: Some(_) } => format!("{by} set a passphrase"),
        PersonEvent::PassphraseSet { verifier: None } => format!("{by} removed the passphrase"),
        PersonEvent::ActedFromNewPlace { lineage, act } => {
            let terminal = from.and_then(|from| from.terminal.as_deref()).unwrap_or("no terminal");
            format!("{by} acted from a new place ({act}): {lineage}, {terminal}")
        }
        PersonEvent::Recognised { .. } => format!("{by} was shown what was done from new places"),
    }
}

/// Characters of a text that a line of the ledger shows.
const SHOWN_CHARS: usize = 80;

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None if line.len() < text.len() => format!("{line}..."),
        None => line.to_owned(),
    }
}

fn offered(letters: usize, controls: usize) -> String {
    match (letters, controls) {
        (letters, 0) => format!("{letters} letters"),
        (0, controls) => format!("{controls} control messages"),
        (letters, controls) => format!("{letters} letters and {controls} control messages"),
    }
}

fn numbers(letters: &[MessageId]) -> String {
    letters.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
