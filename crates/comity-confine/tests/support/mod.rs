//! A place with files, and commands that run confined in it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use comity_confine::{Confinement, Extent, NetworkAccess, enter};

pub(crate) const BEFORE: &str = "as it was\n";

/// Who is nobody in particular.
const NOBODY: u32 = 65_534;

pub(crate) struct Place {
    pub(crate) dir: tempfile::TempDir,
    /// Who runs commands here, if not who runs the tests.
    pub(crate) user: Option<u32>,
}

impl Place {
    pub(crate) fn new() -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let place = Place { dir, user: None };
        for file in ["src/a.rs", "src/b.rs", "docs/deep/x.md"] {
            let file = place.at(file);
            fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            fs::write(file, BEFORE).expect("written");
        }
        place
    }

    /// One for who runs the tests and, if that is root, one for an ordinary user.
    pub(crate) fn of_all_users() -> Vec<Place> {
        let mut places = vec![Place::new()];
        if fs::metadata(places[0].at("")).expect("a directory").uid() == 0 {
            let mut theirs = Place::new();
            let chown = Command::new("chown").args(["-R", "nobody"]).arg(theirs.at("")).status();
            assert!(chown.expect("it starts").success());
            theirs.user = Some(NOBODY);
            places.push(theirs);
        }
        places
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("a path").join(path)
    }

    pub(crate) fn held(&self, paths: &[&str]) -> Confinement {
        let paths = paths.iter().map(|path| self.at(path)).collect();
        Confinement { extent: Extent::Held(paths), network: NetworkAccess::Shared }
    }

    pub(crate) fn command(&self, confinement: &Confinement, line: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(self.at(""));
        self.user.map(|user| command.uid(user).gid(user));
        confine(&mut command, confinement);
        command
    }

    /// A command for which something is done before it is confined, in its own process.
    pub(crate) fn prepared(
        &self,
        confinement: &Confinement,
        line: &str,
        prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(self.at(""));
        self.user.map(|user| command.uid(user).gid(user));
        before(&mut command, prepare);
        confine(&mut command, confinement);
        command
    }

    pub(crate) fn sealed(&self) -> Confinement {
        let shown = vec![self.at("")];
        Confinement { extent: Extent::Everything { shown }, network: NetworkAccess::None }
    }

    pub(crate) fn run(&self, confinement: &Confinement, line: &str) -> Output {
        self.command(confinement, line).output().expect("it starts")
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("a file")
    }
}

#[expect(unsafe_code, reason = "the one way to do something in a child before it becomes another program")]
fn before(command: &mut Command, prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the child has a single thread; what it allocates is its own.
    unsafe { command.pre_exec(prepare) };
}

#[expect(unsafe_code, reason = "the one way to do something in a child before it becomes another program")]
pub(crate) fn confine(command: &mut Command, confinement: &Confinement) {
    let confinement = confinement.clone();
    // SAFETY: the child has a single thread; what it allocates is its own.
    unsafe {
        command.pre_exec(move || {
            // Who has just become another user is private until it becomes another program.
            libc::prctl(libc::PR_SET_DUMPABLE, 1);
            enter(&confinement).map_err(|problem| {
                eprintln!("{problem}");
                std::io::Error::other(problem)
            })
        });
    }
}

pub(crate) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{} {}{}", output.status, text(&output.stdout), text(&output.stderr))
}
