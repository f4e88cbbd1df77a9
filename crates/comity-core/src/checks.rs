//! Checks that several features share.

use crate::ids::Principal;
use crate::limits::REASON_BYTES_MAX;
use crate::refusal::Refusal;

pub(crate) fn check_reason(reason: Option<&str>) -> Result<(), Refusal> {
    if reason.is_none_or(|reason| reason.len() <= REASON_BYTES_MAX) {
        return Ok(());
    }
    Err(Refusal::bad_input(
        format!("the reason is longer than {REASON_BYTES_MAX} bytes"),
        "say it in a sentence",
    ))
}

/// Refuses everybody but the server.
pub(crate) fn only_comity(who: Principal) -> Result<(), Refusal> {
    match who {
        Principal::System => Ok(()),
        Principal::Human | Principal::Agent(_) | Principal::Nobody => Err(Refusal::NotAllowed {
            problem: "only Comity itself can tell that".into(),
            hint: "free the slot instead".into(),
        }),
    }
}
