//! Twelve tabs of four agents, everything at once.

use std::fs::File;

use serde_json::json;

use crate::{Asker, page, place};

const AGENTS: [&str; 4] = ["ann", "bob", "cid", "dan"];
const TABS_EACH: usize = 3;

/// A colour of its own for each tab.
fn colour(agent: usize, tab: usize) -> [u8; 3] {
    [u8::try_from(40 + 50 * agent).expect("few"), u8::try_from(60 + 60 * tab).expect("few"), 200]
}

/// The colour in the middle of a picture.
fn middle(path: &str) -> [u8; 3] {
    let decoder = png::Decoder::new(std::io::BufReader::new(File::open(path).expect("a picture")));
    let mut reader = decoder.read_info().expect("a png");
    let mut pixels = vec![0; reader.output_buffer_size().expect("not too large")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let bytes = info.color_type.samples();
    let at = (info.height as usize / 2 * info.width as usize + info.width as usize / 2) * bytes;
    [pixels[at], pixels[at + 1], pixels[at + 2]]
}

#[test]
fn everything_at_once_and_every_picture_is_of_the_right_page() {
    if crate::support::lacks_firefox("everything_at_once_and_every_picture_is_of_the_right_page") {
        return;
    }
    let place = place(12);
    let agents: Vec<Asker<'_>> = AGENTS.iter().map(|name| Asker::joins(&place, name)).collect();
    std::thread::scope(|scope| {
        for (number, agent) in agents.iter().enumerate() {
            for tab in 0..TABS_EACH {
                scope.spawn(move || {
                    let [red, green, blue] = colour(number, tab);
                    let name = format!("{}-{tab}", AGENTS[number]);
                    let id = agent.opens(&page(&name, &format!("rgb({red},{green},{blue})")));
                    let text = format!("I am {name}");
                    agent.get("tab_type", json!({ "tabId": id, "text": text, "selector": "#q" }));
                    let state = agent.get("tab_state", json!({ "tabId": id }));
                    assert!(
                        state["outline"].as_str().is_some_and(|outline| outline.contains(&text)),
                        "{state}"
                    );
                    let shot = json!({ "tabId": id, "format": "png", "save": true });
                    let picture = agent.get("tab_screenshot", shot);
                    let found = middle(picture["path"].as_str().expect("a path"));
                    assert_eq!(found, [red, green, blue], "the picture of {name}");
                    assert_eq!(agent.title(id), name);
                });
            }
        }
    });
    let list = place.json(&["tab", "list"]);
    assert_eq!((&list["tabCount"], &list["maxTabs"]), (&json!(12), &json!(12)));
    let of = |name: &str| crate::tabs(&place).iter().filter(|(_, owner)| owner == name).count();
    assert!(AGENTS.iter().all(|name| of(name) == TABS_EACH), "{list}");
}
