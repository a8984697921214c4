import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import Cloudflare from "cloudflare";
import { get as httpGet } from "node:http";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";

const OWASP = "4814384a9e5d4991b9815dcfc25d2f1f";
const MANAGED = "efb7b8c949ac4650a09736fc376e9aee";
interface Listed {
  readonly id: string;
  readonly description?: string;
  readonly categories?: readonly string[];
}
const core = (version: string, word: string): string =>
  `SecComponentSignature "OWASP_CRS/${version}"\n` +
  `SecRule ARGS "@contains ${word}" "id:942100,phase:2,pass,msg:'x',setvar:tx.inbound_anomaly_score_pl1=+100"\n`;

test("SIGHUP reads the operator's lists and the Core Rule Set again without a restart", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "selvedge-rule-files-"));
  const origin = createServer((_, res) => res.end("origin"));
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    origin.close();
    await rm(dir, { recursive: true });
  });
  const [lists, crs] = [join(dir, "lists"), join(dir, "crs")];
  await mkdir(lists);
  await mkdir(join(crs, "rules"), { recursive: true });
  const rules = join(crs, "rules/REQUEST-942-A.conf");
  await writeFile(rules, core("1", "attack"));
  const selvedge = await startSelvedge({
    env: { SELVEDGE_RULES_MANAGED_LISTS_DIRECTORY: lists, SELVEDGE_WAF_CRS_DIRECTORY: crs, SELVEDGE_EDGE_WORKERS: "2" },
  });
  t.after(() => selvedge.stop());
  const client = new Cloudflare({ apiToken: selvedge.ready.token ?? "", baseURL: selvedge.ready.api, maxRetries: 0 });
  const { id: zone_id } = await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "files.test" });
  await client.dns.records.create({ zone_id, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  const put = (phase: string, given: object[]) => client.rulesets.phases.update(phase as never, { zone_id, rules: given } as never);
  const { port } = origin.address() as AddressInfo;
  await put("http_request_origin", [{ action: "route", expression: "true", action_parameters: { origin: { port } } }]);
  await put("http_request_firewall_custom", [{ action: "block", expression: "ip.src in $cf.open_proxies" }]);
  await put("http_request_firewall_managed", [{ action: "execute", expression: "true", action_parameters: { id: OWASP } }]);
  const statusOf = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      httpGet(new URL(path, selvedge.ready.http), { agent: false, headers: { host: "www.files.test" } }, (res) => {
        res.resume();
        resolve(res.statusCode ?? 0);
      }).on("error", reject);
    });
  /** Of as many connections as reach both threads. */
  const are = async (path: string, status: number): Promise<boolean> =>
    (await Promise.all(Array.from({ length: 16 }, () => statusOf(path)))).every((one) => one === status);
  const version = async (): Promise<string | undefined> => (await client.rulesets.get(OWASP, { zone_id })).version;
  const reload = (): void => void process.kill(selvedge.pid, "SIGHUP");

  assert.ok(await are("/?q=hello", 200));
  assert.ok(await are("/?q=attack", 403));
  assert.equal(await version(), "OWASP_CRS/1");

  await writeFile(join(lists, "open_proxies.txt"), "127.0.0.0/8\n");
  reload();
  await eventually(() => are("/", 403));
  await writeFile(join(lists, "open_proxies.txt"), "127.0.0.0/8\nnonsense\n");
  await writeFile(rules, core("2", "hello"));
  reload();
  await eventually(async () => (await version()) === "OWASP_CRS/2");
  await selvedge.logged(/rules\.managed_lists_directory: .*open_proxies\.txt:2:1: not an address/);
  assert.ok(await are("/", 403), "the list that was read before stays in use");

  await rm(join(lists, "open_proxies.txt"));
  await writeFile(rules, "SecRule ARGS @rx\n");
  reload();
  await eventually(() => are("/?q=attack", 200));
  await eventually(() => are("/?q=hello", 403));
  await eventually(() => selvedge.log().includes("stays in use"));
  assert.equal(await version(), "OWASP_CRS/2", "what does not compile leaves the last good one");
});

const row = (word: string, more = ""): string =>
  `[rows.shop-${word}]\ntitle = "An order without a shop: ${word}"\ncategory = "protocol"\npattern = '\\bshop-${word}\\b'\n` +
  `hits = ["a shop-${word} order"]\nmisses = ["shopping"]\n${more}`;

test("custom rows are read at the start and at SIGHUP, and a file with an error leaves the previous rows in force", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "selvedge-rule-files-"));
  t.after(() => rm(dir, { recursive: true }));
  const file = join(dir, "rows.toml");
  await writeFile(file, row("one"));
  const selvedge = await startSelvedge({
    env: { SELVEDGE_WAF_ROWS_FILE: file, SELVEDGE_WAF_CRS_DIRECTORY: "none", SELVEDGE_EDGE_WORKERS: "2" },
  });
  t.after(() => selvedge.stop());
  const client = new Cloudflare({ apiToken: selvedge.ready.token ?? "", baseURL: selvedge.ready.api, maxRetries: 0 });
  const { id: zone_id } = await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "rows.test" });
  await client.dns.records.create({ zone_id, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  const put = (phase: string, given: object[]) => client.rulesets.phases.update(phase as never, { zone_id, rules: given } as never);
  const managed = (overrides: object = {}) =>
    put("http_request_firewall_managed", [
      { action: "execute", expression: "true", action_parameters: { id: MANAGED, overrides } },
      { action: "execute", expression: "true", action_parameters: { id: OWASP } },
    ]);
  await managed();
  // A request that no rule stops finds no origin.
  await put("http_request_origin", [{ action: "route", expression: "true", action_parameters: { origin: { port: 1 } } }]);
  const statusOf = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      httpGet(new URL(path, selvedge.ready.http), { agent: false, headers: { host: "www.rows.test" } }, (res) => {
        res.resume();
        resolve(res.statusCode ?? 0);
      }).on("error", reject);
    });
  /** Of as many connections as reach both threads. */
  const blocked = async (path: string): Promise<boolean> =>
    (await Promise.all(Array.from({ length: 16 }, () => statusOf(path)))).every((status) => status === 403);
  const rules = async (id: string) => ((await client.rulesets.get(id, { zone_id })) as { rules: Listed[] }).rules;
  const added = async (id: string) => (await rules(id)).filter(({ categories }) => categories?.includes("operator"));
  const reload = (): void => void process.kill(selvedge.pid, "SIGHUP");

  assert.ok(await blocked("/?q=my+SHOP-one+order"));
  assert.ok(!(await blocked("/?q=my+shop-two+order")));
  const [first] = await added(MANAGED);
  assert.deepEqual(first?.categories, ["protocol", "operator"]);
  assert.equal(first?.description, "An order without a shop: one");
  assert.deepEqual(
    (await added(OWASP)).map(({ categories }) => categories),
    [["protocol", "operator", "paranoia-level-1"]],
  );
  assert.equal((await client.rulesets.get(OWASP, { zone_id })).version, "own-1");
  const before = await rules(MANAGED);

  await writeFile(file, row("one") + row("two"));
  reload();
  await eventually(() => blocked("/?q=my+shop-two+order"));
  assert.deepEqual((await rules(MANAGED)).slice(0, before.length - 20), before.slice(0, before.length - 20), "ids stay");

  await writeFile(file, row("three", "colour = 1\n"));
  reload();
  await eventually(() => selvedge.log().includes("stay in use"));
  await selvedge.logged(/waf\.rows_file: .*rows\.toml:7:10: shop-three: unknown member \\"colour\\"/);
  assert.ok(await blocked("/?q=my+shop-two+order"), "what was read before stays in use");

  await managed({ rules: [{ id: first?.id, enabled: false }] });
  await eventually(async () => !(await blocked("/?q=my+shop-one+order")));
  assert.ok(await blocked("/?q=my+shop-two+order"));
  await managed({ categories: [{ category: "operator", action: "log" }] });
  await eventually(async () => !(await blocked("/?q=my+shop-two+order")));
  await managed();

  await writeFile(file, "");
  reload();
  await eventually(async () => (await added(MANAGED)).length === 0);
  await eventually(async () => !(await blocked("/?q=my+shop-two+order")));
});

test("an error in a custom row prevents the start, and the message has its place", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "selvedge-rule-files-"));
  t.after(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "rows.toml"), row("one").replace("a shop-one order", "elsewhere"));
  await assert.rejects(
    startSelvedge({ env: { SELVEDGE_WAF_ROWS_FILE: join(dir, "rows.toml") } }),
    /waf\.rows_file: .*rows\.toml:5:8: shop-one: pattern does not find/,
  );
});

test("an error in a list prevents the start, and the message has its place", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "selvedge-rule-files-"));
  t.after(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "vpn.txt"), "192.0.2.1\n192.0.2.1.1\n");
  await assert.rejects(startSelvedge({ env: { SELVEDGE_RULES_MANAGED_LISTS_DIRECTORY: dir } }), /vpn\.txt:2:1: not an address/);
});
