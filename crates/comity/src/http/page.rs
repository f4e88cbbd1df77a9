//! The page at the root, until there is a dashboard.

/// What this is and where the rest is.
pub(super) const PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Comity</title>
<h1>Comity</h1>
<p>Comity lets several coding agents share one repository without stepping on each other.</p>
<ul>
<li><code>/api/openapi.json</code>: every operation over REST</li>
<li><code>/api/events</code>: what happens, as a WebSocket or as server-sent events</li>
<li><code>/mcp</code>: the same operations as MCP tools</li>
<li><code>/metrics</code>: counters for Prometheus</li>
</ul>
<p>Every request needs the header <code>Authorization: Bearer TOKEN</code>.</p>
</html>
";
