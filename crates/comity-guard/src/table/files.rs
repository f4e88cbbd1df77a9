//! Programs that make, move, remove and change the files that they name.

use super::{Guess, Program, writes};
use crate::effects::How;
use crate::programs as guess;

const PLACING: &str =
    "-t: -S: -g: -m: -o: -Z: --target-directory= --suffix= --group= --mode= --owner= --context=";

pub(super) const PROGRAMS: &[Program] = &[
    writes("rm grm trash", &["-r -R -f -i -d --recursive --force"], Guess::Own(guess::rm)),
    writes("rmdir unlink", &[], Guess::Each(How::Delete)),
    writes(
        "shred",
        &["-u -n: -s: --iterations= --size= --random-source= --remove?"],
        Guess::Own(guess::shred),
    ),
    writes("touch", &["-d: -r: -t: -A: --date= --reference= --time="], Guess::Each(How::Create)),
    writes(
        "truncate fallocate",
        &["-s: -r: -o: -l: --size= --reference= --offset= --length="],
        Guess::Each(How::Edit),
    ),
    writes("dd", &[], Guess::Own(guess::dd)),
    writes(
        "chmod chown chgrp chattr setfacl",
        &["-R --recursive --reference= --from="],
        Guess::Own(guess::mode),
    ),
    writes("mv gmv", &[PLACING], Guess::Own(guess::mv)),
    writes("cp gcp", &[PLACING], Guess::Own(guess::cp)),
    writes("install ginstall", &[PLACING], Guess::Own(guess::install)),
    writes("ln link", &[PLACING], Guess::Own(guess::ln)),
    writes("mkfifo mknod", &["-m: --mode="], Guess::Each(How::Create)),
    writes("rename", &["-f -n -v"], Guess::Own(guess::rename)),
    writes("dos2unix unix2dos", &[], Guess::Each(How::Edit)),
    writes("apply_patch applypatch", &[], Guess::Own(guess::apply_patch)),
    writes(
        "patch gpatch",
        &[
            "-p: -d: -i: -o: -B: -D: -F: -g: -r:> -V: -Y: -z: --strip= --directory= --input= --output= --fuzz= --get= --ifdef= --reject-file=> --suffix= --prefix=",
        ],
        Guess::Own(guess::patch),
    ),
];
