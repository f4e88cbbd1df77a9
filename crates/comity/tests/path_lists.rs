//! Paths as people type them into lists.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;

use serde_json::json;
use support::Place;

#[test]
fn several_paths_in_one_word_are_no_path() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let calls: [&[&str]; 3] = [
        &["task", "add", "Both", "--files", "src/a.rs,src/b.rs"],
        &["lock", "src/a.rs,src/b.rs"],
        &["lock", "src/a.rs, src/new.rs"],
    ];
    for words in calls {
        let refused = place.run_as(&ann, words);
        assert!(refused.code == 3 && refused.err.contains("is one path"), "{words:?}: {refused:?}");
        assert!(refused.err.contains("repeat the flag"), "{refused:?}");
    }
    assert_eq!(place.json_as(&ann, &["locks"])["locks"], json!([]));
    // A comma may be in a name, and in a pattern.
    fs::write(place.repo.join("src/x,y.rs"), "").expect("written");
    place.json_as(&ann, &["lock", "src/x,y.rs"]);
    place.json_as(&ann, &["lock", "src/{a,b}.rs"]);
    let twice = place.run_as(&ann, &["task", "add", "Both", "--files", "src/a.rs", "src/b.rs"]);
    let tip = "--files takes one value, repeat it for more: --files src/a.rs --files src/b.rs";
    assert!(twice.err.contains(tip), "{twice:?}");
}
