//! The browser as a whole: its process, its containers, its tabs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::connection::{BidiConnection, CallScope};
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::events::WANTED;
use crate::firefox::process::FirefoxProcess;
use crate::firefox::{profile, program};
use crate::ids::{Container, TabId};
use crate::launch::{self, Launched};
use crate::lease::SessionLease;
use crate::notice::BrowserEvent;
use crate::options::BrowserOptions;
use crate::policy::{LoadKind, Policy};
use crate::shared::SharedBrowser;
use crate::tab::Tab;

/// How long Firefox may take to agree to close.
const CLOSE: Duration = Duration::from_secs(3);
/// How long a page may take to report its title for a list; a busy one is listed with its last known title.
const TITLE: Duration = Duration::from_millis(300);
/// Depth of nested frames in a list.
const FRAMES_DEPTH_MAX: usize = 20;

/// One Firefox. When this is dropped Firefox keeps running and can be attached to again; [`Browser::close`] ends it.
#[derive(Debug)]
pub struct Browser {
    shared: Arc<SharedBrowser>,
    process: FirefoxProcess,
    profile: PathBuf,
    version: String,
    is_attached: bool,
    download_bytes_max: Option<u64>,
    /// The interception that enforces the policy, if there is one.
    interception: Mutex<Option<String>>,
}

/// A tab in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TabInfo {
    pub id: TabId,
    pub container: Container,
    pub url: String,
    pub title: String,
    /// The addresses of its frames, outer ones first.
    pub frames: Vec<String>,
}

#[derive(Deserialize)]
struct ContextTree {
    contexts: Vec<ContextNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextNode {
    context: String,
    url: String,
    user_context: String,
    #[serde(default)]
    children: Option<Vec<ContextNode>>,
}

impl Browser {
    /// Attaches to the Firefox that an earlier client started with this profile, or starts one.
    pub fn attach_or_start(
        options: BrowserOptions,
        listener: impl Fn(BrowserEvent) + Send + Sync + 'static,
    ) -> Result<Browser> {
        let deadline = Deadline::after(options.start_timeout);
        let launched = launch::attach_or_start(&options, &deadline)?;
        let (process, is_attached) = (launched.process, launched.is_attached);
        let connected = Browser::connect(launched, options, listener, &deadline);
        if connected.is_err() && !is_attached {
            // Nobody would ever use it.
            launch::end(&process);
        }
        connected
    }

    fn connect(
        launched: Launched,
        options: BrowserOptions,
        listener: impl Fn(BrowserEvent) + Send + Sync + 'static,
        deadline: &Deadline,
    ) -> Result<Browser> {
        let Launched { process, lease: SessionLease { sender, receiver, version }, is_attached } = launched;
        let connection = BidiConnection::new(sender);
        let shared = Arc::new(SharedBrowser::new(connection, options.policy, Box::new(listener)));
        let reading = shared.clone();
        std::thread::Builder::new()
            .name("firefox reader".into())
            .spawn(move || {
                reading.connection.read(receiver, |event| reading.take(&event));
                reading.died();
            })
            .map_err(|error| BrowserError::not_started(format!("no thread for it: {error}")))?;
        let browser = Browser {
            shared,
            process,
            profile: options.profile,
            version,
            is_attached,
            download_bytes_max: options.download_bytes_max,
            interception: Mutex::default(),
        };
        browser.begin(deadline)?;
        Ok(browser)
    }

    /// The program that would be started; the error says how to get one.
    pub fn program(options: &BrowserOptions) -> Result<PathBuf> {
        program::find_firefox(options.path.as_deref())
    }

    /// Whether Firefox was already running, with whatever tabs and containers it has.
    pub fn is_attached(&self) -> bool {
        self.is_attached
    }

    pub fn process(&self) -> FirefoxProcess {
        self.process
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether Firefox still answers.
    pub fn is_alive(&self) -> bool {
        !self.shared.connection.has_ended()
    }

    /// Ends the Firefox that an earlier client left with this profile, if it still runs.
    pub fn end_left(profile: &Path) {
        if let Some(process) = profile::recorded(profile) {
            launch::end(&process);
            profile::forget(profile);
        }
    }

    /// Ends Firefox with everything in it, for good. The listener hears that it died.
    pub fn close(&self) {
        let agreed: Result<Value> = self.call("browser.close", json!({}), &Deadline::after(CLOSE));
        if agreed.is_err() {
            launch::end(&self.process);
        }
        launch::see_off(&self.process);
        // A running one is another server's, which has begun at the same path.
        if profile::recorded(&self.profile).is_none() {
            profile::forget(&self.profile);
        }
    }

    /// Makes a container.
    pub fn create_container(&self, timeout: Duration) -> Result<Container> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CreatedContainer {
            user_context: String,
        }
        let created: CreatedContainer =
            self.call("browser.createUserContext", json!({}), &Deadline::after(timeout))?;
        Ok(Container(created.user_context))
    }

    /// Removes a container with its tabs, cookies and storage.
    pub fn remove_container(&self, container: &Container, timeout: Duration) -> Result<()> {
        let params = json!({ "userContext": container.0 });
        let _done: Value = self.call("browser.removeUserContext", params, &Deadline::after(timeout))?;
        Ok(())
    }

    /// Including the common one.
    pub fn containers(&self, timeout: Duration) -> Result<Vec<Container>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct UserContexts {
            user_contexts: Vec<One>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct One {
            user_context: String,
        }
        let found: UserContexts =
            self.call("browser.getUserContexts", json!({}), &Deadline::after(timeout))?;
        Ok(found.user_contexts.into_iter().map(|one| Container(one.user_context)).collect())
    }

    /// Opens an empty tab in the background of the window.
    pub fn open(&self, container: &Container, timeout: Duration) -> Result<Tab> {
        #[derive(Deserialize)]
        struct CreatedTab {
            context: String,
        }
        self.shared.contexts().opening += 1;
        let params = json!({ "type": "tab", "background": true, "userContext": container.0 });
        let created: Result<CreatedTab> =
            self.call("browsingContext.create", params, &Deadline::after(timeout));
        let strangers = {
            let mut contexts = self.shared.contexts();
            contexts.opening -= 1;
            if let Ok(created) = &created {
                let is_ours = |notice: &BrowserEvent| matches!(notice, BrowserEvent::TabOpened { tab, .. } if tab.0 == created.context);
                contexts.parked.retain(|notice| !is_ours(notice));
            }
            if contexts.opening == 0 { std::mem::take(&mut contexts.parked) } else { Vec::new() }
        };
        strangers.into_iter().for_each(|notice| self.shared.tell(notice));
        self.tab(&TabId(created?.context))
    }

    /// The tab with this id.
    pub fn tab(&self, id: &TabId) -> Result<Tab> {
        Ok(Tab::new(self.shared.clone(), self.shared.tab(id)?))
    }

    /// Including those opened by people and pages.
    pub fn tabs(&self, timeout: Duration) -> Result<Vec<TabInfo>> {
        let deadline = Deadline::after(timeout);
        let tree: ContextTree = self.call("browsingContext.getTree", json!({}), &deadline)?;
        let known: Vec<Option<Tab>> =
            tree.contexts.iter().map(|node| self.tab(&TabId(node.context.clone())).ok()).collect();
        // All pages are asked at once, so that a busy one delays the list only once.
        let titles = deadline.at_most(TITLE);
        std::thread::scope(|threads| {
            for tab in known.iter().flatten() {
                threads.spawn(|| tab.refresh_title(&titles));
            }
        });
        let infos = tree.contexts.into_iter().zip(&known).map(|(node, tab)| {
            let mut frames = Vec::new();
            collect_frames(&node, FRAMES_DEPTH_MAX, &mut frames);
            TabInfo {
                title: tab.as_ref().map(Tab::title).unwrap_or_default(),
                id: TabId(node.context),
                container: Container(node.user_context),
                url: node.url,
                frames,
            }
        });
        Ok(infos.collect())
    }

    /// Changes what may be loaded, from now on and in all tabs.
    pub fn set_policy(&self, policy: Policy, timeout: Duration) -> Result<()> {
        let deadline = Deadline::after(timeout);
        let mut interception = self.interception.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = policy.limits_hosts();
        let _holds: Value =
            self.call("comity.setPolicy", json!({ "hosts": policy.host_rules() }), &deadline)?;
        *self.shared.policy.write().unwrap_or_else(PoisonError::into_inner) = policy;
        match (interception.take(), limits) {
            (None, true) => *interception = Some(self.intercept("beforeRequestSent", &deadline)?),
            (Some(id), false) => {
                let _done: Value =
                    self.call("network.removeIntercept", json!({ "intercept": id }), &deadline)?;
            }
            (kept, _) => *interception = kept,
        }
        Ok(())
    }

    /// Checks an address as a navigation would.
    pub fn check(&self, url: &str) -> Result<()> {
        self.shared.policy().check(url, LoadKind::Page)
    }

    /// Sends a WebDriver BiDi command as it is.
    pub fn raw(&self, method: &str, params: Value, timeout: Duration) -> Result<Value> {
        self.call(method, params, &Deadline::after(timeout))
    }

    /// Begins to listen, and looks at what is there already.
    fn begin(&self, deadline: &Deadline) -> Result<()> {
        self.shared.contexts().opening += 1;
        let subscribed = self.call::<Value>("session.subscribe", json!({ "events": WANTED }), deadline);
        let tree: Result<Value> = self.call("browsingContext.getTree", json!({}), deadline);
        if let Ok(tree) = &tree {
            self.shared.contexts_found(&tree["contexts"], None, FRAMES_DEPTH_MAX);
        }
        {
            let mut contexts = self.shared.contexts();
            contexts.opening -= 1;
            // What was there before is in the list, and no news.
            contexts.parked.clear();
        }
        subscribed?;
        tree?;
        let bytes_max = self.download_bytes_max.unwrap_or(0);
        let _limited: Value = self.call("comity.setDownloads", json!({ "bytesMax": bytes_max }), deadline)?;
        let _authentication = self.intercept("authRequired", deadline)?;
        self.set_policy(self.shared.policy(), deadline.left())
    }

    fn intercept(&self, phase: &str, deadline: &Deadline) -> Result<String> {
        #[derive(Deserialize)]
        struct Added {
            intercept: String,
        }
        let added: Added = self.call("network.addIntercept", json!({ "phases": [phase] }), deadline)?;
        Ok(added.intercept)
    }

    fn call<T: serde::de::DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        deadline: &Deadline,
    ) -> Result<T> {
        self.shared.connection.call(method, params, CallScope::default(), deadline)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.shared.connection.hang_up();
    }
}

fn collect_frames(node: &ContextNode, depth: usize, into: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    for child in node.children.iter().flatten() {
        into.push(child.url.clone());
        collect_frames(child, depth - 1, into);
    }
}
