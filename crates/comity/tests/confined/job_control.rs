//! Job control in a confined shell at a real terminal.

use super::window::Window;
use super::{place, ways};
use crate::support::{beside, has_program, skip};

#[test]
fn jobs_of_a_confined_shell_stop_and_go_on_as_ever() {
    if !has_program("tmux") {
        return skip("jobs_of_a_confined_shell_stop_and_go_on_as_ever", "there is no tmux");
    }
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let mut bash = place.program("bash");
    let shell = format!(
        "exec '{}' -c 'PS1=\"> \" exec bash --norc --noprofile -i'",
        beside("comity-confine").display()
    );
    bash.args(["-c", &shell]).env("COMITY_TOKEN", &ann.token);
    let window = Window::open(&place, &bash);
    window.shows(">");
    window.types("echo x >src/a.rs || echo held");
    window.shows("held");
    window.types("sleep 300");
    window.runs("sleep");
    window.presses("C-z");
    window.shows("[1]+  Stopped");
    window.runs("bash");
    window.types("bg; jobs -r");
    window.shows("[1]+  Running");
    window.types("fg");
    window.runs("sleep");
    window.presses("C-c");
    window.runs("bash");
    window.types("echo \"ended by $?\"");
    window.shows("ended by 130");
    assert!(ways::is_untouched(&place.repo));
}
