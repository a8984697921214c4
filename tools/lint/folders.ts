/**
 * Folders within a layer, from the bottom up: each imports only itself and those before it, types included. "." stands
 * for the files beside the folders; a file with its own position in the order is listed with its extension. Each folder
 * with subfolders has an order here.
 */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  edge: [
    "geoip.ts",
    "config.ts",
    "http",
    "pages",
    "limits",
    "zones",
    "detection",
    "exchange",
    "compression",
    "minify",
    "challenge",
    "exclusion",
    "stages",
    "origin",
    "cache",
    "pipeline",
    "logs",
    "tls",
    "http1",
    "http2",
    "listen",
    ".",
  ],
  "edge/cache": ["policy", "key", "store", "serve", "fill", "purge", "."],
  nameserver: ["config.ts", "zones", "limits", "tsig", "external", "answer", "dnssec", "message", "transfers", "responder", "listen", "."],
  gateway: [
    "config.ts",
    "http",
    "listen",
    "usage",
    "request",
    "streams",
    "dialects",
    "providers",
    "auth",
    "costs",
    "limits",
    "credentials",
    "tracing",
    "logs",
    "guard",
    "cache",
    "plans",
    "exchange",
    "realtime",
    ".",
  ],
  app: ["config", "log", "threads", "waf", "handover", "planes", "operations", "control", "backup", "fleet", "roles", ".", "cli"],
  events: ["rows", "sql", "blocks", "rollups", "logs", "database", "read", "retention", "spool", "write"],
  store: [
    "queries",
    "migrations",
    "database",
    "zones",
    "dns",
    "access",
    "hostnames",
    "certificates",
    "rulesets",
    "detection",
    "gateways",
    "events",
    "images",
    "nodes",
  ],
  model: ["documented.ts", "zones", "dns", "access", "hostnames", "certificates", "rulesets", "detection", "gateways", "events", "images"],
  "api/routes": ["zones", "dns", "access", "hostnames", "certificates", "rulesets", "detection", "gateways", "events", "images", "."],
  "control/dns": ["changes", "records", "versions", "zone-files", "scan", "dnssec", "settings"],
  rules: [
    "budget.ts",
    "views.ts",
    "phases.ts",
    "definition.ts",
    "text",
    "regex",
    "body",
    "expression",
    "lists",
    "parameters",
    "detectors",
    "seclang",
    "managed",
    "rate-limit",
    "actions",
    "engine",
    "previous-waf",
    "compile",
    ".",
  ],
  "rules/managed": ["matched-part.ts", "signatures", "operator", "core", "."],
  "rules/seclang": [
    "syntax",
    "transformations",
    "patterns",
    "program",
    "prefilter",
    "sql",
    "markup",
    "transaction",
    "operators",
    "run",
    ".",
  ],
  "rules/detectors": ["checks", "engine", "personal", "secrets", "catalog", "masking"],
  "rules/expression": ["syntax", "values", "request", "fields", "functions", "check", "compile", "."],
  "control/notifications": ["alerts", "delivery", "policies", "spikes", "."],
  control: [
    "outbound-faults.ts",
    "outbound-ports.ts",
    "outbound.ts",
    "call.ts",
    "commit.ts",
    "page-ends.ts",
    "list-totals.ts",
    "cursor.ts",
    "pages.ts",
    "open-zone",
    "previous-waf",
    "firewall-tools",
    "detection",
    "access",
    "events",
    "gateways",
    "rulesets",
    "notifications",
    "members",
    "deprecations",
    "waf-migration",
    "cache",
    "logpush",
    "dns",
    "certificates",
    "hostnames",
    "ownership",
    "zones",
    "analytics",
    "secondary",
    "transfers",
    "lists",
    "images",
    "nodes",
    ".",
    "recovery",
  ],
  kernel: [".", "net", "errors", "crypto", "process"],
  wire: ["dns", "proxy", "http", "http2", "tls", "web-socket", "x509", "nats", "native", "connections"],
  "wire/connections": ["buffers", "transport", "epoll", "http"],
  "wire/http2": ["hpack", "."],
  deprecations: ["deprecation.ts", "effect-handler.ts", "effects", "."],
  api: [
    "form-body.ts",
    "route.ts",
    "failure.ts",
    "envelope.ts",
    "change-reason.ts",
    "dashboard",
    "auth.ts",
    "validation.ts",
    "paging.ts",
    "graphql",
    "query.ts",
    "json-body.ts",
    "api-date.ts",
    "identifiers.ts",
    "gateway-log-query.ts",
    "zone-of.ts",
    "execute.ts",
    "file-response.ts",
    "event-stream-response.ts",
    "deprecations",
    "connection",
    "images",
    "routes",
    "docs",
    ".",
  ],
  snapshot: ["edge-settings.ts", "entries.ts", "record-layers.ts", "feed.ts", "last-good", "bus", "."],
  "app/cli": [
    "outcome.ts",
    "api-client.ts",
    "config-input.ts",
    "record-line.ts",
    "token-store.ts",
    "config-flags.ts",
    "command-parts.ts",
    "zone",
    "nodes",
    "doctor",
    "deprecations",
    "backup",
    "server",
    "env",
    ".",
  ],
  "edge/detection": ["body-cut.ts", "utf32.ts", "transcoder.ts", "scan-plan.ts", "multipart", "."],
};

/** Files in one folder, tests apart. */
export const FILES_MAX = 25;

/** Numbered files whose number only grows. */
export const MAY_BE_LARGER: ReadonlySet<string> = new Set(["src/store/migrations"]);

/** A file of src/ that has more lines, tests apart, is a long one. */
export const LINES_MAX = 250;

/** So many long files there may be, tables included. Lower it when one is split. */
export const LONG_FILES_MAX = 77;

/** The reason why one file of src/ may not import another by the order above; undefined if it may. Both paths start with their layer. */
export function folderProblem(from: string, to: string): string | undefined {
  for (const [parent, order] of Object.entries(FOLDERS)) {
    const [importer, imported] = [placeIn(parent, from), placeIn(parent, to)];
    if (importer === undefined || imported === undefined) continue;
    if (!order.includes(importer)) return `src/${parent}/${importer} has no place in the order of tools/lint/folders.ts`;
    if (order.indexOf(imported) <= order.indexOf(importer)) continue;
    const [below, above] = [importer, imported].map((name) => (name === "." ? `src/${parent}/*` : `src/${parent}/${name}`));
    return `${below} stands below ${above} and may not import it (tools/lint/folders.ts)`;
  }
  return undefined;
}

/** The subfolder of the parent, or the file if it has its own position; undefined for other paths. */
function placeIn(parent: string, path: string): string | undefined {
  if (!path.startsWith(`${parent}/`)) return undefined;
  const [first = "", ...rest] = path.slice(parent.length + 1).split("/");
  return rest.length > 0 || FOLDERS[parent]?.includes(first) === true ? first : ".";
}
