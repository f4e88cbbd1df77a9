//! Many tabs in many containers at once: nothing gets mixed up.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use comity_browser::page::StateOptions;
use comity_browser::{
    Area, Browser, Click, ElementTarget, Format, ScreenshotOptions, Tab, Typing, Until, Viewport,
};
use support::server::{Answer, Server};
use support::{LONG, Stage};

/// A page of a colour of its own, with a field and a button that shows what was typed.
fn page(path: &str) -> Answer {
    let colour = path.trim_start_matches("/colour/").to_owned();
    Answer::Page(format!(
        "<!doctype html><title>{colour}</title><body style='background:#{colour};margin:0'>
         <script>document.cookie = 'last={colour}; path=/'</script>
         <div style='padding-top:300px'><input id=field aria-label=Field>
         <button onclick='out.textContent = field.value + \" \" + event.isTrusted'>Go</button> <p id=out>-</p>
         <p id=cookie>{{{{cookie}}}}</p></div>"
    ))
}

fn colour(number: usize) -> [u8; 3] {
    [(number * 20) as u8 + 10, 255 - (number * 17) as u8, (number * 53 % 256) as u8]
}

/// The colours in the corners of a picture.
fn corners(file: &[u8]) -> Vec<[u8; 3]> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let (width, height, step) = (info.width as usize, info.height as usize, info.color_type.samples());
    let at = |x: usize, y: usize| -> [u8; 3] { pixels[(y * width + x) * step..][..3].try_into().unwrap() };
    vec![at(0, 0), at(width - 1, 0), at(0, height - 1), at(width - 1, height - 1)]
}

/// Goes through everything with one tab.
fn use_tab(tab: &Tab, server: &Server, number: usize, round: usize) {
    let [red, green, blue] = colour(number);
    let name = format!("{red:02x}{green:02x}{blue:02x}");
    tab.navigate(&server.url(&format!("/colour/{name}")), Until::Complete, LONG).unwrap();
    let text = format!("Zoë {number} in {round}");
    let field = ElementTarget::Css("#field".into());
    tab.type_text(Some(&field), &text, Typing { clear: true, submit: false }, LONG).unwrap();
    let state = tab.page_state(&StateOptions::default(), LONG).unwrap();
    let button = state.nodes.iter().find(|node| node.role == "button").unwrap();
    tab.click(&ElementTarget::Ref(button.reference.clone()), Click::default(), LONG).unwrap();
    let shot = tab.screenshot(&ScreenshotOptions::default(), LONG).unwrap();
    assert!(
        corners(&shot.bytes()).iter().all(|corner| *corner == colour(number)),
        "tab {number} round {round}"
    );
    assert!(shot.url.ends_with(&name));
    let out = tab.content(Some(&ElementTarget::Css("#out".into())), 100, LONG).unwrap();
    assert_eq!((out.text, out.title), (format!("{text} true"), name));
}

#[test]
fn twelve_tabs_in_four_containers_at_once() {
    if support::lacks_firefox("twelve_tabs_in_four_containers_at_once") {
        return;
    }
    let stage = Stage::new();
    let browser = stage.browser();
    let server = Server::start(page);
    let containers: Vec<_> = (0..4).map(|_| browser.create_container(LONG).unwrap()).collect();
    let tabs: Vec<Vec<Tab>> = containers
        .iter()
        .map(|container| (0..3).map(|_| browser.open(container, LONG).unwrap()).collect())
        .collect();
    std::thread::scope(|threads| {
        for (row, tabs) in tabs.iter().enumerate() {
            let server = &server;
            threads.spawn(move || {
                for round in 0..2 {
                    for (column, tab) in tabs.iter().enumerate() {
                        use_tab(tab, server, row * 3 + column, round);
                    }
                }
            });
        }
    });
    // The last page of each container left its cookie there, and in no other.
    for (row, tabs) in tabs.iter().enumerate() {
        let [red, green, blue] = colour(row * 3 + 2);
        tabs[0].reload(Until::Complete, LONG).unwrap();
        let sent = tabs[0].content(Some(&ElementTarget::Css("#cookie".into())), 100, LONG).unwrap();
        assert_eq!(sent.text, format!("last={red:02x}{green:02x}{blue:02x}"));
    }
    let listed = browser.tabs(LONG).unwrap();
    assert_eq!(listed.len(), 13, "the window's own empty tab is there too");
    let first = listed.iter().find(|info| info.id == *tabs[1][0].id()).unwrap();
    assert_eq!((&first.container, first.title.as_str()), (&containers[1], "46cc9f"));
    let all: Vec<&Tab> = tabs.iter().flatten().collect();
    at_once_and_one_after_another(&all);
    sizes_and_formats(&tabs[3][2]);
    removing_a_container_closes_its_tabs(browser, &containers[0], &tabs[0]);
    assert!(browser.is_alive());
}

fn at_once_and_one_after_another(tabs: &[&Tab]) {
    let shoot = |tab: &Tab| {
        let shot = tab.screenshot(&ScreenshotOptions::default(), LONG).unwrap();
        assert_eq!(shot.mime, "image/png");
    };
    tabs.iter().for_each(|tab| shoot(tab));
    std::thread::scope(|threads| tabs.iter().for_each(|tab| drop(threads.spawn(|| shoot(tab)))));
}

fn sizes_and_formats(tab: &Tab) {
    let small = Viewport { width: 390, height: 844, pixel_ratio: Some(2.0) };
    tab.set_viewport(Some(small), LONG).unwrap();
    let full = tab.screenshot(&ScreenshotOptions::default(), LONG).unwrap();
    assert_eq!((full.width, full.height), (780, 1688));
    for (format, mime) in [(Format::Png, "image/png"), (Format::Jpeg { quality: 0.6 }, "image/jpeg")] {
        let options = ScreenshotOptions { format, edge_max: Some(400), area: Area::Page };
        let shot = tab.screenshot(&options, LONG).unwrap();
        assert_eq!((shot.mime, shot.width, shot.height), (mime, 185, 400));
        assert_eq!(kind_of(&shot.bytes()), mime);
    }
    let area = Area::Element(ElementTarget::Css("#field".into()));
    let options = ScreenshotOptions { area, ..ScreenshotOptions::default() };
    let shot = tab.screenshot(&options, LONG).unwrap();
    assert!(shot.width > 100 && shot.height < 200, "{}x{}", shot.width, shot.height);
}

fn kind_of(file: &[u8]) -> &'static str {
    if file.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" }
}

fn removing_a_container_closes_its_tabs(
    browser: &Browser,
    container: &comity_browser::Container,
    tabs: &[Tab],
) {
    browser.remove_container(container, LONG).unwrap();
    let gone = tabs[0].content(None, 10, LONG).unwrap_err();
    assert!(matches!(gone, comity_browser::BrowserError::NoSuchTab { .. }), "{gone}");
    assert!(!browser.containers(LONG).unwrap().contains(container));
    assert_eq!(browser.tabs(LONG).unwrap().len(), 10);
}
