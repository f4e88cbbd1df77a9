//! Shells, interpreters, editors, compilers and formatters.

use super::{Guess, Program, writes};
use crate::effects::How;
use crate::programs as guess;

pub(super) const PROGRAMS: &[Program] = &[
    writes("bash sh zsh dash ksh ash", &["-o: -O: --rcfile= --init-file="], Guess::Own(guess::shell))
        .until_operand(),
    writes("eval", &[], Guess::Own(guess::eval)),
    writes("perl", &["-e: -E: -I: -M: -m: -x: -F:"], Guess::Own(guess::perl)).until_operand(),
    writes(
        "python python2 python3 pypy pypy3 ruby php node nodejs lua osascript Rscript tclsh guile",
        &["-c: -e: -E: -p: -m: -r: -W: -X: -Q: -I: --eval= --print= --require= --import="],
        Guess::Own(guess::interpreter),
    )
    .until_operand(),
    writes("deno bun", &["-e: -p: --eval= --print="], Guess::Own(guess::word_or_code)).until_operand(),
    writes(
        "ed ex vi vim nvim view nano emacs pico micro",
        &["-c: -p: -S: -T: -u: -U: -w: -W: --cmd="],
        Guess::Own(guess::editor),
    ),
    writes("yq", &["-o: -I: -p: --output-format= --input-format= --indent="], Guess::Own(guess::yq)),
    writes(
        "cc gcc g++ c++ clang clang++ tcc ld rustc swiftc ghc ocamlc nasm as",
        &["-o:> -I: -L: -l: -D: -x: -C: --crate-name= --out-dir= --edition= --output=>"],
        Guess::Nothing,
    ),
    writes(
        "pandoc dot xmllint xsltproc asciidoctor flex bison lex yacc m4 gpg protoc tsc",
        &["-o:> -f: -t: -T: --output=> --outFile=>"],
        Guess::Own(guess::named_output),
    ),
    writes("openssl", &[], Guess::Own(guess::named_output)),
    writes("objcopy strip", &["-o:> -O: -I: -j: -R:"], Guess::Last(How::Edit)),
    writes("ssh docker podman kubectl gh pytest", &["-o: --output="], Guess::Nothing),
    writes("make gmake", &["-C: -f: -j? -o: --directory= --file= --jobs?"], Guess::Own(guess::make)),
    writes(
        "prettier gofmt goimports eslint stylelint clang-format shfmt autopep8 yapf rustfmt black isort ruff cargo biome dprint terraform",
        &[],
        Guess::Own(guess::formatter),
    ),
];
