//! Programs that show what is there: files, directories, users, processes, the machine.

use super::doubt::{Doubt, Proven, shown};
use super::options::{self, NONE, Options};
use super::table::{Program, own, program};
use super::walk::Walk;
use super::words::Argument;

/// Of `ls` and of those that take the same.
const LS: Options = NONE
    .flags("1AaBbCcdFfGgHhiklLmNnOopQqRrSsTtUuvWwXxZ@eP")
    .values("I")
    .long(&[&[
        "all",
        "almost-all",
        "author",
        "classify?",
        "color?",
        "directory",
        "full-time",
        "group-directories-first",
        "hide=",
        "human-readable",
        "ignore=",
        "indicator-style=",
        "inode",
        "no-group",
        "numeric-uid-gid",
        "recursive",
        "reverse",
        "si",
        "size",
        "sort=",
        "time=",
        "time-style=",
    ]])
    .harmless();
const DU: Options = NONE
    .flags("0abcDgHhklLmPSsx")
    .values("dtBX")
    .long(&[&[
        "all",
        "apparent-size",
        "bytes",
        "exclude=",
        "human-readable",
        "max-depth=",
        "one-file-system",
        "si",
        "summarize",
        "threshold=",
        "total",
    ]])
    .harmless();
const TREE: Options = NONE.flags("acCdDfFghilnNpQrsStuUvx").values("LIP").long(&[&[
    "charset=",
    "dirsfirst",
    "du",
    "filelimit=",
    "filesfirst",
    "gitignore",
    "inodes",
    "matchdirs",
    "noreport",
    "prune",
    "si",
    "sort=",
]]);
const PS: Options = NONE
    .flags("AacdefFHjLlMmNrSTVvwxXyZ")
    .values("CGgOopqstUu")
    .long(&[&[
        "cols=",
        "forest",
        "format=",
        "headers",
        "no-headers",
        "pid=",
        "ppid=",
        "sort=",
        "user=",
        "width=",
    ]])
    .harmless();
const STAT: Options = NONE
    .flags("fFLlnqrstx")
    .values("c")
    .long(&[&["dereference", "file-system", "format=", "printf=", "terse"]])
    .harmless();
const FILE: Options = NONE.flags("0abhiIkLnNr").values("F").long(&[&[
    "brief",
    "dereference",
    "extension",
    "mime",
    "mime-encoding",
    "mime-type",
    "no-dereference",
    "no-pad",
    "separator=",
]]);
const DATE: Options = NONE.flags("juR").values("dr").attached("I").long(&[&[
    "date=",
    "iso-8601?",
    "reference=",
    "rfc-3339=",
    "rfc-email",
    "universal",
    "utc",
]]);

pub(super) const PROGRAMS: &[Program] = &[
    program("ls", LS),
    program("dir", LS),
    program("vdir", LS),
    program("du", DU),
    program(
        "df",
        NONE.flags("aBHhiklmPTx")
            .values("t")
            .long(&[&["human-readable", "inodes", "local", "total"]])
            .harmless(),
    ),
    program("tree", TREE),
    program("ps", PS),
    program("stat", STAT),
    program("file", FILE),
    own("date", date),
    program("hostname", NONE.flags("s").operands_max(0)),
    program("uname", NONE.flags("amnoprsvi").operands_max(0)),
    program("arch", NONE.operands_max(0)),
    program("id", NONE.flags("acGgnruz").long(&[&["group", "groups", "name", "real", "user"]]).harmless()),
    program("groups", NONE.harmless()),
    program("whoami", NONE.operands_max(0)),
    program("nproc", NONE.long(&[&["all", "ignore="]]).operands_max(0)),
    program("uptime", NONE.flags("ps").operands_max(0)),
    program("free", NONE.flags("bghklmtw").operands_max(0)),
    program("printenv", NONE.flags("0").harmless()),
    program("tty", NONE.flags("s").operands_max(0)),
    program("which", NONE.flags("as").harmless()),
    program("basename", NONE.flags("az").values("s").long(&[&["multiple", "suffix=", "zero"]]).harmless()),
    program("dirname", NONE.flags("z").long(&[&["zero"]]).harmless()),
    program(
        "realpath",
        NONE.flags("eLmPqsz").long(&[&["relative-base=", "relative-to=", "no-symlinks", "quiet"]]).harmless(),
    ),
    program("readlink", NONE.flags("efmnqsvz").long(&[&["canonicalize", "no-newline"]]).harmless()),
    program("locale", NONE.flags("ak").harmless()),
];

/// `date` shows a time in a format; any other operand would set the clock.
fn date(_: &mut Walk, arguments: &[Argument]) -> Proven {
    let given = options::read(&DATE, arguments)?;
    match given.operands.iter().find(|operand| !operand.known().is_some_and(|text| text.starts_with('+'))) {
        None => Ok(()),
        Some(operand) => Err(Doubt::because(format!("`{}` would set the clock", shown(operand.shown())))),
    }
}
