//! Everything that can be asked of Comity: the table of contents of the product. Every door loops over it.

use comity_core::display::visible_lines;
use comity_core::{Ask, Principal, Refusal};
use serde_json::Value;

use crate::application::Application;
use crate::engine::When;
use crate::identity::WayIn;
use crate::operation::{
    Audience, Caller, Effect, Failure, GoOn, MakeGrant, MakeOutput, MakeVerdict, Operation, Pace, Plan,
    Rendered, Route,
};
use crate::operations::{
    agents::*, commits::*, control::*, decisions::*, guard::*, ledger::*, locks::*, mail::*, people::*,
    permissions::*, pools::*, server::*, tabs::*, tasks::*, teams::*, worktrees::*,
};

/// All operations, in the order in which people read them.
pub const CATALOG: &[Entry] = &[
    Entry::of::<Lock>(),
    Entry::of::<Unlock>(),
    Entry::of::<ListLocks>(),
    Entry::of::<Check>(),
    Entry::of::<Extend>(),
    Entry::of::<HandOver>(),
    Entry::of::<Adopt>(),
    Entry::of::<Rescue>(),
    Entry::of::<Release>(),
    Entry::of::<Lease>(),
    Entry::of::<LeaseFree>(),
    Entry::of::<ListLeases>(),
    Entry::of::<LeaseExtend>(),
    Entry::of::<LeaseGive>(),
    Entry::of::<LeaseRequest>(),
    Entry::of::<LeaseCancel>(),
    Entry::of::<LeaseGrant>(),
    Entry::of::<Commit>(),
    Entry::of::<WorktreeAdd>(),
    Entry::of::<ListWorktrees>(),
    Entry::of::<WorktreeMerge>(),
    Entry::of::<WorktreeRemove>(),
    Entry::of::<WorktreeRestore>(),
    Entry::of::<OpenTab>(),
    Entry::of::<CloseTab>(),
    Entry::of::<ListTabs>(),
    Entry::of::<NavigateTab>(),
    Entry::of::<ReadTab>(),
    Entry::of::<TabState>(),
    Entry::of::<TabElement>(),
    Entry::of::<ClickTab>(),
    Entry::of::<TypeIntoTab>(),
    Entry::of::<PressKey>(),
    Entry::of::<ScrollTab>(),
    Entry::of::<WaitForTab>(),
    Entry::of::<CaptureTab>(),
    Entry::of::<EvaluateInTab>(),
    Entry::of::<TabConsole>(),
    Entry::of::<TabNetwork>(),
    Entry::of::<TabDownloads>(),
    Entry::of::<AnswerDialog>(),
    Entry::of::<RequestTabSpace>(),
    Entry::of::<GrantTabSpace>(),
    Entry::of::<TabRequests>(),
    Entry::of::<HandOverTab>(),
    Entry::of::<ShareTab>(),
    Entry::of::<AdmitToContext>(),
    Entry::of::<UnshareTab>(),
    Entry::of::<TaskAdd>(),
    Entry::of::<TaskDeclare>(),
    Entry::of::<TaskList>(),
    Entry::of::<TaskGraph>(),
    Entry::of::<TaskGet>(),
    Entry::of::<TaskClaim>(),
    Entry::of::<TaskStart>(),
    Entry::of::<TaskDone>(),
    Entry::of::<TaskFail>(),
    Entry::of::<TaskGiveBack>(),
    Entry::of::<TaskAccept>(),
    Entry::of::<TaskSendBack>(),
    Entry::of::<TaskAssign>(),
    Entry::of::<TaskUpdate>(),
    Entry::of::<TaskPause>(),
    Entry::of::<TaskResume>(),
    Entry::of::<TaskRetry>(),
    Entry::of::<TaskReopen>(),
    Entry::of::<TaskSkip>(),
    Entry::of::<TaskCancel>(),
    Entry::of::<Next>(),
    Entry::of::<SendMail>(),
    Entry::of::<ReadMail>(),
    Entry::of::<SearchMail>(),
    Entry::of::<ListMailboxes>(),
    Entry::of::<AcknowledgeMail>(),
    Entry::of::<TakeOverMail>(),
    Entry::of::<CreateTeam>(),
    Entry::of::<Admit>(),
    Entry::of::<DeleteTeam>(),
    Entry::of::<ListTeams>(),
    Entry::of::<ShowTeam>(),
    Entry::of::<RequestShutdown>(),
    Entry::of::<ApproveShutdown>(),
    Entry::of::<RejectShutdown>(),
    Entry::of::<ReportIdle>(),
    Entry::of::<Decide>(),
    Entry::of::<ListDecisions>(),
    Entry::of::<ConfirmDecision>(),
    Entry::of::<RejectDecision>(),
    Entry::of::<Join>(),
    Entry::of::<ListAgents>(),
    Entry::of::<Bye>(),
    Entry::of::<AgentLimit>(),
    Entry::of::<Attach>(),
    Entry::of::<Whoami>(),
    Entry::of::<CreateToken>(),
    Entry::of::<ListTokens>(),
    Entry::of::<RevokeToken>(),
    Entry::of::<SetPassphrase>(),
    Entry::of::<Login>(),
    Entry::of::<AskPermission>(),
    Entry::of::<ListPermissions>(),
    Entry::of::<AllowRequest>(),
    Entry::of::<DenyRequest>(),
    Entry::of::<ListRules>(),
    Entry::of::<AddRule>(),
    Entry::of::<RemoveRule>(),
    Entry::of::<SetMode>(),
    Entry::of::<SubmitPlan>(),
    Entry::of::<ApprovePlan>(),
    Entry::of::<RejectPlan>(),
    Entry::of::<ReadLog>(),
    Entry::of::<Replay>(),
    Entry::of::<Verify>(),
    Entry::of::<Summarize>(),
    Entry::of::<ListAlerts>(),
    Entry::of::<Status>(),
    Entry::of::<Guard>(),
    Entry::of::<GuardCommit>(),
    Entry::of::<GuardConfine>(),
    Entry::of::<GuardTold>(),
];

/// Makes the output from the events of the last ask.
pub type Finish = MakeGrant<Rendered>;

/// A plan whose output's type is forgotten.
pub enum Erased {
    /// It is answered already.
    Answer(Rendered),
    /// These asks go to the engine.
    Change {
        /// In order.
        asks: Vec<Ask>,
        /// What they wait for, if they do.
        when: Option<When>,
        /// Makes the output.
        finish: Finish,
    },
    /// These asks go to the engine, and what follows takes long.
    ChangeThen {
        /// In order.
        asks: Vec<Ask>,
        /// Makes the output.
        then: GoOn<Rendered>,
    },
    /// These asks of somebody go to the engine; a refusal is an answer, too.
    Judge {
        /// Whose.
        who: Principal,
        /// In order.
        asks: Vec<Ask>,
        /// What they wait for, if they do.
        when: Option<When>,
        /// Makes the output.
        finish: MakeVerdict<Rendered>,
    },
}

/// One operation, as the doors see it.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its name among the MCP tools.
    pub tool: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// How long it may take.
    pub pace: Pace,
    /// Whether an agent program that is not known yet may call it, and becomes known by that.
    pub(crate) lets_in: Option<WayIn>,
    /// Whether it changes files or branches.
    pub(crate) writes_files: bool,
    /// Whom it is for.
    pub audience: Audience,
    /// Where REST offers it.
    pub route: Route,
    /// The words after `comity`.
    pub command: &'static [&'static str],
    /// The schema of its input.
    pub input: fn() -> Value,
    /// The schema of its output.
    pub output: fn() -> Value,
    /// Adds its arguments to a command.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Makes its input from parsed arguments.
    pub parse: fn(&clap::ArgMatches) -> Result<Value, clap::Error>,
    pub(crate) plan: fn(&Application, &Caller, &str, bool) -> Result<Erased, Failure>,
}

/// The operation with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    place(name).map(|at| &CATALOG[at])
}

/// The operation behind an MCP tool.
pub fn find_tool(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.tool == name)
}

/// Where in the catalog the operation with this name is.
pub(crate) fn place(name: &str) -> Option<usize> {
    CATALOG.iter().position(|entry| entry.name == name)
}

impl Entry {
    const fn of<O: Operation>() -> Entry {
        Entry {
            name: O::NAME,
            tool: O::TOOL,
            effect: O::EFFECT,
            pace: O::PACE,
            lets_in: O::LETS_IN,
            writes_files: O::WRITES_FILES,
            audience: O::AUDIENCE,
            route: O::ROUTE,
            command: O::COMMAND,
            input: schema::<O>,
            output: schema::<O::Output>,
            arguments: O::augment_args,
            parse: parse::<O>,
            plan: plan::<O>,
        }
    }

    /// Whether its answer is kept for who asks again, for the world does not remember what it did.
    pub(crate) fn is_kept(&self) -> bool {
        self.audience == Audience::Browsing && self.effect != Effect::Reads
    }

    /// What it does, in a sentence: the doc comment of its struct.
    pub fn summary(&self) -> String {
        (self.input)()["description"].as_str().unwrap_or_default().to_owned()
    }
}

fn schema<T: schemars::JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn parse<O: Operation>(matches: &clap::ArgMatches) -> Result<Value, clap::Error> {
    let input = O::from_arg_matches(matches)?;
    serde_json::to_value(input).map_err(|error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error))
}

fn plan<O: Operation>(
    app: &Application,
    caller: &Caller,
    input: &str,
    text: bool,
) -> Result<Erased, Failure> {
    let input = if input.is_empty() { "{}" } else { input };
    let operation: O = serde_json::from_str(input).map_err(|error| {
        let hint = format!(
            "its input is described at /api/openapi.json and by: comity {} --help",
            O::COMMAND.join(" ")
        );
        Failure::Refused(comity_core::Refusal::bad_input(
            format!("{} cannot read its input: {error}", O::NAME),
            hint,
        ))
    })?;
    Ok(match operation.plan(app, caller)? {
        Plan::Answer(output) => Erased::Answer(render::<O>(&output, text)?),
        Plan::Change { asks, finish } => {
            Erased::Change { asks, when: None, finish: rendering::<O>(finish, text) }
        }
        Plan::Grant { asks, finish } => {
            let finish: Finish = Box::new(move |events, world, now| {
                finish(events, world, now)
                    .map(|output| render::<O>(&output, text).unwrap_or_else(|_| nothing()))
            });
            Erased::Change { asks, when: None, finish }
        }
        Plan::ChangeThen { asks, then } => {
            let then = Box::new(move |app: &Application, events: &[comity_core::Event]| {
                render::<O>(&then(app, events)?, text)
            });
            Erased::ChangeThen { asks, then }
        }
        Plan::ChangeWhen { when, asks, finish } => {
            Erased::Change { asks, when: Some(when), finish: rendering::<O>(finish, text) }
        }
        Plan::Judge { who, when, asks, finish } => {
            let finish = Box::new(move |said: Result<(), Refusal>| {
                render::<O>(&finish(said), text).unwrap_or_else(|_| nothing())
            });
            Erased::Judge { who, asks, when, finish }
        }
    })
}

/// Makes the output and writes it out.
fn rendering<O: Operation>(finish: MakeOutput<O::Output>, text: bool) -> Finish {
    Box::new(move |events, world, now| {
        Ok(render::<O>(&finish(events, world, now), text).unwrap_or_else(|_| nothing()))
    })
}

fn nothing() -> Rendered {
    Rendered { json: "null".into(), text: None, receipt: None }
}

fn render<O: Operation>(output: &O::Output, text: bool) -> Result<Rendered, Failure> {
    let receipt = O::receipt(output);
    if O::AUDIENCE != Audience::Browsing {
        let json = serde_json::to_string(output).map_err(Failure::fault)?;
        return Ok(Rendered { json, text: text.then(|| output.to_string()), receipt });
    }
    // Pages have a say in it.
    let mut value = serde_json::to_value(output).map_err(Failure::fault)?;
    crate::browser::show_hidden(&mut value);
    let text = text.then(|| visible_lines(&output.to_string()).into_owned());
    Ok(Rendered { json: value.to_string(), text, receipt })
}
