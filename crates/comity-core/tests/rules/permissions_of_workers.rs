//! Whatever workers ask, and whomever they start: without a leader or the human nothing becomes allowed.

use comity_core::agents::{AgentAsk, Ending, Process, Profile};
use comity_core::limits::PERMISSION_WAIT;
use comity_core::permissions::{
    Answer, AnswerDelivery, KeptAnswer, PermissionAsk, PermissionEvent, PlanAnswer, RequestId, RuleEffect,
    RuleId, RuleScope, ToolClass, mode_of,
};
use comity_core::roles::Mode;
use comity_core::teams::TeamAsk;
use comity_core::{AgentId, Ask, Event, Millis, Principal, TokenHash};
use proptest::prelude::*;

use crate::permission_world::{ANN, BOB, PermissionWorld, shell};

/// What the workers do; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Act {
    Starts { role: u8, team: bool },
    Makes(u8),
    Asks(PermissionAsk),
    Ends(u8),
    Waits(u64),
}

const COMMANDS: [&str; 2] = ["make", "cargo publish"];

fn acts() -> impl Strategy<Value = Act> {
    let number = 0..12_u64;
    let call = (0..COMMANDS.len()).prop_map(|at| Box::new(shell(COMMANDS[at])));
    let scope = prop_oneof![
        (1..8_u64).prop_map(|agent| RuleScope::Agent(AgentId::from_bits(agent))),
        Just(RuleScope::Team("red".into())),
        Just(RuleScope::Below),
    ];
    let mode = prop_oneof![Just(Mode::Plan), Just(Mode::Ask), Just(Mode::AcceptEdits), Just(Mode::Full)];
    let answer = prop_oneof![
        Just(Answer::Allow { kept: None }),
        any::<bool>()
            .prop_map(|for_team| Answer::Allow { kept: Some(KeptAnswer { for_team, pattern: None }) }),
    ];
    let asks = prop_oneof![
        4 => call.clone().prop_map(|call| PermissionAsk::Request { call, wait: PERMISSION_WAIT, hearing: AnswerDelivery::Told }),
        4 => call.clone().prop_map(|call| PermissionAsk::Use { call }),
        6 => (number.clone(), 0..COMMANDS.len(), answer).prop_map(|(request, at, answer)| {
            let call = shell(COMMANDS[at]);
            PermissionAsk::Answer { request: RequestId(request), tool: call.tool, hash: call.hash, answer }
        }),
        2 => scope.prop_map(|scope| PermissionAsk::AddRule {
            scope, effect: RuleEffect::Allow, tool: "Bash".into(), class: ToolClass::Shell, pattern: None,
        }),
        1 => number.clone().prop_map(|rule| PermissionAsk::RemoveRule { rule: RuleId(rule) }),
        3 => (1..8_u64, mode.clone()).prop_map(|(agent, mode)| PermissionAsk::SetMode {
            agent: AgentId::from_bits(agent), mode,
        }),
        1 => Just(PermissionAsk::SubmitPlan { file: "p".into(), content: "all of it".into() }),
        2 => (number, mode).prop_map(|(plan, mode)| PermissionAsk::AnswerPlan {
            plan: RequestId(plan), answer: PlanAnswer::Approve { mode, feedback: None },
        }),
    ];
    prop_oneof![
        2 => (0..4_u8, any::<bool>()).prop_map(|(role, team)| Act::Starts { role, team }),
        1 => (0..3_u8).prop_map(Act::Makes),
        12 => asks.prop_map(Act::Asks),
        1 => (0..8_u8).prop_map(Act::Ends),
        1 => (1..400_u64).prop_map(Act::Waits),
    ]
}

fn ask_of(stage: &mut PermissionWorld, act: &Act) -> Option<Ask> {
    Some(match act {
        Act::Starts { role, team } => {
            stage.joined += 1;
            let role = ["lead", "developer", "free", "reviewer"][usize::from(*role)];
            let profile = Profile {
                name: format!("a{}", stage.joined).into(),
                role: Some(role.into()),
                team: team.then(|| "red".into()),
                process: Some(Process { pid: 1, start: stage.joined }),
                ..Profile::default()
            };
            let mut token = [7; 32];
            token[..8].copy_from_slice(&stage.joined.to_le_bytes());
            let agent = AgentId::from_bits(stage.joined);
            Ask::Agent(AgentAsk::Join { agent, token: TokenHash(token), profile: Box::new(profile) })
        }
        Act::Makes(team) => {
            let name = ["red", "blue", "green"][usize::from(*team)].into();
            Ask::Team(TeamAsk::Create { name, purpose: None })
        }
        Act::Asks(ask) => Ask::Permission(ask.clone()),
        Act::Ends(number) => {
            let agent = AgentId::from_bits(u64::from(*number));
            Ask::Agent(AgentAsk::End { agent, ending: Ending::Failed, cause: "crashed".into() })
        }
        Act::Waits(seconds) => {
            stage.pass(Millis::seconds(*seconds));
            return None;
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn workers_never_come_to_an_approval(script in prop::collection::vec((any::<u8>(), acts()), 1..60)) {
        let mut stage = PermissionWorld::new();
        for (who, act) in &script {
            // The two workers, and all that they have started; never the leaders, never the human.
            let mut theirs = vec![ANN, BOB];
            theirs.extend(5..=stage.joined);
            let who = Principal::Agent(AgentId::from_bits(theirs[usize::from(*who) % theirs.len()]));
            let Some(ask) = ask_of(&mut stage, act) else { continue };
            let is_use = matches!(ask, Ask::Permission(PermissionAsk::Use { .. }));
            let done = stage.run(who, &ask);
            prop_assert!(!(is_use && done.is_ok()), "{who} may do it: {act:?}");
        }
        // Whoever started an agent answers its plan, and that lets it do no more than itself may.
        let answers_below = |asker: AgentId, by: Principal| {
            let parent = stage.world.agents.get(asker).and_then(|agent| agent.profile.parent);
            parent.is_some_and(|parent| {
                Principal::Agent(parent) == by && mode_of(&stage.world, asker) <= mode_of(&stage.world, parent)
            })
        };
        let yes = stage.log.iter().find(|record| match &record.event {
            Event::Permission(PermissionEvent::PlanApproved { asker, by, .. }) => !answers_below(*asker, *by),
            Event::Permission(event) => matches!(
                event,
                PermissionEvent::Allowed { .. } | PermissionEvent::Used { .. } | PermissionEvent::Passed { .. }
            ),
            _ => false,
        });
        prop_assert!(yes.is_none(), "{yes:?}");
    }
}
