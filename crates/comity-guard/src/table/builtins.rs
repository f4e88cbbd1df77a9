//! Commands of the shell itself, and those that it has besides the system.

use super::{Guess, Program, Proof, reads, writes};
use crate::programs as guess;
use crate::read_only::{anything, bracket, cd, command, printf, read, set, status, test};

pub(super) const PROGRAMS: &[Program] = &[
    reads("true false echo", &[]).proof(Proof::Arguments(anything)),
    reads("pwd", &["-LP"]).operands_max(0),
    reads("printf", &[]).proof(Proof::Arguments(printf)),
    reads("test", &[]).proof(Proof::Arguments(test)),
    reads("[", &[]).proof(Proof::Arguments(bracket)),
    reads(":", &[]).proof(Proof::Arguments(anything)).builtin(),
    reads("cd", &["-LP"])
        .any_argument()
        .operands_max(1)
        .proof(Proof::Given(cd))
        .guess(Guess::Own(guess::cd))
        .builtin(),
    reads("type", &["-a"]).builtin(),
    reads("command", &["-vV"]).until_operand().proof(Proof::Given(command)).guess(Guess::Runs(0)).builtin(),
    reads("read", &["-r"]).proof(Proof::Given(read)).guess(Guess::Own(guess::sets)).builtin(),
    reads("set", &[]).proof(Proof::Arguments(set)).builtin(),
    reads("exit break continue", &[]).proof(Proof::Arguments(status)).builtin(),
    writes("pushd popd", &[], Guess::Own(guess::cd)).builtin(),
    writes("export local declare typeset readonly", &[], Guess::Own(guess::sets)).builtin(),
];
