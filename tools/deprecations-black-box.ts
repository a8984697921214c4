import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlackBox, callApi, exchange, startBlackBox, visitPage } from "../test/support/black-box/server.ts";
import { ROWS, type World } from "../test/support/black-box/rows.ts";

/**
 * Tries every row of SPEC 9 over HTTP only, the day before its date and on it: `node tools/deprecations-black-box.ts [--by-header] [TEXT]`. A new
 * server starts for each day; with `--by-header` one server serves all days, by the header `api-version`. TEXT: only rows whose date or title
 * has it. Prints a line for each row, and exits with 1 if one is wrong.
 */
const args = process.argv.slice(2);
const byHeader = args.includes("--by-header");
const wanted = args.find((arg) => !arg.startsWith("--")) ?? "";

const ZONE = "black-box.test";
const CSS = ".a  {\n  color : red ;\n}\n".repeat(40);
const PAGE = "<p>For all.</p><!--sse--><p>For people.</p><!--/sse-->";
const DAY_MS = 86_400_000;
const dayBefore = (date: string): string => new Date(Date.parse(`${date}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);

const directory = await mkdtemp(join(tmpdir(), "selvedge-black-box-"));
const origin = await startOrigin();
const flags = [
  "--edge-origin-port",
  String((origin.address() as AddressInfo).port),
  "--notifications-smtp-host",
  "127.0.0.1",
  "--notifications-smtp-port",
  "9",
  "--notifications-email-from",
  "selvedge@example.com",
];
const server: { running: { readonly day: string; readonly box: BlackBox } | null } = { running: null };
let token = "";
let zone = "";
let used = 0;

function startOrigin(): Promise<Server> {
  const pages = createServer((req, res) => {
    const isStyle = req.url === "/a.css";
    res.writeHead(200, { "Content-Type": isStyle ? "text/css" : "text/html", "Cache-Control": isStyle ? "max-age=600" : "private" });
    res.end(isStyle ? CSS : PAGE);
  });
  return new Promise((resolve) => pages.listen(0, "127.0.0.1", () => resolve(pages)));
}

/** The server of the day. */
async function serverOf(day: string): Promise<BlackBox> {
  const started = byHeader ? "" : day;
  if (server.running?.day !== started) {
    await server.running?.box.stop();
    server.running = {
      day: started,
      box: await startBlackBox(directory, [...flags, ...(byHeader ? ["--deprecations-negotiate"] : ["--deprecations-as-of", day])]),
    };
    token = server.running.box.ready.token ?? token;
  }
  return server.running.box;
}

async function worldOf(day: string): Promise<World> {
  const { ready } = await serverOf(day);
  const headers = { authorization: `Bearer ${token}`, ...(byHeader ? { "api-version": day } : {}) };
  const call: World["call"] = (method, path, body) => callApi(ready.api + path, method, headers, body);
  if (zone === "") {
    zone = (await call("POST", "/zones", { name: ZONE, account: { id: ready.account_id } })).body.result.id;
    await call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  }
  return {
    ...{ account: ready.account_id, zone, zoneName: ZONE, call },
    unique: () => ++used,
    visit: (path, more = {}) => visitPage(ready.http, path, { host: `www.${ZONE}`, ...more }),
    sends: (port, bytes) => exchange(ready[port], bytes),
  };
}

const rows = ROWS.filter(({ date, title }) => `${date} ${title}`.includes(wanted));
const faults = new Map(rows.map((row) => [row, [] as string[]]));
/** By day, so that no day begins twice. */
const looks = rows
  .flatMap((row) => [{ row, day: dayBefore(row.date), when: "before" } as const, { row, day: row.date, when: "on" } as const])
  .toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
try {
  for (const { row, day, when } of looks) {
    try {
      await row[when](await worldOf(day));
    } catch (error) {
      faults.get(row)?.push(`${when === "on" ? "on the day" : "the day before"}: ${(error as Error).message}`);
    }
  }
} finally {
  await server.running?.box.stop();
  origin.close();
  origin.closeAllConnections();
  await rm(directory, { recursive: true, force: true });
}
for (const [{ date, title }, told] of faults)
  console.log(`${told.length === 0 ? "ok   " : "WRONG"} ${date} ${title}${told.map((fault) => `\n      ${fault}`).join("")}`);
const wrong = [...faults.values()].filter((told) => told.length > 0).length;
console.log(wrong === 0 ? "all rows are whole" : `${wrong} rows are wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
