//! Shell builtins, and programs that shells have besides the system's.

use super::{EffectGuess, KnownProgram, ReadProof, reads, writes};
use crate::programs as guess;
use crate::read_only::{anything, bracket, cd, command, printf, read, set, status, test};

pub(super) const PROGRAMS: &[KnownProgram] = &[
    reads("true false echo", &[]).proof(ReadProof::Arguments(anything)),
    reads("pwd", &["-LP"]).operands_max(0),
    reads("printf", &[]).proof(ReadProof::Arguments(printf)),
    reads("test", &[]).proof(ReadProof::Arguments(test)),
    reads("[", &[]).proof(ReadProof::Arguments(bracket)),
    reads(":", &[]).proof(ReadProof::Arguments(anything)).builtin(),
    reads("cd", &["-LP"])
        .any_argument()
        .operands_max(1)
        .proof(ReadProof::Given(cd))
        .guess(EffectGuess::Own(guess::cd))
        .builtin(),
    reads("type", &["-a"]).builtin(),
    reads("command", &["-vV"])
        .until_operand()
        .proof(ReadProof::Given(command))
        .guess(EffectGuess::Runs(0))
        .builtin(),
    reads("read", &["-r"]).proof(ReadProof::Given(read)).guess(EffectGuess::Own(guess::sets)).builtin(),
    reads("set", &[]).proof(ReadProof::Arguments(set)).builtin(),
    reads("exit break continue", &[]).proof(ReadProof::Arguments(status)).builtin(),
    writes("trap", &[], EffectGuess::Own(guess::trap)).builtin(),
    writes("alias", &[], EffectGuess::Own(guess::alias)).builtin(),
    writes(". source", &[], EffectGuess::Own(guess::unseen)).builtin(),
    writes("pushd popd", &[], EffectGuess::Own(guess::cd)).builtin(),
    writes("export local declare typeset readonly", &[], EffectGuess::Own(guess::sets)).builtin(),
];
