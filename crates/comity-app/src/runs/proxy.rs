//! The way out of a sandbox to the network: HTTP, and tunnels by CONNECT, to hosts that somebody has allowed.
//!
//! The server resolves names. What is this machine's own, or on a private network, is allowed by its address, whatever name
//! leads there; the server's own door for HTTP never is.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use comity_core::permissions::{
    AnswerDelivery, Judgement, PermissionAsk, ToolCall, ToolClass, asks_first, host_is_let, host_matches,
    judge,
};
use comity_core::{AgentId, Ask, Principal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use url::Host;

use crate::application::Application;
use crate::engine::Failed;
use crate::operations::permissions::ask::{patience, put};
use crate::operations::permissions::reading::{self, NETWORK};

/// Connections of one sandbox at a time.
const CONNECTIONS_MAX: usize = 128;
/// Bytes before the end of a request's headers.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// How long a request may take to say where it is to go.
const HEAD_MAX: Duration = Duration::from_secs(10);
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a connection may be silent.
const IDLE_MAX: Duration = Duration::from_secs(60 * 60);
const COPY_BYTES: usize = 32 * 1024;
/// What of this connection alone goes no further.
const OF_THE_CONNECTION: [&str; 6] =
    ["connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "upgrade"];

/// What one sandbox is let.
pub(super) struct Proxy {
    app: Application,
    agent: AgentId,
    connections: AtomicUsize,
    /// What somebody has let it reach until it ends, each with the turn to ask about it: many connections are one question.
    hosts: Mutex<BTreeMap<String, Arc<Mutex<bool>>>>,
}

impl Proxy {
    pub(super) fn of(app: &Application, agent: AgentId) -> Arc<Proxy> {
        let (app, connections, hosts) = (app.clone(), AtomicUsize::new(0), Mutex::default());
        Arc::new(Proxy { app, agent, connections, hosts })
    }
}

/// Serves a connection on a thread of its own.
pub(super) fn take(proxy: &Arc<Proxy>, stream: TcpStream) {
    let proxy = Arc::clone(proxy);
    if proxy.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
        let why = format!("this sandbox has {CONNECTIONS_MAX} connections already");
        refuse(&stream, "503 Service Unavailable", &why);
        proxy.connections.fetch_sub(1, Ordering::AcqRel);
        return;
    }
    let thread = std::thread::Builder::new().name("proxy".into()).stack_size(256 * 1024);
    let counted = Arc::clone(&proxy);
    let spawned = thread.spawn(move || {
        let _ = serve(&proxy, stream);
        proxy.connections.fetch_sub(1, Ordering::AcqRel);
    });
    if spawned.is_err() {
        counted.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

fn serve(proxy: &Proxy, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(HEAD_MAX))?;
    let (head, rest) = match read_head(&mut stream) {
        Ok(read) => read,
        Err(error) => {
            refuse(&stream, "400 Bad Request", &error.to_string());
            return Ok(());
        }
    };
    let request = match Request::parse(&head) {
        Ok(request) => request,
        Err(why) => {
            refuse(&stream, "400 Bad Request", why);
            return Ok(());
        }
    };
    let target = match connect(proxy, &request.host, request.port) {
        Ok(target) => target,
        Err(Denied::Host(why)) => {
            refuse(&stream, "403 Forbidden", &why);
            return Ok(());
        }
        Err(Denied::Unreachable(why)) => {
            refuse(&stream, "502 Bad Gateway", &why);
            return Ok(());
        }
    };
    match &request.forwarded {
        None => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        Some(head) => (&target).write_all(head.as_bytes())?,
    }
    (&target).write_all(&rest)?;
    copy(&stream, &target)
}

fn refuse(mut stream: &TcpStream, status: &str, why: &str) {
    let body = format!("Comity: {why}\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nx-comity: {}\r\nconnection: close\r\n\r\n{body}",
        body.len(),
        why.replace(['\r', '\n'], " "),
    );
    let _ = stream.set_write_timeout(Some(HEAD_MAX));
    let _ = stream.write_all(answer.as_bytes());
}

/// The lines of a request up to the empty one, and what came behind them.
fn read_head(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            let head = String::from_utf8(bytes).map_err(|_| io::Error::other("the request isn't text"))?;
            return Ok((head, rest));
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(io::Error::other("the request's headers are too long"));
        }
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Where a request is to go.
#[derive(Debug)]
struct Request {
    /// In lower case; an address as the standard library writes it.
    host: String,
    port: u16,
    /// What goes there first; nothing in a tunnel.
    forwarded: Option<String>,
}

impl Request {
    fn parse(head: &str) -> Result<Request, &'static str> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("this isn't an HTTP request");
        };
        if method == "CONNECT" {
            let (host, port) = target.rsplit_once(':').ok_or("CONNECT needs a host and a port")?;
            let port = port.parse().map_err(|_| "CONNECT needs a port")?;
            return Ok(Request { host: host_of(host)?, port, forwarded: None });
        }
        let rest = target
            .strip_prefix("http://")
            .ok_or("this is a proxy: it takes CONNECT, and http:// addresses")?;
        let (authority, path) = rest.find(['/', '?']).map_or((rest, "/"), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err("an address has no user here");
        }
        let has_port =
            authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let (host, port) = match has_port {
            Some((host, port)) => (host, port.parse().map_err(|_| "this isn't a port")?),
            None => (authority, 80),
        };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let mut forwarded =
            format!("{method} {path} {version}\r\nHost: {authority}\r\nConnection: close\r\n");
        for line in lines.filter(|line| !line.is_empty()) {
            let name = line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
            if !OF_THE_CONNECTION.contains(&&*name) {
                forwarded += line;
                forwarded += "\r\n";
            }
        }
        forwarded += "\r\n";
        Ok(Request { host: host_of(host)?, port, forwarded: Some(forwarded) })
    }
}

/// A host in the one spelling that is judged: addresses in all their spellings are the same address.
fn host_of(text: &str) -> Result<String, &'static str> {
    match Host::parse(text.trim_end_matches('.')) {
        Ok(Host::Domain(name)) => Ok(name),
        Ok(Host::Ipv4(address)) => Ok(address.to_string()),
        Ok(Host::Ipv6(address)) => Ok(plain(address.into()).to_string()),
        Err(_) => Err("this isn't a host"),
    }
}

enum Denied {
    Host(String),
    Unreachable(String),
}

/// Connects to a host, once somebody has allowed it.
fn connect(proxy: &Proxy, host: &str, port: u16) -> Result<TcpStream, Denied> {
    proxy.may_reach(host, port).map_err(Denied::Host)?;
    let unreachable =
        |error: io::Error| Denied::Unreachable(format!("{host}:{port} can't be reached: {error}"));
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: BTreeSet<SocketAddr> = (bare, port).to_socket_addrs().map_err(unreachable)?.collect();
    let mut last = Denied::Unreachable(format!("{host} has no address"));
    for address in addresses {
        let address = SocketAddr::new(plain(address.ip()), port);
        // A name may lead anywhere, and elsewhere a moment later.
        if is_near(address.ip())
            && let Err(why) = proxy.may_reach_near(host, address)
        {
            last = Denied::Host(why);
            continue;
        }
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(stream) => {
                let is_here = stream.local_addr().is_ok_and(|own| own.ip() == address.ip());
                if is_here && let Err(why) = proxy.may_reach_near(host, address) {
                    last = Denied::Host(why);
                    continue;
                }
                return Ok(stream);
            }
            Err(error) => last = unreachable(error),
        }
    }
    Err(last)
}

/// An IPv4 address that is written as one of IPv6 is what it is.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Whether an address is this machine's own, or of a network that the world can't reach.
fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_broadcast()
                || address.is_multicast()
                || first == 0
                || first >= 240
                // Shared by the customers of a provider, and for benchmarks.
                || (first == 100 && (64..128).contains(&second))
                || (first == 198 && (18..20).contains(&second))
                || address == Ipv4Addr::new(192, 0, 0, 8)
        }
        IpAddr::V6(address) => {
            let [first, second, ..] = address.segments();
            address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || (first & 0xfe00) == 0xfc00
                || (first & 0xffc0) == 0xfe80
                || (first & 0xffc0) == 0xfec0
                // Addresses of IPv4 in other clothes: 6to4, NAT64, Teredo.
                || first == 0x2002
                || (first == 0x64 && second == 0xff9b)
                || (first == 0x2001 && second == 0)
                || address.segments()[..6] == [0; 6]
        }
    }
}

impl Proxy {
    /// Whether this address may be reached, on this machine or near it; its name has been allowed.
    fn may_reach_near(&self, host: &str, address: SocketAddr) -> Result<(), String> {
        let own = url::Url::parse(&self.app.server().url).ok().and_then(|url| url.port_or_known_default());
        if own == Some(address.port()) && (address.ip().is_loopback() || address.ip().is_unspecified()) {
            return Err("that is Comity's own door, which no sandbox may reach".into());
        }
        let ip = address.ip().to_string();
        match host == ip {
            true => Ok(()),
            false => {
                self.may_reach(&ip, address.port()).map_err(|why| format!("{host} leads to {ip}; {why}"))
            }
        }
    }

    /// Asks, if nothing has been said about a host yet.
    fn may_reach(&self, host: &str, port: u16) -> Result<(), String> {
        let place = format!("{host}:{port}");
        let turn = Arc::clone(locked(&self.hosts).entry(place.clone()).or_default());
        let mut is_let = locked(&turn);
        let asked = self.ask_about(host, call(host, port), *is_let);
        match asked {
            Ok(()) => *is_let = true,
            Err(_) => drop(locked(&self.hosts).remove(&place)),
        }
        asked
    }

    fn ask_about(&self, host: &str, call: ToolCall, is_let: bool) -> Result<(), String> {
        let who = Principal::Agent(self.agent);
        let settings = &self.app.config().sandbox;
        if let Some(rule) = settings.deny.iter().find(|rule| host_matches(rule, host)) {
            return Err(format!("{host} is denied by the setting sandbox.deny ({rule})"));
        }
        {
            let world = self.app.engine().world();
            if let Judgement::Denied { reason } = judge(&world, self.agent, &call) {
                return Err(format!("{host} is denied: {reason}"));
            }
            let is_set = settings.allow.iter().any(|rule| host_is_let(rule, host));
            if is_let || (is_set && !asks_first(&world, self.agent, &call)) {
                return Ok(());
            }
        }
        let when = put(&self.app, self.agent, &call, patience(&self.app), AnswerDelivery::Waits);
        let when = when.map_err(|_| format!("nobody could be asked about {host}"))?;
        let used = Ask::Permission(PermissionAsk::Use { call: Box::new(call) });
        let answered = match when {
            Some(when) => self.app.engine().ask_when(who, used, when),
            None => self.app.engine().ask(who, used),
        };
        answered.map(drop).map_err(|failed| match failed {
            Failed::Refused(refusal) => format!("{host} may not be reached: {refusal}"),
            Failed::Fault(fault) => format!("nobody could be asked about {host}: {fault}"),
        })
    }
}

/// The wish to reach a host, as the rules see it.
fn call(host: &str, port: u16) -> ToolCall {
    let place = format!("{host}:{port}");
    ToolCall {
        tool: NETWORK.into(),
        class: ToolClass::Network,
        hash: reading::hash(NETWORK, &place),
        summary: format!("reach {place} from its sandbox").into(),
        input: place.into(),
        project: None,
        writes: Vec::new(),
        reads: Vec::new(),
        outside: Vec::new(),
        is_all: true,
        commands: None,
        reads_only: false,
        host: Some(host.into()),
    }
}

/// Copies both ways until both have ended, or nothing has come for long.
fn copy(one: &TcpStream, other: &TcpStream) -> io::Result<()> {
    for stream in [one, other] {
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(Some(IDLE_MAX))?;
        let _ = stream.set_nodelay(true);
    }
    let pairs = [(one, other), (other, one)];
    let mut is_open = [true, true];
    let mut buffer = vec![0; COPY_BYTES];
    while is_open != [false, false] {
        let mut sources: Vec<PollFd<'_>> = Vec::new();
        for ((from, _), open) in pairs.iter().zip(is_open) {
            sources.push(PollFd::new(*from, if open { PollFlags::IN } else { PollFlags::empty() }));
        }
        let idle = Timespec::try_from(IDLE_MAX).map_err(io::Error::other)?;
        if poll(&mut sources, Some(&idle))? == 0 {
            return Ok(());
        }
        let ready: Vec<bool> = sources.iter().map(|source| !source.revents().is_empty()).collect();
        for (at, (mut from, mut to)) in pairs.into_iter().enumerate() {
            if !ready[at] {
                continue;
            }
            if !is_open[at] {
                // It has hung up altogether.
                return Ok(());
            }
            match from.read(&mut buffer)? {
                0 => {
                    is_open[at] = false;
                    let _ = to.shutdown(std::net::Shutdown::Write);
                }
                count => to.write_all(&buffer[..count])?,
            }
        }
    }
    Ok(())
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_judged_in_all_its_spellings() {
        for (text, expected) in [
            ("Example.COM.", "example.com"),
            ("127.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("0x7f.0.0.1", "127.0.0.1"),
            ("0177.0.0.1", "127.0.0.1"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"),
            ("[::1]", "::1"),
        ] {
            assert_eq!(host_of(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "a b", "exa\u{0}mple.com", "[::1"] {
            assert!(host_of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_near_is_told_from_the_world() {
        for near in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "::7f00:1",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
        ] {
            assert!(is_near(near.parse().expect(near)), "{near}");
        }
        for far in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111"] {
            assert!(!is_near(far.parse().expect(far)), "{far}");
        }
    }

    #[test]
    fn a_request_says_where_it_goes_and_what_is_forwarded() {
        let parsed = Request::parse("CONNECT example.com:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            .expect("a tunnel");
        assert_eq!((&*parsed.host, parsed.port, parsed.forwarded), ("example.com", 443, None));
        let head = "GET http://Example.com:8080?x=1 HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: x\r\nAccept: */*\r\n\r\n";
        let parsed = Request::parse(head).expect("a request");
        assert_eq!((&*parsed.host, parsed.port), ("example.com", 8080));
        assert_eq!(
            parsed.forwarded.as_deref(),
            Some("GET /?x=1 HTTP/1.1\r\nHost: Example.com:8080\r\nConnection: close\r\nAccept: */*\r\n\r\n")
        );
        for bad in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://example.com/ HTTP/1.1\r\n\r\n",
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "CONNECT :443 HTTP/1.1\r\n\r\n",
            "GET http://user@example.com/ HTTP/1.1\r\n\r\n",
            "GET http://example.com/ x HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert!(Request::parse(bad).is_err(), "{bad}");
        }
    }
}
