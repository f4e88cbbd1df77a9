//! Programs that turn what they read into what they print.

use super::doubt::{Doubt, Proven, shown};
use super::options::{self, NONE, Options};
use super::table::{Program, own, program};
use super::walk::Walk;
use super::words::Argument;

/// Of all programs that print a sum of a file.
const SUM: Options = NONE
    .flags("bctwz")
    .values("al")
    .long(&[&[
        "algorithm=",
        "binary",
        "check",
        "ignore-missing",
        "quiet",
        "status",
        "strict",
        "tag",
        "text",
        "warn",
        "zero",
    ]])
    .harmless();
const SORT: Options = NONE.flags("bCcdfghiMmnRrsuVz").values("kSt").long(&[&[
    "check?",
    "dictionary-order",
    "field-separator=",
    "general-numeric-sort",
    "human-numeric-sort",
    "ignore-case",
    "ignore-leading-blanks",
    "key=",
    "merge",
    "month-sort",
    "numeric-sort",
    "parallel=",
    "reverse",
    "stable",
    "unique",
    "version-sort",
    "zero-terminated",
]]);
const DIFF: Options = NONE.flags("abBcdEeiNnpqrsTtuwyZ").values("CIULWx").counts().long(&[&[
    "brief",
    "color?",
    "context?",
    "exclude=",
    "expand-tabs",
    "ignore-all-space",
    "ignore-blank-lines",
    "ignore-case",
    "ignore-matching-lines=",
    "ignore-space-change",
    "ignore-trailing-space",
    "label=",
    "left-column",
    "minimal",
    "new-file",
    "no-dereference",
    "recursive",
    "report-identical-files",
    "show-c-function",
    "side-by-side",
    "strip-trailing-cr",
    "suppress-common-lines",
    "text",
    "unified?",
    "width=",
]]);

pub(super) const PROGRAMS: &[Program] = &[
    program(
        "cat",
        NONE.flags("AbEensTtuv")
            .long(&[&["number", "number-nonblank", "show-all", "show-ends", "show-tabs", "squeeze-blank"]])
            .harmless(),
    ),
    program("tac", NONE.flags("br").values("s").harmless()),
    program("rev", NONE.harmless()),
    program("nl", NONE.values("bdfhilnsvw").flags("p").harmless()),
    program(
        "head",
        NONE.flags("qvz")
            .values("nc")
            .counts()
            .long(&[&["bytes=", "lines=", "quiet", "silent", "verbose"]])
            .harmless(),
    ),
    program(
        "tail",
        NONE.flags("fFqrvz")
            .values("nc")
            .counts()
            .long(&[&[
                "bytes=",
                "follow?",
                "lines=",
                "pid=",
                "quiet",
                "retry",
                "silent",
                "sleep-interval=",
                "verbose",
            ]])
            .harmless(),
    ),
    program(
        "wc",
        NONE.flags("clmLw")
            .long(&[&["bytes", "chars", "lines", "max-line-length", "total=", "words"]])
            .harmless(),
    ),
    program(
        "cut",
        NONE.flags("nsz")
            .values("bcdf")
            .long(&[&[
                "bytes=",
                "characters=",
                "complement",
                "delimiter=",
                "fields=",
                "only-delimited",
                "output-delimiter=",
            ]])
            .harmless(),
    ),
    program(
        "tr",
        NONE.flags("Ccdst").long(&[&["complement", "delete", "squeeze-repeats", "truncate-set1"]]).harmless(),
    ),
    program("paste", NONE.flags("sz").values("d").long(&[&["delimiters=", "serial"]]).harmless()),
    program(
        "join",
        NONE.flags("iz").values("12aejotv").long(&[&["check-order", "header", "nocheck-order"]]).harmless(),
    ),
    program(
        "comm",
        NONE.flags("123z")
            .long(&[&["check-order", "nocheck-order", "output-delimiter=", "total"]])
            .harmless(),
    ),
    program("fold", NONE.flags("bs").values("w").long(&[&["bytes", "spaces", "width="]]).harmless()),
    program("expand", NONE.flags("i").values("t").long(&[&["initial", "tabs="]]).harmless()),
    program("unexpand", NONE.flags("a").values("t").long(&[&["all", "first-only", "tabs="]]).harmless()),
    program(
        "column",
        NONE.flags("etnx").values("cosNRH").long(&[&["output-separator=", "separator=", "table"]]).harmless(),
    ),
    program("sort", SORT),
    program(
        "uniq",
        NONE.flags("cDdiuz")
            .values("fsw")
            .long(&[&[
                "all-repeated?",
                "count",
                "ignore-case",
                "repeated",
                "skip-chars=",
                "skip-fields=",
                "unique",
            ]])
            .operands_max(1),
    ),
    program("diff", DIFF),
    program(
        "cmp",
        NONE.flags("bls")
            .values("in")
            .long(&[&["bytes=", "ignore-initial=", "print-bytes", "quiet", "silent", "verbose"]])
            .harmless(),
    ),
    program(
        "od",
        NONE.flags("abcdfilosvx")
            .values("AjNtS")
            .attached("w")
            .long(&[&["address-radix=", "format=", "read-bytes=", "skip-bytes="]])
            .harmless(),
    ),
    program("hexdump", NONE.flags("bCcdovx").values("efns").harmless()),
    program("hd", NONE.flags("bcdovx").values("efns").harmless()),
    own("xxd", xxd),
    program("base64", NONE.flags("d").values("w").long(&[&["decode", "wrap="]])),
    program("base32", NONE.flags("d").values("w").long(&[&["decode", "wrap="]])),
    program("md5sum", SUM),
    program("sha1sum", SUM),
    program("sha224sum", SUM),
    program("sha256sum", SUM),
    program("sha384sum", SUM),
    program("sha512sum", SUM),
    program("b2sum", SUM),
    program("shasum", SUM),
    program("cksum", SUM),
    program("sum", NONE.flags("rs").harmless()),
    program("strings", NONE.flags("adf").values("ent").long(&[&["all", "bytes=", "radix="]])),
    program(
        "seq",
        NONE.flags("w").values("fs").long(&[&["equal-width", "format=", "separator="]]).counts().harmless(),
    ),
    program("sleep", NONE.harmless()),
    own("jq", jq),
    own("tee", tee),
];

/// `xxd` writes to its second operand, and its letters are not put together.
fn xxd(_: &mut Walk, arguments: &[Argument]) -> Proven {
    const FLAGS: [&str; 9] = ["-a", "-b", "-C", "-e", "-i", "-p", "-ps", "-r", "-u"];
    const VALUES: [&str; 5] = ["-c", "-g", "-l", "-o", "-s"];
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.known() {
            Some(flag) if FLAGS.contains(&flag) => {}
            Some(option) if VALUES.contains(&option) => {
                let is_number = |text: &str| {
                    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'x')
                };
                if !rest.next().and_then(Argument::known).is_some_and(is_number) {
                    return Err(Doubt::because(format!("`{option}` needs a number")));
                }
            }
            Some(text) if text.starts_with(['-', '+']) && text != "-" => {
                return Err(Doubt::because(format!(
                    "the option `{}` is not known to only read",
                    shown(text)
                )));
            }
            Some(_) | None => {
                let is_one = match argument {
                    Argument::Known(_) => true,
                    Argument::Open(open) => open.is_operand() && !open.many,
                };
                return match is_one && rest.next().is_none() {
                    true => Ok(()),
                    false => Err(Doubt::because("it has an operand too many, which it may write to")),
                };
            }
        }
    }
    Ok(())
}

/// `jq`, two of whose options have a name and a value.
fn jq(_: &mut Walk, arguments: &[Argument]) -> Proven {
    const PAIRS: [&str; 4] = ["--arg", "--argjson", "--slurpfile", "--rawfile"];
    const JQ: Options = NONE.flags("acCejMnRrsS").long(&[&[
        "ascii-output",
        "color-output",
        "compact-output",
        "exit-status",
        "indent=",
        "join-output",
        "monochrome-output",
        "null-input",
        "raw-input",
        "raw-output",
        "slurp",
        "sort-keys",
        "stream",
        "tab",
    ]]);
    let mut plain = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if !argument.known().is_some_and(|text| PAIRS.contains(&text)) {
            plain.push(argument.clone());
            continue;
        }
        for value in [rest.next(), rest.next()] {
            if value.is_none_or(|value| matches!(value, Argument::Open(open) if open.many)) {
                return Err(Doubt::because(format!("`{}` needs a name and a value", argument.shown())));
            }
        }
    }
    options::read(&JQ, &plain).map(drop)
}

/// `tee` writes to all its operands.
fn tee(_: &mut Walk, arguments: &[Argument]) -> Proven {
    let given = options::read(&NONE.flags("ai"), arguments)?;
    match given.operands.iter().find(|operand| !operand.is("/dev/null")) {
        None => Ok(()),
        Some(operand) => Err(Doubt::because(format!("it writes to `{}`", shown(operand.shown())))),
    }
}
