//! What a tool's name tells about what it does.

use super::words::{is_one_of, words};

/// What a tool does to files, as far as its name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    /// It only searches: its texts are what it looks for.
    Searches,
    /// It only looks.
    Reads,
    /// It changes what it is given; a directory with everything below it.
    ChangesTrees,
    /// It may change files that it is given.
    MayChange,
}

/// Verbs of tools that go through many files.
const SEARCHING: &str = "search find grep glob query lookup look count list ls scan walk explore";
/// Other verbs that look.
const READING: &str = "read reads get view show describe stat cat head tail tree hover inspect explain browse diff blame \
    compare analyze analyse preview peek summarize";
/// Names of tools that look without a verb: `definition`, `git_status`.
const LOOKED_AT: &str = "info status outline references reference definition definitions symbols symbol diagnostics \
    overview implementations usages callers callees";
/// Words that are neither an act nor a look. Every other word may be an act.
const NEUTRAL: &str = "a about above absolute active advanced after agent agents alert alerts all allowed an annotations any api \
    app apps archive archived argument arguments array artifact artifacts as ask ast at attributes audio author authors \
    available base before below binary blob block blocks board body book boolean branch branches browser buffer bug bugs build \
    builds by bytes cache call calls cell cells change changed changelog changes channel channels char characters chars check \
    checks children chunk chunks class classes client code codebase codelens column columns comment comments commit commits \
    completion config configs configuration console contact contacts content contents context conversation coverage current cwd \
    dashboard data database databases date db deep default dependencies dependency depth detail detailed details dir direct \
    directories directory dirs dm doc docs document documentation documents domain duplicate duplicates each editor element \
    elements encoding entities entity entries entry env environment error errors event events exact exists expression \
    extension extensions failed features feed field fields file filename filenames files filesystem filter filters first folder \
    folders for from frontmatter full function functions fuzzy git github gitlab global graph group groups hash header headers \
    headings hierarchy history home html id identifier ids image images imports in incoming index inputs interface issue issues \
    item items jira job jobs json key keys keyword keywords label labels language large last latest library line lines link \
    links local log logs long lsp many map markdown match matches matching me media member members memories memory merged message \
    messages metadata method methods metrics milestones mode model models module modules more multi multiple my name names \
    nearby nested network new next node nodes not note notebook notebooks notes notification notifications number numbers object \
    objects of on one only open opened options or org organization origin other outgoing output outputs owner package packages \
    page pages param params parent parents part parts path paths pattern patterns pdf pending permissions pr preferences prev \
    previous problem problems process processes profile project projects prompt prompts properties property prs pull query \
    question questions quick range ranges raw readme recent records recursive ref referenced referencing refs regex regexp \
    related relative release releases remote remotes repo report reports repos repositories repository request requests \
    resource resources response result results review reviews root roots row rows rule rules runs schema schemas scope \
    screen secret section sections security selected selection self semantic server servers session sessions settings sheet \
    short signature similar simple single site size sizes slice snippet snippets source sources space sprint stack staged \
    start statistics stats string strings structure style sub subdirectories subfolders suggestions syntax system tab table \
    tables tabs tag tags target targets task tasks team teams template templates term test tests text texts the thread threads \
    ticket tickets time timeline times title todo todos token tokens tool tools top topic topics trace tracked transcript \
    transcripts tsconfig type typed types unread unstaged untracked up url urls usage user users value values variable \
    variables version versions video vulnerabilities web wiki with word words workflow workflows workspace workspaces xml yaml";
/// Words that join two acts.
const JOINING: &str = "and or then plus";
const CHANGING: &str = "write edit create update insert append apply patch save set put copy cp make mkdir touch change truncate \
    download export generate execute exec run eval install extract undo merge prepend add store dump to render \
    upload import record capture screenshot print emit produce build compile bump increment toggle assign commit push upsert \
    mark annotate inject embed scaffold init initialize link symlink unzip untar unpack pack zip compress decompress split join \
    concat send post submit log start invoke do perform process handle into";
const CHANGING_TREES: &str = "delete remove rm unlink move mv rename replace format reformat refactor clean clear restore reset \
    revert rewrite overwrite fix autofix fixup repair modify transform prettify beautify lint tidy migrate codemod purge erase \
    wipe destroy drop trash prune shred sync mirror convert checkout rebase stash optimize minify normalize sanitize sort \
    substitute swap encrypt decrypt chmod chown";

/// What a tool's name tells. For a tool of an MCP server only its own name counts, if that can be told.
///
/// It only looks if every word is known to be harmless: an unknown one may be an act.
pub(super) fn verb(tool: &str) -> Verb {
    let own = tool.rsplit("__").next().filter(|own| !own.is_empty()).unwrap_or(tool);
    let words = words(own);
    let has = |known: &str| words.iter().any(|word| is_one_of(word, known));
    let looks = |word: &str| is_one_of(word, READING) || is_one_of(word, SEARCHING);
    let first_look = words.iter().position(|word| looks(word));
    let is_act = |at: usize| acts(&words, at);
    if (0..words.len()).any(|at| is_act(at) && is_one_of(&words[at], CHANGING_TREES)) {
        return Verb::ChangesTrees;
    }
    let is_known =
        |word: &str| looks(word) || [LOOKED_AT, NEUTRAL, JOINING].iter().any(|of| is_one_of(word, of));
    // If the server's name cannot be told from the tool's, it is what stands before the look.
    let of_server = if own == tool { first_look.unwrap_or(0) } else { 0 };
    let may_act = |at: usize| is_act(at) || (at >= of_server && !is_known(&words[at]));
    let joined = words.iter().position(|word| is_one_of(word, JOINING)).unwrap_or(words.len());
    let acts_after = (joined..words.len()).any(may_act);
    match (0..words.len()).any(may_act) {
        // What was found is then acted on.
        true if acts_after && words[..joined].iter().any(|word| is_one_of(word, SEARCHING)) => {
            Verb::ChangesTrees
        }
        true => Verb::MayChange,
        false if has(SEARCHING) => Verb::Searches,
        false if first_look.is_some() || has(LOOKED_AT) => Verb::Reads,
        false => Verb::MayChange,
    }
}

/// Whether a word of a name is an act. Some words are also things: in `get_commit` and `list_pull_request_checks`,
/// after a look.
fn acts(words: &[String], at: usize) -> bool {
    let word = &words[at];
    let is_act = is_one_of(word, CHANGING) || is_one_of(word, CHANGING_TREES);
    let follows_a_look =
        words[..at].iter().any(|word| is_one_of(word, READING) || is_one_of(word, SEARCHING));
    let is_joined = at > 0 && is_one_of(&words[at - 1], JOINING);
    is_act && !(is_one_of(word, NEUTRAL) && follows_a_look && !is_joined)
}

/// Whether a text that says what to do names an act: `write`, `PUT`.
pub(super) fn is_act(text: &str) -> bool {
    let words = words(text);
    words.first().is_some_and(|first| is_one_of(first, CHANGING) || is_one_of(first, CHANGING_TREES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_of_tools() {
        for reads in [
            "mcp__fs__read_text_file",
            "getFileContents",
            "list_dir",
            "MCP:search",
            "fs-find",
            "view",
            "mcp_acme_read_file",
            "mcp__git__git_status",
            "mcp__git__git_diff_unstaged",
            "mcp__github__get_commit",
            "mcp__github__list_pull_requests",
            "mcp__github__get_pull_request_files",
            "mcp__serena__get_symbols_overview",
            "mcp__serena__find_referencing_symbols",
            "mcp__serena__search_for_pattern",
            "mcp__jetbrains__get_file_text_by_path",
            "mcp__lsp__definition",
            "mcp__ide__getDiagnostics",
            "mcp__fs__list_directory_with_sizes",
            "mcp__fs__list_allowed_directories",
        ] {
            assert!(matches!(verb(reads), Verb::Reads | Verb::Searches), "{reads}: {:?}", verb(reads));
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
            "mcp__fs__get_and_obliterate",
            "mcp__fs__obliterate_tree",
            "mcp__fs__read_frobnicate",
            "read_frobnicate",
            "mcp__git__commit",
            "mcp__github__get_and_commit",
            "mcp__fs__update_status",
        ] {
            assert_eq!(verb(may), Verb::MayChange, "{may}");
        }
        for trees in [
            "mcp__fs__delete_directory",
            "moveFile",
            "search_and_replace",
            "fs-rename",
            "list_and_fix",
            "findThenPatch",
            "mcp__fs__grep_and_frobnicate",
            "mcp__eslint__fix",
        ] {
            assert_eq!(verb(trees), Verb::ChangesTrees, "{trees}");
        }
    }
}
