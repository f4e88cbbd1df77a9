//! A small world for the examples about permissions: a leader, two workers below it, and somebody else.

use comity_core::agents::{AgentAsk, Process, Profile};
use comity_core::limits::PERMISSION_WAIT;
use comity_core::next_call::spell_plainly;
use comity_core::permissions::{
    Answer, AnswerDelivery, Commands, KeptAnswer, Pattern, PermissionAsk, PermissionEvent, ProjectFile,
    RequestId, RequestState, RuleEffect, RuleId, RuleScope, ToolCall, ToolClass,
};
use comity_core::roles::{Mode, Role, Roles};
use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;
use comity_core::{
    AgentId, Ask, CaseRule, ContentHash, Event, Millis, PathPattern, Principal, ProjectId, Record, Refusal,
    Timestamp, TokenHash, World, expire, invariants, run,
};

/// A world with a leader, two workers below it, and somebody else.
pub(crate) struct PermissionWorld {
    pub(crate) world: World,
    pub(crate) log: Vec<Record>,
    pub(crate) now: Timestamp,
    pub(crate) joined: u64,
}

pub(crate) const HUMAN: Principal = Principal::Human;

pub(crate) fn id(number: u64) -> AgentId {
    AgentId::from_bits(number)
}

pub(crate) fn who(number: u64) -> Principal {
    Principal::Agent(id(number))
}

pub(crate) const LEAD: u64 = 1;
pub(crate) const ANN: u64 = 2;
pub(crate) const BOB: u64 = 3;
pub(crate) const STRANGER: u64 = 4;

impl PermissionWorld {
    pub(crate) fn new() -> PermissionWorld {
        let mut stage = PermissionWorld {
            world: World::new(Timeouts::default()),
            log: vec![],
            now: Timestamp(0),
            joined: 0,
        };
        let mut roles = Roles::default();
        roles.define("free", Role { mode: Mode::Full, ..Role::default() });
        stage.world.roles = std::sync::Arc::new(roles);
        stage.join(HUMAN, "lead", Some("lead"), Some("red"));
        stage.join(who(LEAD), "ann", None, Some("red"));
        stage.join(who(LEAD), "bob", None, Some("red"));
        stage.join(HUMAN, "stranger", Some("lead"), None);
        stage
    }

    /// Who has to answer a request that waits.
    pub(crate) fn asked_of(&self, request: RequestId) -> Principal {
        let found = self.world.permissions.requests().find(|known| known.id == request).expect("known");
        match found.state {
            RequestState::Waiting { to } => to,
            _ => panic!("{request} does not wait"),
        }
    }

    pub(crate) fn join(
        &mut self,
        by: Principal,
        name: &str,
        role: Option<&str>,
        team: Option<&str>,
    ) -> AgentId {
        self.joined += 1;
        let mut token = [0; 32];
        token[0] = u8::try_from(self.joined).expect("few");
        let profile = Profile {
            name: name.into(),
            role: role.map(Into::into),
            team: team.map(Into::into),
            // Watched, so that silence does not end it.
            process: Some(Process { pid: 1, start: self.joined }),
            ..Profile::default()
        };
        let agent = id(self.joined);
        let ask = Ask::Agent(AgentAsk::Join { agent, token: TokenHash(token), profile: Box::new(profile) });
        self.run(by, &ask).expect("joined");
        agent
    }

    /// The control messages that wait for an agent, in words.
    pub(crate) fn heard(&self, agent: u64) -> Vec<String> {
        let mailbox = self.world.mail.of(who(agent));
        mailbox
            .into_iter()
            .flat_map(|mailbox| mailbox.controls())
            .map(|(_, one)| spell_plainly(&one.control.to_string()).into_owned())
            .collect()
    }

    /// Just these wait for it.
    #[track_caller]
    pub(crate) fn hears(&self, agent: u64, messages: &[&str]) {
        assert_eq!(self.heard(agent), messages);
    }

    pub(crate) fn run(&mut self, by: Principal, ask: &Ask) -> Result<Vec<PermissionEvent>, Refusal> {
        let outcome = run(&mut self.world, by, ask, None, self.now, 0)?;
        let events = outcome.records.iter().filter_map(|record| match &record.event {
            Event::Permission(event) => Some(event.clone()),
            _ => None,
        });
        let events = events.collect();
        self.log.extend(outcome.records);
        invariants::check(&self.world).expect("a good world");
        Ok(events)
    }

    pub(crate) fn ask(&mut self, by: Principal, ask: PermissionAsk) -> Result<Vec<PermissionEvent>, Refusal> {
        self.run(by, &Ask::Permission(ask))
    }

    pub(crate) fn request(&mut self, agent: u64, call: &ToolCall) -> Option<RequestId> {
        let ask = PermissionAsk::Request {
            call: Box::new(call.clone()),
            wait: PERMISSION_WAIT,
            hearing: AnswerDelivery::Waits,
        };
        let events = self.ask(who(agent), ask).expect("taken");
        events.iter().find_map(|event| match event {
            PermissionEvent::Asked { request, .. } => Some(*request),
            _ => None,
        })
    }

    /// Tries to make the call: what it says, in a word or a sentence.
    pub(crate) fn tries(&mut self, agent: u64, call: &ToolCall) -> String {
        match self.ask(who(agent), PermissionAsk::Use { call: Box::new(call.clone()) }) {
            Ok(_) => "may".into(),
            Err(no) => no.to_string(),
        }
    }

    pub(crate) fn answer(
        &mut self,
        by: Principal,
        request: RequestId,
        call: &ToolCall,
        answer: Answer,
    ) -> Result<(), Refusal> {
        let (tool, hash) = (call.tool.clone(), call.hash);
        self.ask(by, PermissionAsk::Answer { request, tool, hash, answer }).map(drop)
    }

    pub(crate) fn pass(&mut self, span: Millis) {
        self.now = self.now.plus(span);
        self.log.extend(expire(&mut self.world, self.now, 0));
        invariants::check(&self.world).expect("a good world");
    }

    pub(crate) fn state(&self, request: RequestId) -> &'static str {
        self.world.permissions.get(request).expect("a request").state.word()
    }

    pub(crate) fn rule(
        &mut self,
        by: Principal,
        effect: RuleEffect,
        tool: &str,
        pattern: Option<&str>,
        scope: RuleScope,
    ) -> RuleId {
        let class = class_of(tool);
        let project = Some((ProjectId::from_bits(1), CaseRule::Exact));
        let pattern = pattern.map(|text| Pattern::parse(class, text, project).expect("a pattern"));
        let ask = PermissionAsk::AddRule { scope, effect, tool: tool.into(), class, pattern };
        let events = self.ask(by, ask).expect("added");
        events
            .iter()
            .find_map(|event| match event {
                PermissionEvent::RuleAdded { rule } => Some(rule.id),
                _ => None,
            })
            .expect("a rule")
    }

    pub(crate) fn mode(&mut self, by: Principal, agent: u64, mode: Mode) -> Result<(), Refusal> {
        self.ask(by, PermissionAsk::SetMode { agent: id(agent), mode }).map(drop)
    }

    /// The log folds to the same world, and so does a snapshot.
    pub(crate) fn folds(&self) {
        let mut again = World::new(Timeouts::default());
        self.log.iter().for_each(|record| again.apply(record));
        assert_eq!(Snapshot::of(&again), Snapshot::of(&self.world), "the log folds to the same world");
        let text = serde_json::to_string(&Snapshot::of(&self.world)).expect("JSON");
        let back: Snapshot = serde_json::from_str(&text).expect("a snapshot");
        let back = back.restore(Timeouts::default());
        assert_eq!(Snapshot::of(&back), Snapshot::of(&self.world), "and the snapshot to the same");
        assert_eq!(back.next_deadline(), self.world.next_deadline(), "with its deadlines");
    }
}

pub(crate) fn class_of(tool: &str) -> ToolClass {
    match tool {
        "Bash" | "shell" => ToolClass::Shell,
        "Write" | "Edit" => ToolClass::Edit,
        "Read" => ToolClass::Read,
        "Network" => ToolClass::Network,
        _ => ToolClass::Other,
    }
}

pub(crate) fn base(tool: &str, input: &str) -> ToolCall {
    let mut hash = [0_u8; 32];
    for (at, byte) in tool.bytes().chain([0]).chain(input.bytes()).enumerate() {
        hash[at % 32] = hash[at % 32].wrapping_mul(31) ^ byte;
    }
    ToolCall {
        host: None,
        tool: tool.into(),
        class: class_of(tool),
        hash: ContentHash(hash),
        input: input.into(),
        summary: input.into(),
        project: Some(ProjectId::from_bits(1)),
        writes: vec![],
        reads: vec![],
        outside: vec![],
        is_all: true,
        commands: None,
        reads_only: false,
    }
}

/// A command line; `;` joins commands, `$X` is a word that nobody knows.
pub(crate) fn shell(line: &str) -> ToolCall {
    let word = |word: &str| (!word.starts_with('$')).then(|| word.into());
    let parts: Vec<Vec<Option<Box<str>>>> =
        line.split(';').map(|part| part.split_whitespace().map(word).collect()).collect();
    let single = match &parts[..] {
        [only] => only.iter().cloned().collect(),
        _ => None,
    };
    let reads_only = line.split(';').all(|part| part.trim().starts_with("ls"));
    ToolCall { commands: Some(Commands { single, parts, is_all: true }), reads_only, ..base("Bash", line) }
}

pub(crate) fn write(path: &str) -> ToolCall {
    let path = PathPattern::parse(path, CaseRule::Exact).expect("a path");
    let writes = vec![ProjectFile { project: ProjectId::from_bits(1), path: path.clone() }];
    ToolCall { writes, ..base("Write", path.as_str()) }
}

pub(crate) fn allow() -> Answer {
    Answer::Allow { kept: None }
}

pub(crate) fn below(path: &str) -> Pattern {
    let project = Some((ProjectId::from_bits(1), CaseRule::Exact));
    Pattern::parse(ToolClass::Edit, path, project).expect("a pattern")
}

pub(crate) fn always(for_team: bool, pattern: Option<Pattern>) -> Answer {
    Answer::Allow { kept: Some(KeptAnswer { for_team, pattern }) }
}

impl PermissionWorld {
    /// Like [`PermissionWorld::folds`]: roles are no part of the log.
    pub(crate) fn folds_with_roles(&self) {
        let mut again = World::new(Timeouts::default());
        again.roles = self.world.roles.clone();
        self.log.iter().for_each(|record| again.apply(record));
        assert_eq!(Snapshot::of(&again), Snapshot::of(&self.world), "the log folds to the same world");
    }
}

/// A sandboxed program wants to reach a host.
pub(crate) fn reach(host: &str) -> ToolCall {
    ToolCall { class: ToolClass::Network, host: Some(host.into()), ..base("Network", host) }
}
