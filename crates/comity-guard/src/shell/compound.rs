//! Groups, conditions, loops, functions and tests.

use super::ParseProblem;
use super::parser::{Parser, ScriptEnd};
use super::syntax::{Arm, Body, CaseArm, Part, Word};

impl Parser<'_> {
    /// Parses a compound command, if `word` begins one.
    pub(super) fn compound(&mut self, word: &str) -> Result<Option<Body>, ParseProblem> {
        if self.peek() == Some(b'(') {
            return self.nested(Self::parenthesis).map(Some);
        }
        let read: fn(&mut Self) -> Result<Body, ParseProblem> = match word {
            "{" => Self::group,
            "[[" => Self::test,
            "if" => Self::condition,
            "while" | "until" => Self::repetition,
            "for" | "select" => Self::enumeration,
            "case" => Self::choice,
            "function" => Self::named_function,
            _ => return Ok(None),
        };
        if !matches!(word, "{" | "if" | "while" | "until" | "for" | "case") {
            self.differs("a word that only some shells know");
        }
        self.at += word.len();
        self.nested(read).map(Some)
    }

    /// `( … )` or `(( … ))`
    fn parenthesis(&mut self) -> Result<Body, ParseProblem> {
        if self.starts_with("((") {
            self.differs("two parentheses together");
        }
        if self.starts_with("((") && self.is_arithmetic(2) {
            return self.calculation().map(Body::Arithmetic);
        }
        self.at += 1;
        self.parenthesised().map(Body::Subshell)
    }

    /// `(( … ))`
    fn calculation(&mut self) -> Result<Word, ParseProblem> {
        self.differs("arithmetic");
        let start = self.at;
        self.at += 2;
        let scripts = self.arithmetic(b"))")?;
        let text = self.text[start..self.at].to_owned();
        Ok(Word { text: text.clone(), parts: vec![Part::Expansion { text, scripts }] })
    }

    fn group(&mut self) -> Result<Body, ParseProblem> {
        let script = self.script(ScriptEnd::Words(&["}"]))?;
        self.at += 1;
        Ok(Body::Group(script))
    }

    fn condition(&mut self) -> Result<Body, ParseProblem> {
        let mut arms = Vec::new();
        loop {
            let condition = self.script(ScriptEnd::Words(&["then"]))?;
            self.at += "then".len();
            let body = self.script(ScriptEnd::Words(&["elif", "else", "fi"]))?;
            arms.push(Arm { condition, body });
            let word = self.peek_word();
            self.at += word.len();
            match word {
                "elif" => continue,
                "else" => {
                    let otherwise = Some(self.script(ScriptEnd::Words(&["fi"]))?);
                    self.at += "fi".len();
                    return Ok(Body::If { arms, otherwise });
                }
                _ => return Ok(Body::If { arms, otherwise: None }),
            }
        }
    }

    fn repetition(&mut self) -> Result<Body, ParseProblem> {
        let condition = self.script(ScriptEnd::Words(&["do"]))?;
        self.at += "do".len();
        let body = self.script(ScriptEnd::Words(&["done"]))?;
        self.at += "done".len();
        Ok(Body::While(Arm { condition, body }))
    }

    fn enumeration(&mut self) -> Result<Body, ParseProblem> {
        self.blanks();
        let (variable, words) = match self.starts_with("((") {
            true => (String::new(), vec![self.calculation()?]),
            false => self.enumerated()?,
        };
        self.blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.blank_lines();
        let (opening, closing): (_, &'static [&'static str]) = match self.peek_word() {
            "do" => ("do", &["done"]),
            "{" => {
                self.differs("a loop in braces");
                ("{", &["}"])
            }
            _ => return Err(ParseProblem::Unexpected(self.at)),
        };
        self.at += opening.len();
        let body = self.script(ScriptEnd::Words(closing))?;
        self.at += self.peek_word().len();
        Ok(Body::For { variable, words, body })
    }

    /// `name in words`, or a name alone.
    fn enumerated(&mut self) -> Result<(String, Vec<Word>), ParseProblem> {
        let variable = self.word()?.text;
        self.blank_lines();
        let mut words = Vec::new();
        if self.peek_word() != "in" {
            return Ok((variable, words));
        }
        self.at += "in".len();
        self.blanks();
        while self.begins_word() {
            words.push(self.word()?);
            self.blanks();
        }
        Ok((variable, words))
    }

    fn choice(&mut self) -> Result<Body, ParseProblem> {
        self.blanks();
        let subject = self.word()?;
        self.blank_lines();
        if self.peek_word() != "in" {
            return Err(ParseProblem::Unexpected(self.at));
        }
        self.at += "in".len();
        let mut arms = Vec::new();
        loop {
            self.blank_lines();
            if self.peek_word() == "esac" {
                self.at += "esac".len();
                return Ok(Body::Case { subject, arms });
            }
            let patterns = self.patterns()?;
            let body = self.script(ScriptEnd::CaseArm)?;
            arms.push(CaseArm { patterns, body });
            let sign = [";;&", ";;", ";&"].into_iter().find(|sign| self.starts_with(sign));
            self.at += sign.map_or(0, str::len);
        }
    }

    /// `a | b)`, or `(a | b)`.
    fn patterns(&mut self) -> Result<Vec<Word>, ParseProblem> {
        if self.peek() == Some(b'(') {
            self.at += 1;
        }
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            patterns.push(self.word()?);
            self.blanks();
            if self.peek() != Some(b'|') {
                break;
            }
            self.at += 1;
        }
        self.expect(b')')?;
        Ok(patterns)
    }

    fn named_function(&mut self) -> Result<Body, ParseProblem> {
        self.blanks();
        let name = self.word()?.text;
        self.blanks();
        if self.peek() == Some(b'(') {
            self.at += 1;
            self.blanks();
            self.expect(b')')?;
        }
        self.function(name)
    }

    pub(super) fn function(&mut self, name: String) -> Result<Body, ParseProblem> {
        self.blank_lines();
        let body = self.nested(Self::command)?;
        Ok(Body::Function { name, body: Box::new(body) })
    }

    /// `[[ … ]]`, in which `<`, `>` and parentheses are operators.
    fn test(&mut self) -> Result<Body, ParseProblem> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None => return Err(ParseProblem::Unterminated("a test")),
                Some(b'\n') => {
                    words.push(Word::bare("\n"));
                    self.blank_lines();
                }
                Some(_) if self.peek_word() == "]]" => {
                    self.at += "]]".len();
                    return Ok(Body::Test(words));
                }
                Some(_) if self.begins_word() => words.push(self.word()?),
                Some(_) => {
                    let sign = ["&&", "||"].into_iter().find(|sign| self.starts_with(sign));
                    let sign = sign.unwrap_or(&self.text[self.at..self.at + 1]);
                    words.push(Word::bare(sign));
                    self.at += sign.len();
                }
            }
        }
    }
}
