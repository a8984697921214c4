import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";
import { request } from "#kernel/net/node-http.ts";
import { loadConfig } from "#app/config/config.ts";
import { listed } from "#app/operations/ready.ts";
import { ANSWER_LIMIT_MS } from "#app/operations/silent-planes.ts";
import { isAlive, type RunFile, readRunFile } from "#app/operations/run-file.ts";
import { configInput } from "#app/cli/config-input.ts";
import type { ServerStatus } from "#app/operations/server-status.ts";
import { columns, complain, EXIT, type ExitCode, print, printable } from "#app/cli/outcome.ts";

/** Longer than the server's own checks, which find one after another what does not answer. */
const READY_TIMEOUT_MS = 3 * ANSWER_LIMIT_MS;
const NOT_ANSWERING = "not answering";

interface Readiness {
  readonly status: string;
  readonly reasons: readonly string[];
  /** Notices for the operator although the server is ready. */
  readonly notices?: readonly string[];
}

/** Queries the server of the data directory: 0 if it is ready, 1 if it runs but is not ready, 3 if none runs. */
export async function status(flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const run = readRunFile(data);
  if (run === null || !isAlive(run.pid)) {
    if (json) print(true, { status: "not running", data }, []);
    else complain([`no server runs on ${data}; start one with: selvedge start --data ${data}`]);
    return EXIT.notRunning;
  }
  const readiness = await askReadiness(run);
  const { notices = [] } = readiness;
  const details = readiness.status === NOT_ANSWERING ? null : await askDetails(run);
  const { pid, api, ops, gateway, dns, dot, http, https, started_at, further } = run;
  const shown = { ...run, ops: ops ?? "" };
  const rows = Object.entries({
    status: [readiness.status, ...readiness.reasons].join("; "),
    api: listed(shown, "api"),
    ops: listed(shown, "ops"),
    gateway: listed(shown, "gateway"),
    dns: listed(shown, "dns"),
    dot: listed(shown, "dot"),
    http: listed(shown, "http"),
    https: listed(shown, "https"),
    pid: String(pid),
    "started at": started_at,
    ...(notices.length === 0 ? {} : { notice: notices.join("; ") }),
  });
  const parts = details === null ? [] : detailRows(details);
  print(
    json,
    {
      ...readiness,
      pid,
      api,
      ...(ops === undefined ? {} : { ops }),
      gateway,
      dns,
      dot,
      http,
      https,
      started_at,
      data,
      ...(further && { further }),
      ...details,
    },
    columns([...rows.filter(([, value]) => value !== ""), ...parts]),
  );
  return readiness.status === "ready" ? EXIT.ok : EXIT.failed;
}

/** Null from servers of other versions, which have none or different ones. */
async function askDetails(run: RunFile): Promise<ServerStatus | null> {
  try {
    const { ok, text } = await get(new URL("/statusz", run.ops ?? run.api));
    const details = ok ? (JSON.parse(text) as Partial<ServerStatus>) : {};
    return isWhole(details) ? details : null;
  } catch {
    return null;
  }
}

const isWhole = (details: Partial<ServerStatus>): details is ServerStatus =>
  [details.planes, details.last_errors].every(Array.isArray) &&
  [details.nodes, details.waiting].every((counts) => counts instanceof Object);

function detailRows({ planes, nodes, waiting, last_errors }: ServerStatus): readonly (readonly string[])[] {
  const states = [...Map.groupBy(planes, ({ status }) => status)].map(
    ([status, some]) => `${some.map(({ name }) => name).join(", ")} ${status}`,
  );
  const counted = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([what, count]) => `${count} ${what.replaceAll("_", " ")}`)
      .join(", ");
  return [
    ["planes", states.join("; ") || "none are needed yet"],
    ["nodes", counted(nodes) || "none"],
    ["waiting", counted(waiting) || "nothing"],
    ...last_errors.map(({ time, message }) => ["error", `${time.slice(0, 19)}Z ${printable(message)}`]),
  ];
}

async function askReadiness(run: RunFile): Promise<Readiness> {
  try {
    const { ok, text } = await get(new URL("/readyz", run.ops ?? run.api));
    const { status: state, reasons, notices } = JSON.parse(text) as Partial<Readiness>;
    return { status: ok ? "ready" : (state ?? "not ready"), reasons: reasons ?? [], ...(notices === undefined ? {} : { notices }) };
  } catch (error) {
    return { status: NOT_ANSWERING, reasons: [(error as Error).message] };
  }
}

/**
 * The certificate is not checked: it is for the name that clients use, not for this address, and the request contains no
 * secrets.
 */
async function get(url: URL): Promise<{ readonly ok: boolean; readonly text: string }> {
  const options = { rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(READY_TIMEOUT_MS) };
  const asked = (url.protocol === "https:" ? https.request : request)(url, options).end();
  try {
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return { ok: response.statusCode === 200, text: await text(response) };
  } catch (error) {
    throw options.signal.aborted ? new Error(`no response within ${READY_TIMEOUT_MS} ms`, { cause: error }) : error;
  }
}
