//! Firefox's events, and what follows from them.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::activity::{CONSOLE_BYTES_MAX, ConsoleLine, NetworkRequest, RequestOutcome, URL_BYTES_MAX, cut};
use crate::connection::{BidiEvent, CallScope};
use crate::error::BrowserError;
use crate::ids::{Container, TabId};
use crate::notice::{BrowserEvent, Dialog, Download, Downloaded};
use crate::policy::LoadKind;
use crate::shared::SharedBrowser;
use crate::tab_state::TabRecord;

/// The events to subscribe to; by module, since not every version knows every event.
pub(crate) const WANTED: [&str; 6] = [
    "browsingContext",
    "log",
    "network.authRequired",
    "network.beforeRequestSent",
    "network.fetchError",
    "network.responseCompleted",
];

pub(crate) const EMPTY: &str = "about:blank";

/// How far a page has come.
#[derive(Clone, Copy, PartialEq)]
enum NavigationStep {
    Beginning,
    Arrival,
}

impl SharedBrowser {
    /// Processes an event. Runs on the reading thread, so it never waits for an answer.
    pub(crate) fn take(&self, event: &BidiEvent) {
        let params = &event.params;
        match event.method.as_str() {
            "browsingContext.contextCreated" => self.context_created(params),
            "browsingContext.contextDestroyed" => self.context_destroyed(params),
            "browsingContext.navigationStarted" => self.navigation_started(params),
            "browsingContext.navigationCommitted" => self.document_came(params),
            "browsingContext.fragmentNavigated" | "browsingContext.historyUpdated" => {
                self.in_tab(params, |live| {
                    live.url = text(params, "url").to_owned();
                    live.moves += 1;
                    live.arrivals += 1;
                });
            }
            "browsingContext.navigationFailed"
            | "browsingContext.navigationAborted"
            | "browsingContext.domContentLoaded"
            | "browsingContext.load" => self.in_tab(params, |live| live.moves += 1),
            "browsingContext.userPromptOpened" => self.dialog_opened(params),
            "browsingContext.userPromptClosed" => {
                if let Some(tab) = self.tab_of(text(params, "context")) {
                    tab.change(|live| {
                        live.dialog = None;
                        live.dialog_moves += 1;
                    });
                }
            }
            "log.entryAdded" => self.logged(params),
            "network.beforeRequestSent" => self.request_began(params),
            "network.responseCompleted" => self.request_answered(params),
            "network.fetchError" => self.request_failed(params),
            // Nobody is there to type a password: the page shows that it wants one.
            "network.authRequired" if is_blocked(params) => self.connection.tell(
                "network.continueWithAuth",
                json!({ "request": request_id(params), "action": "cancel" }),
            ),
            "comity.download" => self.downloaded(params),
            _ => {}
        }
    }

    fn downloaded(&self, params: &Value) {
        let outcome = match params["refused"].as_str() {
            Some(why) => Downloaded::Refused { why: cut(why, CONSOLE_BYTES_MAX) },
            None => Downloaded::Saved {
                path: text(params, "path").into(),
                bytes: params["bytes"].as_u64().unwrap_or_default(),
            },
        };
        self.tell(BrowserEvent::Download(Download {
            tab: params["context"].as_str().map(|id| TabId(id.to_owned())),
            container: Container(text(params, "container").to_owned()),
            name: cut(text(params, "name"), URL_BYTES_MAX),
            outcome,
        }));
    }

    /// Adds tabs and frames that existed before anybody listened.
    pub(crate) fn contexts_found(&self, nodes: &Value, parent: Option<&str>, depth: usize) {
        for node in nodes.as_array().into_iter().flatten().filter(|_| depth > 0) {
            self.context_found(node, parent);
            self.contexts_found(&node["children"], node["context"].as_str(), depth - 1);
        }
    }

    pub(crate) fn died(&self) {
        for tab in self.contexts().tabs.values() {
            tab.change(|live| live.is_closed = true);
        }
        self.tell(BrowserEvent::Died);
    }

    /// Updates the record of a tab, if the event is about the tab itself and not a frame in it.
    fn in_tab(&self, params: &Value, change: impl FnOnce(&mut crate::tab_state::Live)) {
        let tab = self.contexts().tabs.get(&TabId(text(params, "context").to_owned())).cloned();
        if let Some(tab) = tab {
            tab.change(change);
        }
    }

    fn context_created(&self, params: &Value) {
        self.context_found(params, params["parent"].as_str());
    }

    fn context_found(&self, params: &Value, parent: Option<&str>) {
        let id = text(params, "context").to_owned();
        if let Some(parent) = parent {
            let tab = self.tab_of(parent).map(|tab| tab.id.clone());
            self.contexts().frames.extend(tab.map(|tab| (id, tab)));
            return;
        }
        let (tab, url) = (TabId(id), text(params, "url").to_owned());
        let container = Container(text(params, "userContext").to_owned());
        let opener = params["originalOpener"].as_str();
        let opener =
            opener.map(|opener| self.tab_of(opener).map_or(TabId(opener.into()), |tab| tab.id.clone()));
        let notice = {
            let mut contexts = self.contexts();
            if contexts.tabs.contains_key(&tab) {
                return;
            }
            let state = TabRecord::new(tab.clone(), container.clone(), url.clone());
            contexts.tabs.insert(tab.clone(), Arc::new(state));
            let is_opened_by_page = opener.is_some();
            let notice = BrowserEvent::TabOpened { tab, container, url, opener };
            // It may be the one that we are just opening; the answer to that tells.
            if contexts.opening > 0 && !is_opened_by_page {
                contexts.parked.push(notice);
                return;
            }
            notice
        };
        self.tell(notice);
    }

    fn context_destroyed(&self, params: &Value) {
        let id = text(params, "context");
        let tab = {
            let mut contexts = self.contexts();
            contexts.frames.remove(id);
            let tab = contexts.tabs.remove(&TabId(id.to_owned()));
            if let Some(tab) = &tab {
                contexts.frames.retain(|_, of| *of != tab.id);
                contexts.parked.retain(|notice| !is_about(notice, &tab.id));
            }
            tab
        };
        let is_here = |about: &CallScope| about.context.as_deref() == Some(id);
        match tab {
            Some(tab) => {
                let gone = BrowserError::NoSuchTab { tab: id.to_owned() };
                self.connection.interrupt(|about| is_here(about).then(|| gone.clone()));
                tab.change(|live| live.is_closed = true);
                self.tell(BrowserEvent::TabClosed { tab: tab.id.clone() });
            }
            None => self.connection.interrupt(|about| is_here(about).then_some(BrowserError::PageGone)),
        }
    }

    fn navigation_started(&self, params: &Value) {
        self.in_tab(params, |live| live.navigation_began = Instant::now());
        if text(params, "url") == EMPTY {
            self.page_emptied(text(params, "context"), NavigationStep::Beginning);
        }
    }

    /// An empty page is coming, or has come. When a page's process has crashed this is all that is reported: Firefox
    /// 140 reports only the start, 153 only the arrival.
    fn page_emptied(&self, context: &str, step: NavigationStep) {
        let tab = self.contexts().tabs.get(&TabId(context.to_owned())).cloned();
        let lost = tab.and_then(|tab| {
            let url =
                tab.change(|live| (!live.is_sent).then(|| std::mem::replace(&mut live.url, EMPTY.into())));
            Some(BrowserEvent::PageLost { tab: tab.id.clone(), url: url.filter(|url| url != EMPTY)? })
        });
        if let Some(lost) = lost {
            // The page that came is in Firefox's own process, where no script may run, so it is loaded as a normal
            // page.
            if step == NavigationStep::Arrival {
                let params = json!({ "context": context, "url": EMPTY, "wait": "none" });
                self.connection.tell("browsingContext.navigate", params);
            }
            self.tell(lost);
        }
        self.connection.interrupt(|about| {
            let is_over = about.until_crashed && about.context.as_deref() == Some(context);
            is_over.then_some(BrowserError::PageGone)
        });
    }

    fn document_came(&self, params: &Value) {
        let context = text(params, "context");
        let navigation = params["navigation"].as_str().map(str::to_owned);
        let tab = self.contexts().tabs.get(&TabId(context.to_owned())).cloned();
        let before = tab
            .and_then(|tab| tab.change(|live| std::mem::replace(&mut live.navigation, navigation.clone())));
        // An empty page that nobody navigated to has the navigation id of the one that it replaces.
        if text(params, "url") == EMPTY && before.is_some() && before == navigation {
            self.page_emptied(context, NavigationStep::Arrival);
        }
        self.in_tab(params, |live| {
            live.url = text(params, "url").to_owned();
            live.moves += 1;
            live.arrivals += 1;
            live.document_came();
        });
        self.connection.interrupt(|about| {
            let is_over = about.until_navigated && about.context.as_deref() == Some(context);
            is_over.then_some(BrowserError::PageGone)
        });
    }

    fn dialog_opened(&self, params: &Value) {
        let Some(tab) = self.tab_of(text(params, "context")) else { return };
        let dialog = Dialog {
            kind: text(params, "type").to_owned(),
            message: cut(text(params, "message"), CONSOLE_BYTES_MAX),
            default: params["defaultValue"].as_str().map(str::to_owned),
        };
        tab.change(|live| {
            live.dialog = Some(dialog.clone());
            live.dialog_moves += 1;
        });
        let error = BrowserError::Dialog { kind: dialog.kind.clone(), message: dialog.message.clone() };
        self.connection.interrupt(|about| {
            (about.until_dialog_in.as_deref() == Some(tab.id.0.as_str())).then(|| error.clone())
        });
        self.tell(BrowserEvent::DialogOpened { tab: tab.id.clone(), dialog });
    }

    fn logged(&self, params: &Value) {
        let Some(tab) =
            params.pointer("/source/context").and_then(Value::as_str).and_then(|id| self.tab_of(id))
        else {
            return;
        };
        let frame = params.pointer("/stackTrace/callFrames/0");
        let source = frame.map(|frame| {
            format!(
                "{}:{}",
                cut(text(frame, "url"), URL_BYTES_MAX),
                frame["lineNumber"].as_u64().unwrap_or(0) + 1
            )
        });
        tab.change(|live| {
            live.console.push(|number| ConsoleLine {
                number,
                level: text(params, "level").to_owned(),
                text: cut(text(params, "text"), CONSOLE_BYTES_MAX),
                at_ms: milliseconds(&params["timestamp"]),
                source,
            });
        });
    }

    fn request_began(&self, params: &Value) {
        let request = &params["request"];
        let (id, url) = (request_id(params), text(request, "url"));
        let context = params["context"].as_str();
        let tab = context.and_then(|context| self.tab_of(context));
        let is_navigation = !params["navigation"].is_null();
        let mut outcome = RequestOutcome::Running;
        if is_blocked(params) {
            // A tab's page was checked before; this checks frames, parts and targets of redirections.
            match self.policy().check(url, LoadKind::Part) {
                Ok(()) => self.connection.tell("network.continueRequest", json!({ "request": id })),
                Err(error) => {
                    self.connection.tell("network.failRequest", json!({ "request": id }));
                    let BrowserError::Blocked { rule, .. } = error else { return };
                    if let (Some(tab), true) = (&tab, is_navigation) {
                        tab.change(|live| live.blocked = Some((url.to_owned(), rule.clone())));
                    }
                    outcome = RequestOutcome::Blocked { rule };
                }
            }
        }
        let Some(tab) = tab else { return };
        tab.change(|live| {
            if outcome == RequestOutcome::Running {
                live.request_began(id);
            }
            live.network.push(|number| NetworkRequest {
                number,
                id: id.to_owned(),
                method: text(request, "method").to_owned(),
                url: cut(url, URL_BYTES_MAX),
                at_ms: milliseconds(&params["timestamp"]),
                outcome,
            });
        });
    }

    fn request_answered(&self, params: &Value) {
        let response = &params["response"];
        let at_ms = milliseconds(&params["timestamp"]);
        self.request_ended(params, |request| RequestOutcome::Answered {
            status: response["status"]
                .as_u64()
                .and_then(|status| u16::try_from(status).ok())
                .unwrap_or_default(),
            mime: cut(text(response, "mimeType"), URL_BYTES_MAX),
            bytes: response["bytesReceived"].as_u64().unwrap_or_default(),
            took_ms: at_ms.saturating_sub(request.at_ms),
        });
    }

    fn request_failed(&self, params: &Value) {
        let error = cut(text(params, "errorText"), URL_BYTES_MAX);
        self.request_ended(params, |request| match &request.outcome {
            // The failure is what the policy wanted; the rule says more than the error.
            RequestOutcome::Blocked { rule } => RequestOutcome::Blocked { rule: rule.clone() },
            RequestOutcome::Running | RequestOutcome::Answered { .. } | RequestOutcome::Failed { .. } => {
                RequestOutcome::Failed { error }
            }
        });
    }

    fn request_ended(&self, params: &Value, outcome: impl FnOnce(&NetworkRequest) -> RequestOutcome) {
        let Some(tab) = params["context"].as_str().and_then(|context| self.tab_of(context)) else { return };
        let id = request_id(params);
        tab.change(|live| {
            live.request_ended(id);
            // A redirection has the id of the original request: the newest is meant.
            if let Some(request) = live.network.newest_mut(|request| request.id == id) {
                request.outcome = outcome(request);
            }
        });
    }
}

fn is_about(notice: &BrowserEvent, id: &TabId) -> bool {
    matches!(notice, BrowserEvent::TabOpened { tab, .. } if tab == id)
}

fn is_blocked(params: &Value) -> bool {
    params["isBlocked"].as_bool() == Some(true)
}

fn request_id(params: &Value) -> &str {
    params.pointer("/request/request").and_then(Value::as_str).unwrap_or_default()
}

fn text<'a>(params: &'a Value, name: &str) -> &'a str {
    params[name].as_str().unwrap_or_default()
}

fn milliseconds(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64)).unwrap_or_default()
}
