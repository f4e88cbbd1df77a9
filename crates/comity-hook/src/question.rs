//! The operations that hooks ask. This program knows no catalog; `cargo xtask tidy` compares the names with the tables.

#[derive(Clone, Copy)]
pub(crate) enum Question {
    MayEdit,
    MayCommit,
    Call,
    MailArrived,
    Confinement,
}

impl Question {
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Question::MayEdit => "check",
            Question::MayCommit => "guard_commit",
            Question::Call => "guard",
            Question::MailArrived => "guard_told",
            Question::Confinement => "guard_confine",
        }
    }
}
