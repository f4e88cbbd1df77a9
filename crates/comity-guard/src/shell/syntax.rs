//! The syntax tree of a command line. Nothing in here knows any program, or what is good or bad.

/// Commands in order.
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

/// What joins two pipelines.
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
    pub redirects: Vec<Redirect>,
}

/// What a command runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// A program, a builtin or a function, or only assignments.
    Simple(Simple),
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `if …; then …; elif …; else …; fi`
    If { arms: Vec<Arm>, otherwise: Option<Script> },
    /// `while …; do …; done`, and `until`.
    While(Arm),
    /// `for … in …; do …; done`, and `select`.
    For {
        /// Set in each iteration; empty for arithmetic.
        variable: String,
        /// The words that it goes through, or its arithmetic.
        words: Vec<Word>,
        body: Script,
    },
    /// `case … in …) …;; esac`
    Case { subject: Word, arms: Vec<CaseArm> },
    /// A definition; nothing runs yet.
    Function { name: String, body: Box<Command> },
    /// `[[ … ]]`; symbolic operators and line breaks are words, too.
    Test(Vec<Word>),
    /// `(( … ))`
    Arithmetic(Word),
}

/// A condition and its commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    pub condition: Script,
    pub body: Script,
}

/// The patterns of a case, and their commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaseArm {
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
    /// Several for an array.
    pub values: Vec<Word>,
}

/// One word, with quotes and expansions told apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Word {
    pub text: String,
    pub parts: Vec<Part>,
}

/// A piece of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Unquoted: `*`, `?`, `[`, `{` and a leading `~` are special.
    Bare(String),
    /// In quotes or escaped: literal.
    Quoted(String),
    /// A variable, a parameter expansion or arithmetic, whose value is not known.
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
    /// The file, descriptor, text, or end mark of a here-document.
    pub target: Word,
    /// The here-document that it reads, in [`super::Parsed::documents`].
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
    /// `>&`, which may also name a file.
    DuplicateOutput,
    /// `<<` and `<<-`
    Document,
    /// `<<<`
    Text,
}

/// The lines of a here-document.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HereDocument {
    /// As written, without the end mark.
    pub text: String,
    /// Whether the lines are literal, because the end mark was quoted.
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

    /// Its text, if that takes no variable, glob or command; braces and `~` are taken literally.
    pub fn literal(&self) -> Option<String> {
        self.parts.iter().try_fold(String::new(), |literal, part| match part {
            Part::Bare(text) | Part::Quoted(text) => Some(literal + text),
            Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => None,
        })
    }
}
