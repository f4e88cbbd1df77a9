//! A Rust file as lines that know what in them is code, comment and literal, and whether they are tests.

use super::lexer::{Kind, kinds};

/// One line, seen in three ways of equal length; what does not belong is blanked out.
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) code: String,
    pub(crate) comment: String,
    /// Literals with their quotes.
    pub(crate) literal: String,
    pub(crate) in_test: bool,
}

/// A Rust file, split into lines.
pub(crate) struct Source {
    pub(crate) lines: Vec<Line>,
    /// Modules that live in files of their own and are compiled for tests only.
    pub(crate) test_modules: Vec<String>,
}

impl Source {
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let kinds = kinds(&chars);
        let view = |wanted: Kind| -> String {
            let keep = |(c, kind): (&char, &Kind)| if *c == '\n' || *kind == wanted { *c } else { ' ' };
            chars.iter().zip(&kinds).map(keep).collect()
        };
        let code = view(Kind::Code);
        let (comment, literal) = (view(Kind::Comment), view(Kind::Literal));
        let tests = TestRegions::of(&code);
        let all_test = is_test_file(path) || code.contains("#![cfg(test)]");
        let lines = code
            .lines()
            .zip(comment.lines())
            .zip(literal.lines())
            .enumerate()
            .map(|(index, ((code, comment), literal))| Line {
                number: index + 1,
                code: code.to_owned(),
                comment: comment.to_owned(),
                literal: literal.to_owned(),
                in_test: all_test
                    || tests.lines.iter().any(|(first, last)| (*first..=*last).contains(&index)),
            })
            .collect();
        Self { lines, test_modules: tests.modules }
    }

    /// Whether a line, or the comment line above it, carries `// <word> <reason>`.
    pub(crate) fn excused(&self, line: &Line, word: &str) -> bool {
        let carries = |line: &Line| {
            let reason = line.comment.trim().strip_prefix("//").map(str::trim);
            reason
                .and_then(|comment| comment.strip_prefix(word))
                .is_some_and(|reason| !reason.trim().is_empty())
        };
        let above = line.number.checked_sub(2).and_then(|index| self.lines.get(index));
        carries(line) || above.is_some_and(|above| above.code.trim().is_empty() && carries(above))
    }
}

/// Whether `word` stands in `text` as a whole word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

/// Whether the path alone says that a Rust file holds tests.
fn is_test_file(path: &str) -> bool {
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
    path.split('/').any(|folder| folder == "tests") || stem == "tests" || stem.ends_with("_tests")
}

#[derive(Default)]
struct TestRegions {
    /// First and last line, counted from 0.
    lines: Vec<(usize, usize)>,
    modules: Vec<String>,
}

impl TestRegions {
    /// Finds the items behind `#[cfg(test)]` in the code view of a file.
    fn of(code: &str) -> Self {
        let mut regions = Self::default();
        for attribute in ["#[cfg(test)]", "#[cfg(all(test,"] {
            for (start, _) in code.match_indices(attribute) {
                let item = &code[start + attribute.len()..];
                let end = item_end(item);
                let line = |offset: usize| code[..offset].matches('\n').count();
                regions.lines.push((line(start), line(start + attribute.len() + end)));
                let declared = item[..end].trim_end_matches(';').split_once("mod ");
                if let Some((_, name)) = declared.filter(|_| item[..end].ends_with(';')) {
                    regions.modules.push(name.trim().to_owned());
                }
            }
        }
        regions
    }
}

/// Where an item ends: behind its closing brace, or behind a semicolon before any brace.
fn item_end(item: &str) -> usize {
    let mut depth = 0_usize;
    for (index, c) in item.char_indices() {
        match c {
            ';' if depth == 0 => return index + 1,
            '{' => depth += 1,
            '}' if depth <= 1 => return index + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    item.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the lines that count as tests, and the test modules in other files.
    fn check(path: &str, text: &str, expected: &str) {
        let source = Source::parse(path, text);
        let lines = source.lines.iter().filter(|line| line.in_test).map(|line| line.number.to_string());
        let found: Vec<String> = lines.chain(source.test_modules.iter().cloned()).collect();
        assert_eq!(found.join(" "), expected, "{path}");
    }

    #[test]
    fn tests_are_told_from_product_code() {
        check("src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n  \"}\";\n}\nfn b() {}\n", "2 3 4 5");
        check("src/a.rs", "#[cfg(test)]\nmod fixtures;\nfn b() {}\n", "1 2 fixtures");
        check("src/a.rs", "#[cfg(all(test, unix))]\nfn a() {}\nfn b() {}\n", "1 2");
        check("src/a.rs", "// #[cfg(test)]\nfn b() {}\n", "");
        check("tests/a.rs", "fn a() {}\n", "1");
        check("src/lock_tests.rs", "fn a() {}\n", "1");
    }

    #[test]
    fn a_reason_stands_on_the_line_or_above() {
        let check = |text: &str, expected: bool| {
            let source = Source::parse("a.rs", text);
            assert_eq!(source.excused(&source.lines[1], "why:"), expected, "{text}");
        };
        check("\na(); // why: because", true);
        check("// why: because\na();", true);
        check("b(); // why: because\na();", false);
        check("\na(); // why:", false);
        check("\na(); // because", false);
    }
}
