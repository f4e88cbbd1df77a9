//! What is too long, too deep or no command line at all; and what no text may do.

use comity_guard::limits::{COMMAND_BYTES_MAX, EFFECTS_MAX, EXPANSION_BYTES_MAX, NESTING_MAX};
use comity_guard::programs::{CallDirs, commands, effects};
use comity_guard::{Effects, FileTarget, Unknown, shell};
use proptest::prelude::*;

use super::{check, seen};

#[test]
fn what_cannot_be_read_is_unknown() {
    let unreadable = |why: &str| format!("? it can't be read: {why}");
    let open = |what: &str| unreadable(&format!("{what} does not end"));
    let at = |byte: usize| unreadable(&format!("what stands at byte {byte} does not belong there"));
    check(&[
        ("echo 'a", &open("a quote")),
        ("echo \"a", &open("a quote")),
        ("echo $(a", &open("a command within another one")),
        ("echo `a", &open("a command in backticks")),
        ("echo ${a", &open("a parameter")),
        ("(a", &open("a command within another one")),
        ("if a; then b", &open("a command within another one")),
        ("[[ a", &open("a test")),
        ("a &&", &open("a list of commands")),
        ("x=(a", &open("an array")),
        ("a )", &at(2)),
        ("done", &at(0)),
        ("a; ; b", &at(3)),
        ("echo >", &at(6)),
        ("echo (a)", &at(6)),
        ("a | | b", &at(4)),
        // A shell runs the lines before the one that it stumbles over.
        ("rm a\nrm b; rm 'c", &format!("delete a; delete b; {}", open("a quote"))),
    ]);
}

#[test]
fn bounds() {
    let unknown = |command: &str| effects(command, &CallDirs::default()).unknown;
    let deep = |levels: usize| format!("{}rm x{}", "$(".repeat(levels), ")".repeat(levels));
    assert_eq!(effects(&deep(NESTING_MAX), &CallDirs::default()).writes.len(), 1);
    assert_eq!(unknown(&deep(NESTING_MAX + 1)), Some(Unknown::Bound("the command is nested too deep")));
    assert_eq!(unknown(&"(".repeat(100_000)), Some(Unknown::Bound("the command is nested too deep")));
    assert_eq!(unknown(&"sudo ".repeat(1_000)), Some(Unknown::Bound("the command is nested too deep")));
    assert_eq!(unknown(&"sudo ".repeat(40_000)), Some(Unknown::Bound("the command stands for too much")));
    let long = format!("rm {}", "x".repeat(COMMAND_BYTES_MAX));
    assert_eq!(unknown(&long), Some(Unknown::Bound("the command is too long")));
    let many: Effects = effects(&"rm x;".repeat(EFFECTS_MAX + 1), &CallDirs::default());
    assert_eq!(many.unknown, Some(Unknown::Bound("too many writes")));
}

/// What a line stands for, in bytes: every path and every command of it.
fn stands_for(line: &str) -> usize {
    let found = effects(line, &CallDirs::default());
    let commands = commands(line);
    let paths: usize = found.writes.iter().map(|write| write.to_string().len()).sum();
    let reads: usize = found.reads.iter().map(|read| read.path.len()).sum();
    let staged: usize =
        found.commits.iter().flat_map(|commit| &commit.paths).map(|path| path.to_string().len()).sum();
    let words: usize = commands.parts.iter().flatten().flatten().map(String::len).sum();
    paths + reads + staged + words
}

/// Short lines that double what they stand for with each step are read no further than a bound, and that is said.
#[test]
fn what_grows_is_bounded() {
    let too_much = Some(Unknown::Bound("the command stands for too much"));
    let unknown = |command: &str| effects(command, &CallDirs::default()).unknown;
    for doublings in [14, 16, 40, 4_000] {
        for step in ["a=$a$a;", "a=${a}${a};", "a=\"$a$a\";", "export a=$a$a;", "for a in $a$a; do :; done;"]
        {
            let line = format!("a=xx;{}echo > $a; rm $a", step.repeat(doublings));
            let size = stands_for(&line);
            assert!(size <= 8 * EXPANSION_BYTES_MAX + 16 * line.len(), "{step} {doublings}: {size}");
            let written = effects(&line, &CallDirs::default()).writes;
            assert!(
                written.iter().all(|write| matches!(write.target, FileTarget::Unclear(_))),
                "{step} {doublings}"
            );
        }
    }
    // What it comes to within the bound is known, as ever.
    check(&[("a=x;a=$a$a;a=$a$a;echo > $a", "write xxxx")]);
    // Two commands of which each is two commands, and so on.
    let evals = |levels: usize| -> String {
        let names: Vec<String> = (0..levels).map(|level| format!("v{level}")).collect();
        let sets = names
            .windows(2)
            .map(|pair| format!("{}='{{eval,${}}};{{eval,${}}}';", pair[0], pair[1], pair[1]));
        format!("{}{}='rm;rm';eval $v0", sets.collect::<String>(), names[levels - 1])
    };
    assert_eq!(unknown(&evals(28)), too_much);
    // What one command finds, many times over as what others are given.
    let many = |word: &str, count: usize| format!("{word} ").repeat(count);
    let given = many("a", 20_000);
    for line in [
        format!("find {given} -exec rm {} ;", many("{}", 20_000)),
        format!("echo {given} | xargs -I{{}} rm {}", many("{}", 20_000)),
        many("{1..64}", 20_000),
        format!("prettier {}{}", many("./a", 20_000), many("--write", 10_000)),
    ] {
        let why = unknown(&line);
        assert!(matches!(why, Some(Unknown::Bound(_))), "{}: {why:?}", &line[..20]);
    }
    let long = "d".repeat(100_000);
    assert!(stands_for(&format!("cp {} {long}", many("a", 50_000))) < 2 * COMMAND_BYTES_MAX);
    assert!(
        stands_for(&format!("git add {}; {}", many("abc", 20_000), "git commit;".repeat(9_000)))
            < 64 * COMMAND_BYTES_MAX
    );
    // No path is as long as this one: nothing is there, and nothing is said to be there.
    let deep = format!("{}{}", "cd ddddddddd;".repeat(1_000), ">a;".repeat(EFFECTS_MAX));
    assert!(stands_for(&deep) < COMMAND_BYTES_MAX, "{}", stands_for(&deep));
}

/// Texts at which a reader that goes back would take minutes; each is as long as a command may be.
#[test]
fn time_is_linear() {
    let pieces = [
        "$((",
        "$(",
        "`",
        "{",
        "[",
        "${",
        "\"$(",
        "<<A ",
        "<<A\n",
        "((",
        "a;",
        ">a ",
        "{a,",
        "[[ ",
        "'",
        "\\",
        "a\"b\"",
        "$(('((((' ) );",
        "{1..1}",
        "{1..64} ",
        "$a",
        "a=x;",
        "for a in 1 2 3; do ",
        "<<<a ",
        "`a`",
        "${a//a/b}",
        "*",
    ];
    for piece in pieces {
        let text = piece.repeat(COMMAND_BYTES_MAX / piece.len());
        seen(&text);
        seen(&format!("echo \"$({text}"));
    }
}

/// Pieces of which command lines are made, well-formed or not.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "'",
        "\"",
        "`",
        "\\",
        "$",
        "$(",
        ")",
        "(",
        "((",
        "))",
        "{",
        "}",
        "[",
        "]",
        "[[",
        "]]",
        "<",
        ">",
        ">>",
        "<<EOF",
        "EOF",
        "\n",
        "<<-'E'",
        "E",
        "<<<",
        "&",
        "&&",
        "|",
        "||",
        ";",
        ";;",
        "#",
        " ",
        "\t",
        "*",
        "?",
        "~",
        "$'",
        "\\x",
        "${",
        ":-",
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case a in ",
        "esac",
        "while ",
        "function f ",
        "rm ",
        "sed -i ",
        "bash -c ",
        "eval ",
        "cd ",
        "git ",
        "find ",
        "-exec ",
        "xargs ",
        "{}",
        "{a,b}",
        "{1..3}",
        "x",
        "a=b",
        "a=(",
        "é",
        "\u{0}",
        "\u{301}",
        "=",
        "-",
        "--",
        "2>",
        "&>",
        ">&",
        "of=",
        "\r\n",
    ]);
    prop_oneof![8 => fixed.prop_map(str::to_owned), 1 => any::<String>()]
}

fn line() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, max_global_rejects: 200_000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(line in line()) {
        seen(&line);
    }

    /// Whatever stands before it, a command that is run is seen.
    #[test]
    fn what_is_appended_is_found(line in line()) {
        let parsed = shell::parse(&line);
        let whole = format!("{line}\necho > zz");
        prop_assume!(parsed.problem.is_none() && shell::parse(&whole).problem.is_none());
        // A backslash or a comment at the end would take what follows; a line break ends both.
        let joined = line.ends_with('\\') && !line.ends_with("\\\\");
        prop_assume!(!joined);
        let found = effects(&whole, &CallDirs::default());
        prop_assert!(found.writes.iter().any(|write| write.to_string().ends_with("zz")), "{:?}", found);
    }

    /// A line that was read means the same within a group of commands.
    #[test]
    fn a_group_changes_nothing(line in line()) {
        prop_assume!(!line.trim().is_empty() && shell::parse(&line).problem.is_none());
        let grouped = format!("{{ {line}\n}}");
        prop_assume!(shell::parse(&grouped).problem.is_none());
        prop_assert_eq!(effects(&line, &CallDirs::default()), effects(&grouped, &CallDirs::default()));
    }
}
