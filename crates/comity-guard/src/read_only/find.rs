//! `find`: its tests only look, and what it runs has to be proven.

use super::doubt::{Doubt, Proven, shown};
use super::prover::Prover;
use super::runners::fill;
use crate::arguments::{Argument, Unclear};

/// Words of an expression without a value.
const ALONE: &str = "-H -L -P ( ) ! -a -and -o -or -not -true -false -empty -depth -mount -xdev -daystart -follow -readable -writable \
    -executable -nouser -nogroup -print -print0 -ls -prune -quit";
/// Words of an expression with a value.
const VALUED: &str = "-name -iname -path -ipath -wholename -regex -iregex -regextype -lname -type -xtype -size -perm -user -group -uid \
    -gid -inum -links -samefile -maxdepth -mindepth -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt -printf";

pub(crate) fn find(prover: &mut Prover, arguments: &[Argument]) -> Proven {
    let is = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    let mut rest = arguments;
    let mut start = ".";
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        let text = match word {
            Argument::Plain(text) => text.as_str(),
            Argument::Unclear(unclear)
                if word.is_operand() && !unclear.prefix.starts_with(['(', '!', ',']) =>
            {
                &unclear.prefix
            }
            other => {
                let part = shown(other.shown());
                return Err(Doubt::because(format!("`{part}` may become an action of `find`")));
            }
        };
        match text {
            "-exec" => rest = run(prover, rest, start)?,
            alone if is(ALONE, alone) => {}
            valued if is(VALUED, valued) => {
                let Some((_, behind)) = rest.split_first().filter(|(value, _)| !value.is_many()) else {
                    return Err(Doubt::because(format!("`{valued}` needs exactly one value")));
                };
                rest = behind;
            }
            action if action.starts_with('-') => {
                return Err(Doubt::because(format!("`{}` is not known to only look", shown(action))));
            }
            path if path.starts_with(['/', '~']) => start = "/",
            _ => {}
        }
    }
    Ok(())
}

/// Proves what `-exec` runs, and returns what follows it.
fn run<'a>(prover: &mut Prover, words: &'a [Argument], start: &str) -> Result<&'a [Argument], Doubt> {
    // A `+` ends it only after `{}`; elsewhere it is an argument.
    let ends = |at: &usize| words[*at].is(";") || (words[*at].is("+") && *at > 0 && words[*at - 1].is("{}"));
    let Some(end) = (0..words.len()).find(ends) else {
        return Err(Doubt::because("what `-exec` runs has no end"));
    };
    // An unknown word may be an end, too, and an action may follow it.
    if let Some(word) = words[..end].iter().find(|word| word.plain().is_none() && !word.is_operand()) {
        return Err(Doubt::because(format!("`{}` may end what `-exec` runs", shown(word.shown()))));
    }
    let many = words[end].is("+");
    let mut program = words[..end].to_vec();
    for word in &mut program {
        // A found path begins with where the search began, so it is not an option.
        if word.is("{}") {
            *word = Argument::Unclear(Unclear { text: "{}".to_owned(), prefix: start.to_owned(), many });
        }
        fill(word, "{}");
    }
    prover.run(&program)?;
    Ok(&words[end + 1..])
}
