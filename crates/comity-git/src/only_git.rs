//! Keeps git from running any program but itself, whatever the repository's settings say by then.
//!
//! Settings that would make it run one are switched off for each call, but whoever writes the repository's settings
//! may do so after they were read. The kernel leaves no such gap. Without Landlock, or if git is a script, the
//! settings have to do.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;

use crate::programs::{find_program, git_program};

/// The version of the kernel's interface that lets files be moved between directories.
const VERSION_MIN: i64 = 2;
const VERSION: u32 = 1;
const PATH_BENEATH: u32 = 1;
const EXECUTE: u64 = 1;
const REFER: u64 = 1 << 13;
const WRITE_FILE: u64 = 1 << 1;
/// Writing to files, and making and removing whatever there is.
const WRITE: u64 = WRITE_FILE | 0b1_1111_1111 << 4;
/// What merges nothing: see the settings for drivers of merges.
const FALSE: &str = "false";
/// Bytes of a program that are searched for its loader.
const HEAD_BYTES: usize = 65_536;

/// Starts git such that it and all that it starts can run nothing but git, and write only below these places, if there are any.
pub(crate) fn spawn(command: &mut Command, writes: &[PathBuf]) -> io::Result<Child> {
    let Some(rules) = rules(writes) else { return command.spawn() };
    // The kernel restricts a thread, and what it starts. This one ends right after.
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| {
            rustix::thread::set_no_new_privs(true)?;
            restrict(&rules)?;
            command.spawn()
        });
        starting.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts git panicked")))
    })
}

/// What may be run, as it is now: git may have been replaced since the last time.
pub(crate) fn rules(writes: &[PathBuf]) -> Option<OwnedFd> {
    static IS_KNOWN: OnceLock<bool> = OnceLock::new();
    if !IS_KNOWN.get_or_init(|| version() >= VERSION_MIN) {
        return None;
    }
    let git = Some(git_program().to_owned()).filter(|git| git.is_file())?;
    let loader = loader(&git)?;
    let rules = ruleset(EXECUTE | REFER | if writes.is_empty() { 0 } else { WRITE }).ok()?;
    if !writes.is_empty() {
        // Where that fails, git does.
        writes.iter().for_each(|place| drop(allow(&rules, place, WRITE)));
        let _ = allow(&rules, Path::new("/dev/null"), WRITE_FILE);
    }
    allow(&rules, Path::new("/"), REFER).ok()?;
    let programs = [Some(git), own_programs(), loader, find_program(FALSE)];
    programs.into_iter().flatten().try_for_each(|program| allow(&rules, &program, EXECUTE)).ok()?;
    Some(rules)
}

/// The directory in which git keeps its programs.
fn own_programs() -> Option<PathBuf> {
    static DIR: OnceLock<Option<PathBuf>> = OnceLock::new();
    let ask = || {
        let output = Command::new(git_program()).arg("--exec-path").output().ok()?;
        Some(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())).filter(|dir| dir.is_dir())
    };
    DIR.get_or_init(ask).clone()
}

/// The loader of a program; the inner `None` for a static one, the outer if it is no native program, such as a
/// script.
fn loader(program: &Path) -> Option<Option<PathBuf>> {
    const LOADER: u32 = 3;
    let mut head = Vec::new();
    File::open(program).ok()?.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    let is_program = head.starts_with(b"\x7fELF\x02")
        && head.get(5) == Some(&u8::from(cfg!(target_endian = "big")).saturating_add(1));
    if !is_program {
        return None;
    }
    let bytes = |at: usize, count: usize| head.get(at..at.checked_add(count)?);
    let long = |at: usize| Some(u64::from_ne_bytes(bytes(at, 8)?.try_into().ok()?) as usize);
    let short = |at: usize| Some(usize::from(u16::from_ne_bytes(bytes(at, 2)?.try_into().ok()?)));
    let (table, size, count) = (long(32)?, short(54)?, short(56)?);
    for number in 0..count {
        let entry = table.checked_add(number.checked_mul(size)?)?;
        if u32::from_ne_bytes(bytes(entry, 4)?.try_into().ok()?) == LOADER {
            let name = bytes(long(entry.checked_add(8)?)?, long(entry.checked_add(32)?)?)?;
            let name = name.strip_suffix(b"\0").unwrap_or(name).to_vec();
            return Some(Some(std::ffi::OsString::from_vec(name).into()));
        }
    }
    Some(None)
}

#[repr(C)]
struct Handled {
    access: u64,
}

#[repr(C, packed)]
struct GitChildren {
    access: u64,
    parent: i32,
}

#[expect(unsafe_code, reason = "rustix does not have Landlock")]
fn version() -> i64 {
    // SAFETY: without a pointer it only answers.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<Handled>(), 0_usize, VERSION) }
}

#[expect(unsafe_code, reason = "rustix does not have Landlock")]
fn ruleset(access: u64) -> io::Result<OwnedFd> {
    let handled = Handled { access };
    // SAFETY: the pointer is to a value that outlives the call, and the size is its own.
    let made = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, &raw const handled, size_of::<Handled>(), 0_u32)
    };
    let number = i32::try_from(made).ok().filter(|number| *number >= 0);
    let number = number.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: it was just made, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[expect(unsafe_code, reason = "rustix does not have Landlock")]
fn allow(rules: &OwnedFd, path: &Path, access: u64) -> io::Result<()> {
    let place = rustix::fs::open(
        path,
        rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )?;
    let beneath = GitChildren { access, parent: place.as_raw_fd() };
    // SAFETY: the pointer is to a value of this kind that outlives the call.
    let done = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, rules.as_raw_fd(), PATH_BENEATH, &raw const beneath, 0_u32)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "rustix does not have Landlock")]
fn restrict(rules: &OwnedFd) -> io::Result<()> {
    // SAFETY: it takes two numbers.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
