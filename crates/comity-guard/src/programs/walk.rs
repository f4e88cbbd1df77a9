//! Walks through a command line, command by command.

use super::base::{CallDirs, CommandDir};
use super::feed::CommandInput;
use super::moves::{moves, script_moves};
use super::runners;
use super::strangers::versioned;
use crate::arguments::{Argument, KnownVariables, ReadingEffort, of_word};
use crate::effects::{Effects, FileTarget, Read, Unknown, Write, WriteKind};
use crate::limits::{
    BRACE_WORDS_MAX, EFFECTS_MAX, EXPANSION_BYTES_MAX, PATH_BYTES_MAX, READING_STEP_UNITS, VARIABLES_MAX,
    WALK_NESTING_MAX,
};
use crate::shell::syntax::{Body, Command, ListOperator, Operator, Pipeline, Redirect, Script, Simple, Word};
use crate::shell::{self, Parsed};
use crate::table::{self, EffectGuess, KnownProgram, ParsedArguments};

/// Names that are not files.
const NO_FILES: [&str; 6] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"];

pub(crate) struct Walk<'p> {
    pub(crate) found: Effects,
    pub(crate) base: CommandDir,
    pub(crate) home: Option<&'p str>,
    /// The programs that are run, each with its arguments, if somebody wants to know.
    pub(crate) run: Option<Vec<Vec<Argument>>>,
    /// Created links, with their targets.
    pub(super) links: Vec<(FileTarget, FileTarget)>,
    /// Variables with all values that they may have.
    variables: Vec<(String, Vec<String>)>,
    /// What `git add` has staged in this line.
    pub(super) staged: Vec<FileTarget>,
    depth: usize,
    effort: ReadingEffort,
}

pub(crate) struct ProgramCall<'c> {
    pub(crate) name: &'c str,
    pub(crate) arguments: &'c [Argument],
    /// The same, parsed by the table.
    pub(crate) given: ParsedArguments,
    pub(crate) feed: &'c CommandInput,
}

impl<'p> Walk<'p> {
    pub(crate) fn new(place: &'p CallDirs) -> Walk<'p> {
        let start = CommandDir::At(String::new());
        let base = start.enter(&Argument::Plain(place.directory.clone()));
        Walk {
            found: Effects::default(),
            base,
            home: place.home.as_deref(),
            run: None,
            links: Vec::new(),
            variables: vec![("PWD".to_owned(), vec![".".to_owned()])],
            staged: Vec::new(),
            depth: 0,
            effort: ReadingEffort::new(),
        }
    }

    /// What words stand for here.
    pub(super) fn arguments(&self, words: &[Word]) -> Vec<Argument> {
        let known = KnownVariables { home: self.home, variables: &self.variables, effort: &self.effort };
        words.iter().flat_map(|word| of_word(word, known)).collect()
    }

    /// Sets the values of a variable; empty if unknown.
    pub(super) fn set(&mut self, name: &str, values: Vec<String>) {
        self.variables.retain(|(known, _)| known != name);
        let bytes: usize = values.iter().map(String::len).sum();
        let is_followed = (1..=BRACE_WORDS_MAX).contains(&values.len()) && bytes <= EXPANSION_BYTES_MAX;
        if is_followed && self.variables.len() < VARIABLES_MAX {
            self.variables.push((name.to_owned(), values));
        }
    }

    /// Sets a variable to what words stand for, if that is known.
    fn set_to(&mut self, name: &str, words: &[Word]) {
        let values = self
            .arguments(words)
            .iter()
            .map(|value| value.plain().map(str::to_owned))
            .collect::<Option<Vec<_>>>();
        self.set(name, values.unwrap_or_default());
    }

    /// Spends units of effort, besides those for a step, and records it when none are left.
    pub(crate) fn spends(&mut self, units: usize) -> bool {
        let is_left = self.effort.spend(units.saturating_add(READING_STEP_UNITS)) && !self.effort.is_spent();
        if !is_left {
            self.found.note(Unknown::Bound("the command stands for too much"));
        }
        is_left
    }

    pub(crate) fn line(&mut self, line: &str) {
        if !self.spends(line.len()) {
            return;
        }
        let parsed = shell::parse(line);
        self.script(&parsed, &parsed.script);
        if let Some(problem) = parsed.problem {
            self.found.note(problem.into());
        }
    }

    fn deeper(&mut self, go: impl FnOnce(&mut Self)) {
        if self.depth >= WALK_NESTING_MAX {
            return self.found.note(Unknown::Bound("the command is nested too deep"));
        }
        self.depth += 1;
        go(self);
        self.depth -= 1;
    }

    /// A subshell does not move its parent.
    pub(crate) fn apart(&mut self, go: impl FnOnce(&mut Self)) {
        let base = self.base.clone();
        go(self);
        self.base = base;
    }

    fn script(&mut self, parsed: &Parsed, script: &Script) {
        self.deeper(|walk| walk.steps(parsed, script));
    }

    fn steps(&mut self, parsed: &Parsed, script: &Script) {
        let mut instead = false;
        for step in &script.steps {
            if !self.spends(0) {
                return;
            }
            let before = self.base.clone();
            self.step(parsed, step);
            if instead && self.base != before {
                self.base = CommandDir::Lost;
            }
            instead = step.joint == ListOperator::Or;
        }
    }

    fn step(&mut self, parsed: &Parsed, step: &Pipeline) {
        let is_background = step.joint == ListOperator::Background;
        if let ([command], false) = (&step.pipeline[..], is_background) {
            return self.command(parsed, command, &CommandInput::Unknown);
        }
        let mut feed = CommandInput::Unknown;
        for command in &step.pipeline {
            self.apart(|walk| walk.command(parsed, command, &feed));
            feed = CommandInput::from_output(command, parsed, self);
        }
    }

    fn command(&mut self, parsed: &Parsed, command: &Command, feed: &CommandInput) {
        let own =
            command.redirects.iter().rev().find_map(|redirect| CommandInput::from_redirect(redirect, parsed));
        for redirect in &command.redirects {
            self.redirect(parsed, redirect);
        }
        let feed = own.as_ref().unwrap_or(feed);
        match &command.body {
            Body::Simple(simple) => self.simple(parsed, simple, feed),
            Body::Group(script) => self.script(parsed, script),
            Body::Subshell(script) => self.apart(|walk| walk.script(parsed, script)),
            Body::If { arms, otherwise } => {
                for arm in arms {
                    self.script(parsed, &arm.condition);
                }
                let bodies = arms.iter().map(|arm| &arm.body).chain(otherwise);
                self.branches(parsed, bodies);
            }
            Body::While(arm) => self.repeated(parsed, [&arm.condition, &arm.body]),
            Body::For { variable, words, body } => {
                self.words(parsed, words);
                self.set_to(variable, words);
                self.repeated(parsed, [body]);
            }
            Body::Case { subject, arms } => {
                self.words(parsed, [subject]);
                for arm in arms {
                    self.words(parsed, &arm.patterns);
                }
                self.branches(parsed, arms.iter().map(|arm| &arm.body));
            }
            Body::Function { body, .. } => {
                self.apart(|walk| walk.command(parsed, body, &CommandInput::Unknown));
                if moves(body) {
                    self.base = CommandDir::Lost;
                }
            }
            Body::Test(words) => self.words(parsed, words),
            Body::Arithmetic(word) => self.words(parsed, [word]),
        }
    }

    /// One of several branches is taken; if they lead to different directories, we are lost.
    fn branches<'s>(&mut self, parsed: &Parsed, bodies: impl IntoIterator<Item = &'s Script>) {
        let before = self.base.clone();
        let mut after = before.clone();
        for body in bodies {
            self.base = before.clone();
            self.script(parsed, body);
            if self.base != before {
                after = CommandDir::Lost;
            }
        }
        self.base = after;
    }

    /// The second time a body runs, it starts where the first time ended.
    fn repeated<'s>(&mut self, parsed: &Parsed, scripts: impl IntoIterator<Item = &'s Script> + Clone) {
        if scripts.clone().into_iter().any(script_moves) {
            self.base = CommandDir::Lost;
        }
        for script in scripts {
            self.script(parsed, script);
        }
    }

    /// Looks into the substitutions of words.
    fn words<'s>(&mut self, parsed: &Parsed, words: impl IntoIterator<Item = &'s Word>) {
        for script in words.into_iter().flat_map(Word::scripts) {
            self.apart(|walk| walk.script(parsed, script));
        }
    }

    fn redirect(&mut self, parsed: &Parsed, redirect: &Redirect) {
        self.words(parsed, [&redirect.target]);
        if let Some(document) = parsed.document(redirect) {
            for script in &document.scripts {
                self.apart(|walk| walk.script(parsed, script));
            }
        }
        let target = self.arguments(std::slice::from_ref(&redirect.target));
        let how = match redirect.operator {
            Operator::Write => WriteKind::Whole,
            Operator::Append => WriteKind::Append,
            Operator::ReadWrite => WriteKind::Edit,
            Operator::DuplicateOutput if target.iter().any(is_descriptor) => return,
            Operator::DuplicateOutput => {
                // Bash expands this word twice, so even quotes protect nothing.
                if target.iter().any(|argument| argument.shown().contains(['$', '`', '\\', '\'', '"', '~'])) {
                    self.found.note(Unknown::Code(">&".to_owned()));
                }
                WriteKind::Whole
            }
            Operator::Read => return target.iter().for_each(|argument| self.reads(argument, true)),
            Operator::DuplicateInput | Operator::Document | Operator::Text => return,
        };
        for argument in &target {
            self.writes(argument, how);
        }
    }

    fn simple(&mut self, parsed: &Parsed, simple: &Simple, feed: &CommandInput) {
        for assignment in &simple.assignments {
            self.words(parsed, &assignment.values);
        }
        self.words(parsed, &simple.words);
        let arguments = self.arguments(&simple.words);
        // Before a program they apply only to that.
        if simple.words.is_empty() {
            for assignment in &simple.assignments {
                self.set_to(&assignment.name, &assignment.values);
            }
        }
        self.program(&arguments, feed);
    }

    pub(crate) fn program(&mut self, arguments: &[Argument], feed: &CommandInput) {
        let bytes: usize = arguments.iter().map(|argument| argument.shown().len() + READING_STEP_UNITS).sum();
        if !self.spends(bytes) {
            return;
        }
        self.runs(arguments);
        let Some((name, arguments)) = arguments.split_first() else { return };
        let Some(path) = name.plain() else {
            return self.found.note(Unknown::Hidden(name.shown().to_owned()));
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        match table::program(name).or_else(|| versioned(name)) {
            Some(row) => self.row(row, name, arguments, feed),
            None => self.stranger(arguments),
        }
    }

    /// What a program does according to its row in the table.
    pub(super) fn row(
        &mut self,
        row: &KnownProgram,
        name: &str,
        arguments: &[Argument],
        feed: &CommandInput,
    ) {
        let call = ProgramCall { name, arguments, given: row.options.guess(arguments), feed };
        for output in &call.given.outputs {
            self.writes(output, WriteKind::Whole);
        }
        let operands = || call.given.operands.iter().filter(|operand| !operand.is("-"));
        match row.guess {
            EffectGuess::Nothing => {}
            EffectGuess::ShowsWhole => operands().for_each(|operand| self.reads(operand, true)),
            EffectGuess::ShowsPart => operands().for_each(|operand| self.reads(operand, false)),
            EffectGuess::Each(how) => operands().for_each(|operand| self.writes(operand, how)),
            EffectGuess::Last(how) => {
                operands().next_back().into_iter().for_each(|operand| self.writes(operand, how))
            }
            EffectGuess::Runs(skips) => self.deeper(|walk| runners::run(walk, &call, skips)),
            EffectGuess::Own(guess) => self.deeper(|walk| guess(walk, &call)),
        }
    }

    fn runs(&mut self, arguments: &[Argument]) {
        if let Some(run) = self.run.as_mut().filter(|run| run.len() < EFFECTS_MAX) {
            run.push(arguments.to_vec());
        }
    }

    pub(crate) fn writes(&mut self, argument: &Argument, how: WriteKind) {
        if !self.spends(argument.found_units()) {
            return;
        }
        for target in self.base.targets(argument) {
            self.write(target, how);
        }
    }

    pub(crate) fn write(&mut self, target: FileTarget, how: WriteKind) {
        if let FileTarget::Path(path) | FileTarget::Glob(path) | FileTarget::Below(path) = &target
            && path.len() > PATH_BYTES_MAX
        {
            return self.found.note(Unknown::Bound("a path is too long"));
        }
        if let FileTarget::Path(path) = &target {
            let is_descriptor = path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
            if path.is_empty() || is_descriptor || NO_FILES.contains(&path.as_str()) {
                return;
            }
        }
        self.found.write(Write::new(target, how));
    }

    pub(crate) fn writes_below(&mut self, directory: &Argument, how: WriteKind) {
        if !self.spends(directory.found_units()) {
            return;
        }
        for target in self.base.targets(directory) {
            self.write(below(target), how);
        }
    }

    pub(crate) fn reads(&mut self, argument: &Argument, whole: bool) {
        if !self.spends(argument.found_units()) {
            return;
        }
        for target in self.base.targets(argument) {
            match target {
                FileTarget::Path(path) if NO_FILES.contains(&path.as_str()) => {}
                FileTarget::Path(path) | FileTarget::Glob(path) => self.found.read(Read::new(path, whole)),
                FileTarget::Below(_)
                | FileTarget::Into { .. }
                | FileTarget::WorkTree(_)
                | FileTarget::FromTop { .. }
                | FileTarget::Unclear(_) => {}
            }
        }
    }

    /// A program runs commands that the line does not show, which matters to callers that ask for the commands.
    pub(super) fn runs_unseen(&mut self, name: &str) {
        if self.run.is_some() {
            self.found.note(Unknown::Code(name.to_owned()));
        }
    }

    /// Records that a program does more than can be seen.
    pub(crate) fn unknown(&mut self, why: Unknown) {
        self.found.note(why);
    }
}

pub(crate) fn below(target: FileTarget) -> FileTarget {
    match target {
        FileTarget::Path(path) => FileTarget::Below(path),
        FileTarget::Glob(_)
        | FileTarget::Below(_)
        | FileTarget::Into { .. }
        | FileTarget::WorkTree(_)
        | FileTarget::FromTop { .. }
        | FileTarget::Unclear(_) => target,
    }
}

/// Whether `>&` copies a descriptor, and names no file.
fn is_descriptor(target: &Argument) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    target.plain().is_some_and(|text| text == "-" || digits(text.strip_suffix('-').unwrap_or(text)))
}
