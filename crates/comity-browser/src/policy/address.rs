//! The parts of an address that rules are about, spelled the way a browser does: scheme and host.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use unicode_normalization::UnicodeNormalization;

use super::punycode;

/// Bytes of an address.
const ADDRESS_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Schemes whose addresses have a host, however many slashes are written.
const WITH_HOST: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

/// A scheme and, where it has one, a host.
#[derive(Debug)]
pub(super) struct Address {
    /// The whole text, as a browser reads it: without line breaks, tabs and outer spaces.
    pub(super) text: String,
    pub(super) scheme: String,
    pub(super) host: Option<Host>,
}

/// A host in its one true spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Host {
    Name(String),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Address, String> {
        if url.len() > ADDRESS_BYTES_MAX {
            return Err("the address is too long".into());
        }
        let is_outside = |c: char| c <= ' ';
        let text: String =
            url.trim_matches(is_outside).chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        let (scheme, rest) = text.split_once(':').ok_or("it has no scheme, like https://")?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        if !is_scheme {
            return Err("it has no scheme, like https://".into());
        }
        let scheme = scheme.to_ascii_lowercase();
        let host = if WITH_HOST.contains(&scheme.as_str()) { Some(host_of(rest)?) } else { None };
        Ok(Address { scheme, host, text })
    }
}

fn host_of(rest: &str) -> Result<Host, String> {
    let authority = rest.trim_start_matches(['/', '\\']);
    let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let place = authority.rsplit('@').next().unwrap_or_default();
    let host = match place.rfind(']') {
        Some(end) => &place[..=end],
        None => place.split(':').next().unwrap_or_default(),
    };
    Host::parse(host)
}

impl Host {
    pub(super) fn parse(text: &str) -> Result<Host, String> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or("a bracket is open")?;
            let address: Ipv6Addr = inner.parse().map_err(|_| "this is no IPv6 address")?;
            return Ok(address.to_ipv4_mapped().map_or(Host::V6(address), Host::V4));
        }
        let name = to_ascii(&percent_decoded(text)?)?;
        // The dot at the end says only that nothing is to be added.
        let name = name.strip_suffix('.').unwrap_or(&name);
        if name.is_empty() || name.split('.').any(str::is_empty) {
            return Err("it has no host".into());
        }
        let is_forbidden = |c: char| c <= ' ' || "\"#%/:<>?@[\\]^`{|}\u{7f}".contains(c) || !c.is_ascii();
        if name.contains(is_forbidden) {
            return Err(format!("{name:?} is no host"));
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        let ends_in_number = number(last).is_some() || last.bytes().all(|byte| byte.is_ascii_digit());
        if ends_in_number {
            return v4(name).map(Host::V4).ok_or_else(|| format!("{name:?} is no IPv4 address"));
        }
        Ok(Host::Name(name.to_owned()))
    }

    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::V4(address) => address.is_loopback(),
            Host::V6(address) => address.is_loopback(),
        }
    }

    /// Like [`Host::is_loopback`], with the addresses that stand for every address of this machine.
    pub(super) fn leads_here(&self) -> bool {
        self.is_loopback()
            || match self {
                Host::Name(_) => false,
                Host::V4(address) => address.is_unspecified(),
                Host::V6(address) => address.is_unspecified(),
            }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => write!(f, "{name}"),
            Host::V4(address) => write!(f, "{address}"),
            Host::V6(address) => write!(f, "[{address}]"),
        }
    }
}

fn percent_decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits
            .filter(|digits| *byte == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*byte));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).map_err(|_| "the host is no text".into())
}

/// Lower case, compatible forms folded, labels beyond ASCII in Punycode: what is asked of the name service.
fn to_ascii(text: &str) -> Result<String, String> {
    let is_ignored =
        |c: char| matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}');
    let folded: String =
        text.chars().filter(|c| !is_ignored(*c)).flat_map(char::to_lowercase).nfkc().collect();
    let folded: String = folded.to_lowercase().nfc().map(|c| if c == '\u{3002}' { '.' } else { c }).collect();
    let labels = folded.split('.').map(|label| match label.is_ascii() {
        true => Ok(label.to_owned()),
        false => punycode::encode(label).map(|code| format!("xn--{code}")).ok_or("the host is too long"),
    });
    Ok(labels.collect::<Result<Vec<_>, _>>()?.join("."))
}

/// One part of an IPv4 address: decimal, octal (`0…`) or hexadecimal (`0x…`).
fn number(part: &str) -> Option<u64> {
    let (digits, radix) = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
        Some("") => return Some(0),
        Some(digits) => (digits, 16),
        None if part.len() > 1 && part.starts_with('0') => (&part[1..], 8),
        None => (part, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// An IPv4 address of one to four parts, the last of which fills what is left.
fn v4(name: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u64> = name.split('.').map(number).collect::<Option<_>>()?;
    let (last, before) = parts.split_last()?;
    if before.len() > 3 || before.iter().any(|part| *part > 255) {
        return None;
    }
    let free = 8 * (4 - before.len() as u32);
    if *last >= 1 << free {
        return None;
    }
    let high = before.iter().enumerate().map(|(index, part)| part << (24 - 8 * index)).sum::<u64>();
    u32::try_from(high + last).ok().map(Ipv4Addr::from)
}
