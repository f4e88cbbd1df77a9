//! Single commands: programs with options, operands and scripts of their own.

use crate::random::Random;

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
const OPERANDS: &str = include_str!("pieces/operands.txt");
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
        random.pick(&["harm", "sh -c harm", "env harm", "touch out"]).to_owned() // shell: a word of a generated line
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
            4 => format!("-{} {}", random.word(LETTERS), random.piece(OPERANDS)),
            5 => format!("-{}{}", random.word(LETTERS), random.pick(&["1", "out", "harm", "$x", "=out"])),
            _ => random.word(LONG).to_owned(),
        });
    }
    words.join(" ")
}

pub(crate) fn operands(random: &mut Random) -> String {
    let count = [0, 1, 1, 1, 2, 2, 3][random.below(7)];
    let words: Vec<String> = (0..count).map(|_| random.piece(OPERANDS)).collect();
    words.join(" ")
}

fn soup(random: &mut Random, pieces: &str, length: usize) -> String {
    (0..1 + random.below(length)).map(|_| random.piece(pieces)).collect()
}

/// Programs are well-formed at first, then a piece of soup goes in.
fn with_soup(random: &mut Random, whole: &str, pieces: &str) -> String {
    let mut text = random.piece(whole);
    for _ in 0..[0, 1, 1, 2][random.below(4)] {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let at = places[random.below(places.len())];
        text.insert_str(at, &soup(random, pieces, 2));
    }
    text
}

fn awk(random: &mut Random) -> String {
    const WHOLE: &str = include_str!("pieces/awk_whole.txt");
    const PIECES: &str = include_str!("pieces/awk_pieces.txt");
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
    const WHOLE: &str = include_str!("pieces/sed_whole.txt");
    const PIECES: &str = include_str!("pieces/sed_pieces.txt");
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
    const WORDS: &str = include_str!("pieces/find_words.txt");
    let start = random.pick(&[".", ".", "src", "", "./src", "*", "$x", "./$x", "-L .", "\"$z\"", "..", "--"]);
    let words: Vec<String> = (0..random.below(4)).map(|_| random.piece(WORDS)).collect();
    format!("find {start} {}", words.join(" "))
}

fn git(random: &mut Random) -> String {
    const COMMANDS: &str = include_str!("pieces/git_commands.txt");
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
    let command = random.piece(COMMANDS);
    let count = random.below(2);
    let options = options(random, count);
    let operands = if random.once_in(2) { operands(random) } else { String::new() };
    format!("git {before}{command} {options} {operands}")
}

fn condition(random: &mut Random) -> String {
    const OPERATORS: &str =
        "-f -d -e -n -z -r -w -x -s -L -t -v -R -a -o = == != -eq -ne -lt -gt -nt -ot -ef < > =~ ! ( )";
    const VALUES: &str = include_str!("pieces/condition_values.txt");
    let words: Vec<String> = (0..1 + random.below(4))
        .map(|_| if random.once_in(2) { random.word(OPERATORS).to_owned() } else { random.piece(VALUES) })
        .collect();
    let likely = [
        format!("{} {}", random.word(OPERATORS), random.piece(VALUES)),
        format!("{} {} {}", random.piece(VALUES), random.word(OPERATORS), random.piece(VALUES)),
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
    const FORMATS: &str = include_str!("pieces/printed_formats.txt");
    const VALUES: &str = include_str!("pieces/printed_values.txt");
    let values: Vec<String> = (0..random.below(3)).map(|_| random.piece(VALUES)).collect();
    format!("printf {} {}", random.piece(FORMATS), values.join(" "))
}

fn variable(random: &mut Random) -> String {
    const NAMES: &str = "x y f file dir name i n line PATH path IFS ENV fpath cdpath LC_ALL TZ psvar histchars prompt mapfile pager PAGER GIT_PAGER GIT_DIR NULLCMD options aliases status argv _ EDITOR LD_PRELOAD signals watch FS x1 root src count pattern";
    const VALUES: &str = include_str!("pieces/variable_values.txt");
    let set = format!("{}={}", random.word(NAMES), random.piece(VALUES));
    match random.below(4) {
        0 => set,
        1 => format!("{set} {}", plain(random)),
        2 => format!("{set}; {}", plain(random)),
        _ => format!("{set}; {} \"$x\"", random.pick(&["cat", "sort", "sort --", "ls", "echo", "head -n 1"])),
    }
}
