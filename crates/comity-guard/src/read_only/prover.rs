//! Goes through a command line and proves each command that could run.

use super::doubt::{Doubt, Proven, shown};
use super::words::{argument, may_be_set, may_be_set_to};
use crate::arguments::Argument;
use crate::limits::PROVEN_RUNNERS_MAX;
use crate::shell::syntax::{Body, Command, ListOperator, Operator, Redirect, Script, Simple, Word};
use crate::table;

/// Programs may be named by path in these.
const SYSTEM_DIRECTORIES: [&str; 2] = ["/bin/", "/usr/bin/"];

#[derive(Default)]
pub(crate) struct Prover {
    /// Whether something changes the directory.
    pub(super) moves: bool,
    pub(super) asks_git: bool,
    runners: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Starter {
    /// The shell, which has builtins.
    Shell,
    Program,
}

impl Prover {
    /// Proves a whole command line, and says whether git runs.
    pub(super) fn whole(mut self, script: &Script) -> Result<bool, Doubt> {
        self.script(script)?;
        if self.moves && self.asks_git {
            let reason =
                "git in a directory that `cd` leads to obeys the settings of whatever repository is there";
            return Err(Doubt::because(reason));
        }
        Ok(self.asks_git)
    }

    /// A script must not be empty: shells read an empty group in different ways.
    fn script(&mut self, script: &Script) -> Proven {
        if script.steps.is_empty() {
            return Err(Doubt::because("there is no command"));
        }
        for step in &script.steps {
            if step.joint == ListOperator::Background {
                return Err(Doubt::because("what runs in the background is not proven"));
            }
            step.pipeline.iter().try_for_each(|command| self.command(command))?;
        }
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Proven {
        for redirect in &command.redirects {
            self.redirect(redirect)?;
        }
        match &command.body {
            Body::Simple(simple) => self.simple(simple, &command.redirects),
            Body::Group(script) | Body::Subshell(script) => self.script(script),
            Body::If { arms, otherwise } => {
                let scripts = arms.iter().flat_map(|arm| [&arm.condition, &arm.body]).chain(otherwise);
                scripts.into_iter().try_for_each(|script| self.script(script))
            }
            Body::While(arm) => {
                [&arm.condition, &arm.body].into_iter().try_for_each(|script| self.script(script))
            }
            Body::For { variable, words, body } => {
                may_be_set(variable)?;
                words.iter().try_for_each(|word| self.word(word).map(drop))?;
                self.script(body)
            }
            Body::Case { .. } | Body::Function { .. } | Body::Test(_) | Body::Arithmetic(_) => {
                Err(Doubt::because("`case`, functions, `[[` and arithmetic are not proven"))
            }
        }
    }

    /// What a word may become, with the commands in it proven.
    fn word(&mut self, word: &Word) -> Result<Argument, Doubt> {
        let argument = argument(word)?;
        word.scripts().try_for_each(|script| self.script(script))?;
        Ok(argument)
    }

    fn redirect(&mut self, redirect: &Redirect) -> Proven {
        let target = self.word(&redirect.target)?;
        let (proven, reason) = match redirect.operator {
            Operator::Read => (is_file(&target), "what is read here may be a connection"),
            Operator::DuplicateInput | Operator::DuplicateOutput => {
                (["0", "1", "2"].iter().any(|number| target.is(number)), "only 0, 1 and 2 are known")
            }
            Operator::Write
            | Operator::Append
            | Operator::ReadWrite
            | Operator::Document
            | Operator::Text => {
                let is_nothing = target.is("/dev/null") && redirect.operator != Operator::ReadWrite;
                (is_nothing, "the redirection writes to it; only /dev/null is nothing")
            }
        };
        if proven { Ok(()) } else { Err(Doubt::because(reason).about(&redirect.target.text)) }
    }

    fn simple(&mut self, simple: &Simple, redirects: &[Redirect]) -> Proven {
        let arguments = simple.words.iter().map(|word| self.word(word)).collect::<Result<Vec<_>, Doubt>>()?;
        let reads = arguments.first().is_some_and(|name| name.is("read"));
        for assignment in &simple.assignments {
            let [value] = &assignment.values[..] else {
                return Err(Doubt::because("an array is set").about(&assignment.name));
            };
            let value = self.word(value)?;
            // How `read` splits its line, and only that.
            if !(reads && assignment.name == "IFS") {
                may_be_set_to(&assignment.name, &value)?;
            }
        }
        // A redirection without a command runs a pager in some shells.
        match arguments.is_empty() && !simple.assignments.is_empty() && redirects.is_empty() {
            true => Ok(()),
            false => self.program(&arguments, Starter::Shell),
        }
    }

    fn program(&mut self, words: &[Argument], starter: Starter) -> Proven {
        let texts: Vec<&str> = words.iter().map(Argument::shown).collect();
        self.started(words, starter).map_err(|doubt| doubt.about(&texts.join(" ")))
    }

    fn started(&mut self, words: &[Argument], starter: Starter) -> Proven {
        let Some((name, arguments)) = words.split_first() else {
            return Err(Doubt::because("there is no command"));
        };
        let Some(path) = name.plain() else {
            return Err(Doubt::because("which program runs is not written down"));
        };
        let name = SYSTEM_DIRECTORIES.iter().find_map(|directory| path.strip_prefix(directory));
        let starter = if name.is_some() { Starter::Program } else { starter };
        let unknown = || Doubt::because(format!("`{}` is not known to only read", shown(path)));
        let program = table::program(name.unwrap_or(path)).ok_or_else(unknown)?;
        if program.is_builtin && starter == Starter::Program
            || matches!(program.proof, table::ReadProof::Never)
        {
            return Err(unknown());
        }
        program.prove(self, arguments)
    }

    pub(super) fn run(&mut self, words: &[Argument]) -> Proven {
        if self.runners >= PROVEN_RUNNERS_MAX {
            return Err(Doubt::because("too many programs start one another"));
        }
        self.runners += 1;
        self.program(words, Starter::Program)
    }
}

/// Whether a redirection reads a file, and opens no connection.
fn is_file(target: &Argument) -> bool {
    match target {
        Argument::Plain(path) => path == "/dev/null" || !path.starts_with("/dev/"),
        // A relative path, or one below the home directory.
        Argument::Unclear(unclear) => {
            !unclear.many && !unclear.prefix.is_empty() && !unclear.prefix.starts_with('/')
        }
        Argument::Glob(_) | Argument::Pipe | Argument::Found(_) => false,
    }
}
