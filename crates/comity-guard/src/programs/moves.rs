//! Which commands change the directory of their shell.

use crate::shell::syntax::{Body, Command, Script, Word};

pub(super) fn script_moves(script: &Script) -> bool {
    script.steps.iter().flat_map(|step| &step.pipeline).any(moves)
}

/// Whether a command may change the directory of the shell that runs it.
pub(super) fn moves(command: &Command) -> bool {
    match &command.body {
        Body::Simple(simple) => {
            let words = simple.words.iter().map(Word::literal);
            let mut words = words.skip_while(|word| matches!(word.as_deref(), Some("command" | "builtin")));
            let may_move = |word: Option<String>| {
                word.is_none_or(|word| word.contains("cd") || word.contains("pushd") || word.contains("popd"))
            };
            match words.next().flatten().as_deref() {
                Some("cd" | "pushd" | "popd") => true,
                Some("eval") => words.any(may_move),
                _ => false,
            }
        }
        Body::Group(script) => script_moves(script),
        Body::If { arms, otherwise } => {
            let arms = arms.iter().flat_map(|arm| [&arm.condition, &arm.body]);
            arms.chain(otherwise).any(script_moves)
        }
        Body::While(arm) => script_moves(&arm.condition) || script_moves(&arm.body),
        Body::For { body, .. } => script_moves(body),
        Body::Case { arms, .. } => arms.iter().any(|arm| script_moves(&arm.body)),
        Body::Function { body, .. } => moves(body),
        Body::Subshell(_) | Body::Test(_) | Body::Arithmetic(_) => false,
    }
}
