//! Goes through a command line and proves each command that could run.

use super::conditions;
use super::doubt::{Doubt, Proven, shown};
use super::table::{self, Home};
use super::variables::{is_name, may_be_set, may_be_set_to};
use super::words::{Argument, argument};
use crate::limits::PROVEN_RUNNERS_MAX;
use crate::shell::syntax::{Body, Command, Joint, Operator, Redirect, Script, Simple, Step, Word};

/// Where programs are that may be named by their path.
const SYSTEM_DIRECTORIES: [&str; 2] = ["/bin/", "/usr/bin/"];
/// Names behind which bash opens a connection.
const CONNECTIONS: [&str; 2] = ["/dev/tcp", "/dev/udp"];

/// Words that some shell takes for itself, even where a function has that name.
const RESERVED: [&str; 42] = [
    "break",
    "builtin",
    "case",
    "continue",
    "coproc",
    "declare",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "fi",
    "float",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "integer",
    "local",
    "nocorrect",
    "noglob",
    "readonly",
    "repeat",
    "return",
    "select",
    "set",
    "shift",
    "then",
    "time",
    "times",
    "trap",
    "typeset",
    "unset",
    "until",
    "while",
    "always",
];

/// What is known while a command line is walked through.
#[derive(Default)]
pub(super) struct Walk {
    /// Functions that were defined for certain, and only read.
    functions: Vec<String>,
    /// Whether something changes the directory.
    pub(super) moves: bool,
    /// Whether git runs.
    pub(super) asks_git: bool,
    runners: usize,
}

/// Where a script stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// It is the whole command line: what it defines is defined from there on.
    Whole,
    /// Within something else.
    Within,
    /// Within a substitution, whose end old shells look for without understanding what is in it.
    Substitution,
}

/// Who starts a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Starter {
    /// The shell, which has builtins and functions.
    Shell,
    /// Another program.
    Program,
}

impl Walk {
    /// Proves a whole command line.
    pub(super) fn whole(mut self, script: &Script) -> Proven {
        self.script(script, Scope::Whole)?;
        if script.steps.is_empty() {
            return Err(Doubt::because("there is no command"));
        }
        if self.moves && self.asks_git {
            let reason =
                "git in a directory that `cd` leads to obeys the settings of whatever repository is there";
            return Err(Doubt::because(reason));
        }
        Ok(())
    }

    fn script(&mut self, script: &Script, scope: Scope) -> Proven {
        let mut is_certain = true;
        for step in &script.steps {
            let defines = is_certain && scope == Scope::Whole && step.joint == Joint::Then;
            self.step(step, scope, defines)?;
            is_certain = matches!(step.joint, Joint::Then | Joint::Background);
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, scope: Scope, defines: bool) -> Proven {
        if let [Command { body: Body::Function { name, body }, redirects }] = &step.pipeline[..] {
            if !defines || !redirects.is_empty() {
                return Err(Doubt::because("a function is defined where it may not stay").about(name));
            }
            return self.function(name, body);
        }
        step.pipeline.iter().try_for_each(|command| self.command(command, scope))
    }

    /// A function may be called from here on. Not before: its name may be that of a program.
    fn function(&mut self, name: &str, body: &Command) -> Proven {
        let is_taken = RESERVED.contains(&name) || table::of(name).is_some();
        if !is_name(name) || is_taken || self.functions.iter().any(|known| known == name) {
            return Err(Doubt::because("a function takes a name that means something else").about(name));
        }
        self.command(body, Scope::Within)?;
        self.functions.push(name.to_owned());
        Ok(())
    }

    fn command(&mut self, command: &Command, scope: Scope) -> Proven {
        for redirect in &command.redirects {
            self.redirect(redirect)?;
        }
        let inner = if scope == Scope::Substitution { scope } else { Scope::Within };
        match &command.body {
            Body::Simple(simple) => self.simple(simple, &command.redirects),
            Body::Group(script) | Body::Subshell(script) => self.block(script, inner),
            Body::If { arms, otherwise } => {
                let scripts = arms.iter().flat_map(|arm| [&arm.condition, &arm.body]).chain(otherwise);
                scripts.into_iter().try_for_each(|script| self.block(script, inner))
            }
            Body::While(arm) => {
                self.block(&arm.condition, inner)?;
                self.block(&arm.body, inner)
            }
            Body::For { variable, words, body } => {
                may_be_set(variable)?;
                words.iter().try_for_each(|word| self.word(word).map(drop))?;
                self.block(body, inner)
            }
            Body::Case { .. } if scope == Scope::Substitution => {
                Err(Doubt::because("`case` within a substitution is not read by all shells alike"))
            }
            Body::Case { subject, arms } => {
                self.word(subject)?;
                for arm in arms {
                    arm.patterns.iter().try_for_each(|pattern| self.word(pattern).map(drop))?;
                    self.script(&arm.body, inner)?;
                }
                Ok(())
            }
            Body::Function { name, .. } => {
                Err(Doubt::because("a function is defined where it may not stay").about(name))
            }
            Body::Test(words) => {
                let words = words.iter().map(|word| self.word(word)).collect::<Result<Vec<_>, Doubt>>()?;
                conditions::test(&words)
            }
            Body::Arithmetic(word) => {
                Err(Doubt::because("arithmetic may run commands that stand in variables").about(&word.text))
            }
        }
    }

    /// A script between words or parentheses, which has to have something in it.
    fn block(&mut self, script: &Script, scope: Scope) -> Proven {
        match script.steps.is_empty() {
            true => Err(Doubt::because("a group of commands is empty, which shells read in different ways")),
            false => self.script(script, scope),
        }
    }

    /// What a word may become, once the commands in it are proven.
    fn word(&mut self, word: &Word) -> Result<Argument, Doubt> {
        let argument = argument(word)?;
        for script in word.scripts() {
            self.block(script, Scope::Substitution)?;
        }
        Ok(argument)
    }

    fn redirect(&mut self, redirect: &Redirect) -> Proven {
        let part = &redirect.target.text;
        let target = self.word(&redirect.target)?;
        let proven = match redirect.operator {
            Operator::Read => is_file(&target),
            Operator::Write | Operator::Append => target.is("/dev/null"),
            Operator::DuplicateInput | Operator::DuplicateOutput => is_descriptor(&target),
            Operator::Text => true,
            Operator::ReadWrite | Operator::Document => false,
        };
        if proven {
            return Ok(());
        }
        let reason = match redirect.operator {
            Operator::Read => "what is read here may be a connection",
            Operator::Document => "a here-document stands where shells read it in different ways",
            Operator::Write
            | Operator::Append
            | Operator::ReadWrite
            | Operator::DuplicateInput
            | Operator::DuplicateOutput
            | Operator::Text => "the redirection writes to it; only /dev/null is nothing",
        };
        Err(Doubt::because(reason).about(part))
    }

    fn simple(&mut self, simple: &Simple, redirects: &[Redirect]) -> Proven {
        let arguments = simple.words.iter().map(|word| self.word(word)).collect::<Result<Vec<_>, Doubt>>()?;
        let reads = arguments.first().is_some_and(|name| name.is("read"));
        for assignment in &simple.assignments {
            let [value] = &assignment.values[..] else {
                return Err(Doubt::because("an array is set").about(&assignment.name));
            };
            let value = self.word(value)?;
            // How `read` divides its line, and only that.
            if !(reads && assignment.name == "IFS") {
                may_be_set_to(&assignment.name, &value)?;
            }
        }
        if arguments.is_empty() {
            return match redirects.is_empty() {
                true => Ok(()),
                false => Err(Doubt::because("a redirection without a command runs a pager in some shells")),
            };
        }
        self.program(&arguments, Starter::Shell)
    }

    /// Proves a program with its arguments.
    pub(super) fn program(&mut self, words: &[Argument], starter: Starter) -> Proven {
        let texts: Vec<&str> = words.iter().map(Argument::shown).collect();
        self.started(words, starter).map_err(|doubt| doubt.about(&texts.join(" ")))
    }

    fn started(&mut self, words: &[Argument], starter: Starter) -> Proven {
        let Some((name, arguments)) = words.split_first() else {
            return Err(Doubt::because("there is no command"));
        };
        let Some(path) = name.known() else {
            return Err(Doubt::because("which program runs is not written down"));
        };
        let name = SYSTEM_DIRECTORIES.iter().find_map(|directory| path.strip_prefix(directory));
        let starter = if name.is_some() { Starter::Program } else { starter };
        let name = name.unwrap_or(path);
        if starter == Starter::Shell && self.functions.iter().any(|known| known == name) {
            return Ok(());
        }
        let unknown = || Doubt::because(format!("`{}` is not known to only read", shown(path)));
        let program = table::of(name).ok_or_else(unknown)?;
        if starter == Starter::Program && program.home == Home::Shell {
            return Err(unknown());
        }
        program.judge(self, arguments)
    }

    /// Proves a program that another program starts.
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
        Argument::Known(path) => !CONNECTIONS.iter().any(|name| path.starts_with(name)),
        // A relative path, one below the home directory, or a pipe of our own.
        Argument::Open(open) => {
            let is_pipe = open.prefix == "/dev/fd/";
            !open.many && (is_pipe || (!open.prefix.is_empty() && !open.prefix.starts_with('/')))
        }
    }
}

/// Whether `>&` copies or closes a descriptor, and names no file.
fn is_descriptor(target: &Argument) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    target.known().is_some_and(|text| text == "-" || is_number(text))
}
