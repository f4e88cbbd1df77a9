//! Releases code that only the start needs: most of what a small process has in memory.

use std::fs;
use std::path::Path;

/// Releases the pages of code that were needed until now. Those that are needed again are read from the file; they
/// are never written.
pub(super) fn let_go() {
    advise(libc::MADV_DONTNEED);
}

fn advise(what: libc::c_int) {
    let Ok(program) = fs::read_link("/proc/self/exe") else { return };
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (start, length) in maps.lines().filter_map(|line| code(line, &program)) {
        #[expect(
            unsafe_code,
            reason = "pages of code that are mapped from a file, and are the same when they come back"
        )]
        // If it fails they stay as they are.
        let _ = unsafe { libc::madvise(start as *mut libc::c_void, length, what) };
    }
}

/// A mapping's address and length, if it is code of the program: `00400000-0046b000 r-xp 00000000 fe:00 1234
/// /usr/bin/comity`.
fn code(line: &str, program: &Path) -> Option<(usize, usize)> {
    let mut fields = line.split_whitespace();
    let (range, rights) = (fields.next()?, fields.next()?);
    let is_of_program = line.find('/').is_some_and(|path| Path::new(&line[path..]) == program);
    let (start, end) = range.split_once('-')?;
    let at = |text: &str| usize::from_str_radix(text, 16).ok();
    let (start, end) = (at(start)?, at(end)?);
    (rights == "r-xp" && is_of_program).then_some((start, end.checked_sub(start)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_program_goes() {
        let program = Path::new("/opt/a b/comity");
        for (line, expected) in [
            ("00400000-00401000 r-xp 00000000 fe:00 12   /opt/a b/comity", Some((0x40_0000, 0x1000))),
            ("00400000-00401000 r--p 00000000 fe:00 12   /opt/a b/comity", None),
            ("00400000-00401000 rw-p 00000000 fe:00 12   /opt/a b/comity", None),
            ("00400000-00401000 r-xp 00000000 fe:00 12   /usr/lib/libc.so.6", None),
            ("7ffe0000-7ffe1000 r-xp 00000000 00:00 0    [vdso]", None),
            ("7ffe0000-7ffe1000 rw-p 00000000 00:00 0", None),
        ] {
            assert_eq!(code(line, program), expected, "{line}");
        }
    }

    #[test]
    fn code_that_is_needed_again_comes_back() {
        let resident = || -> usize {
            let program = fs::read_link("/proc/self/exe").expect("a program");
            let smaps = fs::read_to_string("/proc/self/smaps").expect("mappings");
            let mut is_code = false;
            let sizes = smaps.lines().filter_map(|line| {
                if line.contains('-') && !line.starts_with(char::is_uppercase) {
                    is_code = code(line, &program).is_some();
                }
                let size = line.strip_prefix("Rss:").filter(|_| is_code)?;
                size.trim().strip_suffix(" kB")?.parse::<usize>().ok()
            });
            sizes.sum()
        };
        advise(libc::MADV_POPULATE_READ);
        let before = resident();
        let_go();
        let after = resident();
        assert!(after < before / 2, "{before} kB, then {after} kB");
    }
}
