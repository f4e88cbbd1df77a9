//! Becoming another program, with everything else left as it is.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::sys;

/// A program to become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecTarget {
    /// Its file, or a name that is looked for on the PATH.
    pub file: PathBuf,
    /// Its arguments, the first of which is its own name.
    pub args: Vec<OsString>,
    /// Variables that are changed or, without a value, removed.
    pub env: Vec<(&'static str, Option<OsString>)>,
}

impl ExecTarget {
    /// Becomes the program; returns only if that cannot be done.
    pub fn exec(&self) -> io::Error {
        match self.texts() {
            Ok((file, args, env)) => sys::exec(&file, &args, &env),
            Err(error) => error,
        }
    }

    fn texts(&self) -> io::Result<(CString, Vec<CString>, Vec<CString>)> {
        let text = |text: Vec<u8>| CString::new(text).map_err(io::Error::from);
        let file = text(self.found()?.into_os_string().into_vec())?;
        let args = self.args.iter().map(|arg| text(arg.as_bytes().to_vec()));
        let is_changed = |name: &OsStr| self.env.iter().any(|(changed, _)| OsStr::new(changed) == name);
        let kept = std::env::vars_os().filter(|(name, _)| !is_changed(name));
        let set = self.env.iter().filter_map(|(name, value)| Some(((*name).into(), value.clone()?)));
        let env = kept.chain(set).map(|(name, value): (OsString, OsString)| {
            text([name.as_bytes(), b"=", value.as_bytes()].concat())
        });
        Ok((file, args.collect::<io::Result<_>>()?, env.collect::<io::Result<_>>()?))
    }

    fn found(&self) -> io::Result<PathBuf> {
        if self.file.as_os_str().as_bytes().contains(&b'/') {
            return Ok(self.file.clone());
        }
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let found =
            std::env::split_paths(&path).map(|dir| dir.join(&self.file)).find(|file| is_program(file));
        found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
