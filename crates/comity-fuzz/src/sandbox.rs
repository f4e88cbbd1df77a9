//! A throwaway tree for lines to run in: files whose names look like options, a repository, programs that leave a trace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What variables hold that lines use: each is an argument, or a command, that would do harm.
const VARIABLES: [(&str, &str); 6] = [
    ("x", "-oout"),
    ("y", "out"),
    ("z", "-delete"),
    ("u", "-o out --output=out"),
    ("v", "a[$(harm)]"),
    ("w", "; harm"),
];
/// Programs of busybox that take the place of the system's.
const APPLETS: &str = "awk basename cat cmp cut date df diff dirname du echo egrep env expr false fgrep find grep head hexdump id ls \
    md5sum nl nproc od paste printenv printf ps pwd readlink realpath rev sed seq sh sha256sum sleep sort stat tac tail tee test \
    timeout tr true tty uname uniq uptime wc which whoami xargs xxd base64 comm fold expand cksum tree free";

/// The tree.
pub(crate) struct Sandbox(TempDir);

/// Which programs a shell finds first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tools {
    System,
    Busybox,
    Gawk,
    Mawk,
}

impl Tools {
    fn directory(self) -> &'static str {
        match self {
            Tools::System => "none",
            Tools::Busybox => "busybox",
            Tools::Gawk => "gawk",
            Tools::Mawk => "mawk",
        }
    }
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        let sandbox = Sandbox(tempfile::tempdir().expect("a temporary directory"));
        for directory in
            ["home", "tmp", "bin", "tools/busybox", "tools/gawk", "tools/mawk", "work/src", "work/evil"]
        {
            fs::create_dir_all(sandbox.path().join(directory)).expect("a directory");
        }
        let files = [
            ("a.txt", "foo 1\nbar:2\nx,y,z\n10 20 30\n"),
            ("b.txt", "foo 1\nbaz\n"),
            ("x", "a\n"),
            ("y", "y\n"),
            ("script", "BEGIN { system(\"harm\") }\n"),
            ("-delete", "named like an option\n"),
            ("-oout", "named like an option\n"),
            ("--output=out", "named like an option\n"),
            ("src/a.rs", "fn main() {}\n"),
            ("src/b.rs", "// foo\n"),
        ];
        for (name, content) in files {
            fs::write(sandbox.work().join(name), content).expect("a file");
        }
        for harm in [sandbox.path().join("bin/harm"), sandbox.work().join("harm")] {
            fs::write(&harm, "#!/bin/sh\nexit 0\n").expect("a program");
            fs::set_permissions(&harm, fs::Permissions::from_mode(0o755)).expect("it can be run");
        }
        sandbox.link_tools();
        for line in [
            // The repositories lie elsewhere: who walks through the tree should have little to do.
            "git init -q -b main --template= --separate-git-dir=../git . && git add -A",
            "git -c user.name=ann -c user.email=a@example.org commit -q -m first && git repack -adq && git pack-refs --all",
            "git init -q --template= --separate-git-dir=../evil.git evil && git -C evil config core.fsmonitor harm",
            "git tag v0 && git remote add origin ../elsewhere && tar -cf a.tar src",
        ] {
            let mut setup = Command::new("bash"); // shell: the tree is made by the commands that a person would type
            sandbox.environment(&mut setup, Tools::System);
            let status = setup.args(["-c", line]).current_dir(sandbox.work()).status().expect("bash runs");
            assert!(status.success(), "{line}");
        }
        sandbox
    }

    fn link_tools(&self) {
        let tools = self.path().join("tools");
        let link = |program: &str, directory: &str, name: &str| {
            if let Some(path) = found(program) {
                symlink(path, tools.join(directory).join(name)).expect("a link");
            }
        };
        link("gawk", "gawk", "awk");
        link("mawk", "mawk", "awk");
        for applet in APPLETS.split_whitespace() {
            link("busybox", "busybox", applet);
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// What temporary files begin with: of zsh for some input, and of `sort` for much of it. The guide says so.
    pub(crate) fn temporaries(&self) -> [String; 2] {
        ["zsh", "sort"].map(|name| format!("{}/tmp/{name}", self.path().display()))
    }

    /// Gives a command nothing of our environment but where programs are.
    pub(crate) fn environment(&self, command: &mut Command, tools: Tools) {
        let root = self.path().display();
        let path = format!("{root}/tools/{}:{root}/bin:/usr/bin:/bin", tools.directory());
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path().join("home"))
            .env("TMPDIR", self.path().join("tmp"))
            .env("TMPPREFIX", self.path().join("tmp/zsh"))
            .env("LC_ALL", "C.UTF-8")
            .env("HISTFILE", "")
            // Git may write down what it learned about files; that it does so is in the guide.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(VARIABLES)
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }
}

/// Where a program is.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin"].iter().map(|directory| Path::new(directory).join(program)).find(|path| path.exists())
}
