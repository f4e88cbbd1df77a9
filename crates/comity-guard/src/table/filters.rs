//! Filters: they turn their input into output.

use super::{EffectGuess, KnownProgram, ReadProof, reads};
use crate::effects::WriteKind;
use crate::read_only::{awk, sed};

pub(super) const PROGRAMS: &[KnownProgram] = &[
    reads("cat nl tac", &["-AbEensTtuvr -s: --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank"])
        .any_argument()
        .guess(EffectGuess::ShowsWhole),
    reads("head tail", &["-fFqrvz -n: -c: -# --bytes= --lines= --quiet --silent --verbose --follow? --retry --pid="])
        .any_argument()
        .guess(EffectGuess::ShowsPart),
    reads("wc", &["-clmLw --bytes --chars --lines --max-line-length --words"]).any_argument(),
    reads("cut", &["-nsz -b: -c: -d: -f: --bytes= --characters= --complement --delimiter= --fields= --only-delimited --output-delimiter="])
        .any_argument(),
    reads("tr", &["-Ccdst --complement --delete --squeeze-repeats --truncate-set1"]).any_argument(),
    reads("rev", &[]).any_argument(),
    reads("paste", &["-sz -d: --delimiters= --serial"]).any_argument(),
    reads("join", &["-iz -1: -2: -a: -e: -j: -o: -t: -v: --header"]).any_argument(),
    reads("comm", &["-123z --total --output-delimiter="]).any_argument(),
    reads("fold expand unexpand", &["-abis -t: -w: --bytes --spaces --width= --tabs= --all --initial"]).any_argument(),
    reads("column", &["-etnx -c: -o: -s: -N: -R: --output-separator= --separator= --table"]).any_argument(),
    reads("seq", &["-w -f: -s: -# --equal-width --format= --separator="]).any_argument(),
    reads("sleep", &[]).any_argument(),
    reads("cmp", &["-bls -i: -n: --bytes= --ignore-initial= --print-bytes --quiet --silent --verbose"]).any_argument(),
    reads("od hexdump hd", &["-abCcdosvx -A: -e: -j: -N: -n: -t: -w? --address-radix= --format= --read-bytes= --skip-bytes="]).any_argument(),
    reads("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum", &["-bctwz -a: -l: --algorithm= --check --quiet --status --tag"])
        .any_argument(),
    reads(
        "grep egrep fgrep",
        &["-abcEFGHhIiLlnoPqRrsTUuvwxyZz -A: -B: -C: -D: -d: -e: -f: -m: -# --after-context= --before-context= --binary-files= --color?",
          "--context= --count --exclude= --exclude-dir= --extended-regexp --files-with-matches --files-without-match --fixed-strings --file=",
          "--ignore-case --include= --invert-match --line-number --line-regexp --max-count= --no-filename --no-messages --null --only-matching",
          "--perl-regexp --quiet --recursive --regexp= --text --with-filename --word-regexp"],
    )
    .any_argument()
    .guess(EffectGuess::Own(crate::programs::grep)),
    reads(
        "rg",
        &["-acFHhiIlLnNoPpqsSuUvwx0. -A: -B: -C: -E: -e: -f: -g: -j: -m: -M: -r: -T: -t: -d: --after-context= --before-context= --color= --column",
          "--context= --count --count-matches --files --files-with-matches --files-without-match --fixed-strings --follow --glob= --heading",
          "--hidden --iglob= --ignore-case --invert-match --json --line-number --max-count= --max-depth= --multiline --no-config --no-filename",
          "--no-heading --no-ignore --no-ignore-vcs --no-line-number --no-messages --null --only-matching --pcre2 --quiet --regexp= --smart-case",
          "--sort= --stats --text --type= --type-list --type-not= --vimgrep --with-filename --word-regexp -z! --pre=! --hostname-bin=!"],
    )
    .guess(EffectGuess::Own(crate::programs::grep)),
    reads(
        "sort",
        &["-bCcdfghiMmnRrsuVz -k: -S: -t: -o:> -T:! --output=> --temporary-directory=! --compress-program=! --files0-from=! --field-separator=",
          "--general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --key= --numeric-sort --reverse --stable --unique",
          "--version-sort --zero-terminated"],
    ),
    reads("uniq", &["-cdiuz -f: -s: -w: --count --ignore-case --repeated --skip-chars= --skip-fields= --unique"])
        .operands_max(1)
        .guess(EffectGuess::Own(crate::programs::second_operand)),
    reads(
        "diff",
        &["-abBcdEeiNnpqrsTtuwyZ -C: -I: -U: -L: -W: -x: -l! --paginate! --brief --color? --context? --exclude= --ignore-all-space",
          "--ignore-blank-lines --ignore-case --ignore-space-change --label= --new-file --recursive --side-by-side --text --unified? --width="],
    ),
    reads("base64 base32", &["-d -w: -o:> --decode --wrap= --output=>"]).operands_max(1),
    reads("jq", &["-acCejMnrRsS --ascii-output --compact-output --exit-status --join-output --null-input --raw-input --raw-output --slurp --sort-keys --tab"]),
    reads("sed gsed", &["-nErsuz -e: -f:! -l:! -i?! --expression= --file=! --line-length=! --in-place?! --quiet --silent --regexp-extended --posix --sandbox"])
        .options_first()
        .proof(ReadProof::Given(sed))
        .guess(EffectGuess::Own(crate::programs::sed)),
    reads("awk gawk mawk nawk", &["-F: -v: -f:! -e:! -i:! -l:! -W:! --file=! --include=! --assign=! --source=!"])
        .until_operand()
        .proof(ReadProof::Given(awk))
        .guess(EffectGuess::Own(crate::programs::awk)),
    reads("xxd", &[]).proof(ReadProof::Never).guess(EffectGuess::Own(crate::programs::second_operand)),
    super::writes("bat less more", &["-o:> -O:>"], EffectGuess::ShowsWhole),
    super::writes("tee gtee sponge", &["-aip --append"], EffectGuess::Own(crate::programs::tee)),
    super::writes("split csplit", &["-a: -b: -C: -l: -n: -f: -d --lines= --bytes= --prefix="], EffectGuess::Last(WriteKind::Create)),
];
