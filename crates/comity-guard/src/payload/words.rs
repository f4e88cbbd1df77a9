//! The words in names of tools and arguments, and what they tell.

/// A name's words in lower case: `outputFile`, `output_file` and `output-file` have the same two.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut begins = true;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            begins = true;
            continue;
        }
        if begins || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        (begins, was_lower) = (false, c.is_lowercase() || c.is_ascii_digit());
    }
    words
}

pub(super) fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// What an argument is for, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArgumentRole {
    /// It names files or directories.
    Path,
    /// It holds what is written or said, and names nothing.
    Text,
    /// It says what is searched for, which may be names of files.
    Pattern,
    /// It holds the arguments of a program.
    Line,
    Other,
}

const NAMING: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filepath",
    "filepaths",
    "filename",
    "filenames",
    "pathname",
    "pathnames",
    "uri",
    "uris",
    "notebook",
];
const NAMING_AT_THE_END: &[&str] = &[
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
    "source",
    "src",
    "destination",
    "dest",
    "dst",
    "output",
    "outfile",
    "target",
    "targets",
    "location",
    "locations",
    "document",
    "doc",
];
/// These say something about a file, but not which.
const ABOUT: &[&str] = &[
    "text",
    "content",
    "contents",
    "type",
    "extension",
    "ext",
    "size",
    "mode",
    "encoding",
    "format",
    "hash",
    "count",
    "line",
    "lines",
    "limit",
    "id",
    "sha",
    "max",
    "min",
    "depth",
];
const SAYING: &[&str] = &[
    "text",
    "content",
    "contents",
    "message",
    "prompt",
    "description",
    "title",
    "body",
    "query",
    "reason",
    "summary",
    "comment",
    "question",
    "subject",
    "todos",
    "code",
    "instruction",
    "instructions",
    "string",
    "str",
    "msg",
    "markdown",
    "html",
    "observations",
    "element",
    "regex",
    "thought",
    "explanation",
    "note",
    "notes",
    "label",
    "old",
    "search",
];
const ARGUING: &str = "args arg argv arguments argument options option opts flags params parameters";
const MATCHING: &str = "pattern patterns glob globs filter filters mask include includes exclude excludes";

pub(super) fn role(argument: &str) -> ArgumentRole {
    let words = words(argument);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&&**word));
    let ends = |known: &[&str]| words.last().is_some_and(|word| known.contains(&&**word));
    // `new_source` is the future content of a notebook cell.
    if has(&["new", "old"]) && ends(&["source", "src", "output", "document", "doc", "target"]) {
        return ArgumentRole::Text;
    }
    if words.iter().any(|word| is_one_of(word, MATCHING)) {
        return ArgumentRole::Pattern;
    }
    match (has(ABOUT), has(NAMING) || ends(NAMING_AT_THE_END)) {
        (false, true) => ArgumentRole::Path,
        (true, _) if has(SAYING) || has(NAMING) => ArgumentRole::Text,
        _ if has(SAYING) => ArgumentRole::Text,
        _ if words.iter().any(|word| is_one_of(word, ARGUING)) => ArgumentRole::Line,
        _ => ArgumentRole::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("output_file", "output file"),
            ("outputFile", "output file"),
            ("OutputFile", "output file"),
            ("path-in.project", "path in project"),
            ("filePath2", "file path2"),
            ("mcp__fs__read", "mcp fs read"),
            ("profile", "profile"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn roles_of_arguments() {
        for path in [
            "path",
            "file_path",
            "filePath",
            "FilePath",
            "paths",
            "pathInProject",
            "uri",
            "documentUri",
            "destination",
            "output",
            "target_file",
            "relative_workspace_path",
            "srcDir",
            "fileName",
            "notebook_path",
            "source",
        ] {
            assert_eq!(role(path), ArgumentRole::Path, "{path}");
        }
        for text in [
            "content",
            "file_text",
            "new_string",
            "message",
            "prompt",
            "old_str",
            "fileContent",
            "code",
            "new_source",
        ] {
            assert_eq!(role(text), ArgumentRole::Text, "{text}");
        }
        for pattern in ["pattern", "file_pattern", "includePattern", "glob", "filter"] {
            assert_eq!(role(pattern), ArgumentRole::Pattern, "{pattern}");
        }
        for other in ["profile", "limit", "fileType", "x", "overwrite", "filemode"] {
            assert_ne!(role(other), ArgumentRole::Path, "{other}");
        }
    }
}
