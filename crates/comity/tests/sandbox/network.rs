//! What sandboxed agents reach: hosts that are allowed, by git, npm, cargo and pip as they are; others once somebody says so.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};

use super::support::{Place, eventually, has_program, skip};
use super::{says, spawn, wait_for_output};

/// An address of this machine that no program takes for itself without a proxy.
const HOST: &str = "127.0.0.2";

/// The files of a directory, over HTTP.
struct FileSite {
    dir: PathBuf,
    port: u16,
}

impl FileSite {
    fn start(dir: &Path) -> FileSite {
        let listener = TcpListener::bind((HOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let root: Arc<Path> = dir.into();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let root = root.clone();
                std::thread::spawn(move || serve(&root, &stream));
            }
        });
        FileSite { dir: dir.to_owned(), port }
    }

    fn url(&self) -> String {
        format!("http://{HOST}:{}", self.port)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let file = self.dir.join(name);
        std::fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        std::fs::write(file, bytes).expect("written");
    }
}

fn serve(root: &Path, mut stream: &TcpStream) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let Some(first) = lines.next() else { return };
    lines.for_each(drop);
    let path =
        first.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").trim_matches('/').to_owned();
    let file =
        [root.join(&path), root.join(&path).join("index.html")].into_iter().find(|file| file.is_file());
    let (status, body) = match file.and_then(|file| std::fs::read(file).ok()) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    let kind = if path.contains("simple") { "text/html" } else { "application/octet-stream" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn waiting(place: &Place) -> Vec<Value> {
    let all = place.json(&["permission", "list"]);
    all["requests"]
        .as_array()
        .expect("requests")
        .iter()
        .filter(|one| one["state"] == "waiting")
        .cloned()
        .collect()
}

#[test]
fn a_new_host_is_asked_about_and_the_connection_goes_on() {
    let place = Place::new();
    let site = FileSite::start(&place.dir().join("site"));
    site.write("page", "the-page");
    let get = format!("curl -sS -m 60 {}/page; echo", site.url());
    let others = format!(
        "for i in 1 2 3; do curl -s -m 60 -o /dev/null -w 'code-%{{http_code}} ' {}/page & done; wait",
        site.url()
    );
    let denied = "curl -sS -m 60 http://127.0.0.3:81/; echo";
    let script = format!(
        "{get}; {get}; echo first; {others}; echo; {denied}; echo second; until test -e go; do :; done; {get}"
    );
    spawn(&place, "ann", &script, &[]);
    eventually("somebody is asked", || waiting(&place).len() == 1);
    let asked = waiting(&place).remove(0);
    assert_eq!(asked["tool"], "Network", "{asked}");
    assert!(
        asked["summary"].as_str().expect("a summary").contains(&format!("{HOST}:{}", site.port)),
        "{asked}"
    );
    let inbox = place.run(&["inbox"]).out;
    assert!(inbox.contains("Network") && inbox.contains(HOST), "{inbox}");
    place.json(&["permission", "allow", &asked["id"].to_string()]);
    let said = wait_for_output(&place, "ann", "first");
    assert_eq!(said.matches("the-page").count(), 2, "asked once: {said}");

    eventually("somebody is asked again", || waiting(&place).len() == 1);
    let asked = waiting(&place).remove(0);
    place.json(&["permission", "deny", &asked["id"].to_string(), "--reason", "not there"]);
    let said = wait_for_output(&place, "ann", "second");
    assert_eq!(said.matches("code-200").count(), 3, "{said}");
    assert!(said.contains("not there"), "it is told why: {said}");

    // A rule that forbids beats what was allowed.
    place.json(&["permission", "rule", "add", "deny", "Network", HOST]);
    std::fs::write(place.repo.join("go"), "").expect("written");
    let said = wait_for_output(&place, "ann", "done-with-it");
    assert_eq!(said.matches("the-page").count(), 2, "{said}");
    assert!(said.contains("a rule of"), "{said}");
}

#[test]
fn an_answer_for_ever_is_a_rule() {
    let place = Place::new();
    let site = FileSite::start(&place.dir().join("site"));
    site.write("page", "the-page");
    let get = format!("curl -sS -m 60 {}/page", site.url());
    spawn(&place, "ann", &get, &[]);
    eventually("somebody is asked", || waiting(&place).len() == 1);
    place.json(&["permission", "allow", &waiting(&place)[0]["id"].to_string(), "--always", "--team"]);
    wait_for_output(&place, "ann", "done-with-it");
    let rules = place.json(&["permission", "rule", "list"]).to_string();
    assert!(rules.contains("Network") && rules.contains(HOST), "{rules}");
    place.json(&["stop", "ann", "--force"]);
    let said = says(&place, "bob", &get, &[]);
    assert!(said.contains("the-page"), "{said}");
}

fn run(command: &mut Command) {
    let done = command.output().expect("a program");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn git_npm_cargo_and_pip_work_through_the_proxy() {
    let place = Place::new();
    let site = FileSite::start(&place.dir().join("site"));
    let url = site.url();
    let made = place.dir().join("made");
    std::fs::create_dir_all(&made).expect("a directory");
    let mut steps =
        vec![format!("git clone --quiet {url}/repo.git cloned && test -e cloned/src/a.rs && echo git-works")];
    run(place.program("git").args(["clone", "--quiet", "--bare", "."]).arg(site.dir.join("repo.git")));
    run(place.program("git").arg("-C").arg(site.dir.join("repo.git")).arg("update-server-info"));
    let mut expected = vec!["git-works"];

    if has_program("npm") {
        std::fs::create_dir_all(made.join("package")).expect("a directory");
        std::fs::write(made.join("package/package.json"), r#"{"name":"tiny","version":"1.0.0"}"#)
            .expect("written");
        run(place.program("tar").current_dir(&made).args(["czf", "tiny.tgz", "package"]));
        site.write("npm/tiny.tgz", std::fs::read(made.join("tiny.tgz")).expect("a file"));
        let version = json!({ "name": "tiny", "version": "1.0.0", "dist": { "tarball": format!("{url}/npm/tiny.tgz") } });
        let package =
            json!({ "name": "tiny", "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": version } });
        site.write("npm/tiny", package.to_string());
        steps.push(format!(
            "mkdir n && cd n && echo '{{}}' > package.json && npm install --no-audit --no-fund --registry {url}/npm/ tiny >/tmp/npm 2>&1; \
             test -e node_modules/tiny/package.json && echo npm-works || cat /tmp/npm; cd .."
        ));
        expected.push("npm-works");
    }
    if Path::new("/usr/bin/python3").exists()
        && Command::new("/usr/bin/python3")
            .args(["-m", "pip", "--version"])
            .output()
            .is_ok_and(|it| it.status.success())
    {
        let wheel = "tiny-1.0-py3-none-any.whl";
        let script = format!(
            "import zipfile\nwith zipfile.ZipFile('{wheel}', 'w') as made:\n made.writestr('tiny.py', 'x = 1')\n \
             made.writestr('tiny-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')\n \
             made.writestr('tiny-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n \
             made.writestr('tiny-1.0.dist-info/RECORD', '')\n"
        );
        run(place.program("/usr/bin/python3").current_dir(&made).args(["-c", &script]));
        site.write(&format!("pip/{wheel}"), std::fs::read(made.join(wheel)).expect("a file"));
        site.write("simple/tiny/index.html", format!("<a href=\"/pip/{wheel}\">{wheel}</a>"));
        steps.push(format!(
            "/usr/bin/python3 -m pip install --quiet --target p --trusted-host {HOST} --index-url {url}/simple/ tiny >/tmp/pip 2>&1; \
             test -e p/tiny.py && echo pip-works || cat /tmp/pip"
        ));
        expected.push("pip-works");
    }
    let cargo = std::env::var_os("CARGO").map(PathBuf::from).filter(|cargo| cargo.is_absolute());
    let mut shown = Vec::new();
    if let Some(cargo) = &cargo {
        let crate_dir = made.join("tiny-0.1.0");
        std::fs::create_dir_all(crate_dir.join("src")).expect("a directory");
        std::fs::write(crate_dir.join("src/lib.rs"), "").expect("written");
        std::fs::write(
            crate_dir.join("Cargo.toml"),
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        )
        .expect("written");
        run(place.program("tar").current_dir(&made).args(["czf", "tiny.crate", "tiny-0.1.0"]));
        let bytes = std::fs::read(made.join("tiny.crate")).expect("a file");
        let sum = place.program("sha256sum").arg(made.join("tiny.crate")).output().expect("a sum");
        let sum = String::from_utf8_lossy(&sum.stdout).split(' ').next().expect("a sum").to_owned();
        site.write("crates/tiny/0.1.0/download", bytes);
        site.write("index/config.json", json!({ "dl": format!("{url}/crates") }).to_string());
        let entry = json!({ "name": "tiny", "vers": "0.1.0", "deps": [], "cksum": sum, "features": {}, "yanked": false });
        site.write("index/ti/ny/tiny", format!("{entry}\n"));
        shown.push(cargo.parent().and_then(Path::parent).expect("a toolchain").display().to_string());
        steps.push(format!(
            "mkdir -p r/src r/.cargo && cd r && touch src/lib.rs && printf '[package]\\nname = \"r\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[dependencies]\\ntiny = {{ version = \"0.1\", registry = \"own\" }}\\n[workspace]\\n' > Cargo.toml && \
             printf '[registries.own]\\nindex = \"sparse+{url}/index/\"\\n' > .cargo/config.toml && \
             RUSTC={0}/rustc {0}/cargo fetch >/tmp/cargo 2>&1; ls ~/.cargo/registry/src/*/tiny-0.1.0 >/dev/null && echo cargo-works || cat /tmp/cargo; cd ..",
            cargo.parent().expect("a directory").display()
        ));
        expected.push("cargo-works");
    }
    if expected.len() < 2 {
        return skip("git_npm_cargo_and_pip_work_through_the_proxy", "there is no npm, pip or cargo");
    }
    place.set(&format!("[sandbox]\nallow = [\"{HOST}\"]\nread = {}\n", json!(shown)));
    // What the person has is seen, and not changed.
    std::fs::create_dir_all(place.dir().join(".cargo/registry")).expect("a directory");
    std::fs::write(place.dir().join(".cargo/registry/mine"), "").expect("written");
    steps.push("test -e ~/.cargo/registry/mine && echo cache-seen".into());
    expected.push("cache-seen");
    let said = says(&place, "ann", &steps.join("; "), &[]);
    for part in expected {
        assert!(said.contains(&format!("{part}\n")), "{part}: {said}");
    }
    assert!(!place.dir().join(".cargo/registry/src").exists(), "its downloads are its own");
    assert_eq!(waiting(&place).len(), 0);
}
