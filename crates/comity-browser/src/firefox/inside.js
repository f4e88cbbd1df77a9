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
  socket.addEventListener("close", () => {
    if (connection.session) {
      RemoteAgent.webDriverBiDi.deleteSession();
    }
  });
  connection = new WebDriverBiDiConnection(socket, { close() {} });
  RemoteAgent.webDriverBiDi.addSessionlessConnection(connection);
}

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

begin().catch(error => IOUtils.writeUTF8(FAILED, String(error)));
