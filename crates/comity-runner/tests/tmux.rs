//! Panes in a real tmux: where they are, how large, and how they end.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_runner::{
    Exit, LaunchPlace, Pane, PaneCommand, PanePlace, RunnerError, RunnerEvent, Tmux, TmuxPlace,
};
use support::*;

fn tmux() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&paths).map(|dir| dir.join("tmux")).find(|file| file.exists());
    if found.is_none() {
        comity_skip::skip("tmux", "tmux is not installed");
    }
    found
}

fn sleepers(count: usize) -> Vec<PaneCommand> {
    let command = ["sleep", "1000"].map(Into::into).to_vec();
    vec![PaneCommand { command, directory: "/".into() }; count]
}

/// A user's session with one pane, as large as that.
fn users_session(server: &TmuxServer, columns: u16, rows: u16) -> TmuxPlace {
    let (columns, rows) = (columns.to_string(), rows.to_string());
    server.run(&["new-session", "-d", "-s", "user", "-x", &columns, "-y", &rows, "sleep 1000"]);
    beside(server, "user:0.0")
}

fn beside(server: &TmuxServer, target: &str) -> TmuxPlace {
    let about = server.run(&["display-message", "-p", "-t", target, "#{socket_path} #{pane_id}"]);
    let (socket, pane) = about.trim().split_once(' ').unwrap();
    TmuxPlace::Beside { server: socket.into(), pane: pane.into() }
}

/// Left edge, width and height of each pane, from the top down.
fn layout(server: &TmuxServer, window: &str) -> Vec<(u16, u16, u16)> {
    let format = "#{pane_left} #{pane_top} #{pane_width} #{pane_height}";
    let panes = server.run(&["list-panes", "-t", window, "-F", format]);
    let mut panes: Vec<[u16; 4]> = panes
        .lines()
        .map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect::<Vec<u16>>().try_into().unwrap())
        .collect();
    panes.sort();
    panes.iter().map(|[left, _, width, height]| (*left, *width, *height)).collect()
}

#[test]
fn workers_stack_beside_the_leader_who_keeps_thirty_percent() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("stack");
    let mut tmux = Tmux::new(&program, users_session(&server, 200, 60));
    let first = tmux.open(&sleepers(1)).unwrap();
    assert_eq!(layout(&server, "user"), [(0, 59, 60), (60, 140, 60)]);
    let next = tmux.open(&sleepers(2)).unwrap();
    assert_eq!(layout(&server, "user"), [(0, 59, 60), (60, 140, 20), (60, 140, 19), (60, 140, 19)]);
    let more = tmux.open(&sleepers(7)).unwrap();
    let heights = [6, 5, 5, 5, 5, 5, 5, 5, 5, 5].map(|height| (60, 140, height));
    assert_eq!(layout(&server, "user"), [[(0, 59, 60)].as_slice(), &heights].concat());

    // From the top down in the order in which they were asked for.
    let ids = server.run(&["list-panes", "-t", "user", "-F", "#{pane_id} #{pane_pid}"]);
    let panes = [first, next, more].concat();
    let expected: Vec<String> =
        panes.iter().map(|pane| format!("{} {}", pane.id, pane.pid.unwrap())).collect();
    assert_eq!(ids.lines().skip(1).collect::<Vec<_>>(), expected);
    // The user's pane has the keyboard as before.
    assert_eq!(server.run(&["display-message", "-p", "-t", "user", "#{pane_left}"]).trim(), "0");

    // One that the user has closed is no longer counted.
    tmux.close(&panes[3]).unwrap();
    tmux.open(&sleepers(1)).unwrap();
    assert_eq!(layout(&server, "user").len(), 11);
    assert!(layout(&server, "user").iter().skip(1).all(|(_, _, height)| (5..=6).contains(height)));
}

#[test]
fn other_panes_windows_and_options_of_the_user_stay_as_they_are() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("others");
    users_session(&server, 200, 60);
    server.run(&["split-window", "-d", "-v", "-l", "20", "-t", "user:0.0", "sleep 1000"]);
    server.run(&["new-window", "-d", "-t", "user", "sleep 1000"]);
    let options = || [server.run(&["show-options", "-g"]), server.run(&["show-options", "-wg"])].concat();
    let before = (options(), layout(&server, "user:1"));
    let mut tmux = Tmux::new(&program, beside(&server, "user:0.0"));
    tmux.open(&sleepers(3)).unwrap();
    // Below the leader the user's other pane goes on over the whole width.
    assert!(layout(&server, "user:0").contains(&(0, 200, 20)), "{:?}", layout(&server, "user:0"));
    assert_eq!(before, (options(), layout(&server, "user:1")));
}

#[test]
fn a_window_without_room_refuses_and_is_left_alone() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("room");
    let mut tmux = Tmux::new(&program, users_session(&server, 80, 12));
    tmux.open(&sleepers(3)).unwrap();
    let before = layout(&server, "user");
    let refused = tmux.open(&sleepers(9)).unwrap_err();
    assert_eq!(refused.to_string(), "the tmux window has no room for 9 more panes");
    assert_eq!(layout(&server, "user"), before);
}

#[test]
fn outside_they_are_tiled_in_a_session_of_our_own() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("tiles");
    let mut tmux = Tmux::new(&program, server.place());
    let panes = tmux.open(&sleepers(4)).unwrap();
    assert_eq!(layout(&server, "crew").len(), 4);
    assert!(
        layout(&server, "crew")
            .iter()
            .all(|(_, width, height)| { (109..=110).contains(width) && (29..=30).contains(height) })
    );
    tmux.open(&sleepers(16)).unwrap();
    let windows = server.run(&["list-windows", "-t", "crew", "-F", "#{window_panes}"]);
    assert_eq!(windows.lines().collect::<Vec<_>>(), ["16", "4"]);
    assert_eq!(tmux.attach_command(&panes[0])[1..3], ["-L".to_owned(), server.socket.clone()]);
}

#[test]
fn a_closed_pane_is_never_mistaken_for_another() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("closed");
    let mut tmux = Tmux::new(&program, server.place());
    let panes = tmux.open(&sleepers(2)).unwrap();
    let impostor = Pane { pid: panes[1].pid.map(|pid| pid + 1), ..panes[1].clone() };
    tmux.close(&impostor).unwrap();
    assert_eq!(layout(&server, "crew").len(), 2);
    tmux.close(&panes[1]).unwrap();
    assert_eq!(layout(&server, "crew").len(), 1);
}

/// A place, and panes in the user's session.
fn place_in(server: &TmuxServer, program: &Path) -> (Place, PanePlace) {
    (Place::new(), panes(program, users_session(server, 200, 60)))
}

fn panes(program: &Path, place: TmuxPlace) -> PanePlace {
    PanePlace::Tmux { program: program.to_owned(), place }
}

fn start_in_pane((place, panes): &(Place, PanePlace), key: &str, script: &str) -> Pane {
    let mut launch = place.launch(key, script);
    launch.place = LaunchPlace::Pane(panes.clone());
    place.runner().launch(vec![launch]).unwrap();
    match place.next() {
        RunnerEvent::Started { key: started, pane: Some(pane), .. } if started == key => pane,
        other => panic!("{other:?}"),
    }
}

fn wait_for_text(server: &TmuxServer, pane: &Pane, words: &str) {
    let read = || server.run(&["capture-pane", "-p", "-t", &pane.id]);
    until(|| read().contains(words).then_some(())).unwrap_or_else(|| panic!("{words:?} not in {}", read()));
}

#[test]
fn a_program_in_a_pane_has_its_own_environment_and_is_ended_with_all_it_started() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("pane");
    let place = place_in(&server, &program);
    // Its tmux commands are about its own pane.
    let script = "echo tmux:$(env | grep -c ^TMUX) $TMUX_PANE; setsid sleep 1000 & echo rea''dy; cat";
    let pane = start_in_pane(&place, "ann", script);
    wait_for_text(&server, &pane, "ready");
    wait_for_text(&server, &pane, &format!("tmux:2 {}", pane.id));
    place.0.runner().end("ann", Duration::from_millis(10)).unwrap();
    assert!(matches!(place.0.next(), RunnerEvent::Ended { exit: Exit::Signal(_), .. }));
    assert!(marked(&mark(place.0.dir(), "ann")).is_empty());
    until(|| (layout(&server, "user").len() == 1).then_some(())).expect("its pane is closed");
}

#[test]
fn escape_is_pressed_in_its_pane() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("escape");
    let place = place_in(&server, &program);
    let script =
        "stty raw -echo; echo rea''dy; dd bs=1 count=1 2>/dev/null | od -An -tx1; stty sane; read line";
    let pane = start_in_pane(&place, "ann", script);
    wait_for_text(&server, &pane, "ready");
    place.0.runner().escape("ann").unwrap();
    wait_for_text(&server, &pane, "1b");
}

#[test]
fn a_pane_that_the_user_closes_ends_its_program() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("user");
    let place = place_in(&server, &program);
    let pane = start_in_pane(&place, "ann", "trap '' HUP; setsid sleep 1000 & sleep 1001; sleep 1002");
    wait_for_marked(&mark(place.0.dir(), "ann"), 3);
    server.run(&["kill-pane", "-t", &pane.id]);
    assert!(matches!(place.0.next(), RunnerEvent::Ended { .. }));
    assert!(marked(&mark(place.0.dir(), "ann")).is_empty());
}

#[test]
fn a_killed_tmux_server_ends_the_programs_and_not_the_runner() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("killed");
    let place = (Place::new(), panes(&program, server.place()));
    start_in_pane(&place, "ann", "sleep 1000");
    let pid = server.run(&["display-message", "-p", "-t", "crew", "#{pid}"]).trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert!(matches!(place.0.next(), RunnerEvent::Ended { .. }));
    assert!(marked(&mark(place.0.dir(), "ann")).is_empty());
    // The next one gets a new server.
    start_in_pane(&place, "bob", "sleep 1000");
}

#[test]
fn a_text_that_is_typed_into_a_pane_is_submitted() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("typed");
    let place = place_in(&server, &program);
    // One that knows pastes, as agent programs do: within one, an Enter is a new line.
    let script = "printf '\\033[?2004h'; stty -echo -icanon; echo rea''dy; \
                  dd bs=1 count=22 2>/dev/null | od -An -c | tr -d ' \\n'; echo; stty sane; read line; echo \"got $line\"; cat";
    let pane = start_in_pane(&place, "ann", script);
    wait_for_text(&server, &pane, "ready");
    place.0.runner().write("ann", b"go -- on;\r").unwrap();
    // The paste has its marks, and the Enter comes after them.
    wait_for_text(&server, &pane, r"033[200~go--on;033[201~\n");
    place.0.runner().write("ann", "grüße; 'and' $HOME\r".as_bytes()).unwrap();
    wait_for_text(&server, &pane, "grüße; 'and' $HOME");
}

#[test]
fn ten_panes_at_once_are_ten_agents() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("ten");
    let (place, panes) = place_in(&server, &program);
    let launches = (0..10).map(|number| {
        let mut launch = place.launch(&format!("a{number}"), "sleep 1000");
        launch.place = LaunchPlace::Pane(panes.clone());
        launch
    });
    place.runner().launch(launches.collect()).unwrap();
    let mut started: Vec<String> = (0..10)
        .map(|_| match place.next() {
            RunnerEvent::Started { key, pane: Some(_), .. } => key,
            other => panic!("{other:?}"),
        })
        .collect();
    started.sort();
    assert_eq!(started, (0..10).map(|number| format!("a{number}")).collect::<Vec<_>>());
    let heights = [6, 5, 5, 5, 5, 5, 5, 5, 5, 5].map(|height| (60, 140, height));
    assert_eq!(layout(&server, "user"), [[(0, 59, 60)].as_slice(), &heights].concat());
}

#[test]
fn a_window_that_becomes_smaller_keeps_its_programs_and_takes_new_ones() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("resize");
    let place = place_in(&server, &program);
    let pane =
        start_in_pane(&place, "ann", "trap 'stty size' WINCH; echo rea''dy; while :; do read line; done");
    wait_for_text(&server, &pane, "ready");
    server.run(&["resize-window", "-t", "user", "-x", "100", "-y", "30"]);
    assert_eq!(layout(&server, "user").iter().map(|pane| pane.1).sum::<u16>(), 99);
    let (_, width, height) = layout(&server, "user")[1];
    wait_for_text(&server, &pane, &format!("{height} {width}"));
    start_in_pane(&place, "bob", "sleep 1000");
    let [_, (_, _, ann), (_, _, bob)] = layout(&server, "user")[..] else {
        panic!("{:?}", layout(&server, "user"))
    };
    assert_eq!((ann, bob), (15, 14));
}

#[test]
fn where_there_is_no_pane_to_be_had_it_is_said() {
    let Some(program) = tmux() else { return };
    let server = TmuxServer::new("gone");
    let (place, panes) = place_in(&server, &program);
    // Whose pane the user has closed meanwhile.
    server.run(&["new-window", "-t", "user", "sleep 1000"]);
    server.run(&["kill-window", "-t", "user:0"]);
    let mut launch = place.launch("ann", "sleep 1000");
    launch.place = LaunchPlace::Pane(panes);
    let refused = place.runner().launch(vec![launch]).unwrap_err();
    assert!(matches!(refused, RunnerError::Pane(_)), "{refused}");
    assert_eq!(layout(&server, "user").len(), 1);
}
