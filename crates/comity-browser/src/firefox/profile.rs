//! The profile: a directory for us alone, with the settings that a driven Firefox needs.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::process::FirefoxProcess;
use crate::error::{BrowserError, Result};

/// Where the running Firefox is recorded.
const RECORD: &str = "comity-firefox.json";
/// Where downloads stay until somebody takes them.
const DOWNLOADS: &str = "comity-downloads";
/// Where Firefox reads settings when it starts.
const SETTINGS: &str = "user.js";

/// As Firefox spells them.
const PREFERENCES: &[(&str, &str)] = &[
    // Tabs in the background run as fast as the one in front.
    ("dom.min_background_timeout_value", "4"),
    ("dom.min_background_timeout_value_without_budget_throttling", "4"),
    ("dom.timeout.enable_budget_timer_throttling", "false"),
    ("dom.ipc.processPriorityManager.backgroundUsesEcoQoS", "false"),
    ("browser.tabs.unloadOnLowMemory", "false"),
    // Going back loads the page again: one from a cache would come without any event.
    ("browser.sessionhistory.max_total_viewers", "0"),
    // Shows nothing that nobody asked for.
    ("browser.startup.page", "0"),
    ("browser.startup.homepage", "\"about:blank\""),
    ("browser.startup.homepage_override.mstone", "\"ignore\""),
    ("browser.newtabpage.enabled", "false"),
    ("browser.newtab.preload", "false"),
    ("browser.aboutwelcome.enabled", "false"),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.sessionstore.resume_from_crash", "false"),
    ("browser.tabs.warnOnClose", "false"),
    ("browser.warnOnQuit", "false"),
    ("startup.homepage_welcome_url", "\"about:blank\""),
    ("startup.homepage_welcome_url.additional", "\"\""),
    ("toolkit.cosmeticAnimations.enabled", "false"),
    ("trailhead.firstrun.didSeeAboutWelcome", "true"),
    // Printing opens a dialog that the page waits for and nobody sees.
    ("dom.disable_window_print", "true"),
    ("print.enabled", "false"),
    ("privacy.userContext.enabled", "true"),
    ("privacy.userContext.ui.enabled", "true"),
    // Sends nothing to anybody, and fetches nothing but the pages.
    ("app.normandy.enabled", "false"),
    ("app.update.auto", "false"),
    ("app.update.disabledForTesting", "true"),
    ("app.update.enabled", "false"),
    ("browser.contentblocking.report.lockwise.enabled", "false"),
    ("browser.discovery.enabled", "false"),
    ("browser.newtabpage.activity-stream.feeds.system.topstories", "false"),
    ("browser.newtabpage.activity-stream.feeds.topsites", "false"),
    ("browser.newtabpage.activity-stream.telemetry", "false"),
    ("browser.ping-centre.telemetry", "false"),
    ("browser.region.network.url", "\"\""),
    ("browser.region.update.enabled", "false"),
    ("browser.safebrowsing.blockedURIs.enabled", "false"),
    ("browser.safebrowsing.downloads.enabled", "false"),
    ("browser.safebrowsing.downloads.remote.enabled", "false"),
    ("browser.safebrowsing.malware.enabled", "false"),
    ("browser.safebrowsing.phishing.enabled", "false"),
    ("browser.safebrowsing.update.enabled", "false"),
    ("browser.search.geoip.url", "\"\""),
    ("browser.search.update", "false"),
    ("browser.translations.enable", "false"),
    ("browser.urlbar.quicksuggest.enabled", "false"),
    ("browser.urlbar.suggest.searches", "false"),
    ("captivedetect.canonicalURL", "\"\""),
    ("datareporting.healthreport.uploadEnabled", "false"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("dom.push.connection.enabled", "false"),
    ("extensions.blocklist.enabled", "false"),
    ("extensions.getAddons.cache.enabled", "false"),
    ("extensions.systemAddon.update.enabled", "false"),
    ("extensions.update.enabled", "false"),
    ("extensions.webservice.discoverURL", "\"\""),
    ("geo.provider.network.url", "\"\""),
    ("media.gmp-manager.updateEnabled", "false"),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("network.dns.disablePrefetch", "true"),
    ("network.http.speculative-parallel-limit", "0"),
    ("network.predictor.enabled", "false"),
    ("network.prefetch-next", "false"),
    ("network.trr.mode", "5"),
    ("security.remote_settings.crlite_filters.enabled", "false"),
    ("security.remote_settings.intermediates.enabled", "false"),
    ("services.settings.server", "\"data:,#remote-settings-dummy/v1\""),
    ("signon.autofillForms", "false"),
    ("signon.rememberSignons", "false"),
    ("toolkit.telemetry.archive.enabled", "false"),
    ("toolkit.telemetry.enabled", "false"),
    ("toolkit.telemetry.server", "\"\""),
    ("toolkit.telemetry.unified", "false"),
    // Downloads go where we say, without a question.
    ("browser.download.alwaysOpenPanel", "false"),
    ("browser.download.always_ask_before_handling_new_types", "false"),
    ("browser.download.folderList", "2"),
    ("browser.download.forbid_open_with", "true"),
    ("browser.download.manager.addToRecentDocs", "false"),
    ("browser.download.start_downloads_in_tmp_dir", "false"),
    ("browser.download.useDownloadDir", "true"),
    // Our script is loaded over the debugger, which listens on a private socket.
    ("devtools.chrome.enabled", "true"),
    ("devtools.debugger.prompt-connection", "false"),
    ("devtools.debugger.remote-enabled", "true"),
];

/// Creates the profile, private, and writes its settings.
pub(crate) fn prepare(profile: &Path) -> Result<()> {
    let failed = |error: std::io::Error| {
        BrowserError::not_started(format!("the profile {} can't be used: {error}", profile.display()))
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(profile).map_err(failed)?;
    // Whoever owns it can enter it, and Firefox is driven by what is in there.
    let owner = std::fs::metadata(profile).map_err(failed)?.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(failed(std::io::Error::other("it belongs to somebody else")));
    }
    std::fs::set_permissions(profile, PermissionsExt::from_mode(0o700)).map_err(failed)?;
    // What an earlier Firefox left there is nobody's any more.
    let downloads = profile.join(DOWNLOADS);
    let _was_none = std::fs::remove_dir_all(&downloads);
    std::fs::DirBuilder::new().mode(0o700).create(&downloads).map_err(failed)?;
    let directory = ("browser.download.dir", &*serde_json::json!(downloads).to_string());
    let preferences = PREFERENCES.iter().chain([&directory]);
    let settings: String =
        preferences.map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).collect();
    write(&profile.join(SETTINGS), &settings).map_err(failed)
}

/// The Firefox that was started with this profile, if it still runs.
pub(crate) fn recorded(profile: &Path) -> Option<FirefoxProcess> {
    let text = std::fs::read(profile.join(RECORD)).ok()?;
    let process: FirefoxProcess = serde_json::from_slice(&text).ok()?;
    process.is_alive().then_some(process)
}

/// Records which Firefox runs with this profile.
pub(crate) fn record(profile: &Path, process: &FirefoxProcess) -> Result<()> {
    let failed = |error: std::io::Error| {
        BrowserError::not_started(format!("it can't be written down in {}: {error}", profile.display()))
    };
    let text = serde_json::to_string(process).map_err(|error| failed(error.into()))?;
    // Under another name first: with a half-written record nobody would find that Firefox again.
    let draft = profile.join(format!("{RECORD}.new"));
    write(&draft, &text).and_then(|()| std::fs::rename(&draft, profile.join(RECORD))).map_err(failed)
}

pub(crate) fn forget(profile: &Path) {
    let _was_none = std::fs::remove_file(profile.join(RECORD));
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_private_and_remembers_a_process_that_runs() {
        let dir = tempfile::tempdir().unwrap();
        let profile = dir.path().join("a/profile");
        prepare(&profile).unwrap();
        prepare(&profile).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&profile), mode(&profile.join(SETTINGS))), (0o700, 0o600));
        assert_eq!(recorded(&profile), None);
        let me = FirefoxProcess::identify(std::process::id()).unwrap();
        record(&profile, &me).unwrap();
        assert_eq!(recorded(&profile), Some(me));
        record(&profile, &FirefoxProcess { start: me.start + 1, ..me }).unwrap();
        assert_eq!(recorded(&profile), None, "another process has the number now");
        record(&profile, &me).unwrap();
        forget(&profile);
        assert_eq!(recorded(&profile), None);
    }
}
