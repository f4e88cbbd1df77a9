//! Addresses and what the rules say about them.

use super::*;

fn check(policy: &Policy, load: LoadKind, table: &[(&str, &str)]) {
    for (url, expected) in table {
        let told = match policy.check(url, load) {
            Ok(()) => "allowed".to_owned(),
            Err(BrowserError::Blocked { rule, .. }) => rule,
            Err(other) => panic!("{url}: {other}"),
        };
        assert!(told.contains(expected), "{url}: {told}, and not {expected}");
    }
}

const NONE: [&str; 0] = [];

#[test]
fn by_default_pages_come_from_the_web() {
    let policy = Policy::default();
    assert!(!policy.limits_hosts());
    check(
        &policy,
        LoadKind::Page,
        &[
            ("http://example.com", "allowed"),
            ("  HTTPS://example.com/a b", "allowed"),
            ("about:blank", "allowed"),
            ("ABOUT:blank", "allowed"),
            ("about:config", "about: is not among"),
            ("about:blank#x", "about: is not among"),
            ("file:///etc/passwd", "file: is not among"),
            ("f\nile:///etc/passwd", "file: is not among"),
            ("data:text/html,x", "data: is not among"),
            ("javascript:alert(1)", "javascript: is not among"),
            ("view-source:http://example.com", "view-source: is not among"),
            ("blob:http://example.com/1", "blob: is not among"),
            ("chrome://browser/content", "chrome: is not among"),
            ("moz-extension://x", "moz-extension: is not among"),
            ("example.com", "no scheme"),
            ("localhost:80", "localhost: is not among"), // port: nothing is connected to
            ("http://", "no host"),
            ("http:///example.com", "allowed"),
            ("//example.com", "no scheme"),
        ],
    );
    check(
        &policy,
        LoadKind::Part,
        &[
            ("data:image/png;base64,x", "allowed"),
            ("blob:http://example.com/1", "allowed"),
            ("about:srcdoc", "allowed"),
            ("wss://example.com", "allowed"),
            ("file:///etc/passwd", "file: is not among"),
            ("resource://gre/", "resource: is not among"),
        ],
    );
}

#[test]
fn allowed_domains_in_all_spellings() {
    let policy =
        Policy::new(&["Example.com", "*.example.org", "bücher.de", "10.0.0.1", "2001:db8::1"], &NONE);
    let policy = policy.unwrap();
    assert!(policy.limits_hosts());
    let table = [
        ("http://example.com/", "allowed"),
        ("http://EXAMPLE.COM:8080/x", "allowed"), // port: nothing is connected to
        ("http://example.com./", "allowed"),
        ("http://user:password@example.com/", "allowed"),
        ("http://example.com@evil.test/", "evil.test is not among"),
        ("http://evil.test\\@example.com/", "evil.test is not among"),
        ("http://evil.test/@example.com/", "evil.test is not among"),
        ("http://evil.test#@example.com/", "evil.test is not among"),
        ("http://evil.test?@example.com/", "evil.test is not among"),
        ("http:\\\\example.com\\x", "allowed"),
        ("http:example.com", "allowed"),
        ("http://exa\tmple.com", "allowed"),
        ("http://%65xample.com", "allowed"),
        ("http://ｅｘａｍｐｌｅ。com", "allowed"),
        ("http://exam\u{ad}ple.com", "allowed"),
        ("http://notexample.com", "notexample.com is not among"),
        ("http://example.com.evil.test", "example.com.evil.test is not among"),
        ("http://www.example.com", "www.example.com is not among"),
        ("http://a.example.org", "allowed"),
        ("http://a.b.example.org", "allowed"),
        ("http://example.org", "example.org is not among"),
        ("http://.example.org", "no host"),
        ("http://evilexample.org", "evilexample.org is not among"),
        ("http://BÜCHER.de", "allowed"),
        ("http://xn--bcher-kva.de", "allowed"),
        ("http://bu\u{308}cher.de", "allowed"),
        ("http://bucher.de", "bucher.de is not among"),
        ("http://10.0.0.1", "allowed"),
        ("http://167772161", "allowed"),
        ("http://0xa000001", "allowed"),
        ("http://0xA.0.1", "allowed"),
        ("http://012.0.0.1", "allowed"),
        ("http://[::ffff:10.0.0.1]", "allowed"),
        ("http://[::ffff:a00:1]:80", "allowed"), // port: nothing is connected to
        ("http://10.0.0.2", "10.0.0.2 is not among"),
        ("http://10.0.0.256", "IPv4"),
        ("http://1.2.3.4.5", "IPv4"),
        ("http://[2001:DB8:0:0::1]/", "allowed"),
        ("http://[2001:db8::2]/", "[2001:db8::2] is not among"),
        ("http://[::1", "IPv6"),
        ("http://a b.example.org", "no host"),
        // This machine, unless a rule denies it.
        ("http://localhost:3000", "allowed"), // port: nothing is connected to
        ("http://app.localhost", "allowed"),
        ("http://127.1.2.3", "allowed"),
        ("http://2130706433", "allowed"),
        ("http://[::1]", "allowed"),
        ("http://[::ffff:127.0.0.1]", "allowed"),
        ("http://localhost.evil.test", "localhost.evil.test is not among"),
        ("http://0.0.0.0", "0.0.0.0 is not among"),
    ];
    check(&policy, LoadKind::Page, &table);
    check(&policy, LoadKind::Part, &table);
}

#[test]
fn hostile_addresses() {
    let policy = Policy::new(&["example.com", "bücher.de", "10.0.0.1", "fe80::1"], &["evil.test"]).unwrap();
    let policy = policy.with_loopback(Loopback::ByRule);
    let table = [
        // Whatever stands before the last `@` is a name and a password.
        ("http://example.com@evil.test", "evil.test is denied"),
        ("http://example.com:80@evil.test", "evil.test is denied"), // port: nothing is connected to
        ("http://a@example.com@evil.test", "evil.test is denied"),
        ("http://example.com%40evil.test", "no host"),
        ("http://example.com%2Fevil.test", "no host"),
        ("http://example.com%00.evil.test", "no host"),
        ("http://@/", "no host"),
        // A backslash is a slash, and any number of either begins a host.
        ("http:\\\\evil.test\\example.com", "evil.test is denied"),
        ("http:/\\/evil.test", "evil.test is denied"),
        ("http:////evil.test", "evil.test is denied"),
        ("http://evil.test\\.example.com", "evil.test is denied"),
        ("http://example.com\\@evil.test", "allowed"),
        // Tabs and line ends are not there, wherever they stand.
        ("ht\ntp://ev\til.te\r\nst", "evil.test is denied"),
        ("\u{1}http://evil.test\u{1f}", "evil.test is denied"),
        ("http://exam\u{a0}ple.com", "no host"),
        ("http://exam\u{0}ple.com", "no host"),
        // Names that look like others, or are spelled otherwise.
        ("http://ex\u{430}mple.com", "xn--exmple-4nf.com is not among"),
        ("http://xn--exmple-4nf.com", "xn--exmple-4nf.com is not among"),
        ("http://exampl\u{435}.com", "is not among"),
        ("http://example.\u{441}om", "is not among"),
        ("http://exampl\u{65}\u{301}.com", "is not among"),
        ("http://ⓔⓥⓘⓛ．ｔｅｓｔ", "evil.test is denied"),
        ("http://evil\u{3002}test", "evil.test is denied"),
        ("http://evil\u{ff61}test", "evil.test is denied"),
        ("http://e\u{200b}vil.test", "evil.test is denied"),
        ("http://EVIL.TEST", "evil.test is denied"),
        ("http://%65%76il.test", "evil.test is denied"),
        ("http://xn--bcher-kva.de", "allowed"),
        ("http://XN--BCHER-KVA.de", "allowed"),
        ("http://xn--bcher-kvb.de", "no host"),
        ("http://xn--.de", "no host"),
        ("http://xn--evil-.test", "no host"),
        ("http://\u{2100}evil.test", "no host"),
        ("http://ex\u{202e}ample.com", "no host"),
        ("http://exa\u{ffff}mple.com", "no host"),
        // Numbers in all their spellings.
        ("http://0x0a.0.0.1", "allowed"),
        ("http://012.1", "allowed"),
        ("http://10.1", "allowed"),
        ("http://0xA000001", "allowed"),
        ("http://00000012.0x0.0x0.01", "allowed"),
        ("http://①⓪.0.0.1", "allowed"),
        ("http://10.0.0.1.", "allowed"),
        ("http://127.1", "127.0.0.1 is not among"),
        ("http://0177.0.0.1", "127.0.0.1 is not among"),
        ("http://0x7f.1", "127.0.0.1 is not among"),
        ("http://0", "0.0.0.0 is not among"),
        ("http://0x", "0.0.0.0 is not among"),
        ("http://10.0.0.01.0", "IPv4"),
        ("http://10.0.0.09", "IPv4"),
        ("http://4294967296", "IPv4"),
        ("http://10.0.0.1..", "no host"),
        ("http://example.10", "IPv4"),
        // IPv6, with what it may carry elsewhere.
        ("http://[fe80::1]", "allowed"),
        ("http://[FE80:0::0:1]:/", "allowed"),
        ("http://[fe80::1%25eth0]", "IPv6"),
        ("http://[fe80::1%eth0]", "IPv6"),
        ("http://[::ffff:10.0.0.1]", "allowed"),
        ("http://[::10.0.0.1]", "is not among"),
        ("http://[::ffff:7f00:1]", "127.0.0.1 is not among"),
        ("http://[::]", "[::] is not among"),
        ("http://[fe80::1].evil.test", "IPv6"),
        ("http://[example.com]", "IPv6"),
        ("http://[v1.fe80]", "IPv6"),
        // Dots and ports with nothing behind them.
        ("http://example.com.", "allowed"),
        ("http://example.com..", "no host"),
        ("http://evil.test.", "evil.test is denied"),
        ("http://x.evil.test./", "evil.test is denied"),
        ("http://example.com:", "allowed"),
        ("http://example.com:/", "allowed"),
        ("http://example.com:65536", "port"), // port: nothing is connected to
        ("http://example.com:0x50", "port"),
        ("http://:80", "no host"), // port: nothing is connected to
        ("http://", "no host"),
        ("http://?example.com", "no host"),
    ];
    check(&policy, LoadKind::Page, &table);
    check(&policy, LoadKind::Part, &table);
    // What carries another address inside is no page, whatever it carries.
    let wrapped = [
        ("blob:http://example.com/1", "blob: is not among"),
        ("BLOB:http://evil.test/1", "blob: is not among"),
        ("data:text/html,<script>location='http://evil.test'</script>", "data: is not among"),
        ("d\nata:,x", "data: is not among"),
        ("view-source:http://example.com", "view-source: is not among"),
        ("view-source:view-source:http://example.com", "view-source: is not among"),
        ("feed:http://example.com", "feed: is not among"),
        ("jar:http://example.com!/", "jar: is not among"),
        ("javascript://example.com/%0aalert(1)", "javascript: is not among"),
        ("java\tscript:alert(1)", "javascript: is not among"),
        ("file://example.com/etc/passwd", "file: is not among"),
        ("about:blank?x", "about: is not among"),
    ];
    check(&policy, LoadKind::Page, &wrapped);
}

#[test]
fn denial_comes_first() {
    let policy = Policy::new(&["*"], &["*.ads.test", "ads.test", "127.0.0.1"]).unwrap();
    check(
        &policy,
        LoadKind::Part,
        &[
            ("https://ads.test/x", "denied by ads.test"),
            ("https://a.ads.test./x", "denied by *.ads.test"),
            ("wss://a.ads.test/x", "denied by *.ads.test"),
            ("https://loads.test/x", "allowed"),
            ("http://2130706433", "denied by 127.0.0.1"),
            ("http://localhost", "allowed"),
        ],
    );
    // Whoever has a name has all names below it; an address has none.
    let policy =
        Policy::new(&["*.example.org", "x.10.0.0.1.test"], &["bad.example.org", "10.0.0.1"]).unwrap();
    check(
        &policy,
        LoadKind::Page,
        &[
            ("https://bad.example.org", "denied by bad.example.org"),
            ("https://x.bad.example.org", "denied by bad.example.org"),
            ("https://y.x.BAD.example.org./", "denied by bad.example.org"),
            ("https://notbad.example.org", "allowed"),
            ("https://x.10.0.0.1.test", "allowed"),
        ],
    );
    let closed = Policy::default().with_loopback(Loopback::ByRule);
    assert!(closed.limits_hosts());
    let here = ["localhost", "127.0.0.1", "0.0.0.0", "0", "[::1]", "[::]", "[::ffff:0.0.0.0]"];
    let here = here.map(|host| (format!("http://{host}"), "not among"));
    check(&closed, LoadKind::Page, &here.each_ref().map(|(url, expected)| (url.as_str(), *expected)));
    check(&closed, LoadKind::Page, &[("http://example.com", "allowed")]);
    let all = Policy::new(&NONE, &["*"]).unwrap();
    check(&all, LoadKind::Page, &[("http://localhost", "denied by *"), ("about:blank", "allowed")]);
}

#[test]
fn wrong_rules_are_told() {
    for rule in ["http://example.com", "example.com:80", "*.*.com", "a*b.com", "", "*.", "*.10.0.0.1", "a b"]
    {
        let told = Policy::new(&[rule], &NONE).unwrap_err().to_string();
        assert!(told.contains("isn't a domain"), "{rule}: {told}");
    }
    let many = vec!["a.test"; RULES_MAX + 1];
    assert!(Policy::new(&many, &NONE).is_err());
}
