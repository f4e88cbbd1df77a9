//! The words that names of tools and of their arguments are made of, and what they tell.

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

/// What a tool does to files, as far as its name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    /// It looks, and does nothing else.
    Reads,
    /// It changes what it is given, a directory with all below it included.
    ChangesTrees,
    /// It may change a file that it is given.
    MayChange,
}

const READING: &[&str] = &[
    "read",
    "reads",
    "get",
    "list",
    "ls",
    "search",
    "find",
    "view",
    "show",
    "describe",
    "query",
    "lookup",
    "stat",
    "info",
    "tree",
    "cat",
    "head",
    "tail",
    "grep",
    "glob",
    "count",
    "status",
    "outline",
    "hover",
    "inspect",
    "explain",
    "browse",
    "look",
    "references",
    "definition",
    "symbols",
    "diagnostics",
];
const WRITING: &[&str] = &[
    "write",
    "edit",
    "create",
    "update",
    "delete",
    "remove",
    "rm",
    "unlink",
    "move",
    "mv",
    "rename",
    "replace",
    "insert",
    "append",
    "apply",
    "patch",
    "save",
    "set",
    "put",
    "copy",
    "cp",
    "make",
    "mkdir",
    "touch",
    "format",
    "fix",
    "refactor",
    "modify",
    "change",
    "overwrite",
    "truncate",
    "download",
    "export",
    "generate",
    "convert",
    "render",
    "execute",
    "exec",
    "run",
    "eval",
    "install",
    "extract",
    "restore",
    "reset",
    "revert",
    "undo",
    "clean",
    "clear",
    "merge",
    "sync",
    "rewrite",
    "prepend",
    "add",
    "store",
    "dump",
    "to",
];
const WHOLE_TREES: &[&str] = &[
    "delete",
    "remove",
    "rm",
    "unlink",
    "move",
    "mv",
    "rename",
    "replace",
    "format",
    "refactor",
    "clean",
    "clear",
    "restore",
    "reset",
    "revert",
    "rewrite",
    "overwrite",
];

/// What the name of a tool tells. Of a tool of an MCP server only its own name counts, where it can be told.
pub(super) fn verb(tool: &str) -> Verb {
    let own = tool.rsplit("__").next().filter(|own| !own.is_empty()).unwrap_or(tool);
    let words = words(own);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&&**word));
    match (has(WHOLE_TREES), has(WRITING), has(READING)) {
        (true, _, _) => Verb::ChangesTrees,
        (false, true, _) | (false, false, false) => Verb::MayChange,
        (false, false, true) => Verb::Reads,
    }
}

/// What an argument is for, as far as its name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It names files or directories.
    Path,
    /// It holds what is written or said, which is no name of anything.
    Text,
    /// Nobody can say.
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
/// They say something about a file, and not which.
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
    "pattern",
    "patterns",
    "glob",
    "filter",
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
    "pattern",
    "patterns",
    "regex",
    "thought",
    "explanation",
    "note",
    "notes",
    "label",
    "old",
    "search",
];
/// Arguments that only a tool that writes takes.
const OF_WRITERS: &[&str] = &[
    "content",
    "contents",
    "replacement",
    "patch",
    "diff",
    "edits",
    "changes",
    "overwrite",
    "append",
    "write",
    "save",
    "output",
    "outfile",
    "destination",
    "dest",
    "dst",
    "new",
];

/// What the name of an argument tells.
pub(super) fn role(argument: &str) -> Role {
    let words = words(argument);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&&**word));
    let ends = |known: &[&str]| words.last().is_some_and(|word| known.contains(&&**word));
    // `new_source` is what a cell of a notebook will hold.
    if has(&["new", "old"]) && ends(&["source", "src", "output", "document", "doc", "target"]) {
        return Role::Text;
    }
    match (has(ABOUT), has(NAMING) || ends(NAMING_AT_THE_END)) {
        (false, true) => Role::Path,
        (true, _) if has(SAYING) || has(NAMING) => Role::Text,
        _ if has(SAYING) => Role::Text,
        _ => Role::Other,
    }
}

/// Whether a tool that is called with such an argument writes.
pub(super) fn is_of_writers(argument: &str) -> bool {
    words(argument).iter().any(|word| OF_WRITERS.contains(&&**word))
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
    fn verbs_of_tools() {
        for reads in
            ["mcp__fs__read_text_file", "getFileContents", "list_dir", "MCP:search", "fs-find", "view"]
        {
            assert_eq!(verb(reads), Verb::Reads, "{reads}");
        }
        for may in [
            "mcp__fs__write_file",
            "mcp__search__go",
            "frobnicate",
            "read_and_write",
            "jetbrains_create_new_file",
            "mcp__readers__annotate",
            "get_or_create",
            "runCode",
            "render",
        ] {
            assert_eq!(verb(may), Verb::MayChange, "{may}");
        }
        for trees in ["mcp__fs__delete_directory", "moveFile", "search_and_replace", "fs-rename"] {
            assert_eq!(verb(trees), Verb::ChangesTrees, "{trees}");
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
            assert_eq!(role(path), Role::Path, "{path}");
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
            assert_eq!(role(text), Role::Text, "{text}");
        }
        for other in ["profile", "limit", "fileType", "x", "overwrite", "filemode"] {
            assert_ne!(role(other), Role::Path, "{other}");
        }
    }
}
