//! Programs that start other programs.

use super::{Guess, Program, Proof, reads, writes};
use crate::programs as guess;
use crate::read_only::{env, timeout, xargs};

pub(super) const PROGRAMS: &[Program] = &[
    reads("timeout gtimeout", &["-k: -s: --kill-after= --signal= --preserve-status --foreground"])
        .until_operand()
        .proof(Proof::Given(timeout))
        .guess(Guess::Runs(1)),
    reads("xargs gxargs", &["-0rtx -d: -I: -L: -n: -P: -s: --null --no-run-if-empty --delimiter= --max-args= --max-procs= -a:! -E:! -i?! -J:! -R:! -S:! --arg-file=! --replace?! --max-lines?!"])
        .until_operand()
        .proof(Proof::Given(xargs))
        .guess(Guess::Own(guess::xargs)),
    reads("env", &["-u:! -C:! -S:! -i! --unset=! --chdir=! --split-string=!"]).until_operand().proof(Proof::Given(env)).guess(Guess::Runs(0)),
    writes("sudo", &["-u: -g: -C: -D: -h: -p: -R: -r: -T: -t: --user= --group= --chdir= --host= --prompt="], Guess::Runs(0)).until_operand(),
    writes("doas", &["-u: -C:"], Guess::Runs(0)).until_operand(),
    writes("nice", &["-n: --adjustment="], Guess::Runs(0)).until_operand(),
    writes("ionice", &["-c: -n: -p:"], Guess::Runs(0)).until_operand(),
    writes("stdbuf", &["-i: -o: -e: --input= --output= --error="], Guess::Runs(0)).until_operand(),
    writes("time", &["-f: -o:> --output=> --format="], Guess::Runs(0)).until_operand(),
    writes("exec", &["-a:"], Guess::Runs(0)).until_operand(),
    writes("builtin nohup setsid chronic unbuffer busybox coproc entr pnpx noglob nocorrect", &[], Guess::Runs(0)).until_operand(),
    writes("caffeinate", &["-t: -w:"], Guess::Runs(0)).until_operand(),
    writes("strace ltrace", &["-o:> -e: -p: -s: -u: -E: -a: -I: -S: -P: -X: -U:"], Guess::Runs(0)).until_operand(),
    writes("flock", &["-w: -E:"], Guess::Runs(1)).until_operand(),
    writes("npx bunx uvx", &["-p: -c: --package= --call= --from= --with= --python="], Guess::Runs(0)).until_operand(),
    writes("uv poetry pipenv npm pnpm yarn bundle", &["--with= --from= --package="], Guess::Own(guess::run_word)).until_operand(),
    writes("script", &["-c: -O:> -I:> -B:> --log-out=> --command="], Guess::Own(guess::script)),
];
