//! Single commands: programs with options, operands and scripts of their own.

use super::random::Random;

/// Letters of options that some program has, likely ones more often.
const LETTERS: &str = "a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I L M N O P R S T U W X Z 0 1 n r l o o c s";
const LONG: &str = "--help --version --color --color=auto --output=out --output --outp=out --file=out --files0-from=a.txt --all \
    --compress-program=harm --compress-prog=harm --unique --reverse --key=1 --lines=1 --bytes=1 --count --in-place \
    --regexp=a --include=a --exclude=a --recursive --null --quiet --pre=harm --pre harm --hostname-bin=harm --search-zip --sort=path \
    --set=now --date=now --reference=a.txt --brief --unified=1 --unified --width=3 --ext-diff --textconv --no-ext-diff \
    --stat --oneline --graph --format=%h --format=%G? --pretty=%GK --pretty=oneline --format=harm --show-signature --list --get user.name --contains HEAD \
    --abbrev --abbrev=4 --column --merged --no-index --cached --name-only --open-files-in-pager=harm --open --max-count=1 --short --branch \
    --porcelain --show-current --delete --edit --unset --global --exec-path=. --paginate --no-pager -O -Oharm --upload-pack=harm \
    --expression=p --posix --debug --sandbox --file=script --include=script --load=script --lint --profile --dump-variables --pretty-print=out \
    --max-args=1 --max-procs=1 --arg-file=a.txt --replace --replace=x --interactive --process-slot-var=x --signal=KILL --preserve-status";
const OPERANDS: &[&str] = &[
    "a.txt",
    "b.txt",
    "src",
    ".",
    "x",
    "y",
    "out",
    "harm",
    "./harm",
    "-",
    "*",
    "*.txt",
    "./*",
    "src/*",
    "$x",
    "\"$x\"",
    "$y",
    "\"$y\"",
    "\"./$x\"",
    "./$z",
    "$u",
    "\"$u\"",
    "$v",
    "-o",
    "-oout",
    "'a b'",
    "'-oout'",
    "\"-o\"",
    "HEAD",
    "main",
    "1",
    "-1",
    "+1",
    "a=b",
    "FS=x",
    "{}",
    "--",
    "/dev/null",
    "a.tar",
    "new",
    "'*'",
    "a\\ b",
    "~",
    "=ls",
    "@a.txt",
    "stash@{0}",
    "'%s'",
    "%d",
    "1,2",
    ":",
    "\\;",
    "+",
    "script",
];
const PLAIN: &str = "cat ls head tail wc grep egrep fgrep sort uniq cut tr diff cmp od hexdump du df stat file tree basename dirname \
    realpath readlink md5sum sha256sum cksum base64 seq rg jq date ps id uname whoami nproc printenv env which type pwd echo true false \
    : nl tac rev paste comm fold column expand join strings xxd tee tar unzip zcat free uptime hostname locale groups tty printf \
    nice timeout command set read exit cd test sleep find awk gawk sed git xargs";

/// One command.
pub(crate) fn command(random: &mut Random) -> String {
    match random.below(20) {
        0..=2 => awk(random),
        3..=5 => sed(random),
        6..=7 => find(random),
        8..=10 => git(random),
        11 => format!("{} | xargs {} {}", plain(random), options(random, 1), command_of(random)),
        12 => condition(random),
        13 => printed(random),
        14 => format!(
            "timeout {} {}",
            random.pick(&["1", "5", "-k 1 1", "-s KILL 1", "$x", "--foreground 1"]),
            command_of(random)
        ),
        15 => variable(random),
        _ => plain(random),
    }
}

fn command_of(random: &mut Random) -> String {
    if random.once_in(6) {
        random.pick(&["harm", "sh -c harm", "env harm", "touch out"]).to_owned()
    } else {
        plain(random)
    }
}

fn plain(random: &mut Random) -> String {
    let name = random.word(PLAIN);
    let name = match random.below(30) {
        0 => format!("/usr/bin/{name}"),
        1 => format!("'{name}'"),
        2 => format!("\\{name}"),
        3 => format!("./{name}"),
        _ => name.to_owned(),
    };
    let count = random.below(3);
    let options = options(random, count);
    format!("{name} {options} {}", operands(random))
}

/// Options, bundled or not, with values or not.
fn options(random: &mut Random, count: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    for _ in 0..count {
        words.push(match random.below(8) {
            0..=2 => format!("-{}", random.word(LETTERS)),
            3 => format!("-{}{}", random.word(LETTERS), random.word(LETTERS)),
            4 => format!("-{} {}", random.word(LETTERS), random.pick(OPERANDS)),
            5 => format!("-{}{}", random.word(LETTERS), random.pick(&["1", "out", "harm", "$x", "=out"])),
            _ => random.word(LONG).to_owned(),
        });
    }
    words.join(" ")
}

pub(crate) fn operands(random: &mut Random) -> String {
    let count = [0, 1, 1, 1, 2, 2, 3][random.below(7)];
    let words: Vec<&str> = (0..count).map(|_| random.pick(OPERANDS)).collect();
    words.join(" ")
}

fn soup(random: &mut Random, pieces: &[&str], length: usize) -> String {
    (0..1 + random.below(length)).map(|_| random.pick(pieces)).collect()
}

/// Programs are well-formed at first, then a piece of soup goes in.
fn with_soup(random: &mut Random, whole: &[&str], pieces: &[&str]) -> String {
    let mut text = random.pick(whole).to_owned();
    for _ in 0..[0, 1, 1, 2][random.below(4)] {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let at = places[random.below(places.len())];
        text.insert_str(at, &soup(random, pieces, 2));
    }
    text
}

fn awk(random: &mut Random) -> String {
    const WHOLE: &[&str] = &[
        "{print $1}",
        "{print $1, $2}",
        "NR > 1 {print $2}",
        "/foo|bar/",
        "$3 > 5",
        "{ if ($1 > 5) print }",
        "{s += $1} END {print s / NR}",
        "BEGIN { printf \"%d\\n\", 3 / 2 }",
        "{ a[$1]++ } END { for (k in a) print k, a[k] }",
        "NR == 1",
        "!seen[$0]++",
        "1",
        "$1 ~ /^[a-z]+$/ { print length($0) }",
        "NR>=2 && NR<=4 || /x/",
        "{print \"a > b | c\"}",
        "END { print NR }",
        "{ print (1 > 2) }",
        "{ print (1)/2 }",
        "{ print $1 / $2 }",
        "{ x = y / z; print x }",
        "{ print substr($0, 1, 2) }",
        "{ sub(/a/, \"b\"); print }",
        "{ gsub(/[/]/, \"b\"); print }",
        "{ print a / b / c }",
        "{ print NR \": \" $0 }",
        "{ print length }",
        "BEGIN { while (i < 3) print i++ }",
        "{ print length / 2 }",
        "{ print a[1] / 2 }",
        "{ i++ / 2 }",
        "{ print -1 }",
        "{ print \"x\" \"y\" }",
        "BEGIN { printf \"%s\", \"a\" }",
    ];
    const PIECES: &[&str] = &[
        " > \"out\"",
        " >> \"out\"",
        " | \"harm\"",
        "|\"harm\"",
        "system(\"harm\")",
        " \"harm\" | getline",
        "getline",
        "getline < \"a.txt\"",
        ">",
        "<",
        "|",
        "|&",
        "/",
        "/",
        "[/]",
        "[]/]",
        "\\/",
        "\"",
        "\\\"",
        "\\",
        "#",
        "\n",
        ";",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "$",
        "!",
        "~",
        "++",
        "--",
        "-",
        "+",
        ",",
        "print",
        "printf",
        "print > \"out\"",
        "print(1) > \"out\"",
        "(print)",
        "in",
        "getline x",
        "close(\"harm\")",
        "fflush()",
        "ARGV[1]=\"out\"",
        "ENVIRON",
        "@load",
        "@f()",
        "func f(){}",
        "function f(a){system(\"harm\")}",
        "BEGIN",
        "END",
        "BEGINFILE",
        "/a/",
        "/ a > \"out\" /",
        "1",
        "x",
        " ",
        "length",
        "NR",
        "exit",
        "next",
        "return",
        "delete a",
        "\"\\/\"",
        "?",
        ":",
        "&&",
        "||",
        "=",
        "==",
        "/=1/",
        "/=",
        "a /= 2",
        "x=/=/",
        "\\\n",
        "\"a\\\n\"",
        "é",
        "'",
        "%",
        "^",
        "**",
        "0x1",
        "1e5",
        ".5",
        "$NF",
        "$(1)",
        "printf(\"a\") > \"out\"",
        "print $1 > $2",
        "cmd | getline",
        "-v",
        "RS=\"\"",
    ];
    let text = with_soup(random, WHOLE, PIECES);
    let name = random.pick(&["awk", "awk", "gawk", "mawk"]);
    let options = match random.below(8) {
        0 => "-F: ".to_owned(),
        1 => "-F ',' ".to_owned(),
        2 => format!(
            "-v {} ",
            random.pick(&["x=1", "n=3", "x='a\\nb'", "ARGV=1", "x=$y", "FS=,", "1", "PROCINFO=1"])
        ),
        3 => format!("{} ", options(random, 1)),
        4 => format!(
            "{} ",
            random.pick(&[
                "-f script",
                "-i inplace",
                "-l readdir",
                "-e '1'",
                "-E script",
                "-F",
                "--",
                "-W version",
                "-Wexec script",
                "-d",
                "-o",
                "-ofoo",
                "-pout"
            ])
        ),
        _ => String::new(),
    };
    format!("{name} {options}{} {}", quoted(random, &text), operands(random))
}

fn sed(random: &mut Random) -> String {
    const WHOLE: &[&str] = &[
        "5p",
        "1,3p",
        "/foo/,/bar/p",
        "s/a/b/",
        "s/a/b/g; s|x|y|",
        "s/(a|b)+/x/gI",
        "/^#/d;/^$/d",
        "$!d",
        "$=",
        "1~2p",
        "1,+3d",
        ":a;N;$!ba;s/x/y/g",
        "/a/{p;q}",
        "/[0-9]/p",
        "s/[[:space:]]*$//",
        "y/abc/xyz/",
        "10q",
        "p",
        "/a/!d",
        "s/[/]/x/",
        "s,a,b,",
        "s/a\\/b/c/p",
        "1d;$d",
        "s/a/b/2p",
        "/x/Ip",
        "$p",
        "2q5",
        "s/\\n/ /",
        "n;d",
        "G",
        "1!G;h;$!d",
        "=",
        "l",
    ];
    const PIECES: &[&str] = &[
        "w out",
        "w",
        " w out",
        "e",
        "e harm",
        "1e harm",
        "W out",
        "r a.txt",
        "R a.txt",
        "a\\",
        "a text",
        "i text",
        "c text",
        "}",
        "{",
        ";",
        "\n",
        "/",
        "\\/",
        "[",
        "]",
        "[/]",
        "[]/]",
        "[^/]",
        "|",
        ",",
        "s/a/b/w out",
        "s/a/b/e",
        "s/x/harm/e",
        "ge",
        "gw out",
        "pw out",
        "I",
        "M",
        "m",
        "0",
        "1",
        "!",
        "$",
        "p",
        "d",
        "q",
        "b",
        "b;w out",
        ": a;w out",
        "t x",
        "t;w out",
        "T",
        "#",
        "#n",
        "\\",
        "&",
        "\\1",
        " ",
        "~",
        "+",
        "y/a/b/",
        "\\,a,p",
        "\\xaxp",
        "F",
        "z",
        "D",
        "l 1",
        "v",
        "*",
        "(",
        ")",
        "w/dev/stdout",
        "s//b/",
        "n",
        "\\n",
        "\\cw",
        "\\x26",
    ];
    let text = with_soup(random, WHOLE, PIECES);
    let options = match random.below(8) {
        0..=2 => "-n ".to_owned(),
        3 => "-E ".to_owned(),
        4 => format!("{} ", options(random, 1)),
        5 => format!(
            "{} ",
            random.pick(&[
                "-e p",
                "-i",
                "-ni",
                "-n -i",
                "-s",
                "-z",
                "-u",
                "-l 3",
                "-f script",
                "--posix",
                "-e 'a\\'",
                "-e",
                "-nep",
                "-ne",
                "-n -e",
                "-E -n",
                "--in-place",
                "-Ei",
                "--expression=p"
            ])
        ),
        _ => String::new(),
    };
    format!("sed {options}{} {}", quoted(random, &text), operands(random))
}

fn quoted(random: &mut Random, text: &str) -> String {
    let single = !text.contains('\'');
    match random.below(14) {
        0 => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$")),
        1 => format!("\"{text}\""),
        2 => text.to_owned(),
        _ if single => format!("'{text}'"),
        _ => format!("\"{text}\""),
    }
}

fn find(random: &mut Random) -> String {
    const WORDS: &[&str] = &[
        "-name '*.txt'",
        "-name a.txt",
        "-type f",
        "-type d",
        "-maxdepth 1",
        "-maxdepth 2",
        "-print",
        "-print0",
        "-ls",
        "-mtime -1",
        "-size +1k",
        "-newer a.txt",
        "-empty",
        "-not -path './x/*'",
        "! -name a",
        "-o",
        "-a",
        "\\( -name a -o -name b \\)",
        "-printf '%p\\n'",
        "-prune",
        "-quit",
        "-perm -u+x",
        "-path './src/*'",
        "-iname A",
        "-exec cat {} \\;",
        "-exec grep -l foo {} +",
        "-exec wc -l {} +",
        "-exec echo {} \\;",
        "-exec sort {} \\;",
        "-exec uniq {} \\;",
        "-exec uniq {} +",
        "-exec harm {} \\;",
        "-exec harm \\;",
        "-exec sh -c harm \\;",
        "-exec {} \\;",
        "-exec cat {} + -delete",
        "-delete",
        "-fprint out",
        "-fprintf out x",
        "-fls out",
        "-fprint0 out",
        "-ok harm {} \\;",
        "-okdir harm {} \\;",
        "-execdir harm {} \\;",
        "-execdir cat {} \\;",
        "-exec cat + harm {} \\;",
        "-files0-from a.txt",
        "-regex '.*'",
        "-regextype awk",
        "-name $x",
        "-name \"$x\"",
        "$z",
        "\"$z\"",
        "-newermt 2020-01-01",
        "-exec head -n 1 {} ';'",
        "-exec sed -n 1p {} \\;",
        "-exec sed -i p {} \\;",
        "-depth",
        "-d",
        "-xdev",
        "-follow",
        "-user root",
        "-name *",
        "-true",
        ",",
        "--",
        "-H",
        "-L",
        "-D all",
        "-O2",
        "-exec sort -o out {} \\;",
        "-exec sort {} -o out \\;",
        "-exec awk 1 {} \\;",
        "-exec env harm \\;",
        "-exec timeout 1 harm \\;",
        "-exec timeout 1 cat {} \\;",
        "-exec xargs harm \\;",
    ];
    let start = random.pick(&[".", ".", "src", "", "./src", "*", "$x", "./$x", "-L .", "\"$z\"", "..", "--"]);
    let words: Vec<&str> = (0..random.below(4)).map(|_| random.pick(WORDS)).collect();
    format!("find {start} {}", words.join(" "))
}

fn git(random: &mut Random) -> String {
    const COMMANDS: &[&str] = &[
        "status",
        "status -s",
        "status --short",
        "log",
        "log --oneline",
        "log --oneline -5",
        "log -n 1",
        "log -p",
        "log --stat",
        "log --format='%h %s'",
        "log --format=%G?",
        "log --pretty=oneline",
        "log --pretty=raw",
        "show",
        "show HEAD",
        "show --stat",
        "diff",
        "diff HEAD",
        "diff --cached",
        "diff --stat",
        "diff --name-only",
        "branch",
        "branch -a",
        "branch -vv",
        "branch --list",
        "branch --show-current",
        "branch --contains HEAD",
        "branch --merged",
        "tag",
        "tag -l",
        "tag --list",
        "tag -n",
        "tag --contains HEAD",
        "remote",
        "remote -v",
        "remote get-url origin",
        "config --get user.name",
        "config --list",
        "config -l",
        "config",
        "stash list",
        "stash",
        "stash show",
        "worktree list",
        "rev-parse HEAD",
        "rev-parse --show-toplevel",
        "rev-list HEAD",
        "rev-list --count HEAD",
        "merge-base main HEAD",
        "ls-files",
        "ls-files -o",
        "ls-tree HEAD",
        "ls-tree -r HEAD",
        "cat-file -p HEAD",
        "cat-file -t HEAD",
        "cat-file --batch",
        "blame a.txt",
        "grep foo",
        "grep -n foo",
        "grep -l foo",
        "describe --always",
        "describe --dirty",
        "shortlog -s HEAD",
        "show-ref",
        "for-each-ref",
        "for-each-ref --format='%(refname)'",
        "symbolic-ref HEAD",
        "count-objects",
        "check-ignore x",
        "reflog",
        "reflog show",
        "reflog expire --all",
        "notes",
        "notes list",
        "submodule",
        "submodule status",
        "bisect log",
        "ls-remote",
        "fetch",
        "archive HEAD",
        "bundle create out HEAD",
        "format-patch -1",
        "var GIT_EDITOR",
        "help",
        "version",
        "--version",
        "fsck",
        "gc",
        "diff --no-index a.txt b.txt",
        "diff-tree HEAD",
        "name-rev HEAD",
        "cherry main",
        "annotate a.txt",
        "range-diff HEAD HEAD HEAD",
        "whatchanged",
        "verify-commit HEAD",
        "difftool",
        "add .",
        "update-index --refresh",
        "hash-object -w a.txt",
        "replace -l",
        "sparse-checkout list",
        "maintenance run",
        "rerere",
        "interpret-trailers a.txt",
        "mktree",
        "mailinfo out out",
        "column",
        "stripspace",
        "credential fill",
        "check-attr -a a.txt",
        "merge-tree HEAD HEAD",
        "log -S foo",
        "log -L1,2:a.txt",
        "log --follow a.txt",
        "log -1 --format=%B",
        "log --author=ann --since=yesterday",
        "ls-files -m",
        "grep -c foo HEAD",
        "blame -L 1,2 a.txt",
    ];
    let before = match random.below(12) {
        0 => random.pick(&[
            "-c core.pager=harm ",
            "-C evil ",
            "-C . ",
            "--git-dir=evil/.git ",
            "-p ",
            "--paginate ",
            "--exec-path=. ",
            "--no-replace-objects ",
            "--bare ",
            "--work-tree=. ",
            "-c alias.status=!harm ",
            "--config-env=core.pager=x ",
            "--literal-pathspecs ",
        ]),
        1..=3 => "--no-pager ",
        _ => "",
    };
    let command = random.pick(COMMANDS);
    let count = random.below(2);
    let options = options(random, count);
    let operands = if random.once_in(2) { operands(random) } else { String::new() };
    format!("git {before}{command} {options} {operands}")
}

fn condition(random: &mut Random) -> String {
    const OPERATORS: &str =
        "-f -d -e -n -z -r -w -x -s -L -t -v -R -a -o = == != -eq -ne -lt -gt -nt -ot -ef < > =~ ! ( )";
    const VALUES: &[&str] = &[
        "a.txt",
        "\"$x\"",
        "$x",
        "1",
        "0",
        "''",
        "'a[$(harm)]'",
        "\"$v\"",
        "x",
        "out",
        "-n",
        "!",
        "'('",
        "$?",
        "\"$#\"",
    ];
    let words: Vec<&str> = (0..1 + random.below(4))
        .map(|_| if random.once_in(2) { random.word(OPERATORS) } else { random.pick(VALUES) })
        .collect();
    let likely = [
        format!("{} {}", random.word(OPERATORS), random.pick(VALUES)),
        format!("{} {} {}", random.pick(VALUES), random.word(OPERATORS), random.pick(VALUES)),
        words.join(" "),
    ];
    let inner = &likely[random.below(3)];
    match random.below(4) {
        0 => format!("test {inner}"),
        1 => format!("[[ {inner} ]]"),
        _ => format!("[ {inner} ]"),
    }
}

fn printed(random: &mut Random) -> String {
    const FORMATS: &[&str] = &[
        "'%s\\n'",
        "%s",
        "'%d\\n'",
        "%d",
        "'%b'",
        "%q",
        "'%n'",
        "'%s %s\\n'",
        "-v x",
        "--",
        "'a\\n'",
        "'%*d'",
        "'%(x)T'",
        "$x",
        "\"$x\"",
        "'%c'",
        "'%5s'",
        "'%%'",
        "'%1$s'",
        "'\\101'",
    ];
    const VALUES: &[&str] = &[
        "a",
        "1",
        "'a[$(harm)]'",
        "\"$v\"",
        "$x",
        "x",
        "PATH",
        "-1",
        "'1+1'",
        "\"$(echo a)\"",
        "'x=$(harm)'",
    ];
    let values: Vec<&str> = (0..random.below(3)).map(|_| random.pick(VALUES)).collect();
    format!("printf {} {}", random.pick(FORMATS), values.join(" "))
}

fn variable(random: &mut Random) -> String {
    const NAMES: &str = "x y f file dir name i n line PATH path IFS ENV fpath cdpath LC_ALL TZ psvar histchars prompt mapfile pager PAGER GIT_PAGER GIT_DIR NULLCMD options aliases status argv _ EDITOR LD_PRELOAD signals watch FS x1 root src count pattern";
    const VALUES: &[&str] = &[
        "1",
        "a.txt",
        "harm",
        ".",
        "C",
        "UTC",
        "'a b'",
        "\"$x\"",
        "$y",
        "$(echo a)",
        "-o",
        "'-o out'",
        "~",
        "*",
        "(a b)",
        "'!h'",
        "",
    ];
    let set = format!("{}={}", random.word(NAMES), random.pick(VALUES));
    match random.below(4) {
        0 => set,
        1 => format!("{set} {}", plain(random)),
        2 => format!("{set}; {}", plain(random)),
        _ => format!("{set}; {} \"$x\"", random.pick(&["cat", "sort", "sort --", "ls", "echo", "head -n 1"])),
    }
}
