//! The language of the examples about tasks: `ann declares a; b after a on src/`, `bob finishes a because tests pass`.

use comity_core::limits::LOCK_TTL;
use comity_core::tasks::{
    Brief, BriefChange, Priority, Task, TaskAct, TaskAsk, TaskDraft, TaskEvent, TaskRef,
};
use comity_core::{Ask, CaseRule, Millis, PathPattern, Principal, World};

use crate::script::{Stage, project};

/// Plays one line; what is not about tasks is played as in other scripts.
pub(crate) fn play(stage: &mut Stage, line: &str) {
    if line == "show tasks" {
        let shown: Vec<String> = stage.world.tasks.iter().map(|task| shown(&stage.world, task)).collect();
        return stage.said.extend(shown);
    }
    let (name, act) = line.split_once(' ').unwrap_or((line, ""));
    let (verb, rest) = act.split_once(' ').unwrap_or((act, ""));
    let Some(ask) = ask(stage, verb, rest) else { return stage.play(line) };
    let who = stage.who(name);
    stage.ask(name, who, &Ask::Task(ask), None);
}

fn ask(stage: &mut Stage, verb: &str, rest: &str) -> Option<TaskAsk> {
    let (rest, because) = rest.split_once(" because").map_or((rest, ""), |(rest, why)| (rest, why.trim()));
    let (rest, attempt) = match rest.split_once(" attempt ") {
        Some((rest, number)) => (rest, Some(number.parse().expect("a number"))),
        None => (rest, None),
    };
    let (task, to) = rest.split_once(" to ").unwrap_or((rest, ""));
    let on = || TaskRef { project: project(), task: task.into() };
    let act = match verb {
        "declares" => {
            return Some(TaskAsk::Declare {
                project: project(),
                tasks: rest.split(';').map(draft).collect(),
            });
        }
        "links" => {
            let depends_on = to.split_whitespace().map(Into::into).collect();
            return Some(TaskAsk::Link { on: on(), depends_on, change: BriefChange::default() });
        }
        "retitles" => {
            let change = BriefChange { title: Some(to.into()), files: None };
            return Some(TaskAsk::Link { on: on(), depends_on: vec![], change });
        }
        "refiles" => {
            let parse = |path: &str| PathPattern::parse(path, CaseRule::Exact).expect("a path");
            let files = Some(to.split_whitespace().map(parse).collect());
            let change = BriefChange { title: None, files };
            return Some(TaskAsk::Link { on: on(), depends_on: vec![], change });
        }
        "claims" if task.is_empty() => return Some(TaskAsk::ClaimNext { project: project() }),
        "seeks" => {
            let wait = Millis::seconds(rest.trim_end_matches('s').parse().expect("seconds"));
            return Some(TaskAsk::Seek { project: project(), wait });
        }
        "takes" => return Some(TaskAsk::Take),
        "claims" => TaskAct::Claim,
        "starts" => TaskAct::Start { ttl: LOCK_TTL },
        "finishes" => TaskAct::Done { evidence: because.into() },
        "fails" => TaskAct::Fail { reason: because.into() },
        "gives-back" => TaskAct::GiveBack,
        "accepts" => TaskAct::Accept,
        "sends-back" => TaskAct::SendBack { reason: because.into() },
        "assigns" => TaskAct::Assign { to: stage.who(to) },
        "pauses" => TaskAct::Pause,
        "resumes" => TaskAct::Resume,
        "retries" => TaskAct::Retry,
        "reopens" => TaskAct::Reopen,
        "skips" => TaskAct::Skip,
        "cancels-task" => TaskAct::Cancel,
        _ => return None,
    };
    Some(TaskAsk::Act { on: on(), attempt, act })
}

/// `id after a b on src/ as qa for red at high called Some title reviewed`; no id is `-`.
fn draft(text: &str) -> TaskDraft {
    let mut draft = TaskDraft::default();
    let mut mark = "id";
    for word in text.split_whitespace() {
        if ["after", "on", "as", "for", "at", "called"].contains(&word) {
            mark = word;
            continue;
        }
        let Brief { title, role, team, priority, files, review, .. } = &mut draft.brief;
        match mark {
            _ if word == "reviewed" => *review = true,
            "id" if word == "-" => {}
            "id" => draft.id = Some(word.into()),
            "after" => draft.depends_on.push(word.into()),
            "on" => files.push(PathPattern::parse(word, CaseRule::Exact).expect("a path")),
            "as" => *role = Some(word.into()),
            "for" => *team = Some(word.into()),
            "at" => {
                let all = [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low];
                *priority = all.into_iter().find(|priority| priority.word() == word).expect("a priority");
            }
            _ if title.is_empty() => *title = word.into(),
            _ => *title = format!("{title} {word}").into(),
        }
    }
    if draft.brief.title.is_empty() {
        draft.brief.title = "it".into();
    }
    draft
}

fn shown(world: &World, task: &Task) -> String {
    let owner = task.state.owner().map(|owner| format!(", {}'s", world.name_of(owner))).unwrap_or_default();
    format!("{}: {} ({}){owner}", task.id, task.status().word(), task.attempt)
}

/// What happened to tasks, in a line.
pub(crate) fn told(world: &World, event: &TaskEvent) -> String {
    let name = |who: &Principal| world.name_of(*who);
    let task = event.on().map(|on| &*on.task).unwrap_or_default();
    match event {
        TaskEvent::Declared { tasks, .. } => {
            let ids: Vec<&str> = tasks.iter().map(|task| &*task.id).collect();
            format!("declared {}", ids.join(", "))
        }
        TaskEvent::Linked { title: Some(title), .. } => format!("{task} is called {title}"),
        TaskEvent::Linked { files: Some(files), .. } => {
            let files: Vec<String> = files.iter().map(ToString::to_string).collect();
            format!("{task} changes {}", files.join(", "))
        }
        TaskEvent::Linked { depends_on, .. } => format!("{task} waits for {}, too", depends_on.join(", ")),
        TaskEvent::Claimed { by, attempt, .. } => format!("{task} claimed by {} ({attempt})", name(by)),
        TaskEvent::Assigned { to, attempt, start_within, .. } => {
            let within =
                start_within.map(|span| format!(", to be started within {span}")).unwrap_or_default();
            format!("{task} given to {} ({attempt}){within}", name(to))
        }
        TaskEvent::Started { by, attempt, .. } => format!("{task} started by {} ({attempt})", name(by)),
        TaskEvent::Reported { by, evidence, .. } => format!("{task} of {} in review: {evidence}", name(by)),
        TaskEvent::Completed { by, evidence, .. } => format!("{task} done by {}: {evidence}", name(by)),
        TaskEvent::SentBack { owner, attempt, reason, .. } => {
            let owner = owner.as_ref().map_or("nobody".into(), name);
            format!("{task} sent back to {owner} ({attempt}): {reason}")
        }
        TaskEvent::Returned { from, attempt, cause, .. } => {
            format!("{task} returned by {} ({attempt}): {cause:?}", name(from))
        }
        TaskEvent::Failed { by, reason, tell, .. } => {
            let told =
                tell.map(|agent| format!(", {} is told", name(&Principal::Agent(agent)))).unwrap_or_default();
            format!("{task} failed by {}: {reason}{told}", name(by))
        }
        TaskEvent::Paused { .. } => format!("{task} paused"),
        TaskEvent::Resumed { .. } => format!("{task} resumed"),
        TaskEvent::Retried { attempt, .. } => format!("{task} retried ({attempt})"),
        TaskEvent::Reopened { attempt, begun, .. } => {
            format!("{task} reopened ({attempt}), begun already: {}", begun.join(", "))
        }
        TaskEvent::Skipped { .. } => format!("{task} skipped"),
        TaskEvent::Cancelled { .. } => format!("{task} cancelled"),
        TaskEvent::LooksLike { other, likeness, .. } => format!("{task} looks like {other}: {likeness}"),
        TaskEvent::Sought { agent, wait, .. } => {
            format!("{} waits for work, {wait} at most", name(&Principal::Agent(*agent)))
        }
        TaskEvent::GaveUp { agent, .. } => {
            format!("{} waits for work no more", name(&Principal::Agent(*agent)))
        }
    }
}
