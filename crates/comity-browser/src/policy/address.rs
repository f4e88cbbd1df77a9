//! The parts of an address that rules are about, spelled as a browser does: scheme and host.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use url::{ParseError, Url};

const ADDRESS_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Schemes with a host that is looked up on the network.
const WITH_HOST: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

/// An address and, if its scheme has one, its host.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) url: Url,
    pub(super) host: Option<Host>,
}

/// A host in its canonical spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Host {
    Name(String),
    V4(Ipv4Addr),
    /// Not one that stands for an IPv4 address: that is a [`Host::V4`].
    V6(Ipv6Addr),
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Address, String> {
        if text.len() > ADDRESS_BYTES_MAX {
            return Err("the address is too long".into());
        }
        let url = Url::parse(text).map_err(problem)?;
        let host = match (WITH_HOST.contains(&url.scheme()), url.host()) {
            (true, Some(host)) => Some(Host::of(host.to_owned())?),
            (true, None) => return Err(problem(ParseError::EmptyHost)),
            (false, _) => None,
        };
        Ok(Address { url, host })
    }
}

impl Host {
    pub(super) fn parse(text: &str) -> Result<Host, String> {
        Host::of(url::Host::parse(text).map_err(problem)?)
    }

    fn of(host: url::Host) -> Result<Host, String> {
        match host {
            url::Host::Domain(name) => {
                // The trailing dot only says that nothing is to be appended.
                let name = name.strip_suffix('.').unwrap_or(&name);
                match name.split('.').any(str::is_empty) {
                    true => Err(problem(ParseError::EmptyHost)),
                    false => Ok(Host::Name(name.to_owned())),
                }
            }
            url::Host::Ipv4(address) => Ok(Host::V4(address)),
            url::Host::Ipv6(address) => Ok(address.to_ipv4_mapped().map_or(Host::V6(address), Host::V4)),
        }
    }

    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::V4(address) => address.is_loopback(),
            Host::V6(address) => address.is_loopback(),
        }
    }

    /// Like [`Host::is_loopback`], but includes the addresses that stand for every address of this machine.
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

fn problem(error: ParseError) -> String {
    match error {
        ParseError::RelativeUrlWithoutBase | ParseError::RelativeUrlWithCannotBeABaseBase => {
            "it has no scheme, like https://".into()
        }
        ParseError::EmptyHost => "it has no host".into(),
        ParseError::IdnaError | ParseError::InvalidDomainCharacter => "there is no host of that name".into(),
        ParseError::InvalidIpv4Address => "this isn't an IPv4 address".into(),
        ParseError::InvalidIpv6Address => "this isn't an IPv6 address".into(),
        ParseError::InvalidPort => "this isn't a port".into(),
        other => other.to_string(),
    }
}
