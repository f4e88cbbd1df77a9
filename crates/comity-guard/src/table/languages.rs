//! Shells, interpreters, editors, compilers and formatters.

use super::{EffectGuess, KnownProgram, writes};
use crate::effects::WriteKind;
use crate::programs as guess;

pub(super) const PROGRAMS: &[KnownProgram] = &[
    writes("bash sh zsh dash ksh ash", &["-o: -O: --rcfile= --init-file="], EffectGuess::Own(guess::shell))
        .until_operand(),
    writes("eval", &[], EffectGuess::Own(guess::eval)),
    writes("perl", &["-e: -E: -I: -M: -m: -x: -F:"], EffectGuess::Own(guess::perl)).until_operand(),
    writes(
        "python python2 python3 pypy pypy3 ruby php node nodejs lua osascript Rscript tclsh guile",
        &["-c: -e: -E: -p: -m: -r: -W: -X: -Q: -I: --eval= --print= --require= --import="],
        EffectGuess::Own(guess::interpreter),
    )
    .until_operand(),
    writes("deno bun", &["-e: -p: --eval= --print="], EffectGuess::Own(guess::word_or_code)).until_operand(),
    writes(
        "ed ex vi vim nvim view nano emacs pico micro",
        &["-c: -p: -S: -T: -u: -U: -w: -W: --cmd="],
        EffectGuess::Own(guess::editor),
    ),
    writes("yq", &["-o: -I: -p: --output-format= --input-format= --indent="], EffectGuess::Own(guess::yq)),
    writes(
        "cc gcc g++ c++ clang clang++ tcc ld rustc swiftc ghc ocamlc nasm as",
        &["-o:> -I: -L: -l: -D: -x: -C: --crate-name= --out-dir= --edition= --output=>"],
        EffectGuess::Nothing,
    ),
    writes(
        "pandoc dot xmllint xsltproc asciidoctor flex bison lex yacc m4 gpg protoc tsc",
        &["-o:> -f: -t: -T: --output=> --outFile=>"],
        EffectGuess::Own(guess::named_output),
    ),
    writes("openssl", &[], EffectGuess::Own(guess::named_output)),
    writes("objcopy strip", &["-o:> -O: -I: -j: -R:"], EffectGuess::Last(WriteKind::Edit)),
    writes(
        "ssh",
        &["-o: -i: -p: -l: -L: -R: -D: -F: -J: -b: -c: -e: -m: -w: -B: -E: -I: -O: -Q: -S: -W:"],
        EffectGuess::Own(guess::ssh),
    )
    .until_operand(),
    writes("docker podman kubectl gh pytest", &["-o: --output="], EffectGuess::Nothing),
    writes("make gmake", &["-C: -f: -j? -o: --directory= --file= --jobs?"], EffectGuess::Own(guess::make)),
    writes(
        "prettier gofmt goimports eslint stylelint clang-format shfmt autopep8 yapf rustfmt black isort ruff cargo biome dprint terraform",
        &[],
        EffectGuess::Own(guess::formatter),
    ),
];
