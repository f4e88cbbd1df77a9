//! `comity inbox 3 allow` answers what stood in the third line, and nothing else.

use serde_json::Value;

use super::support::Place;

fn decided(place: &Place) -> Vec<String> {
    let decisions = place.json(&["decision", "list"]);
    let confirmed = decisions["decisions"].as_array().expect("decisions").iter();
    let confirmed = confirmed.filter(|one| one["state"] == "confirmed");
    confirmed.map(|one| one["title"].as_str().expect("a title").to_owned()).collect()
}

fn refused(place: &Place, words: &[&str]) -> Value {
    place.run(&[&["inbox"], words, &["--json"]].concat()).refusal()
}

#[test]
fn a_number_is_a_line_of_the_list_that_was_seen_last() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let decide = |title: &str| drop(place.json_as(&ann, &["decide", title, "--needs-confirmation"]));
    let first: Vec<String> = (1..=4).map(|number| format!("number {number}")).collect();
    first.iter().for_each(|title| decide(title));
    place.json(&["inbox", "d1", "confirm"]);
    // The lines are d2, d3, d4.
    let shown = place.run(&["inbox"]).out;
    assert!(shown.starts_with("1  d2  ann decided: number 2"), "{shown}");
    let no = refused(&place, &["2", "confirm"]);
    assert_eq!(no["code"], "bad_input", "the second line is d3, and d2 is called 2: {no}");
    assert_eq!(no["hint"], "say which: d2, d3");
    place.json(&["inbox", "1", "confirm"]);
    let no = refused(&place, &["1", "confirm"]);
    assert_eq!(no["code"], "not_found", "it is answered once: {no}");
    // The list has moved on, but not what was seen of it; and d2 is answered.
    place.json(&["inbox", "2", "confirm"]);
    assert_eq!(decided(&place), ["number 1", "number 2", "number 3"]);
    // A count is no list.
    place.run(&["locks"]);
    assert_eq!(refused(&place, &["1", "confirm"])["code"], "not_found");
    // What was never seen has no lines: the number is that of d4.
    place.json(&["inbox", "4", "confirm"]);
    assert_eq!(decided(&place).len(), 4);
}

#[test]
fn a_number_whose_line_alone_takes_the_answer_is_meant() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["decide", "Use tabs", "--needs-confirmation"]);
    place.run_as(&ann, &["ask", "Bash", r#"{"command": "make"}"#, "--by-mail"]);
    let shown = place.run(&["inbox"]).out;
    assert!(shown.starts_with("1  p1  "), "{shown}");
    // Only d1 takes that, and it is not the first line.
    assert_eq!(refused(&place, &["1", "confirm"])["hint"], "say which: p1, d1");
    let allowed = place.run(&["inbox", "1", "allow"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert!(decided(&place).is_empty());
}
