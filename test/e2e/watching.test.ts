import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Resolver } from "node:dns/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { noteLastBackup } from "#app/backup/last-backup.ts";
import { readUntil } from "../support/eventually.ts";
import { api, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const DEPLOY = join(import.meta.dirname, "../../deploy");
/** Registered when they first happen, and then for ever. */
const WHEN_IT_HAPPENS: ReadonlySet<string> = new Set(["selvedge_thread_stalled_seconds_total"]);
/** Labels that Prometheus itself adds. */
const ADDED = new Set(["instance", "job"]);

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const dashboards = readdirSync(join(DEPLOY, "grafana")).map(
  (name) => JSON.parse(readFileSync(join(DEPLOY, "grafana", name), "utf8")) as Dashboard,
);
const alerts = Array.from(readFileSync(join(DEPLOY, "alerts.yaml"), "utf8").matchAll(/^ {8}expr: (.*)$/gm), ([, expr = ""]) => expr);
const queries = [...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))), ...alerts];

test("dashboards and alerts query metrics and labels that the server exports", async (t) => {
  const server = await startSelvedge();
  t.after(() => server.stop());
  noteLastBackup(server.dataDir, { created_on: new Date(0).toISOString(), file: "x", bytes: 1 });
  const call = (method: string, path: string, body: object) => api(server, server.ready.token ?? "", method, path, body);
  const zone = (await call("POST", "/zones", { name: "example.com", account: { id: server.ready.account_id } })).body.result.id;
  await call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true });
  const resolver = new Resolver();
  resolver.setServers([server.ready.dns]);
  await resolver.resolve4("www.example.com");
  await (await fetch(server.ready.http)).arrayBuffer();
  await (await fetch(`${server.ready.gateway}/v1/none/none/openai/models`)).arrayBuffer();

  assert.ok(dashboards.length === 4 && queries.length > 40, String(queries.length));
  const wanted = queries.flatMap((query) => query.match(/selvedge_\w+/g) ?? []).filter((name) => !WHEN_IT_HAPPENS.has(name));
  const read = async (): Promise<string> => (await fetch(`${server.ready.ops}/metrics`)).text();
  const has = (text: string, name: string): boolean => new RegExp(`^${name}[ {]`, "m").test(text);
  const text = await readUntil(read, (metrics) => wanted.every((name) => has(metrics, name))).catch(read);
  assert.deepEqual([...new Set(wanted.filter((name) => !has(text, name)))], []);
  for (const query of queries)
    for (const [, labels = "", metric = ""] of query.matchAll(/by \(([^)]*)\) \(.*?(selvedge_\w+)/g))
      for (const label of labels.split(", ").filter((name) => !ADDED.has(name)))
        if (!WHEN_IT_HAPPENS.has(metric)) assert.match(text, new RegExp(`^${metric}\\{[^}]*\\b${label}=`, "m"), query);
});

test("Prometheus accepts every query and every alert", { skip: toolOrSkip("promtool") }, (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rules-"));
  t.after(() => removeDirectory(directory));
  execFileSync("promtool", ["check", "rules", join(DEPLOY, "alerts.yaml")], { timeout: 60_000 });
  const rules = queries.map((query, at) => ({
    record: `query:${at}`,
    expr: query.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
  }));
  const file = join(directory, "queries.yaml");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: "queries", rules }] }));
  execFileSync("promtool", ["check", "rules", file], { timeout: 60_000 });
});
