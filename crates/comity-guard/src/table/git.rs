//! `git`, and its subcommands as rows of their own.
//!
//! Git runs programs that its settings name: whoever relies on a proof has to check the repository's settings, too.

use super::{EffectGuess, KnownProgram, ReadProof, reads, writes};
use crate::programs as guess;
use crate::read_only::{git, git_formats, git_lists, git_needs, git_one_word, git_stash_list};

pub(super) const PROGRAMS: &[KnownProgram] = &[reads(
    "git",
    &["--no-pager --no-optional-locks --literal-pathspecs --version -C:! -c:! -p! --git-dir=! --work-tree=! --namespace=! --exec-path=! --config-env=! --paginate!"],
)
.until_operand()
.proof(ReadProof::Given(git))
.guess(EffectGuess::Own(guess::git))];

/// How differences are shown.
const CHANGES: &str = "-abpqRsuwWz -G: -S: -U: -M? -C? --abbrev? --cached --check --color? --compact-summary --diff-filter= --dirstat? \
    --exit-code --find-renames? --full-index --function-context --histogram --ignore-all-space --ignore-blank-lines --ignore-space-change \
    --merge-base --minimal --name-only --name-status --no-color --no-ext-diff --no-patch --no-prefix --no-renames --no-textconv --numstat \
    --patch --patience --pickaxe-regex --quiet --raw --shortstat --staged --stat? --summary --text --unified= --word-diff? \
    --output=> --ext-diff! --textconv!";
/// Which commits are shown, and how.
const COMMITS: &str = "-EFgimP -L: -n: -# --abbrev-commit --after= --all --all-match --author= --before= --boundary --branches? --cc \
    --cherry-mark --cherry-pick --children --committer= --count --date= --date-order --decorate? --first-parent --follow --format= \
    --full-history --graph --grep= --invert-grep --left-right --max-count= --merges --no-decorate --no-merges --no-walk? --not --oneline \
    --parents --pretty= --regexp-ignore-case --relative-date --remotes? --reverse --simplify-by-decoration --since= --skip= --source \
    --tags? --topo-order --until= --walk-reflogs --show-signature!";
/// How references are listed.
const REFERENCES: &str =
    "--contains= --count= --format= --ignore-case --merged= --no-contains= --no-merged= --points-at= --sort=";

pub(crate) const COMMANDS: &[KnownProgram] = &[
    reads("status", &["-bsz -u? --ahead-behind --branch --ignored? --long --no-ahead-behind --no-renames --porcelain? --short --show-stash --untracked-files?"]),
    reads("log whatchanged", &[CHANGES, COMMITS, "-o:> --output-directory=>"]).proof(ReadProof::Given(git_formats)),
    reads("show", &[CHANGES, COMMITS, "-o:> --output-directory=>"])
        .proof(ReadProof::Given(git_formats))
        .guess(EffectGuess::Own(guess::git_show)),
    reads("diff", &[CHANGES, "--no-index"]),
    reads("rev-list", &[COMMITS]).proof(ReadProof::Given(git_formats)),
    reads("shortlog", &["-ens --all --author= --email --numbered --since= --summary --until="]),
    reads("rev-parse", &["-q --abbrev-ref? --absolute-git-dir --git-common-dir --git-dir --is-bare-repository --is-inside-work-tree --quiet",
          "--short? --show-cdup --show-prefix --show-superproject-working-tree --show-toplevel --symbolic-full-name --verify"]),
    reads("blame", &["-befglnpstw -L: -C? -M? --date= --line-porcelain --porcelain --show-email --show-name --show-number --since="])
        .dashes_end_nothing(),
    reads("grep", &["-acEFGhHIilLnopPqvwW -A: -B: -C: -e: -f: -m: -# -O?! --after-context= --all-match --and --before-context= --break --cached --color?",
          "--column --context= --count --extended-regexp --files-with-matches --files-without-match --fixed-strings --full-name --heading",
          "--ignore-case --invert-match --line-number --max-count= --max-depth= --name-only --no-color --not --only-matching --or",
          "--perl-regexp --quiet --show-function --text --untracked --word-regexp --open-files-in-pager?!"]),
    reads("ls-files", &["-cdimostuvz -x: --cached --deduplicate --deleted --directory --eol --error-unmatch --exclude= --exclude-standard --full-name",
          "--ignored --modified --others --stage --unmerged"]),
    reads("ls-tree", &["-dlrtz --abbrev? --full-name --full-tree --long --name-only --name-status --object-only"]),
    reads("cat-file", &["-epst"]).guess(EffectGuess::Own(guess::git_cat_file)),
    reads("merge-base", &["-a --all --fork-point --independent --is-ancestor --octopus"]),
    reads("describe", &["--abbrev? --all --always --candidates= --contains --exact-match --exclude= --first-parent --long --match= --tags"]),
    reads("show-ref", &["-dqs --abbrev? --branches --dereference --hash? --head --heads --quiet --tags --verify"]),
    reads("for-each-ref", &[REFERENCES, "--exclude="]).proof(ReadProof::Given(git_formats)),
    reads("count-objects", &["-vH --human-readable --verbose"]),
    reads("check-ignore", &["-nqvz --no-index --non-matching --quiet --stdin --verbose"]),
    reads("version", &["--build-options"]).operands_max(0),
    reads("branch", &["-aqrv --all --list --remotes --show-current --verbose", REFERENCES]).proof(ReadProof::Given(git_lists)),
    reads("tag", &["-l -n? --list", REFERENCES]).proof(ReadProof::Given(git_lists)),
    reads("config", &["-lz --get --get-all --get-regexp --global --list --local --name-only --null --show-origin --show-scope --system --type=",
          "-f:! --file=! --blob=!"])
        .proof(ReadProof::Given(git_needs)),
    reads("remote", &["-v --verbose"]).proof(ReadProof::Given(git_one_word)),
    reads("worktree", &["-vz --porcelain --verbose"]).proof(ReadProof::Given(git_one_word)),
    reads("stash", &["-# -n: --oneline --stat? --format= -b:! -m:! --message=!"])
        .proof(ReadProof::Given(git_stash_list))
        .guess(EffectGuess::Own(guess::git_stash)),
    reads("symbolic-ref", &["-q --quiet --short"]).operands_max(1),
    writes("archive format-patch", &["-o:> --output=> --output-directory=>"], EffectGuess::Nothing),
    writes("apply", &["-p: -C: --directory= --exclude= --include= --whitespace="], EffectGuess::Own(guess::git_apply)),
    writes("commit", &["-C: -c: -F: -m: -t: -S? -u? --author= --cleanup= --date= --file= --fixup= --message= --pathspec-from-file= --reedit-message= \
          --reuse-message= --squash= --template= --trailer= --gpg-sign? --untracked-files? -a -i -o -p -n -e -q -s -v -z --all --amend --include \
          --only --patch --interactive --dry-run"], EffectGuess::Own(guess::git_commit)),
    writes("add stage", &["-A -f -i -n -p -u -v --all --chmod= --dry-run --force --no-all --pathspec-from-file= --update"], EffectGuess::Own(guess::git_add)),
    writes("checkout", &["-b: -B: --orphan= --conflict= --pathspec-from-file="], EffectGuess::Own(guess::git_checkout)),
    writes("switch", &["-c: -C: --create= --force-create= --orphan="], EffectGuess::Own(guess::git_switch)),
    writes("restore", &["-s: --source= --pathspec-from-file= --conflict="], EffectGuess::Own(guess::git_restore)),
    writes("rm", &["-r -f -n --cached --dry-run"], EffectGuess::Own(guess::git_rm)),
    writes("mv", &["-f -k -n -v"], EffectGuess::Own(guess::mv)),
    writes("reset", &["--hard --merge --keep"], EffectGuess::Own(guess::git_reset)),
    writes("clean", &["-e: --exclude= -n --dry-run"], EffectGuess::Own(guess::git_clean)),
    writes("clone", &["-b: -o: -c: -j: -u: --branch= --origin= --config= --jobs= --upload-pack= --depth= --reference= --template= --filter="], EffectGuess::Own(guess::git_clone)),
    writes("submodule", &[], EffectGuess::Own(guess::git_submodule)),
    writes("am bisect cherry-pick merge pull read-tree rebase revert checkout-index sparse-checkout", &[], EffectGuess::Own(guess::git_tree)),
];
