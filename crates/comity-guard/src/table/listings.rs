//! Programs that show what exists: files, directories, users, processes, the machine.

use super::{KnownProgram, ReadProof, reads};
use crate::read_only::{date, find};
use crate::table::EffectGuess;

pub(super) const PROGRAMS: &[KnownProgram] = &[
    reads(
        "ls dir vdir",
        &["-1AaBbCcdFfGghiklLmNnopQqRrSstUuvXxZ -I: -w: --all --almost-all --classify? --color? --directory --full-time",
          "--group-directories-first --human-readable --inode --numeric-uid-gid --recursive --reverse --size --sort= --time= --time-style="],
    )
    .any_argument(),
    reads("du", &["-0abcDHhklLmPSsx -d: -t: -B: --all --apparent-size --exclude= --human-readable --max-depth= --summarize --total"])
        .any_argument(),
    reads("df", &["-aHhiklPT -B: -t: -x: --human-readable --inodes --local --total"]).any_argument(),
    reads("stat", &["-fL -c: --dereference --file-system --format= --printf= --terse"]).any_argument(),
    reads("ps", &["-AacdeFfHjLlMmNTwxyZ -C: -G: -g: -O: -o: -p: -s: -t: -U: -u: --forest --no-headers --sort= --pid= --ppid= --user="])
        .any_argument(),
    reads("id groups", &["-Ggnruz --group --groups --name --real --user"]).any_argument(),
    reads("printenv", &["-0"]).any_argument(),
    reads("which", &["-as"]).any_argument(),
    reads("basename dirname", &["-az -s: --multiple --suffix= --zero"]).any_argument(),
    reads("readlink realpath", &["-efLmnPqsz --canonicalize --no-newline --relative-to= --relative-base= --no-symlinks"]).any_argument(),
    reads("tree", &["-aCdDfFghilnNpQrsStuUvx -L: -I: -P: --dirsfirst --du --gitignore --noreport --prune -o:> -R! -H:!"]).values_apart(),
    reads("file", &["-bhiLk0 --brief --dereference --mime --mime-type --mime-encoding -C! -m:! -s! -z!"]),
    reads("date", &["-uR -d: -r: -I? --date= --iso-8601? --reference= --rfc-3339= --rfc-email --utc --universal -s:! --set=!"])
        .proof(ReadProof::Given(date)),
    reads("uname", &["-amnoprsvi"]).operands_max(0),
    reads("whoami tty arch", &[]).operands_max(0),
    reads("nproc", &["--all --ignore="]).operands_max(0),
    reads("uptime", &["-ps"]).operands_max(0),
    reads("free", &["-bghklmtw"]).operands_max(0),
    reads("find gfind", &[]).proof(ReadProof::Arguments(find)).guess(EffectGuess::Own(crate::programs::find)),
];
