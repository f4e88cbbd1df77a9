//! Where the server keeps its state and listens.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

/// The longest socket path that every platform accepts.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The state directory of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

/// There is no place for the state.
#[derive(Debug)]
pub struct HomeError;

impl fmt::Display for HomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no state directory: set COMITY_HOME to an absolute path, or HOME")
    }
}

impl std::error::Error for HomeError {}

impl Home {
    /// The directory that the environment names: `COMITY_HOME`, otherwise the platform's place for state.
    pub fn from_env() -> Result<Home, HomeError> {
        let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(given) = env::var_os("COMITY_HOME").filter(|given| !given.is_empty()) {
            let given = PathBuf::from(given);
            let absolute = if given.is_absolute() {
                Some(given)
            } else {
                env::current_dir().ok().map(|dir| dir.join(given))
            };
            return absolute.map(Home).ok_or(HomeError);
        }
        if let Some(state) = set("XDG_STATE_HOME") {
            return Ok(Home(state.join("comity")));
        }
        set("HOME").map(|user| Home::of_user(&user)).ok_or(HomeError)
    }

    /// The directory of a user whose environment names none.
    pub fn of_user(user: &Path) -> Home {
        let place = if cfg!(target_os = "macos") {
            "Library/Application Support/comity"
        } else {
            ".local/state/comity"
        };
        Home(user.join(place))
    }

    /// The state directory at a path.
    pub fn at(path: impl Into<PathBuf>) -> Home {
        Home(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file with the hash of a first token, laid down before the directory is used.
    pub fn first_token(&self) -> PathBuf {
        self.0.join("first-token")
    }

    /// The socket. If the directory's path is too long, a short name in a private place stands for it.
    pub fn socket(&self) -> PathBuf {
        let inside = self.0.join("comity.sock");
        if inside.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
            return inside;
        }
        let name = format!("comity-{:016x}.sock", fnv(self.0.as_os_str().as_encoded_bytes()));
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
        match runtime
            .map(|dir| dir.join(&name))
            .filter(|path| path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX)
        {
            Some(path) => path,
            None => short_dir().join(name),
        }
    }
}

/// A directory of this user; both ends check that nobody else made it.
fn short_dir() -> PathBuf {
    Path::new("/tmp").join(format!("comity-{}", rustix::process::geteuid().as_raw()))
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The person's settings file.
pub fn user_settings() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(config.join("comity").join("comity.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_home_gets_a_short_socket() {
        let long = Home::at(format!("/{}", "x".repeat(200)));
        assert!(long.socket().as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
        assert_eq!(Home::at("/srv/state").socket(), Path::new("/srv/state/comity.sock"));
    }
}
