//! What must be true of mail, handshakes, teams and decisions when a step is over.

use comity_core::decisions::DecisionState;
use comity_core::limits::OFFERS_MAX;
use comity_core::mail::Mailbox;
use comity_core::{Principal, Timestamp, World};

use super::post::{LetterStage, Pile};
use super::{Found, Oracle};

impl Oracle {
    /// Compares the world's mail with what the records say: all boxes roughly, those that this step was about and one
    /// of the others in full.
    pub(super) fn agrees_on_mail(&self, world: &World) -> Found {
        let owners = world.mail.boxes().map(|(who, _)| who);
        if !owners.eq(self.post.piles.keys().copied()) {
            return Err("the world's boxes are not those of its log".into());
        }
        let in_turn = self.post.turn % self.post.piles.len().max(1);
        for (at, ((who, mailbox), pile)) in world.mail.boxes().zip(self.post.piles.values()).enumerate() {
            let in_full = at == in_turn || self.post.touched.contains(&who);
            if mailbox.letters() != pile.letters.len() || (in_full && !pile.is_as(mailbox)) {
                return Err(format!("what waits for {who} is not what was sent to it"));
            }
        }
        Ok(())
    }

    /// Compares handshakes, teams and decisions with what the records say.
    pub(super) fn agrees_on_rule(&self, world: &World) -> Found {
        let open = |(request, asked): (_, &super::control::EndAsked)| {
            let shutdown = world.shutdowns.get(request);
            shutdown
                .is_some_and(|open| (open.agent, open.by, open.until) == (asked.agent, asked.by, asked.until))
        };
        if !self.asked.iter().all(|(request, asked)| open((*request, asked))) {
            return Err("the world's handshakes are not those of its log".into());
        }
        let teams = world.teams.values().map(|team| (&team.name, &team.lead));
        if !teams.eq(self.teams.iter()) {
            return Err("the world's teams are not those of its log".into());
        }
        let decisions = world.decisions.iter();
        let decisions = decisions.map(|one| (one.id, one.by, one.standing == DecisionState::Pending));
        if !decisions.eq(self.decisions.iter().map(|(id, ruling)| (*id, ruling.by, ruling.pending))) {
            return Err("the world's decisions are not those of its log".into());
        }
        Ok(())
    }

    /// An offer lapses at its deadline, a letter is put aside after enough offers, a handshake is answered in time.
    pub(super) fn no_mail_overdue(&self, now: Timestamp) -> Found {
        for pile in self.post.piles.values() {
            if let Some((receipt, _)) = pile.offers.iter().find(|(_, offer)| now >= offer.until) {
                return Err(format!("offer {receipt} is still open after its time"));
            }
            let in_vain = pile
                .letters
                .iter()
                .find(|item| item.place == LetterStage::Waits && item.offers >= OFFERS_MAX);
            if let Some(item) = in_vain {
                return Err(format!("{} was offered too often, and still waits", item.id));
            }
        }
        match self
            .asked
            .iter()
            .find(|(_, asked)| now >= asked.until || !self.is_alive(Principal::Agent(asked.agent)))
        {
            Some((request, _)) => Err(format!("{request} is still open after its time")),
            None => Ok(()),
        }
    }
}

impl Pile {
    fn is_as(&self, mailbox: &Mailbox) -> bool {
        let place = |place: LetterStage| self.letters.iter().filter(move |item| item.place == place);
        let counts = mailbox.letters() == self.letters.len()
            && mailbox.bytes() == self.letters.iter().map(|item| item.bytes).sum::<usize>()
            && self.letters.iter().all(|item| mailbox.offers(item.id) == item.offers);
        let waiting = mailbox.waiting().all(|(from, letters)| {
            let of_sender = place(LetterStage::Waits).filter(|item| item.from == from);
            of_sender.map(|item| item.id).eq(letters.iter().copied())
        });
        let waits = mailbox.waiting().map(|(_, letters)| letters.len()).sum::<usize>();
        let offers = mailbox.leases().count() == self.offers.len()
            && mailbox.leases().zip(&self.offers).all(|((receipt, lease), (known, offer))| {
                // In an offer those above come first, so that its letters are compared as a set.
                (receipt, lease.until) == (*known, offer.until)
                    && lease.controls == offer.controls
                    && lease.letters.len() == place(LetterStage::Offered(receipt)).count()
                    && place(LetterStage::Offered(receipt)).all(|item| lease.letters.contains(&item.id))
            });
        let aside = mailbox.put_aside().count() == place(LetterStage::Aside).count();
        let controls = mailbox.controls().map(|(id, _)| id).eq(self.controls.iter().map(|(id, _)| *id));
        counts && waiting && waits == place(LetterStage::Waits).count() && offers && aside && controls
    }
}
