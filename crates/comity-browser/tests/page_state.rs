//! The page state over frames and shadow trees, its references, its budget and its changes.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use comity_browser::page::{OutlineNode, PageState, StateOptions};
use comity_browser::{
    Area, BrowserError, Click, ElementTarget, Realm, ScreenshotOptions, Tab, Typing, Until,
};
use expect_test::{Expect, expect};
use support::server::{Answer, Server};
use support::{LONG, Stage};

const TOP: &str = "<!doctype html><title>Top</title><header><nav aria-label=Main><a href=/a>Home</a></nav></header>
<main><h1>Shop</h1><p>Buy <b>now</b> or <a href=/b>later</a>.</p>
<form><label>Name <input name=n required value=Ann></label><input type=password aria-label=Secret value=hush>
<input type=checkbox checked aria-label=Agree><select aria-label=Size><option>S<option selected>M</select>
<button disabled>Buy</button></form>
<x-card><span slot=extra>Slotted</span></x-card>
<iframe title=Near src=/frame></iframe><iframe title=Far src='FAR/frame'></iframe>
<div style='display:none'>Hidden</div><p aria-hidden=true>Quiet</p><script>var secret = 'text'</script>
<ul><li>One<li>Two</ul><table><tr><td>a<td>b</tr></table><footer>End</footer></main>
<script>customElements.define('x-card', class extends HTMLElement { constructor() { super();
this.attachShadow({mode: 'open'}).innerHTML = '<p>Card <slot name=extra></slot></p><button id=inner>Inner</button>';
this.shadowRoot.querySelector('button').onclick = e => e.target.textContent = 'Pressed ' + e.isTrusted } })</script>";

const FRAME: &str = "<!doctype html><title>Frame</title><h2>In a frame</h2>
<button onclick='this.textContent = \"Hit \" + event.isTrusted'>Hit me</button><input aria-label=Inside>";

fn rows(count: usize) -> String {
    let rows: String = (0..count)
        .map(|row| {
            format!(
                "<tr><td>{row}</td><td>Customer number {row}</td><td>customer{row}@example.com</td>
                 <td><a href='/edit/{row}'>Edit</a> <button>Delete</button></td></tr>"
            )
        })
        .collect();
    format!("<!doctype html><title>Rows</title><h1>Customers</h1><table>{rows}</table><p id=end>The end</p>")
}

fn state(tab: &Tab, options: &StateOptions) -> PageState {
    tab.page_state(options, LONG).unwrap()
}

fn find<'a>(state: &'a PageState, name: &str) -> &'a OutlineNode {
    state.nodes.iter().find(|node| node.name == name).unwrap_or_else(|| panic!("{name} in\n{state}"))
}

fn target(state: &PageState, name: &str) -> ElementTarget {
    ElementTarget::Ref(find(state, name).reference.clone())
}

/// Compares the outline without what differs from run to run.
fn check(state: &PageState, port: u16, expected: Expect) {
    let lines: Vec<String> = state.to_string().lines().skip(1).map(str::to_owned).collect();
    expected.assert_eq(&lines.join("\n").replace(&port.to_string(), "PORT"));
}

#[test]
fn an_outline_over_frames_and_shadow_trees() {
    if support::lacks_firefox("an_outline_over_frames_and_shadow_trees") {
        return;
    }
    let stage = Stage::new();
    let port = std::sync::Arc::new(std::sync::OnceLock::new());
    let known = port.clone();
    let server = Server::start(move |path| match path {
        "/top" => Answer::Page(TOP.replace("FAR", &format!("http://localhost:{}", known.get().unwrap()))),
        "/frame" => Answer::Page(FRAME.into()),
        "/rows" => Answer::Page(rows(1000)),
        _ => Answer::Page("<title>Other</title><p>Other page</p>".into()),
    });
    port.set(server.port).unwrap();
    let tab = stage.browser().open(&stage.browser().create_container(LONG).unwrap(), LONG).unwrap();
    tab.navigate(&server.url("/top"), Until::Complete, LONG).unwrap();
    outline(&tab, server.port);
    changes(&tab);
    act_inside(&tab);
    pages_of_an_outline(&tab);
    stale(&tab, &server);
    large(&tab, &server);
}

fn outline(tab: &Tab, port: u16) {
    check(
        &state(tab, &StateOptions::default()),
        port,
        expect![[r#"
            banner e1
             navigation "Main" e2
              link "Home" e3
            main e4
             heading "Shop" [level=1] e5
             paragraph "Buy now or later." e6
              link "later" e7
             form e8
              textbox "Name" = "Ann" [required] e9
              textbox "Secret" = "•••" e10
              checkbox "Agree" [checked] e11
              combobox "Size" = "M" e12
              button "Buy" [disabled] e13
             paragraph "Card Slotted" e14
             button "Inner" e15
             iframe "Near" e16
              heading "In a frame" [level=2] e23
              button "Hit me" e24
              textbox "Inside" e25
             iframe "Far" e17
              heading "In a frame" [level=2] e26
              button "Hit me" e27
              textbox "Inside" e28
             listitem "One" e18
             listitem "Two" e19
             table e20
              row "a | b" e21
             contentinfo "End" e22"#]],
    );
    let interactive = StateOptions { interactive_only: true, ..StateOptions::default() };
    check(
        &state(tab, &interactive),
        port,
        expect![[r#"
        link "Home" e3
        link "later" e7
        textbox "Name" = "Ann" [required] e9
        textbox "Secret" = "•••" e10
        checkbox "Agree" [checked] e11
        combobox "Size" = "M" e12
        button "Buy" [disabled] e13
        button "Inner" e15
        iframe "Near" e16
         button "Hit me" e24
         textbox "Inside" e25
        iframe "Far" e17
         button "Hit me" e27
         textbox "Inside" e28"#]],
    );
    let scope =
        StateOptions { scope: Some(ElementTarget::Css("form".into())), depth: 1, ..StateOptions::default() };
    check(
        &state(tab, &scope),
        port,
        expect![[r#"
        form e8
         textbox "Name" = "Ann" [required] e9
         textbox "Secret" = "•••" e10
         checkbox "Agree" [checked] e11
         combobox "Size" = "M" e12
         button "Buy" [disabled] e13"#]],
    );
    // The page sees nothing of all this.
    let seen = tab.evaluate(
        "[typeof comity, document.documentElement.outerHTML.includes('comity')]",
        Realm::Page,
        99,
        LONG,
    );
    assert_eq!(seen.unwrap().value, serde_json::json!(["undefined", false]));
}

fn changes(tab: &Tab) {
    let first = state(tab, &StateOptions::default());
    let same = state(tab, &StateOptions { since: Some(first.revision), ..StateOptions::default() });
    assert_eq!((same.revision, same.changes), (first.revision, Some(Default::default())));
    let script = "document.querySelector('h1').textContent = 'Sale'; document.querySelector('li').remove();
                  document.querySelector('ul').insertAdjacentHTML('beforeend', '<li>Three'); 1";
    tab.evaluate(script, Realm::Sandbox, 99, LONG).unwrap();
    let since = StateOptions { since: Some(first.revision), ..StateOptions::default() };
    let second = state(tab, &since);
    let changes = second.changes.clone().unwrap();
    let names = |nodes: &[OutlineNode]| nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&changes.added), ["Three"]);
    assert_eq!(names(&changes.changed), ["Sale"]);
    assert_eq!(changes.removed, [find(&first, "One").reference.clone()]);
    assert!(second.revision > first.revision);
    let unknown = state(tab, &StateOptions { since: Some(9999), ..StateOptions::default() });
    assert_eq!(unknown.changes, None, "what is not remembered is told in full");
}

fn act_inside(tab: &Tab) {
    let before = state(tab, &StateOptions::default());
    tab.click(&target(&before, "Inner"), Click::default(), LONG).unwrap();
    let hits: Vec<ElementTarget> = before
        .nodes
        .iter()
        .filter(|node| node.name == "Hit me")
        .map(|node| ElementTarget::Ref(node.reference.clone()))
        .collect();
    assert_eq!(hits.len(), 2, "one in each frame");
    for hit in &hits {
        tab.click(hit, Click::default(), LONG).unwrap();
    }
    let fields = before.nodes.iter().filter(|node| node.name == "Inside");
    for field in fields.map(|node| ElementTarget::Ref(node.reference.clone())) {
        tab.type_text(Some(&field), "typed in a frame!", Typing::default(), LONG).unwrap();
        tab.press_key("Backspace", &[], LONG).unwrap();
    }
    let after = state(tab, &StateOptions::default());
    find(&after, "Pressed true");
    assert_eq!(after.nodes.iter().filter(|node| node.name == "Hit true").count(), 2);
    let typed = |node: &&OutlineNode| node.name == "Inside" && node.value == "typed in a frame";
    assert_eq!(after.nodes.iter().filter(typed).count(), 2, "keys go where the focus is\n{after}");
    assert_eq!(tab.element(&hits[1], LONG).unwrap().text, "Hit true");
    let area = Area::Element(hits[1].clone());
    let shot = tab.screenshot(&ScreenshotOptions { area, ..ScreenshotOptions::default() }, LONG).unwrap();
    assert!(shot.width > 20 && shot.height < 100, "{}x{}", shot.width, shot.height);
}

fn pages_of_an_outline(tab: &Tab) {
    let whole = state(tab, &StateOptions::default());
    assert_eq!(whole.more_after, None);
    for nodes_max in [1, 3, 7] {
        let mut collected: Vec<OutlineNode> = Vec::new();
        let mut options = StateOptions { nodes_max, ..StateOptions::default() };
        loop {
            let page = state(tab, &options);
            assert!(page.nodes.len() <= nodes_max);
            collected.extend(page.nodes);
            options.after = page.more_after;
            if options.after.is_none() {
                break;
            }
        }
        let references =
            |nodes: &[OutlineNode]| nodes.iter().map(|node| node.reference.clone()).collect::<Vec<_>>();
        assert_eq!(references(&collected), references(&whole.nodes), "{nodes_max} at a time");
    }
}

fn stale(tab: &Tab, server: &Server) {
    let old = state(tab, &StateOptions::default());
    tab.evaluate("document.querySelector('footer').remove()", Realm::Sandbox, 99, LONG).unwrap();
    let is_stale = |target: &ElementTarget| {
        let error = tab.click(target, Click::default(), LONG).unwrap_err();
        assert!(matches!(error, BrowserError::StaleRef { .. }), "{error}");
    };
    is_stale(&target(&old, "End"));
    tab.evaluate("document.querySelector('iframe').remove()", Realm::Sandbox, 99, LONG).unwrap();
    is_stale(&target(&old, "Hit true"));
    tab.reload(Until::Complete, LONG).unwrap();
    is_stale(&target(&old, "Home"));
    is_stale(&ElementTarget::Ref("e999999".into()));
    let new = state(tab, &StateOptions::default());
    assert_ne!(target(&old, "Home"), target(&new, "Home"), "no reference is used twice");
    tab.click(&target(&new, "Home"), Click::default(), LONG).unwrap();
    tab.wait_for(&comity_browser::Condition::Text("Other page".into()), LONG).unwrap();
    is_stale(&target(&new, "Home"));
    tab.navigate(&server.url("/rows"), Until::Complete, LONG).unwrap();
}

fn large(tab: &Tab, server: &Server) {
    assert!(tab.url().starts_with(&server.url("/rows")));
    let first = state(tab, &StateOptions::default());
    assert!(first.to_string().len() < 12_000, "{} bytes", first.to_string().len());
    assert!(first.more_after.is_some());
    let next = StateOptions { after: first.more_after.clone(), ..StateOptions::default() };
    let second = state(tab, &next);
    let row = |state: &PageState| state.nodes.iter().find(|node| node.role == "row").unwrap().name.clone();
    assert_ne!(row(&first), row(&second));
    let end = StateOptions { scope: Some(ElementTarget::Css("#end".into())), ..StateOptions::default() };
    assert_eq!(state(tab, &end).nodes[0].name, "The end");
}
