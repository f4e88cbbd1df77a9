//! Programs that start other programs.

use super::{EffectGuess, KnownProgram, ReadProof, reads, writes};
use crate::programs as guess;
use crate::read_only::{env, timeout, xargs};

pub(super) const PROGRAMS: &[KnownProgram] = &[
    reads("timeout gtimeout", &["-k: -s: --kill-after= --signal= --preserve-status --foreground"])
        .until_operand()
        .proof(ReadProof::Given(timeout))
        .guess(EffectGuess::Runs(1)),
    reads("xargs gxargs", &["-0rtx -d: -I: -L: -n: -P: -s: --null --no-run-if-empty --delimiter= --max-args= --max-procs= -a:! -E:! -i?! -J:! -R:! -S:! --arg-file=! --replace?! --max-lines?!"])
        .until_operand()
        .proof(ReadProof::Given(xargs))
        .guess(EffectGuess::Own(guess::xargs)),
    reads("env", &["-u:! -C:! -S:! -i! --unset=! --chdir=! --split-string=!"]).until_operand().proof(ReadProof::Given(env)).guess(EffectGuess::Runs(0)),
    writes("sudo", &["-u: -g: -C: -D: -h: -p: -R: -r: -T: -t: --user= --group= --chdir= --host= --prompt="], EffectGuess::Runs(0)).until_operand(),
    writes("doas", &["-u: -C:"], EffectGuess::Runs(0)).until_operand(),
    writes("nice", &["-n: --adjustment="], EffectGuess::Runs(0)).until_operand(),
    writes("ionice", &["-c: -n: -p:"], EffectGuess::Runs(0)).until_operand(),
    writes("stdbuf", &["-i: -o: -e: --input= --output= --error="], EffectGuess::Runs(0)).until_operand(),
    writes("time", &["-f: -o:> --output=> --format="], EffectGuess::Runs(0)).until_operand(),
    writes("exec", &["-a:"], EffectGuess::Runs(0)).until_operand(),
    writes("builtin nohup setsid chronic unbuffer busybox coproc entr pnpx noglob nocorrect", &[], EffectGuess::Runs(0)).until_operand(),
    writes("taskset", &["-p: -c!"], EffectGuess::Runs(1)).until_operand(),
    writes("chrt", &["-p: -T: -P: -D:"], EffectGuess::Runs(1)).until_operand(),
    writes("chroot", &["--userspec= --groups="], EffectGuess::Runs(1)).until_operand(),
    writes("unshare setarch linux64 prlimit firejail dbus-run-session xvfb-run", &["--setgroups= --map-user= --map-group="], EffectGuess::Runs(0)).until_operand(),
    writes("nsenter", &["-t: -S: -G: --target="], EffectGuess::Runs(0)).until_operand(),
    writes("bwrap", &["--chdir="], EffectGuess::Own(guess::unseen)).until_operand(),
    writes("watch", &["-n: -q: --interval= --equexit="], EffectGuess::Own(guess::joined_line)).until_operand(),
    writes("su runuser", &["-c: -s: -g: -G: -u: -w: --command= --shell= --session-command="], EffectGuess::Own(guess::su)),
    writes("comity-confine", &["-c"], EffectGuess::Own(guess::joined_line)).until_operand(),
    writes("comity", &[], EffectGuess::Own(guess::comity)),
    writes("parallel", &["-j: -a: -S: --jobs="], EffectGuess::Own(guess::parallel)).until_operand(),
    writes("tmux screen at batch crontab systemd-run", &[], EffectGuess::Own(guess::unseen)),
    writes("caffeinate", &["-t: -w:"], EffectGuess::Runs(0)).until_operand(),
    writes("strace ltrace", &["-o:> -e: -p: -s: -u: -E: -a: -I: -S: -P: -X: -U:"], EffectGuess::Runs(0)).until_operand(),
    writes("flock", &["-w: -E:"], EffectGuess::Runs(1)).until_operand(),
    writes("npx bunx uvx", &["-p: -c: --package= --call= --from= --with= --python="], EffectGuess::Runs(0)).until_operand(),
    writes("uv poetry pipenv npm pnpm yarn bundle", &["--with= --from= --package="], EffectGuess::Own(guess::run_word)).until_operand(),
    writes("script", &["-c: -O:> -I:> -B:> --log-out=> --command="], EffectGuess::Own(guess::script)),
];
