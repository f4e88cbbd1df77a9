//! Files that are no mailboxes: they block nobody, and nothing of them is lost.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Barrier;

use comity_mailbox::{Damage, DamageKind, FILE_BYTES_MAX, SALVAGED_BYTES_MAX, TEXT_BYTES_MAX};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::post::Post;

const A: &str = r#"{"id":"a","from":"zoe","text":"a"}"#;
const B: &str = r#"{"id":"b","from":"zoe","text":"b","read":false}"#;

fn table() -> Vec<(&'static str, Vec<u8>, DamageKind, Vec<&'static str>)> {
    use DamageKind::{BadEntries, Torn};
    let text = |text: String| text.into_bytes();
    let long = format!(r#"{{"id":"l","from":"zoe","text":"{}"}}"#, "x".repeat(TEXT_BYTES_MAX + 1));
    let wide = format!(r#"{{"id":"w","from":"zoe","text":"w","x":"{}"}}"#, "x".repeat(2 << 20));
    let nested =
        format!(r#"{{"id":"n","from":"zoe","text":"n","x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let spaced = |json: &str| json.replace(',', ",\n    ").replace('{', "{\n    ").replace('}', "\n  }");
    vec![
        ("words", b"hello".to_vec(), Torn, vec![]),
        ("zeros", vec![0; 4096], Torn, vec![]),
        ("mail and zeros", [format!("[\n{A},\n").into_bytes(), vec![0; 4096]].concat(), Torn, vec!["a"]),
        ("binary", (0..=255).cycle().take(10_000).collect(), Torn, vec![]),
        ("a number", b"17".to_vec(), Torn, vec![]),
        ("null", b"null".to_vec(), Torn, vec![]),
        ("an object", br#"{"messages": 1}"#.to_vec(), Torn, vec![]),
        ("one message", text(A.into()), Torn, vec!["a"]),
        ("spaces", b" \n ".to_vec(), Torn, vec![]),
        ("torn at the end", text(format!("[\n{A},\n{B},\n{{\"id\":\"c\",\"fr")), Torn, vec!["a", "b"]),
        (
            "torn in a string",
            text(format!("[\n{A},\n{{\"id\":\"c\",\"text\":\"hal\n{B}\n]\n")),
            Torn,
            vec!["a", "b"],
        ),
        ("torn in an object", text(format!("[\n{{\"id\":\"c\",\n{A},\n{B}\n]")), Torn, vec!["a", "b"]),
        ("no end", text(format!("[{A},{B}")), Torn, vec!["a", "b"]),
        ("no commas", text(format!("[{A} {B}]")), Torn, vec!["a", "b"]),
        ("two arrays", text(format!("[{A}]\n[{B}]")), Torn, vec!["a", "b"]),
        ("old end under new", text(format!("[\n{A}\n]\nom\":\"zoe\"}}\n]\n")), Torn, vec!["a"]),
        (
            "spread over lines",
            text(format!("[\n  {},\n  {{ \"id\": oops }},\n  {}\n]", spaced(A), spaced(B))),
            Torn,
            vec!["a", "b"],
        ),
        (
            "not UTF-8",
            [b"[\n{\"text\":\"\xff\xfe\"},\n".to_vec(), text(format!("{A}\n]"))].concat(),
            Torn,
            vec!["a"],
        ),
        (
            "not UTF-8, one line",
            [text(format!("[{A},")), b"{\"text\":\"\xff\"}]".to_vec()].concat(),
            Torn,
            vec!["a"],
        ),
        (
            "no messages",
            text(format!(r#"[1,"x",null,[2],{{}},{{"from":"zoe"}},{{"text":"t"}},{A}]"#)),
            BadEntries,
            vec!["a"],
        ),
        (
            "wrong types",
            text(format!(r#"[{{"from":1,"text":"t"}},{{"from":"z","text":"t","read":"no"}},{B}]"#)),
            BadEntries,
            vec!["b"],
        ),
        (
            "bad ids",
            text(format!(r#"[{{"id":7,"from":"z","text":"t"}},{{"id":"","from":"z","text":"t"}},{B}]"#)),
            BadEntries,
            vec!["b"],
        ),
        (
            "a field twice",
            text(format!(r#"[{{"from":"z","from":"y","text":"t"}},{A}]"#)),
            BadEntries,
            vec!["a"],
        ),
        ("too long", text(format!("[{long},{A}]")), BadEntries, vec!["a"]),
        ("too wide", text(format!("[{wide},{A}]")), BadEntries, vec!["a"]),
        ("deep", text("[".repeat(100_000)), Torn, vec![]),
        ("deep and closed", text("[".repeat(100_000) + &"]".repeat(100_000)), BadEntries, vec![]),
        ("deep objects", text(r#"{"a":"#.repeat(100_000)), Torn, vec![]),
        ("deep objects in lines", text("{\"a\":\n".repeat(100_000)), Torn, vec![]),
        ("broken lines", text("{\"a\":\"\n".repeat(100_000)), Torn, vec![]),
        ("a deep entry", text(format!("[{nested},{A}]")), BadEntries, vec!["a"]),
    ]
}

/// Whatever is done first, it finds the damage, and goes on with what could be salvaged.
fn check_goes_on(name: &str, make: impl Fn(&Post), check: impl Fn(&Post, &Damage), salvaged: &[&str]) {
    type Act = fn(&Post) -> Vec<Damage>;
    let acts: [(&str, Act); 5] = [
        ("spool", |post| post.spool("new").damage),
        ("read", |post| post.boxes.read(&post.name).expect("read").damage),
        ("clear", |post| post.boxes.clear(&post.name).expect("cleared").damage),
        ("drain", |post| post.boxes.drain(&post.name, |_| false).expect("drained").damage),
        ("confirm", |post| post.boxes.confirm(&post.name, &[].into()).expect("confirmed").damage),
    ];
    for (act_name, act) in acts {
        let post = Post::new();
        make(&post);
        let damage = act(&post);
        let [damage] = &damage[..] else { panic!("{name}: {act_name} reports {damage:?}") };
        assert_eq!(damage.salvaged, salvaged.len(), "{name}: {act_name}");
        check(&post, damage);
        let listed = post.boxes.boxes().expect("a list").boxes;
        assert_eq!(listed[0].set_aside, std::slice::from_ref(&damage.set_aside), "{name}: {act_name}");
        let texts: Vec<String> = post.entries().into_iter().map(|entry| entry.text).collect();
        let expected: Vec<&str> = match act_name {
            "spool" => salvaged.iter().copied().chain(["new"]).collect(),
            "clear" => vec![],
            _ => salvaged.to_vec(),
        };
        assert_eq!(texts, expected, "{name}: {act_name}");
        assert_eq!(post.spool("more").damage, [], "{name}: once is enough");
        assert_eq!(post.read().last().map(String::as_str), Some("more"), "{name}: {act_name}");
    }
}

#[test]
fn torn_and_hostile_files_are_set_aside_and_the_rest_goes_on() {
    for (name, bytes, problem, salvaged) in table() {
        let check = |_: &Post, damage: &Damage| {
            assert_eq!(damage.problem, problem, "{name}");
            assert!(fs::read(&damage.set_aside).expect("kept") == bytes, "{name}: every byte is kept");
            assert!(damage.to_string().contains("it is kept as"));
        };
        check_goes_on(name, |post| post.put(&bytes), check, &salvaged);
    }
}

#[test]
fn what_is_no_file_is_set_aside() {
    type Make = fn(&Path);
    let kinds: [(&str, Make); 5] = [
        ("a directory", |path| fs::create_dir_all(path.join("full")).expect("a directory")),
        ("a pipe", |path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe")),
        ("a link", |path| symlink("/etc/hostname", path).expect("a link")),
        ("a link to nothing", |path| symlink("nowhere", path).expect("a link")),
        ("a socket", |path| drop(UnixListener::bind(path).expect("a socket"))),
    ];
    for (name, make) in kinds {
        let make_box = |post: &Post| {
            fs::create_dir_all(post.inboxes()).expect("directories");
            make(&post.file(""));
        };
        let check = |_: &Post, damage: &Damage| {
            assert_eq!(damage.problem, DamageKind::NoFile, "{name}");
            damage.set_aside.symlink_metadata().expect("kept");
        };
        check_goes_on(name, make_box, check, &[]);
        for other in [".lock", ".tmp", ".archive"] {
            let post = Post::new();
            fs::create_dir_all(post.inboxes()).expect("directories");
            make(&post.file(other));
            post.spool("one");
            assert_eq!(post.read(), ["one"], "{name} as {other}");
            assert_eq!(post.boxes.clear(&post.name).expect("cleared").archived, 1, "{name} as {other}");
            assert_eq!(post.names(&format!("ann.json{other}.damaged-")).len(), 1, "{name} as {other}");
        }
    }
}

#[test]
fn many_who_find_a_directory_in_the_place_of_the_lock_make_one_lock() {
    const WRITERS: usize = 8;
    for _ in 0..8 {
        let post = Post::new();
        fs::create_dir_all(post.file(".lock")).expect("a directory");
        let at_once = Barrier::new(WRITERS);
        std::thread::scope(|threads| {
            for writer in 0..WRITERS {
                let (post, at_once) = (&post, &at_once);
                threads.spawn(move || {
                    at_once.wait();
                    post.spool(&writer.to_string());
                });
            }
        });
        assert_eq!(post.entries().len(), WRITERS);
        assert_eq!(post.names("ann.json.lock").len(), 2, "one lock file, and what was in its place");
    }
}

#[test]
fn a_name_that_somebody_foresaw_is_not_written_over() {
    let post = Post::new();
    post.put(b"torn");
    let file = fs::metadata(post.file("")).expect("a file");
    let unique = format!("{:x}-{:x}-{:x}-0", file.ino(), file.mtime(), file.mtime_nsec());
    let foreseen = post.file(&format!(".damaged-{unique}"));
    fs::write(&foreseen, "theirs").expect("a file");
    let mail = post.boxes.read(&post.name).expect("read");
    assert_eq!(fs::read(&mail.damage[0].set_aside).expect("kept"), b"torn");
    assert_eq!(fs::read(foreseen).expect("kept"), b"theirs");
}

#[test]
fn a_huge_file_is_set_aside_and_its_beginning_goes_on() {
    let make = |post: &Post| {
        post.put(format!("[\n{A},\n{B},\n").as_bytes());
        let file = fs::OpenOptions::new().write(true).open(post.file("")).expect("a file");
        file.set_len(1 << 40).expect("a file with a hole");
    };
    let post = Post::new();
    make(&post);
    let mail = post.boxes.read(&post.name).expect("read");
    assert_eq!(mail.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(mail.damage[0].problem, DamageKind::TooLarge);
    assert_eq!(fs::metadata(&mail.damage[0].set_aside).expect("kept").len(), 1 << 40);
    post.spool("more");
    assert_eq!(post.read(), ["more"]);
}

#[test]
fn a_huge_file_of_good_mail_leaves_a_box_of_good_size() {
    let post = Post::new();
    let line = format!("{{\"from\":\"zoe\",\"text\":\"{}\"}},\n", "a".repeat(200 << 10));
    post.put(["[\n", &line.repeat(FILE_BYTES_MAX / line.len() + 1)].concat().as_bytes());
    let damage = post.spool("new").damage;
    assert_eq!(damage[0].problem, DamageKind::TooLarge);
    assert_eq!(damage[0].salvaged, SALVAGED_BYTES_MAX / (line.len() + 80), "{damage:?}");
    assert_eq!(post.read().len(), damage[0].salvaged + 1);
}
