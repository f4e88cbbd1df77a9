//! Clients that others generate from the description of the REST door compile and work.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Place, http, skip};

/// Where the generators are, as `.ci/run` installs them.
fn generators() -> Option<PathBuf> {
    let named = std::env::var_os("COMITY_GENERATORS_DIR").map(PathBuf::from);
    let cache = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
    };
    let dir = named.or_else(|| Some(cache()?.join("comity-generators")))?;
    dir.is_dir().then_some(dir)
}

/// A place with a server, its description in a file, and an agent's token.
fn prepare() -> (Place, PathBuf, Vec<(&'static str, String)>) {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let document = http::request(&place, Some(support::HUMAN), "GET", "/api/openapi.json", None).body;
    let file = place.dir().join("openapi.json");
    std::fs::write(&file, document).expect("written");
    let url = place.json(&["status"])["url"].as_str().expect("an address").to_owned();
    let environment = vec![
        ("SCENARIO_URL", url),
        ("SCENARIO_TOKEN", support::HUMAN.to_owned()),
        ("SCENARIO_AGENT", ann.token),
        ("SCENARIO_REPO", place.repo.display().to_string()),
    ];
    (place, file, environment)
}

fn run(what: &str, command: &mut Command) -> String {
    let ran = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{what}: {said}");
    said
}

fn scenario(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated_clients").join(name)
}

#[test]
fn a_python_client_works() {
    let found = generators()
        .map(|dir| dir.join("venv/bin"))
        .filter(|bin| bin.join("openapi-python-client").is_file());
    let Some(bin) = found else {
        return skip("a_python_client_works", "there is no openapi-python-client");
    };
    let (place, document, environment) = prepare();
    let package = place.dir().join("comity_client");
    let mut generate = place.program(bin.join("openapi-python-client"));
    let paths = std::env::join_paths([&*bin, Path::new("/usr/bin"), Path::new("/bin")]).expect("directories");
    generate.env("PATH", paths).args(["generate", "--meta", "none", "--fail-on-warning"]);
    run("generate", generate.arg("--path").arg(&document).arg("--output-path").arg(&package));
    let python = bin.join("python");
    run("compile", place.program(&python).args(["-m", "compileall", "-q"]).arg(&package));
    let mut act = place.program(&python);
    act.env("PYTHONPATH", place.dir()).envs(environment);
    assert_eq!(run("scenario.py", act.arg(scenario("scenario.py"))).trim(), "done");
}

#[test]
fn a_typescript_client_works() {
    let found = generators().filter(|dir| dir.join("node_modules/.bin/openapi-typescript").exists());
    let Some(dir) = found.filter(|_| support::has_program("node")) else {
        return skip("a_typescript_client_works", "there is no openapi-typescript");
    };
    let (place, document, environment) = prepare();
    let work = place.dir().join("typescript");
    std::fs::create_dir(&work).expect("a directory");
    std::os::unix::fs::symlink(dir.join("node_modules"), work.join("node_modules")).expect("a link");
    std::fs::write(work.join("package.json"), "{ \"type\": \"module\" }\n").expect("written");
    std::fs::copy(scenario("scenario.ts"), work.join("scenario.ts")).expect("copied");
    let tool = |name: &str| {
        let mut command = place.program(work.join("node_modules/.bin").join(name));
        command.current_dir(&work);
        command
    };
    run("generate", tool("openapi-typescript").arg(&document).args(["-o", "schema.d.ts"]));
    let strict = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck"];
    run("compile", tool("tsc").args(strict).arg("scenario.ts"));
    let mut act = place.program("node");
    act.current_dir(&work).envs(environment);
    assert_eq!(run("scenario.ts", act.arg("scenario.js")).trim(), "done");
}
