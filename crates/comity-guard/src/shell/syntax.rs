//! What a command line is made of. Nothing in here knows any program, or whether something is good or bad.

/// Commands in the order in which they stand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    pub steps: Vec<Pipeline>,
}

/// One pipeline, and what joins it to the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipeline {
    /// The commands between `|`; mostly one.
    pub pipeline: Vec<Command>,
    pub joint: ListOperator,
}

/// What stands between two pipelines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListOperator {
    /// `;`, a line break, or the end.
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `&`
    Background,
}

/// One command with its redirections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    pub body: Body,
    /// Where its input comes from and its output goes to.
    pub redirects: Vec<Redirect>,
}

/// What a command runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// A program, a builtin or a function, or assignments alone.
    Simple(Simple),
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `if …; then …; elif …; else …; fi`
    If {
        /// Each condition with what it leads to.
        arms: Vec<Arm>,
        /// What follows `else`.
        otherwise: Option<Script>,
    },
    /// `while …; do …; done`, and `until`.
    While(Arm),
    /// `for … in …; do …; done`, and `select`.
    For {
        /// What gets a value each time; empty for arithmetic.
        variable: String,
        /// The words that it goes through, or its arithmetic.
        words: Vec<Word>,
        /// What is done each time.
        body: Script,
    },
    /// `case … in …) …;; esac`
    Case {
        subject: Word,
        /// The patterns, each with what it leads to.
        arms: Vec<CaseArm>,
    },
    /// A definition; nothing runs yet.
    Function { name: String, body: Box<Command> },
    /// `[[ … ]]`; an operator without letters and a line break are words, too.
    Test(Vec<Word>),
    /// `(( … ))`
    Arithmetic(Word),
}

/// A condition and what it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    pub condition: Script,
    pub body: Script,
}

/// Patterns and what they lead to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaseArm {
    /// What the subject is compared with.
    pub patterns: Vec<Word>,
    pub body: Script,
}

/// A program with its arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Simple {
    /// `NAME=value` before the program.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
}

/// `NAME=value`, or `NAME=(several values)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    pub name: String,
    /// The value, or the values of an array.
    pub values: Vec<Word>,
}

/// One word, in which quotes and expansions are told apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Word {
    pub text: String,
    /// What it is made of.
    pub parts: Vec<Part>,
}

/// A piece of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Without quotes: `*`, `?`, `[`, `{` and a leading `~` mean something.
    Bare(String),
    /// In quotes or escaped: means itself.
    Quoted(String),
    /// A variable, a parameter expansion or arithmetic: what it stands for is not known.
    Expansion {
        text: String,
        /// The commands that run to expand it.
        scripts: Vec<Script>,
    },
    /// `$( … )` or backticks.
    Substitution(Script),
    /// `<( … )` or `>( … )`: the name of a pipe.
    Process(Script),
}

/// One redirection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redirect {
    pub operator: Operator,
    /// The file, the descriptor, the text, or the end mark of a here-document.
    pub target: Word,
    /// Which here-document it reads, in [`super::Parsed::documents`].
    pub document: Option<usize>,
}

/// What a redirection does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `<`
    Read,
    /// `>`, `>|` and `&>`
    Write,
    /// `>>` and `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`, which may name a file, too.
    DuplicateOutput,
    /// `<<` and `<<-`
    Document,
    /// `<<<`
    Text,
}

/// The lines of a here-document.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HereDocument {
    /// The lines as they were written, without the end mark.
    pub text: String,
    /// Whether the lines mean themselves, because the end mark was quoted.
    pub literal: bool,
    /// The commands that run to expand it.
    pub scripts: Vec<Script>,
}

impl Word {
    /// A word without quotes and expansions.
    pub fn bare(text: &str) -> Word {
        Word { text: text.to_owned(), parts: vec![Part::Bare(text.to_owned())] }
    }

    /// The commands that run to expand this word.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.parts.iter().flat_map(|part| match part {
            Part::Bare(_) | Part::Quoted(_) => [].iter(),
            Part::Expansion { scripts, .. } => scripts.iter(),
            Part::Substitution(script) | Part::Process(script) => std::slice::from_ref(script).iter(),
        })
    }

    /// What it stands for, if that takes no variable, glob or command; braces and `~` count as themselves.
    pub fn literal(&self) -> Option<String> {
        self.parts.iter().try_fold(String::new(), |literal, part| match part {
            Part::Bare(text) | Part::Quoted(text) => Some(literal + text),
            Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => None,
        })
    }
}
