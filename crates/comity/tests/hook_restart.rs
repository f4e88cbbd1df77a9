//! A server that goes in the middle of a hook's question, as it does when it is started again.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use serde_json::json;
use support::{PATIENCE, Place, Ran, is_readable};

/// What the server does with the question before it goes.
#[derive(Clone, Copy, Debug)]
enum Goes {
    /// It has read it: the connection ends.
    AfterReading,
    /// It has not: the connection is reset.
    Unread,
}

#[test]
fn a_question_is_asked_again_when_its_server_goes() {
    for goes in [Goes::AfterReading, Goes::Unread] {
        let place = Place::new();
        let socket = place.socket();
        let listener = UnixListener::bind(&socket).expect("a socket");
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).expect("closed to others");
        let payload = json!({
            "session_id": "s1", "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": place.repo.join("src/a.rs"), "content": "x" },
        });
        let mut command = place.comity(&["hook", "claude"]);
        let mut hook = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the hook runs");
        hook.stdin.take().expect("an input").write_all(payload.to_string().as_bytes()).expect("written");
        let (connection, _) = listener.accept().expect("the hook");
        match goes {
            Goes::AfterReading => {
                let mut question = String::new();
                BufReader::new(&connection).read_line(&mut question).expect("a question");
                assert!(question.contains("\"guard\""), "{question}");
            }
            Goes::Unread => assert!(is_readable(&connection, PATIENCE), "no question came"),
        }
        // The next connection finds no server, and starts one.
        fs::remove_file(&socket).expect("removed");
        drop((listener, connection));
        let ran = Ran::of(hook.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{goes:?}: {ran:?}");
        let taken = place.log_of("lock_acquired");
        assert_eq!(taken.len(), 1, "{goes:?}: it was judged once: {taken:?}");
    }
}
