//! Which files a piece of code in another language may write: those that it names, if it has a word that writes.

use crate::limits::{CODE_BYTES_MAX, CODE_NAMES_MAX};

/// Words of several languages that change a file.
const WRITING: &str = "write_text write_bytes writeFile appendFile createWriteStream unlink rename remove( rmtree rmSync copyfile copyFile \
    shutil. truncate File.write file_put_contents symlink os.link chmod";

/// The quoted paths in code that changes files.
pub(super) fn written(code: &str) -> Vec<String> {
    if code.len() > CODE_BYTES_MAX || !writes(code) {
        return Vec::new();
    }
    let mut names = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(['\'', '"', '`']) {
        let quote = &rest[start..=start];
        let Some(length) = rest[start + 1..].find(quote) else { break };
        let text = &rest[start + 1..start + 1 + length];
        if is_path(text) && names.len() < CODE_NAMES_MAX {
            names.push(text.to_owned());
        }
        // If it is not a path, the end of this quote may be the beginning of another.
        rest = &rest[start + 1 + if is_path(text) { length + 1 } else { 0 }..];
    }
    names
}

/// Whether code has a word that changes a file, or opens one for that.
fn writes(code: &str) -> bool {
    WRITING.split_ascii_whitespace().any(|word| code.contains(word))
        || (code.contains("open") && opens_to_write(code))
}

/// Whether a second argument is a mode like `'w'`, `"ab"` or `'>'`.
fn opens_to_write(code: &str) -> bool {
    code.match_indices([',', '=']).any(|(at, _)| {
        let mode = code[at + 1..].trim_start();
        let Some(quote) = mode.chars().next().filter(|quote| matches!(quote, '\'' | '"')) else {
            return false;
        };
        let mode = mode[1..].split(quote).next().unwrap_or_default();
        let is_mode = mode.len() <= 3 && mode.bytes().all(|byte| b"waxrbt+<".contains(&byte));
        mode.starts_with('>') || (is_mode && mode.contains(['w', 'a', 'x', '+']))
    })
}

/// Whether a text looks like the path of a file: no blanks, and a slash or an extension.
fn is_path(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-+@".contains(&byte) || byte >= 0x80;
    let has_ending = text.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    !text.is_empty() && text.bytes().all(is_plain) && (text.contains('/') || has_ending)
}
