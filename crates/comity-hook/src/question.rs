//! The operations that hooks ask. This program has no catalog; `cargo xtask tidy` compares the names with the tables.

#[derive(Clone, Copy)]
pub(crate) enum HookQuestion {
    MayEdit,
    MayCommit,
    Call,
    MailArrived,
    Wait,
    Confinement,
}

impl HookQuestion {
    pub(crate) fn operation(self) -> &'static str {
        match self {
            HookQuestion::MayEdit => "check",
            HookQuestion::MayCommit => "guard_commit",
            HookQuestion::Call => "guard",
            HookQuestion::MailArrived => "guard_told",
            HookQuestion::Wait => "guard_wait",
            HookQuestion::Confinement => "guard_confine",
        }
    }
}
