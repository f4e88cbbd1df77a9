//! What may be loaded: schemes and domains. Pure; Firefox is made to obey it by intercepting its requests.

mod address;

use std::fmt;

use crate::error::{BrowserError, Result};
use address::{Address, Host};

/// Rules in one list.
const RULES_MAX: usize = 1000;
/// What a page contains or generates itself: no request leaves the browser for it.
const WITHOUT_NETWORK: [&str; 3] = ["about", "blob", "data"];
/// Schemes of network requests; those of WebSockets are reported as such or as `http`.
const NETWORK: [&str; 4] = ["http", "https", "ws", "wss"];

/// What is being loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadKind {
    /// A page, in a tab.
    Page,
    /// Something that a page requests: a frame, a script, a picture, a redirection, a WebSocket.
    Part,
}

/// Whether this machine itself may be visited when no rule says anything about it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Loopback {
    /// `localhost`, `127.0.0.1` and `[::1]` are allowed unless they are denied.
    #[default]
    Allowed,
    /// They need a rule like any other host.
    ByRule,
}

/// What may be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    schemes: Vec<String>,
    allow: Vec<HostRule>,
    deny: Vec<HostRule>,
    loopback: Loopback,
}

/// Hosts: one name, all names below one (`*.example.com`), or all (`*`).
#[derive(Clone, PartialEq, Eq, Debug)]
enum HostRule {
    Exactly(Host),
    Below(String),
    All,
}

impl Default for Policy {
    /// Pages from the web and empty ones, from every host.
    fn default() -> Policy {
        Policy {
            schemes: ["http", "https", "about:blank"].map(str::to_owned).to_vec(),
            allow: Vec::new(),
            deny: Vec::new(),
            loopback: Loopback::Allowed,
        }
    }
}

impl Policy {
    /// Limits hosts: an empty `allow` allows all; those in `deny`, and anything below them, are never allowed.
    pub fn new(allow: &[impl AsRef<str>], deny: &[impl AsRef<str>]) -> Result<Policy> {
        if allow.len().max(deny.len()) > RULES_MAX {
            return Err(BrowserError::invalid(format!("a list has more than {RULES_MAX} domains")));
        }
        let allow = allow.iter().map(|rule| HostRule::parse(rule.as_ref())).collect::<Result<_>>()?;
        let deny = deny.iter().map(|rule| HostRule::parse(rule.as_ref())).collect::<Result<_>>()?;
        Ok(Policy { allow, deny, ..Policy::default() })
    }

    /// Sets what addresses of pages may begin with: schemes, or whole addresses like `about:blank`.
    pub fn with_schemes(self, schemes: &[impl AsRef<str>]) -> Policy {
        let schemes = schemes.iter().map(|scheme| scheme.as_ref().to_ascii_lowercase()).collect();
        Policy { schemes, ..self }
    }

    /// Sets whether this machine itself may be visited.
    pub fn with_loopback(self, loopback: Loopback) -> Policy {
        Policy { loopback, ..self }
    }

    /// Whether any host is forbidden, so that requests have to be checked.
    pub(crate) fn limits_hosts(&self) -> bool {
        !self.allow.is_empty() || !self.deny.is_empty() || self.loopback == Loopback::ByRule
    }

    /// The rules about hosts, for the script inside Firefox that checks requests of workers, too.
    pub(crate) fn host_rules(&self) -> serde_json::Value {
        let spelled = |rules: &[HostRule]| rules.iter().map(HostRule::spelled_by_firefox).collect::<Vec<_>>();
        serde_json::json!({
            "allow": spelled(&self.allow),
            "deny": spelled(&self.deny),
            "loopback": self.loopback == Loopback::Allowed,
        })
    }

    /// Allows an address, or names the rule that forbids it.
    pub fn check(&self, url: &str, load: LoadKind) -> Result<()> {
        self.judge(url, load).map_err(|rule| BrowserError::Blocked { url: url.to_owned(), rule })
    }

    fn judge(&self, url: &str, load: LoadKind) -> std::result::Result<(), String> {
        let address = Address::parse(url)?;
        let scheme = address.url.scheme();
        let is_known = match load {
            LoadKind::Page => self
                .schemes
                .iter()
                .any(|known| known == scheme || known.eq_ignore_ascii_case(address.url.as_str())),
            LoadKind::Part if WITHOUT_NETWORK.contains(&scheme) => return Ok(()),
            LoadKind::Part => NETWORK.contains(&scheme) || self.schemes.iter().any(|known| known == scheme),
        };
        if !is_known {
            return Err(format!("{scheme}: is not among the schemes {}", self.schemes.join(", ")));
        }
        let Some(host) = &address.host else { return Ok(()) };
        if let Some(rule) = self.deny.iter().find(|rule| rule.covers(host)) {
            return Err(format!("{host} is denied by {rule}"));
        }
        let is_free = match self.loopback {
            Loopback::Allowed => host.is_loopback() || self.allow.is_empty(),
            Loopback::ByRule => !host.leads_here() && self.allow.is_empty(),
        };
        if is_free || self.allow.iter().any(|rule| rule.matches(host)) {
            return Ok(());
        }
        let allowed: Vec<String> = self.allow.iter().map(HostRule::to_string).collect();
        Err(format!("{host} is not among the allowed domains ({})", allowed.join(", ")))
    }
}

impl HostRule {
    fn parse(text: &str) -> Result<HostRule> {
        let wrong = |why: &str| BrowserError::invalid(format!("{text:?} isn't a domain: {why}"));
        let text_of_rule = text.trim();
        if text_of_rule == "*" {
            return Ok(HostRule::All);
        }
        if text_of_rule.contains(['/', '@', '?', '#']) {
            return Err(wrong("give the host alone, like example.com or *.example.com"));
        }
        let (is_below, name) = match text_of_rule.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, text_of_rule),
        };
        if name.contains('*') {
            return Err(wrong("a star stands only at its beginning, as in *.example.com"));
        }
        // A port would look as if it limited something; hosts are limited as a whole.
        let is_bare_v6 = name.matches(':').count() > 1;
        if name.contains(':') && !is_bare_v6 {
            return Err(wrong("ports are not limited"));
        }
        let spelled =
            if is_bare_v6 && !name.starts_with('[') { format!("[{name}]") } else { name.to_owned() };
        match (Host::parse(&spelled).map_err(|why| wrong(&why))?, is_below) {
            (Host::Name(name), true) => Ok(HostRule::Below(name)),
            (Host::V4(_) | Host::V6(_), true) => Err(wrong("addresses have no subdomains")),
            (host, false) => Ok(HostRule::Exactly(host)),
        }
    }

    /// The host of an address, as Firefox spells it.
    fn spelled_by_firefox(&self) -> String {
        match self {
            HostRule::Exactly(Host::V6(address)) => address.to_string(),
            HostRule::Exactly(Host::Name(_) | Host::V4(_)) | HostRule::Below(_) | HostRule::All => {
                self.to_string()
            }
        }
    }

    /// Whether a denial covers this host: whoever owns a name can have any name below it.
    fn covers(&self, host: &Host) -> bool {
        let is_below = match self {
            HostRule::Exactly(Host::Name(name)) => HostRule::Below(name.clone()).matches(host),
            HostRule::Exactly(Host::V4(_) | Host::V6(_)) | HostRule::Below(_) | HostRule::All => false,
        };
        is_below || self.matches(host)
    }

    fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (HostRule::All, _) => true,
            (HostRule::Exactly(wanted), host) => wanted == host,
            (HostRule::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1)
            }
            (HostRule::Below(_), Host::V4(_) | Host::V6(_)) => false,
        }
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostRule::Exactly(host) => write!(f, "{host}"),
            HostRule::Below(name) => write!(f, "*.{name}"),
            HostRule::All => write!(f, "*"),
        }
    }
}

#[cfg(test)]
mod tests;
