//! Shows on the desktop what is new in the human's inbox, if that is configured, with `notify-send`.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use comity_core::inbox::{self, InboxItem};
use comity_core::{Principal, Timestamp, World};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::application::Application;
use crate::operations::inbox::InboxEntry;
use crate::reconciler::{self, Bell, NextLook};

const PROGRAM: &str = "notify-send";
/// Things that are shown one by one; if there are more, only their number is.
const SHOWN_MAX: usize = 3;
/// How long the program may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// After a notification, later ones are held back for this long and shown together.
const PAUSE: Duration = Duration::from_secs(1);

/// Shows what is new from now on, until the engine stops; does nothing unless configured.
pub fn run(app: &Application) -> std::io::Result<()> {
    if !app.config().inbox.notify {
        return Ok(());
    }
    let (app, engine) = (app.clone(), app.engine().clone());
    // What waits already is no news.
    let mut known = InboxNews::of(&app);
    let look = move || {
        let now = InboxNews::of(&app);
        let new = now.since(&known);
        match &new[..] {
            [] => {}
            few if few.len() <= SHOWN_MAX => few.iter().for_each(|what| show(what)),
            many => show(&format!("{} things wait for you", many.len())),
        }
        known = now;
        if new.is_empty() { NextLook::Woken } else { NextLook::after(PAUSE) }
    };
    reconciler::run(&engine, "notifier", Bell::new(), version, look).map(drop)
}

/// Changes when something else waits for the human.
fn version(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    for item in inbox::waiting_for(world, Principal::Human) {
        (std::mem::discriminant(&item), item.since()).hash(&mut hasher);
        if let InboxItem::Mail { letters, answers, .. } = item {
            (letters, answers).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// What waits at a moment.
struct InboxNews {
    /// In words, by what identifies each.
    things: BTreeMap<(&'static str, String, Timestamp), String>,
    /// Letters and answers, and the words for them.
    mail: (usize, String),
}

impl InboxNews {
    fn of(app: &Application) -> InboxNews {
        let (now, world) = (app.engine().now(), app.engine().world());
        let mut news = InboxNews { things: BTreeMap::new(), mail: (0, String::new()) };
        for item in inbox::waiting_for(&world, Principal::Human) {
            let entry = InboxEntry::of(&item, &world, (Principal::Human, None), now);
            match item {
                InboxItem::Mail { letters, answers, .. } => news.mail = (letters + answers, entry.what),
                _ => drop(news.things.insert((entry.kind, entry.entry, item.since()), entry.what)),
            }
        }
        news
    }

    /// What is new since `before`, in words. That some letters were read is no news.
    fn since(&self, before: &InboxNews) -> Vec<String> {
        let is_new =
            |(name, _): &(&(&'static str, String, Timestamp), &String)| !before.things.contains_key(*name);
        let mail = (self.mail.0 > before.mail.0).then(|| self.mail.1.clone());
        self.things.iter().filter(is_new).map(|(_, what)| what.clone()).chain(mail).collect()
    }
}

/// Does not wait long for a desktop that does not answer.
fn show(what: &str) {
    let plain = what.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let Some(program) = comity_git::find_program(PROGRAM) else { return };
    let child = Command::new(program)
        .args(["--app-name=Comity", "--", "Comity", &plain])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(child) = child {
        end(child);
    }
}

fn end(mut child: Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let has_ended = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).is_some_and(|pidfd| {
        let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&patience)).is_ok_and(|ready| ready > 0)
    });
    if !has_ended {
        let _ = child.kill();
    }
    let _ = child.wait();
}
