//! How a session begins: what the agent can, a new session or one to go on with, its mode and its model.

use super::AcpNews;
use super::schema::{
    AgentHello, AuthMethod, ConfigOption, Models, Modes, OfferedModel, OpenSession, OpenedSession, PROTOCOL,
    SetConfigOption, SetModel, SetSessionMode,
};
use super::session::{AcpSession, OpenCall, SessionStage};

/// Its name for a session, at most.
const SESSION_BYTES_MAX: usize = 1024;
/// How many ways to log in are named.
const LOGINS_MAX: usize = 8;

impl AcpSession {
    pub(super) fn initialized(&mut self, agent: AgentHello) {
        if agent.protocol_version != PROTOCOL {
            let version = agent.protocol_version;
            return self.fail(format!("it speaks version {version} of ACP, Comity version {PROTOCOL}"));
        }
        let capabilities = agent.agent_capabilities.unwrap_or_default();
        self.can_load = capabilities.load_session.unwrap_or(false);
        self.can_resume = capabilities.session_capabilities.is_some_and(|it| it.resume.is_some());
        let name = |method: AuthMethod| method.name.or(method.id);
        let names: Vec<String> =
            agent.auth_methods.into_iter().flatten().filter_map(name).take(LOGINS_MAX).collect();
        self.login = (!names.is_empty()).then(|| names.join(", "));
        self.open();
    }

    pub(super) fn open(&mut self) {
        let session = self.start.session.clone();
        let method = match &session {
            Some(_) if self.can_load => "session/load",
            Some(_) if self.can_resume => "session/resume",
            Some(_) => {
                self.transcript.note("it can't resume a session, so a new one begins");
                "session/new"
            }
            None => "session/new",
        };
        let session_id = session.filter(|_| method != "session/new");
        let (cwd, servers) = (self.cwd.clone(), self.start.servers.clone());
        let open = OpenSession { session_id: session_id.as_deref(), cwd: &cwd, mcp_servers: &servers };
        // While one is loaded, what was said in it is told again.
        self.id.clone_from(&session_id);
        self.call(OpenCall::Open { resumes: session_id.is_some() }, method, open);
    }

    pub(super) fn opened(&mut self, opened: OpenedSession, resumes: bool) {
        let id = if resumes { self.start.session.clone() } else { opened.session_id };
        let Some(id) = id.filter(|id| !id.is_empty() && id.len() <= SESSION_BYTES_MAX) else {
            return self.fail("it began a session without a name".into());
        };
        self.id = Some(id.clone());
        if let Some(mode) = opened.modes.as_ref().and_then(|modes| self.mode_of(modes)) {
            let setting = OpenCall::Setting { what: format!("the mode {mode}") };
            self.call(setting, "session/set_mode", SetSessionMode { session_id: &id, mode_id: &mode });
        }
        if let Some(model) = self.start.model.clone() {
            self.set_model(&id, &model, &opened.models, &opened.config_options);
        }
        self.start.session = resumes.then_some(id);
        self.settled();
    }

    /// The first of the wanted modes that it has, unless it is in that.
    fn mode_of(&self, modes: &Modes) -> Option<String> {
        let is_there = |wanted: &&String| modes.available_modes.iter().any(|mode| mode.id == **wanted);
        let mode = self.start.modes.iter().find(is_there)?;
        (modes.current_mode_id.as_ref() != Some(mode)).then(|| mode.clone())
    }

    fn set_model(
        &mut self,
        session_id: &str,
        model: &str,
        models: &Option<Models>,
        options: &Option<Vec<ConfigOption>>,
    ) {
        let setting = OpenCall::Setting { what: format!("the model {model}") };
        let is_offered = |it: &OfferedModel| it.model_id == model;
        let option = options.iter().flatten().find(|option| option.category.as_deref() == Some("model"));
        if models.as_ref().is_some_and(|models| models.available_models.iter().any(is_offered)) {
            self.call(setting, "session/set_model", SetModel { session_id, model_id: model });
        } else if let Some(option) = option {
            let set = SetConfigOption { session_id, config_id: &option.id, value: model };
            self.call(setting, "session/set_config_option", set);
        } else {
            self.transcript.note(&format!("it doesn't offer the model {model}"));
        }
    }

    /// Once nothing is being set any more, the session can be used.
    pub(super) fn settled(&mut self) {
        let is_set = !self.sent.values().any(|sent| matches!(sent, OpenCall::Setting { .. }));
        let Some(id) = self.id.clone().filter(|_| is_set && self.stage == SessionStage::Starting) else {
            return;
        };
        let resumed = self.start.session.is_some();
        self.stage = SessionStage::Idle;
        self.news.push(AcpNews::Ready { session: id, resumed });
        let first = if resumed { self.start.resume_prompt.take() } else { self.start.prompt.take() };
        self.prompts.extend(first.into_iter().filter(|prompt| !prompt.is_empty()));
        self.next_turn();
    }
}
