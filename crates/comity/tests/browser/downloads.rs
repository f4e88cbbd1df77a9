//! What pages download is their owner's, told, bounded and listed, and nowhere else.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::eventually;
use crate::{Asker, place};

/// A site whose addresses are files to keep; `/large` does not end for long.
fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let path = lines.next().unwrap_or_default().split(' ').nth(1).unwrap_or_default().to_owned();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let head = |length: usize, more: &str| {
                    format!(
                        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n\r\n"
                    )
                };
                let file = "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; \
                            filename=\"../../.bash rc\"";
                let page = "<a id=small href=/small>small</a> <a id=large href=/large>large</a>";
                let _gone = match path.as_str() {
                    "/small" => write!(stream, "{}EVIL \u{202e}text", head(12, file)),
                    "/large" => {
                        let mut sent = write!(stream, "{}", head(1 << 30, file));
                        // Until the browser has enough.
                        while sent.is_ok() {
                            sent = stream.write_all(&[b'x'; 4096]);
                        }
                        sent
                    }
                    _ => write!(stream, "{}{page}", head(page.len(), "Content-Type: text/html")),
                };
            });
        }
    });
    url
}

/// Clicks, and gives what is told of a download then or with the next looks.
fn remarks(who: &Asker<'_>, tab: u64, selector: &str) -> Vec<Value> {
    let clicked = who.get("tab_click", json!({ "tabId": tab, "selector": selector }));
    let mut told: Vec<Value> = clicked["remarks"].as_array().into_iter().flatten().cloned().collect();
    eventually(&format!("a remark about {selector}"), || {
        let state = who.get("tab_state", json!({ "tabId": tab }));
        told.extend(state["remarks"].as_array().into_iter().flatten().cloned());
        told.iter().any(|remark| remark.as_str().is_some_and(|text| text.contains("download")))
    });
    told
}

#[test]
fn a_download_is_its_owners() {
    if crate::support::lacks_firefox("a_download_is_its_owners") {
        return;
    }
    let url = site();
    let place = place(4);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let tab = ann.opens(&url);
    let told = remarks(&ann, tab, "#small");
    let list = ann.get("tab_downloads", json!({}));
    let one = &list["downloads"][0];
    let path = one["path"].as_str().expect("a path");
    assert!(told.iter().any(|remark| remark.as_str().is_some_and(|text| text.contains(path))), "{told:?}");
    let is_marked = |text: &str| text.split_once("<page ").is_some_and(|(_, marked)| marked.contains(path));
    assert!(told.iter().all(|remark| remark.as_str().is_none_or(is_marked)), "{told:?}");
    let own = place.home.join("downloads").join(&ann.agent.id);
    assert!(path.starts_with(own.to_str().expect("a path")), "{path}");
    assert_eq!((&one["number"], &one["bytes"]), (&json!(1), &json!(12)), "{list}");
    assert_eq!(std::fs::metadata(&own).expect("there").permissions().mode() & 0o777, 0o700);
    let text = ann.get("tab_downloads", json!({ "number": 1 }))["text"].clone();
    assert_eq!(text, "EVIL \\u{202e}text", "what is hidden in it is shown");
    assert!(bob.get("tab_downloads", json!({}))["downloads"].as_array().expect("a list").is_empty());
    assert_eq!(bob.ask("tab_downloads", json!({ "number": 1 })).expect_err("not his")["code"], "not_found");
    // Too large: refused as soon as that is known.
    let told = remarks(&ann, tab, "#large");
    assert!(
        told.iter().any(|remark| remark.as_str().is_some_and(|text| text.contains("larger than"))),
        "{told:?}"
    );
    assert_eq!(ann.get("tab_downloads", json!({}))["downloads"].as_array().expect("a list").len(), 1);
    // Nothing is in the home of the owner, and what is in between is gone.
    assert!(!place.dir().join("Downloads").exists());
    let between = || std::fs::read_dir(place.home.join("firefox/comity-downloads")).expect("there").count();
    eventually("nothing is left in between", || between() == 0);
    // It goes with its owner.
    place.json(&["agent", "bye", "ann"]);
    eventually("her files are gone", || !own.exists());
}

#[test]
fn downloads_can_be_switched_off() {
    let test = "downloads_can_be_switched_off";
    if crate::support::lacks_firefox(test) {
        return;
    }
    let url = site();
    let place = crate::place(2);
    place.set("[browser]\ndownloads = false\n");
    let ann = Asker::joins(&place, "ann");
    let tab = ann.opens(&url);
    let told = remarks(&ann, tab, "#small");
    assert!(
        told.iter().any(|remark| remark.as_str().is_some_and(|text| text.contains("switched off"))),
        "{told:?}"
    );
    assert!(ann.get("tab_downloads", json!({}))["downloads"].as_array().expect("a list").is_empty());
}
