// Runs inside Firefox's own process, from its start to its end, with all of its rights.
//
// Firefox offers WebDriver BiDi on a TCP port, which is open to every user of the machine. Here it is offered on a Unix
// socket in the profile instead, which only its owner can reach, and no port is ever opened.
"use strict";

const { HttpServer } = ChromeUtils.importESModule("chrome://remote/content/server/httpd.sys.mjs");
const { RemoteAgent } = ChromeUtils.importESModule("chrome://remote/content/components/RemoteAgent.sys.mjs");
const { WebDriverBiDiConnection } = ChromeUtils.importESModule(
  "chrome://remote/content/webdriver-bidi/WebDriverBiDiConnection.sys.mjs"
);
const { require } = ChromeUtils.importESModule("resource://devtools/shared/loader/Loader.sys.mjs");
const { accept } = require("resource://devtools/server/socket/websocket-server.js");

const STARTED = "browser-idle-startup-tasks-finished";
const BACKLOG = 16;

/** Listens on a path; gives what the HTTP server takes for its own socket. */
function listen(path, stopped) {
  const file = Cc["@mozilla.org/file/local;1"].createInstance(Ci.nsIFile);
  file.initWithPath(path);
  const socket = Cc["@mozilla.org/network/server-socket;1"].createInstance(Ci.nsIServerSocket);
  socket.initWithFilename(file, 0o600, BACKLOG);
  socket.asyncListen({
    QueryInterface: ChromeUtils.generateQI(["nsIServerSocketListener"]),
    onSocketAccepted(_, transport) {
      serve(transport).catch(() => transport.close(Cr.NS_BINDING_ABORTED));
    },
    onStopListening: stopped,
  });
  return { port: 1, close: () => socket.close() };
}

/** Speaks WebDriver BiDi with one client. Its session ends with its connection, so that the next one can begin. */
async function serve(transport) {
  const input = transport.openInputStream(0, 0, 0).QueryInterface(Ci.nsIAsyncInputStream);
  const output = transport.openOutputStream(0, 0, 0).QueryInterface(Ci.nsIAsyncOutputStream);
  const socket = await accept(transport, input, output);
  let connection;
  // These listeners come first, so they are called before those of the connection.
  socket.addEventListener("message", event => {
    if (event.data.includes('"method":"comity.')) {
      event.stopImmediatePropagation();
      answer(connection, JSON.parse(event.data));
    }
  });
  socket.addEventListener("close", () => {
    clients.delete(connection);
    if (connection.session) {
      RemoteAgent.webDriverBiDi.deleteSession();
    }
  });
  connection = new WebDriverBiDiConnection(socket, { close() {} });
  clients.add(connection);
  RemoteAgent.webDriverBiDi.addSessionlessConnection(connection);
}

/** Answers a command of our own. */
function answer(connection, { id, method, params }) {
  try {
    connection.sendResult(id, commands[method](params) ?? {});
  } catch (error) {
    connection.sendError(id, error);
  }
}

const clients = new Set();
const commands = {
  // Tabs whose pages can have a hold of each other: one has opened the other, or both were opened by a third.
  "comity.getRelated": ({ context }) => ({
    contexts: contextOf(context).group.getToplevels().map(contextId).filter(id => id && id !== context),
  }),
  "comity.setDownloads": ({ bytesMax }) => {
    downloadBytesMax = bytesMax;
  },
  "comity.setPolicy": ({ hosts }) => {
    hostRules = hosts;
    // What would go past every request.
    const isLimited = hosts.allow.length > 0 || hosts.deny.length > 0 || !hosts.loopback;
    for (const name of ["media.peerconnection.enabled", "network.preconnect", "network.webtransport.enabled"]) {
      Services.prefs.setBoolPref(name, !isLimited);
    }
  },
};

/** Begins what `--remote-debugging-port` would have begun. */
async function begin() {
  HttpServer.prototype._start = function (port, host) {
    this._doQuit = this._socketClosed = false;
    this._host = host;
    this._port = port;
    this._identity._initialize(port, host, true, false);
    this._socket = listen(SOCKET, () => this.onStopListening({ port }));
  };
  const flags = {
    handleFlagWithParam: name => (name === "remote-debugging-port" ? "1" : null),
    handleFlag: () => false,
  };
  await RemoteAgent.observe(null, "profile-after-change");
  await RemoteAgent.observe(flags, "command-line-startup");
  await RemoteAgent.observe(null, "final-ui-startup");
  // It hears of the end of Firefox's own start, unless that was over before it listened.
  const window = Services.wm.getMostRecentWindow("navigator:browser");
  const started = window?.gBrowserInit?.idleTasksFinished?.promise;
  await started?.then(() => RemoteAgent.observe(null, STARTED)).catch(() => {});
}

/** What may be loaded, as the client has last said; it holds while there is none. */
let hostRules = { allow: [], deny: [], loopback: true };

const IS_V4_LOOPBACK = /^127\.\d+\.\d+\.\d+$/;

/** Whether a request may go to this host. The same rules as those of the client, who explains them. */
function isAllowed(uri) {
  const host = uri.asciiHost.toLowerCase().replace(/\.$/, "");
  const isBelow = name => host.endsWith(`.${name}`) && host.length > name.length + 1;
  const matches = rule => rule === "*" || (rule.startsWith("*.") ? isBelow(rule.slice(2)) : host === rule);
  if (hostRules.deny.some(rule => matches(rule) || isBelow(rule))) {
    return false;
  }
  const isLoopback = host === "localhost" || host.endsWith(".localhost") || host === "::1" || IS_V4_LOOPBACK.test(host);
  const isFree = hostRules.loopback
    ? isLoopback || hostRules.allow.length === 0
    : !isLoopback && !leadsHere(host) && hostRules.allow.length === 0;
  return isFree || hostRules.allow.some(matches);
}

/** Whether an address that a name stands for is this machine. */
function leadsHere(address) {
  const v4 = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return IS_V4_LOOPBACK.test(v4) || /^(0\.0\.0\.0|::1?|::ffff:(0:0|7f[\da-f]{2}:[\da-f]{1,4}))$/i.test(v4);
}

/** Whether hosts are allowed that no rule names: any name can lead to this machine, so they have to be looked up. */
function isDoubtful() {
  return !hostRules.loopback && hostRules.allow.length === 0;
}

/** Whether somebody else looks the name up and connects: what is seen here is the proxy. */
function isProxied(channel) {
  const proxy = channel.QueryInterface(Ci.nsIProxiedChannel).proxyInfo;
  return Boolean(proxy && proxy.type !== "direct");
}

/** Holds a request until it is known where its name leads; one that leads to this machine is stopped. */
function holdUntilLookedUp(channel) {
  const done = addresses => {
    if (addresses.some(leadsHere)) {
      channel.cancel(Cr.NS_ERROR_ABORT);
    }
    channel.resume();
  };
  channel.suspend();
  try {
    Services.dns.asyncResolve(
      channel.URI.asciiHost,
      Ci.nsIDNSService.RESOLVE_TYPE_DEFAULT,
      0,
      null,
      { onLookupComplete: (_, record) => done(addressesOf(record)) },
      Services.tm.mainThread,
      channel.loadInfo.originAttributes
    );
  } catch {
    // A name that cannot be looked up leads nowhere.
    done([]);
  }
}

function addressesOf(record) {
  const found = [];
  const addresses = record?.QueryInterface(Ci.nsIDNSAddrRecord);
  while (addresses?.hasMore()) {
    found.push(addresses.getNextAddrAsString());
  }
  return found;
}

/** Stops every request to a forbidden host, also those of workers, which belong to no page and are intercepted by nobody. */
const requests = {
  QueryInterface: ChromeUtils.generateQI(["nsIObserver"]),
  observe(channel) {
    channel.QueryInterface(Ci.nsIHttpChannel);
    if (!isAllowed(channel.URI)) {
      channel.cancel(Cr.NS_ERROR_ABORT);
    } else if (isDoubtful() && !isProxied(channel)) {
      holdUntilLookedUp(channel);
    }
  },
};
Services.obs.addObserver(requests, "http-on-before-connect");

/** Stops an answer that came from this machine after all, because the name had come to lead elsewhere meanwhile. */
const answers = {
  QueryInterface: ChromeUtils.generateQI(["nsIObserver"]),
  observe(channel) {
    channel.QueryInterface(Ci.nsIHttpChannelInternal);
    let from = "";
    try {
      from = channel.remoteAddress;
    } catch {}
    if (isDoubtful() && !isProxied(channel) && leadsHere(from)) {
      channel.QueryInterface(Ci.nsIHttpChannel).cancel(Cr.NS_ERROR_ABORT);
    }
  },
};
Services.obs.addObserver(answers, "http-on-examine-response");

/** Refuses files of this machine as pages, whoever asks for them. */
const files = {
  QueryInterface: ChromeUtils.generateQI(["nsIContentPolicy", "nsIFactory"]),
  createInstance: iid => files.QueryInterface(iid),
  shouldLoad(uri, loadInfo) {
    const { TYPE_DOCUMENT, TYPE_SUBDOCUMENT, TYPE_OBJECT, ACCEPT, REJECT_POLICY } = Ci.nsIContentPolicy;
    const isPage = [TYPE_DOCUMENT, TYPE_SUBDOCUMENT, TYPE_OBJECT].includes(loadInfo.externalContentPolicyType);
    const isOurs = loadInfo.triggeringPrincipal?.isSystemPrincipal && !isPage;
    const innermost = uri.QueryInterface(Ci.nsIURI).spec.replace(/^(view-source:|jar:|pcast:)+/i, "");
    return /^file:/i.test(innermost) && !isOurs ? REJECT_POLICY : ACCEPT;
  },
  shouldProcess: () => Ci.nsIContentPolicy.ACCEPT,
};
const FILES = "@comity/files;1";
Components.manager
  .QueryInterface(Ci.nsIComponentRegistrar)
  .registerFactory(Components.ID("{6a3f6d6e-6d5d-4c6c-9d5e-0c1b7a4f1c55}"), "comity files", FILES, files);
Services.catMan.addCategoryEntry("content-policy", FILES, FILES, false, true);

/** Bytes of one download; nothing is downloaded before a client has said so. */
let downloadBytesMax = 0;

/** Stops downloads that are not wanted, and tells the client of those that have ended. */
async function watchDownloads() {
  const { Downloads } = ChromeUtils.importESModule("resource://gre/modules/Downloads.sys.mjs");
  const { UserContextManager } = ChromeUtils.importESModule(
    "chrome://remote/content/shared/UserContextManager.sys.mjs"
  );
  const { BrowsingContext } = Cu.getGlobalForObject(Services);
  const list = await Downloads.getList(Downloads.ALL);
  const ended = new WeakSet();
  const tell = (download, outcome) => {
    const context = BrowsingContext.get(download.source.browsingContextId)?.top;
    const params = {
      ...outcome,
      name: download.target.path.split("/").at(-1),
      context: context ? contextId(context) : null,
      container: UserContextManager.getIdByInternalId(download.source.userContextId ?? 0) ?? "default",
    };
    clients.forEach(client => client.sendEvent("comity.download", params));
  };
  const drop = async download => {
    await list.remove(download);
    await download.finalize(true);
  };
  const look = download => {
    const refuse = refused => {
      ended.add(download);
      tell(download, { refused });
      drop(download).finally(() => IOUtils.remove(download.target.path, { ignoreAbsent: true }));
    };
    if (ended.has(download)) {
      return;
    }
    if (downloadBytesMax === 0) {
      refuse("downloads are switched off (browser.downloads)");
    } else if (Math.max(download.currentBytes, download.totalBytes) > downloadBytesMax) {
      refuse(`it is larger than ${downloadBytesMax} bytes`);
    } else if (download.succeeded && clients.size > 0) {
      ended.add(download);
      tell(download, { path: download.target.path, bytes: download.target.size ?? download.currentBytes });
      list.remove(download);
    } else if (download.succeeded || (download.stopped && (download.error || download.canceled))) {
      refuse(String(download.error?.message ?? "it was stopped"));
    }
  };
  await list.addView({ onDownloadAdded: look, onDownloadChanged: look });
}

/** What WebDriver BiDi calls a tab; where that is known differs between versions. */
function contextId(context) {
  return fromManager(manager => manager.getIdForBrowsingContext(context));
}

function contextOf(id) {
  const context = fromManager(manager => manager.getBrowsingContextById(id));
  if (!context) {
    throw new Error(`there is no context ${id}`);
  }
  return context;
}

function fromManager(find) {
  for (const name of ["NavigableManager", "TabManager"]) {
    try {
      return find(ChromeUtils.importESModule(`chrome://remote/content/shared/${name}.sys.mjs`)[name]);
    } catch {}
  }
  return null;
}

Promise.all([begin(), watchDownloads()]).catch(error => IOUtils.writeUTF8(FAILED, String(error)));
