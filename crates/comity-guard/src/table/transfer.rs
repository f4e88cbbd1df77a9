//! Programs that pack, unpack, mirror or fetch.

use super::{EffectGuess, KnownProgram, writes};
use crate::effects::WriteKind;
use crate::programs as guess;

pub(super) const PROGRAMS: &[KnownProgram] = &[
    writes(
        "tar gtar bsdtar",
        &[
            "-f: -C: -b: -g: -H: -I: -K: -L: -N: -T: -V: -X: --file= --directory= --exclude= --files-from= --exclude-from= --transform= --strip-components=",
        ],
        EffectGuess::Own(guess::tar),
    ),
    writes("unzip", &["-d: -P: -x:"], EffectGuess::Own(guess::unzip)),
    writes("zip", &["-b: -n: -t: -x: -i:"], EffectGuess::Own(guess::zip)),
    writes("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd", &["-S: -o:>"], EffectGuess::Own(guess::gzip)),
    writes("7z 7za", &["-o?"], EffectGuess::Nothing),
    writes("cpio", &["-D: -F: -O:> --file= --directory="], EffectGuess::Own(guess::cpio)),
    writes(
        "rsync",
        &[
            "-e: -B: -T: -f: -M: --rsh= --exclude= --include= --exclude-from= --include-from= --files-from= --filter= --temp-dir= --log-file=>",
        ],
        EffectGuess::Own(guess::rsync),
    ),
    writes("scp sftp", &["-c: -F: -i: -J: -l: -o: -P: -S: -X:"], EffectGuess::Own(guess::rsync)),
    writes(
        "curl",
        &[
            "-o: -D: -c: -b: -d: -e: -u: -A: -H: -X: -T: -F: -m: -x: -r: -E: -t: -w: -y: -Y: -z: -C: -K: --output= --output-dir= --dump-header=",
            "--cookie-jar= --cookie= --data= --data-raw= --data-binary= --data-urlencode= --json= --header= --request= --user= --user-agent= --referer=",
            "--form= --max-time= --connect-timeout= --proxy= --url= --upload-file= --write-out= --retry= --cacert= --cert= --key= --config= --range=",
            "--resolve= --trace= --trace-ascii= --stderr=",
        ],
        EffectGuess::Own(guess::curl),
    ),
    writes(
        "wget",
        &[
            "-O: -P: -o: -a: -e: -i: -t: -T: -w: -Q: -U: -l: -A: -R: -D: -I: -X: --output-document= --directory-prefix= --output-file= --append-output=",
            "--header= --user-agent= --tries= --timeout= --post-data= --user= --password=",
        ],
        EffectGuess::Own(guess::wget),
    ),
    writes("ffmpeg convert magick cwebp", &["-i: -f: -c: -o:>"], EffectGuess::Last(WriteKind::Whole)),
    writes("sqlite3", &[], EffectGuess::Own(guess::first_operand)),
];
