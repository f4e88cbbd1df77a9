//! What a caller has to be told besides the answer.

use crate::catalog::next_call;
use crate::operations::ledger::ReadLog;
use comity_core::notices::NoticeAsk;
use comity_core::people::{PersonAsk, Proof, Unseen};
use comity_core::{Ask, Principal};

use super::Application;

impl Application {
    /// What waits for the caller, which is told it with this answer.
    pub(super) fn notices_for(&self, asker: &comity_core::Asker) -> Vec<String> {
        let who = asker.who;
        let (mut notices, mut told) = (self.new_places(asker), false);
        if let Principal::Agent(id) = who {
            let world = self.engine().world();
            let waiting = world.agents.get(id).map(|agent| &agent.notices[..]).unwrap_or_default();
            notices.extend(waiting.iter().map(|notice| notice.what.to_string()));
            told = !notices.is_empty();
            notices.extend(self.mail_memory().mention(&world, who));
        }
        if told {
            self.engine().tell(who, vec![Ask::Notice(NoticeAsk::Take)]);
            self.engine().wake();
        }
        notices
    }

    /// What was done in the human's name from places that were new, for a human who looks; each is
    /// shown once in a place, until that is one that is older.
    fn new_places(&self, asker: &comity_core::Asker) -> Vec<String> {
        let origin = asker.origin.as_ref().filter(|origin| {
            asker.who == Principal::Human && matches!(origin.proof, Proof::Terminal | Proof::Login)
        });
        let Some(origin) = origin else { return vec![] };
        let place = origin.place();
        let (notices, up_to) = {
            let world = self.engine().world();
            let unseen: Vec<_> = world.people.unseen(&place).collect();
            let up_to = unseen.last().map(|act| act.seq);
            (unseen.iter().map(|act| new_place(act)).collect::<Vec<_>>(), up_to)
        };
        if let Some(up_to) = up_to {
            self.engine().tell(asker.clone(), vec![Ask::Person(PersonAsk::Recognise { up_to, place })]);
            self.engine().wake();
        }
        notices
    }
}

fn new_place(act: &Unseen) -> String {
    let at = crate::ledger::date(act.wall_ms);
    let terminal = act.origin.terminal.as_deref().unwrap_or("no terminal");
    let window = act.origin.window.map_or("", |_| ", in a window opened since agents came");
    let left_out = match act.left_out {
        0 => String::new(),
        count => format!(
            " ({count} more before it, too many to list here; see all: {})",
            next_call::<ReadLog>([("type", "acted_from_new_place".into())])
        ),
    };
    format!(
        "somebody acted as you from a new place at {at}: {}{window} ({terminal}), {}; was it you? see: {}{left_out}",
        act.origin.lineage,
        act.act,
        next_call::<ReadLog>([])
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::Wording;

    #[test]
    fn what_is_not_listed_is_counted() {
        let notice = |left_out: u32| {
            let origin = serde_json::json!({ "proof": "terminal", "lineage": "tmux > sh > comity" });
            let act = serde_json::json!({
                "seq": 7, "wall_ms": 0, "origin": origin, "act": "lock_released", "left_out": left_out,
            });
            new_place(&serde_json::from_value(act).expect("an act"))
        };
        assert!(notice(0).ends_with(&format!("see: {}", next_call::<ReadLog>([]))), "{}", notice(0));
        let all = Wording::Commands.spell(&notice(8)).into_owned();
        assert!(
            all.contains("8 more before it")
                && all.contains("see all: comity log --type acted_from_new_place"),
            "{all}"
        );
    }
}
