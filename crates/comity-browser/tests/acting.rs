//! Clicks, keys and dialogs, in tabs that are not in front.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::time::Duration;

use comity_browser::{
    Browser, BrowserError, BrowserEvent, Button, Click, Condition, ElementTarget, Realm, Scroll, Tab, Typing,
    Until,
};
use support::server::{Answer, Server};
use support::{LONG, Stage};

const FORM: &str = "<!doctype html><title>Form</title>
<form action=/sent onsubmit='trust.push(event.isTrusted)'>
<label>Name <input name=name onkeydown='trust.push(event.isTrusted)' oninput='trust.push(event.isTrusted)'></label>
<textarea name=text aria-label=Text></textarea>
<select name=pet aria-label=Pet><option value=c>Cat<option value=d>Dog</select>
<input type=date name=day aria-label=Day>
<input type=checkbox name=yes aria-label=Yes onclick='trust.push(event.isTrusted)'>
<button>Send</button>
<button type=button id=off disabled>Off</button> <button type=button id=gone style='display:none'>Gone</button>
<div style='position:relative'><button id=below type=button>Below</button>
<div style='position:absolute;inset:0;background:red' aria-label=Cover></div></div>
<div style='height:200em'></div><button id=far type=button onclick='this.textContent = \"clicked\"'>Far</button>
</form><script>var trust = []</script>";

const DIALOGS: &str = "<!doctype html><title>Dialogs</title>
<button id=alert onclick='alert(\"hello\")'>Alert</button>
<button id=ask onclick='out.textContent = prompt(\"name?\", \"nobody\")'>Ask</button><p id=out></p>";

const POPUPS: &str = "<!doctype html><title>Popups</title>
<a id=blank target=_blank href=/sent>New</a> <button id=open onclick='window.open(\"/sent\")'>Open</button>
<button id=close onclick='window.close()'>Close</button>";

fn css(selector: &str) -> ElementTarget {
    ElementTarget::Css(selector.into())
}

fn page_of(tab: &Tab, script: &str) -> serde_json::Value {
    tab.evaluate(script, Realm::Page, 10_000, LONG).unwrap().value
}

#[test]
fn forms_dialogs_and_popups_in_the_background() {
    if support::lacks_firefox("forms_dialogs_and_popups_in_the_background") {
        return;
    }
    let stage = Stage::new();
    let browser = stage.browser();
    let server = Server::start(|path| match path.split('?').next().unwrap_or_default() {
        "/form" => Answer::Page(FORM.into()),
        "/dialogs" => Answer::Page(DIALOGS.into()),
        "/popups" => Answer::Page(POPUPS.into()),
        _ => Answer::Page("<title>Sent</title>thank you".into()),
    });
    let container = browser.create_container(LONG).unwrap();
    let tab = browser.open(&container, LONG).unwrap();
    fill_and_send(&tab, &server);
    history(&tab, &server);
    refuse_what_nobody_could_do(&tab, &server);
    let other = browser.open(&container, LONG).unwrap();
    dialogs(&stage, &tab, &other, &server);
    popups(&stage, browser, &tab, &server);
}

fn fill_and_send(tab: &Tab, server: &Server) {
    tab.navigate(&server.url("/form"), Until::Complete, LONG).unwrap();
    assert_eq!(page_of(tab, "document.visibilityState"), "hidden");
    tab.type_text(Some(&css("[name=name]")), "old", Typing::default(), LONG).unwrap();
    let clear = Typing { clear: true, submit: false };
    tab.type_text(Some(&css("[name=name]")), "Zoë 漢", clear, LONG).unwrap();
    let long = "0123456789 ".repeat(100);
    tab.type_text(Some(&css("textarea")), &long, clear, LONG).unwrap();
    tab.type_text(Some(&css("textarea")), "\n!", Typing::default(), LONG).unwrap();
    tab.type_text(Some(&css("select")), "Dog", Typing::default(), LONG).unwrap();
    tab.type_text(Some(&css("[type=date]")), "2026-11-16", Typing::default(), LONG).unwrap();
    tab.click(&css("[type=checkbox]"), Click::default(), LONG).unwrap();
    let log = "clicks = []; ['click', 'dblclick', 'auxclick', 'contextmenu'].forEach(type =>
        document.querySelector('textarea').addEventListener(type, event => clicks.push(type + event.button)))";
    page_of(tab, log);
    let double = Click { times: 2, ..Click::default() };
    for click in
        [double, Click { button: Button::Right, times: 1 }, Click { button: Button::Middle, times: 1 }]
    {
        tab.click(&css("textarea"), click, LONG).unwrap();
    }
    let heard = page_of(tab, "clicks.join()");
    assert_eq!(heard, "click0,click0,dblclick0,contextmenu2,auxclick2,auxclick1");
    let values =
        page_of(tab, "[...new FormData(document.forms[0]).values()].map(v => v.length > 99 ? v.length : v)");
    assert_eq!(values, serde_json::json!(["Zoë 漢", 1102, "d", "2026-11-16", "on"]));
    let trust = page_of(tab, "trust");
    let trust = trust.as_array().unwrap();
    assert!(trust.len() > 10 && trust.iter().all(|is_trusted| is_trusted == true), "{trust:?}");
    tab.press_key("Control+a", &[], LONG).unwrap();
    tab.type_text(Some(&css("[name=name]")), "!", Typing { clear: false, submit: true }, LONG).unwrap();
    tab.wait_for(&Condition::Url("*/sent?*".into()), LONG).unwrap();
    tab.wait_for(&Condition::Text("thank   you".into()), LONG).unwrap();
    let sent = server.asked().into_iter().find(|asked| asked.contains("/sent?")).unwrap();
    assert!(sent.contains("Zo%C3%AB+%E6%BC%A2%21") && sent.contains("pet=d"), "{sent}");
}

fn history(tab: &Tab, server: &Server) {
    let back = tab.back(LONG).unwrap();
    assert_eq!(back.url, server.url("/form"));
    let forward = tab.forward(LONG).unwrap();
    assert!(forward.url.contains("/sent?"), "{}", forward.url);
    let nothing = tab.forward(LONG).unwrap_err().to_string();
    assert_eq!(nothing, "there is no later page in this tab");
}

fn refuse_what_nobody_could_do(tab: &Tab, server: &Server) {
    tab.navigate(&server.url("/form"), Until::Complete, LONG).unwrap();
    for (selector, expected) in [
        ("#off", "the element can't be used: button \"Off\" is disabled"),
        ("#gone", "the element can't be used: button \"Gone\" is hidden"),
        ("#below", "the element can't be used: button \"Below\" is covered by div \"Cover\""),
        ("#nowhere", "nothing on the page matches #nowhere"),
        ("a[", "a[ isn't a CSS selector"),
    ] {
        assert_eq!(tab.click(&css(selector), Click::default(), LONG).unwrap_err().to_string(), expected);
    }
    let typed = tab.type_text(Some(&css("#far")), "x", Typing::default(), LONG).unwrap_err();
    assert!(typed.to_string().contains("takes no text"), "{typed}");
    tab.click(&css("#far"), Click::default(), LONG).unwrap();
    let far = tab.element(&css("#far"), LONG).unwrap();
    assert_eq!(
        (far.text.as_str(), far.tag.as_str(), far.visible, far.enabled),
        ("clicked", "button", true, true)
    );
    assert!(far.area.y > 0.0 && far.area.width > 0.0);
    let again = tab.element(&ElementTarget::Ref(far.reference.clone()), LONG).unwrap();
    assert_eq!(again, far);
    let bottom = tab.scroll(None, &Scroll::Bottom, LONG).unwrap();
    assert!(bottom.y > 1000.0 && (bottom.y - bottom.y_max).abs() < 2.0, "{bottom:?}");
    assert_eq!(tab.scroll(None, &Scroll::Top, LONG).unwrap().y, 0.0);
    assert_eq!(tab.scroll(None, &Scroll::By { dx: 0, dy: 100 }, LONG).unwrap().y, 100.0);
    assert!(tab.scroll(None, &Scroll::To(css("#far")), LONG).unwrap().y > 1000.0);
}

fn dialogs(stage: &Stage, tab: &Tab, other: &Tab, server: &Server) {
    tab.navigate(&server.url("/dialogs"), Until::Complete, LONG).unwrap();
    other.navigate(&server.url("/form"), Until::Complete, LONG).unwrap();
    let acted = tab.click(&css("#alert"), Click::default(), LONG).unwrap();
    let dialog = acted.dialog.unwrap();
    assert_eq!((dialog.kind.as_str(), dialog.message.as_str()), ("alert", "hello"));
    let told = stage.notice(|notice| matches!(notice, BrowserEvent::DialogOpened { .. }));
    assert_eq!(told, BrowserEvent::DialogOpened { tab: tab.id().clone(), dialog: dialog.clone() });
    // Whoever wants to act is told at once; who reads, and who works in another tab, is not held up.
    let refused = tab.click(&css("#ask"), Click::default(), LONG).unwrap_err();
    assert_eq!(refused, BrowserError::Dialog { kind: "alert".into(), message: "hello".into() });
    assert!(tab.content(None, 100, LONG).unwrap().text.contains("Alert"));
    other.click(&css("[type=checkbox]"), Click::default(), LONG).unwrap();
    other.screenshot(&comity_browser::ScreenshotOptions::default(), LONG).unwrap();
    assert_eq!(tab.accept_dialog(None, LONG).unwrap(), dialog);
    assert_eq!(tab.dialog(), None);
    let acted = tab.click(&css("#ask"), Click::default(), LONG).unwrap();
    assert_eq!(acted.dialog.unwrap().default.as_deref(), Some("nobody"));
    tab.accept_dialog(Some("somebody"), LONG).unwrap();
    tab.wait_for(&Condition::Text("somebody".into()), LONG).unwrap();
    // A script that is stopped by a dialog of its own does not hang.
    let stopped = tab.evaluate("confirm('sure?')", Realm::Page, 100, LONG).unwrap_err();
    assert_eq!(stopped, BrowserError::Dialog { kind: "confirm".into(), message: "sure?".into() });
    tab.dismiss_dialog(LONG).unwrap();
    let none = tab.dismiss_dialog(LONG).unwrap_err().to_string();
    assert_eq!(none, "the page shows no dialog");
}

fn popups(stage: &Stage, browser: &Browser, tab: &Tab, server: &Server) {
    tab.navigate(&server.url("/popups"), Until::Complete, LONG).unwrap();
    for selector in ["#blank", "#open"] {
        tab.click(&css(selector), Click::default(), LONG).unwrap();
        let opened = stage.notice(|notice| matches!(notice, BrowserEvent::TabOpened { .. }));
        let BrowserEvent::TabOpened { tab: popup, container, opener, .. } = opened else { unreachable!() };
        assert_eq!((opener.as_ref(), &container), (Some(tab.id()), tab.container()));
        let popup = browser.tab(&popup).unwrap();
        popup.wait_for(&Condition::Text("thank you".into()), LONG).unwrap();
        popup.close(LONG).unwrap();
        let closed = stage.notice(|notice| matches!(notice, BrowserEvent::TabClosed { .. }));
        assert_eq!(closed, BrowserEvent::TabClosed { tab: popup.id().clone() });
    }
    // A page that closes itself.
    let opened = browser.open(tab.container(), LONG).unwrap();
    opened.navigate(&server.url("/popups"), Until::Complete, LONG).unwrap();
    page_of(&opened, "window.open('/popups') && 1");
    let opened = stage.notice(|notice| matches!(notice, BrowserEvent::TabOpened { .. }));
    let BrowserEvent::TabOpened { tab: popup, .. } = opened else { unreachable!() };
    let popup = browser.tab(&popup).unwrap();
    popup.wait_for(&Condition::Selector("#close".into()), LONG).unwrap();
    popup.click(&css("#close"), Click::default(), LONG).unwrap();
    stage.notice(|notice| *notice == BrowserEvent::TabClosed { tab: popup.id().clone() });
    assert!(matches!(popup.content(None, 1, LONG), Err(BrowserError::NoSuchTab { .. })));
}

#[test]
fn a_page_that_prints_holds_up_nothing() {
    if support::lacks_firefox("a_page_that_prints_holds_up_nothing") {
        return;
    }
    let stage = Stage::new();
    let browser = stage.browser();
    let server = Server::start(|path| match path {
        "/prints" => Answer::Page("<title>Prints</title><script>print()</script><p>printed</p>".into()),
        _ => Answer::Page(
            "<title>Print</title><button id=print onclick='print()'>Print</button>
             <button id=count onclick='document.title += 1'>Count</button>"
                .into(),
        ),
    });
    let tab = browser.open(&browser.create_container(LONG).unwrap(), LONG).unwrap();
    let soon = Duration::from_secs(20);
    tab.navigate(&server.url("/prints"), Until::Complete, soon).unwrap();
    tab.wait_for(&Condition::Text("printed".into()), soon).unwrap();
    tab.navigate(&server.url("/button"), Until::Complete, soon).unwrap();
    tab.click(&css("#print"), Click::default(), soon).unwrap();
    tab.press_key("Control+p", &[], soon).unwrap();
    tab.click(&css("#count"), Click::default(), soon).unwrap();
    tab.press_key("Escape", &[], soon).unwrap();
    assert_eq!(page_of(&tab, "document.title"), "Print1");
    tab.navigate(&server.url("/another"), Until::Complete, soon).unwrap();
}
