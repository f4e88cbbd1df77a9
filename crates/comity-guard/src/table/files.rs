//! Programs that create, move, remove and change the files that they name.

use super::{EffectGuess, KnownProgram, writes};
use crate::effects::WriteKind;
use crate::programs as guess;

const PLACING: &str =
    "-t: -S: -g: -m: -o: -Z: --target-directory= --suffix= --group= --mode= --owner= --context=";

pub(super) const PROGRAMS: &[KnownProgram] = &[
    writes("rm grm trash", &["-r -R -f -i -d --recursive --force"], EffectGuess::Own(guess::rm)),
    writes("rmdir unlink", &[], EffectGuess::Each(WriteKind::Delete)),
    writes(
        "shred",
        &["-u -n: -s: --iterations= --size= --random-source= --remove?"],
        EffectGuess::Own(guess::shred),
    ),
    writes("touch", &["-d: -r: -t: -A: --date= --reference= --time="], EffectGuess::Each(WriteKind::Create)),
    writes(
        "truncate fallocate",
        &["-s: -r: -o: -l: --size= --reference= --offset= --length="],
        EffectGuess::Each(WriteKind::Edit),
    ),
    writes("dd", &[], EffectGuess::Own(guess::dd)),
    writes(
        "chmod chown chgrp chattr setfacl",
        &["-R --recursive --reference= --from="],
        EffectGuess::Own(guess::mode),
    ),
    writes("mv gmv", &[PLACING], EffectGuess::Own(guess::mv)),
    writes("cp gcp", &[PLACING], EffectGuess::Own(guess::cp)),
    writes("install ginstall", &[PLACING], EffectGuess::Own(guess::install)),
    writes("ln link", &[PLACING], EffectGuess::Own(guess::ln)),
    writes("mkfifo mknod", &["-m: --mode="], EffectGuess::Each(WriteKind::Create)),
    writes("rename", &["-f -n -v"], EffectGuess::Own(guess::rename)),
    writes("dos2unix unix2dos", &[], EffectGuess::Each(WriteKind::Edit)),
    writes("apply_patch applypatch", &[], EffectGuess::Own(guess::apply_patch)),
    writes(
        "patch gpatch",
        &[
            "-p: -d: -i: -o: -B: -D: -F: -g: -r:> -V: -Y: -z: --strip= --directory= --input= --output= --fuzz= --get= --ifdef= --reject-file=> --suffix= --prefix=",
        ],
        EffectGuess::Own(guess::patch),
    ),
];
