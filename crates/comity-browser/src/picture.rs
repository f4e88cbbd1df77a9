//! Picture files: Base64, and their dimensions.

use data_encoding::BASE64_NOPAD;

/// Decodes Base64, padded or not; `None` if it is not valid.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64_NOPAD.decode(text.trim_end_matches('=').as_bytes()).ok()
}

/// Width and height of a PNG or a JPEG.
pub(crate) fn size_of(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => {
            let edge = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
            Some((edge(16)?, edge(20)?))
        }
        [0xFF, 0xD8, rest @ ..] => size_of_jpeg(rest),
        _ => None,
    }
}

/// Skips segments until the one that begins the picture.
fn size_of_jpeg(mut rest: &[u8]) -> Option<(u32, u32)> {
    loop {
        let [0xFF, marker, high, low, body @ ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let is_frame = matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
        if is_frame {
            let [_, height_high, height_low, width_high, width_low, ..] = body else { return None };
            let width = u16::from_be_bytes([*width_high, *width_low]);
            let height = u16::from_be_bytes([*height_high, *height_low]);
            return Some((width.into(), height.into()));
        }
        rest = rest.get(2 + length..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        let table: [(&str, Option<&[u8]>); 8] = [
            ("", Some(b"")),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYg", Some(b"foob")),
            ("+/+/", Some(&[0xFB, 0xFF, 0xBF])),
            ("Z", None),
            ("Zm9-", None),
        ];
        for (text, expected) in table {
            assert_eq!(decoded(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn sizes_are_read_from_the_head() {
        let mut file = Vec::new();
        png::Encoder::new(&mut file, 300, 7).write_header().unwrap();
        assert_eq!(size_of(&file), Some((300, 7)));
        let jpeg = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 11, 8, 0, 7, 1, 44, 1, 1, 0x11, 0];
        assert_eq!(size_of(&jpeg), Some((300, 7)));
        for end in 0..12 {
            assert_eq!(size_of(&jpeg[..end]), None);
        }
        assert_eq!(size_of(b"GIF89a"), None);
    }
}
