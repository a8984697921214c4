import assert from "node:assert/strict";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

// SPEC 4.6, as a user's script walks it, with visitors at the edge before, during and after.
let selvedge: Selvedge;
let origin: Server;

before(async () => {
  origin = createServer((req, res) => res.end(`origin: ${req.url}`));
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  selvedge = await startSelvedge({
    env: { SELVEDGE_EDGE_WORKERS: "2", SELVEDGE_DEPRECATIONS_NEGOTIATE: "true", SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" },
  });
});
after(async () => {
  const stopped = await selvedge?.stop();
  origin?.close();
  assert.equal(stopped?.code, 0);
});

type Answer = { readonly status: number; readonly body: any };

/** On the day before the previous WAF's interface ended, which the rest of the API does not mind. */
async function call(method: string, path: string, body?: object, day = "2025-06-14"): Promise<Answer> {
  const answer = await fetch(`${selvedge.ready.api}${path}`, {
    method,
    headers: { authorization: `Bearer ${selvedge.ready.token}`, "content-type": "application/json", "api-version": day },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}

async function done(method: string, path: string, body?: object): Promise<any> {
  const answer = await call(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body?.result;
}

const refusedWith = async (code: number, method: string, path: string, body?: object): Promise<Answer> => {
  const answer = await call(method, path, body);
  assert.deepEqual(
    [answer.body.success, answer.body.result, answer.body.errors[0]?.code],
    [false, null, code],
    JSON.stringify(answer.body),
  );
  return answer;
};

interface Zone {
  readonly id: string;
  readonly path: string;
  readonly host: string;
}

/** A zone with the previous WAF on. */
async function oldZone(name: string, plan: string): Promise<Zone> {
  const { id } = await done("POST", "/zones", { name, account: { id: selvedge.ready.account_id }, plan: { id: plan } });
  const path = `/zones/${id}`;
  await done("PATCH", path, { plan: { id: plan } });
  await done("POST", `${path}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  const { port } = origin.address() as AddressInfo;
  const rules = [{ action: "route", expression: "true", action_parameters: { origin: { port } } }];
  await done("PUT", `${path}/rulesets/phases/http_request_origin/entrypoint`, { rules });
  await done("PATCH", `${path}/settings/waf`, { value: "on" });
  return { id, path, host: `www.${name}` };
}

const visit = (zone: Zone, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { host: zone.host, "user-agent": "visitor" };
    const req = request(new URL(path, selvedge.ready.http), { agent: false, headers }, (res) =>
      res.resume().on("end", () => resolve(res.statusCode ?? 0)),
    );
    req.on("error", reject).end();
  });

const ATTACK = "?q=1%20UNION%2F**%2FSELECT%20null,null";
const ENTRY = "rulesets/phases/http_request_firewall_managed/entrypoint";
const UNION = "SQL injection: UNION SELECT";
const statusOf = async (zone: Zone): Promise<string[]> => {
  const { old_waf_status, new_waf_status, migration_state } = await done("GET", `${zone.path}/waf_migration/status`);
  return [old_waf_status, new_waf_status, migration_state];
};
const events = async (zone: Zone, query: string): Promise<any[]> => done("GET", `${zone.path}/security/events?${query}`);

test("SPEC 1.5, SPEC 3.3, SPEC 4.6: check, config, validation with both WAFs in one activity log, then only the new WAF", async () => {
  const zone = await oldZone("walk.test", "enterprise");
  await done("POST", `${zone.path}/firewall/rules`, [
    { action: "bypass", products: ["waf"], filter: { expression: 'starts_with(http.request.uri.path, "/trusted")' }, description: "ours" },
  ] as never);
  const below = [{ target: "url", constraint: { operator: "matches", value: `${zone.host}/legacy/*` } }];
  await done("POST", `${zone.path}/pagerules`, { targets: below, actions: [{ id: "waf", value: "off" }], status: "active" });
  const packages = await done("GET", `${zone.path}/firewall/waf/packages`);
  const scoring = packages.find(({ detection_mode }: any) => detection_mode === "anomaly");
  await done("PATCH", `${zone.path}/firewall/waf/packages/${scoring.id}`, { sensitivity: "low", action_mode: "simulate" });
  assert.deepEqual(
    [await visit(zone, `/${ATTACK}`), await visit(zone, `/trusted${ATTACK}`), await visit(zone, `/legacy/${ATTACK}`)],
    [403, 200, 200],
  );

  const { terminated_by: by } = await done("POST", `${zone.path}/rulesets/trace`, { url: `http://${zone.host}/${ATTACK}` });
  assert.deepEqual([by.phase, by.action], ["http_request_firewall_managed", "block"], "a trace knows the previous WAF");
  const spared = await done("POST", `${zone.path}/rulesets/trace`, { url: `http://${zone.host}/trusted${ATTACK}` });
  assert.equal(spared.terminated_by, null);

  // Check: the first phase says why it does not take the zone, the second takes it.
  const first = await call("GET", `${zone.path}/waf_migration/check`);
  assert.deepEqual(first.body.result, { compatible: false, migration_state: "start" });
  assert.equal(first.body.messages.length, 3);
  await refusedWith(10454, "GET", `${zone.path}/waf_migration/config`);
  assert.deepEqual(await done("GET", `${zone.path}/waf_migration/check?phase_two=1`), { compatible: true, migration_state: "start" });
  assert.deepEqual(await statusOf(zone), ["enabled", "disabled", "start"]);

  // URI-based overrides stand in the way until they are deleted.
  const override = await done("POST", `${zone.path}/firewall/waf/overrides`, { urls: [`${zone.host}/shop/*`] });
  assert.equal((await done("GET", `${zone.path}/waf_migration/check?phase_two=1`)).compatible, false);
  await refusedWith(10454, "PUT", `${zone.path}/${ENTRY}?waf_migration=pending&phase_two=1`, { name: "default", rules: [] });
  await done("DELETE", `${zone.path}/firewall/waf/overrides/${override.id}`);

  const config = await done("GET", `${zone.path}/waf_migration/config?phase_two=1`);
  assert.deepEqual(
    config.rules.map(({ action }: any) => action),
    ["skip", "skip", "execute", "execute"],
  );
  // A rule less in the new WAF than in the old one: the log is to show it.
  const managed = config.rules.find(({ action }: any) => action === "execute");
  const careful = structuredClone(config);
  careful.rules.find(({ action_parameters }: any) => action_parameters.id === managed.action_parameters.id).action_parameters.overrides = {
    action: "log",
  };
  const entry = await done("PUT", `${zone.path}/${ENTRY}?waf_migration=validation&phase_two=1`, careful);
  assert.deepEqual([entry.kind, entry.source, entry.rules.length], ["zone", "firewall_managed", 4]);
  assert.deepEqual(await statusOf(zone), ["enabled", "enabled", "validation"]);
  assert.deepEqual(await done("GET", `${zone.path}/waf_migration/check?phase_two=1`), { compatible: true, migration_state: "validation" });
  assert.deepEqual(
    [await visit(zone, `/both${ATTACK}`), await visit(zone, `/trusted${ATTACK}`), await visit(zone, `/legacy/${ATTACK}`)],
    [403, 200, 200],
  );
  await eventually(async () => {
    const both = (await events(zone, "path=/both")).filter(({ rule_description }) => rule_description === UNION);
    const told = both.map(({ service, action }) => `${service}: ${action}`);
    return told.includes("WAF: log") && told.includes("WAF (previous version): block");
  });

  // The new one blocks first now, so that the previous one has nothing left to do.
  await done("PUT", `${zone.path}/${ENTRY}?waf_migration=2&phase_two=1`, config);
  assert.equal(await visit(zone, `/new${ATTACK}`), 403);
  await eventually(async () => (await events(zone, "path=/new")).length > 0);
  assert.deepEqual(
    (await events(zone, "path=/new")).map(({ service, action }) => [service, action]),
    [["WAF", "block"]],
  );

  await done("PUT", `${zone.path}/${ENTRY}?waf_migration=pending&phase_two=1`, config);
  assert.deepEqual(await statusOf(zone), ["disabled", "enabled", "pending"]);
  assert.deepEqual(
    [await visit(zone, `/${ATTACK}`), await visit(zone, `/trusted${ATTACK}`), await visit(zone, `/legacy/${ATTACK}`)],
    [403, 200, 200],
  );

  // SPEC 8: the previous interface has stopped working, and nothing leads back.
  await refusedWith(10453, "GET", `${zone.path}/firewall/waf/packages`);
  await refusedWith(10453, "PATCH", `${zone.path}/firewall/waf/packages/${scoring.id}`, { sensitivity: "high" });
  await refusedWith(10453, "POST", `${zone.path}/firewall/waf/overrides`, { urls: ["*"] });
  await refusedWith(10453, "GET", `${zone.path}/waf_migration/config?phase_two=1`);
  await refusedWith(10415, "PATCH", `${zone.path}/settings/waf`, { value: "on" });
  await refusedWith(10415, "POST", `${zone.path}/pagerules`, { targets: below, actions: [{ id: "waf", value: "off" }] });
  await refusedWith(10456, "PUT", `${zone.path}/${ENTRY}?waf_migration=validation&phase_two=1`, config);
  // An answer that was lost can be asked for again.
  await done("PUT", `${zone.path}/${ENTRY}?waf_migration=1&phase_two=1`, config);
  assert.deepEqual(await statusOf(zone), ["disabled", "enabled", "pending"]);
});

test("SPEC 3.3: a Pro zone migrates directly to the new WAF, and before that can only disable rules", async () => {
  const zone = await oldZone("pro.test", "pro");
  const config = await done("GET", `${zone.path}/waf_migration/config?phase_two=1`);
  await refusedWith(10457, "PUT", `${zone.path}/${ENTRY}`, config);
  await refusedWith(10457, "POST", `${zone.path}/rulesets`, { kind: "zone", phase: "http_request_firewall_managed", rules: config.rules });
  const asleep = { ...config, rules: config.rules.map((rule: object) => ({ ...rule, enabled: false })) };
  const entry = await done("PUT", `${zone.path}/${ENTRY}`, asleep);
  await refusedWith(10457, "PATCH", `${zone.path}/rulesets/${entry.id}/rules/${entry.rules[0].id}`, { ...entry.rules[0], enabled: true });
  await refusedWith(10456, "PUT", `${zone.path}/${ENTRY}?waf_migration=validation&phase_two=1`, config);
  assert.deepEqual(await statusOf(zone), ["enabled", "disabled", "start"]);
  assert.equal(await visit(zone, `/${ATTACK}`), 403);

  // A configuration that cannot be saved moves nothing.
  const broken = { ...config, rules: [{ action: "execute", expression: "true", action_parameters: { id: "0".repeat(32) } }] };
  await refusedWith(20015, "PUT", `${zone.path}/${ENTRY}?waf_migration=pending&phase_two=1`, broken);
  // And a trial neither.
  assert.equal((await call("PUT", `${zone.path}/${ENTRY}?waf_migration=pending&phase_two=1&dry_run=true`, config)).body.result, null);
  for (const wrong of ["", "3", "Pending", "pending&waf_migration=1"]) {
    const answer = await call("PUT", `${zone.path}/${ENTRY}?waf_migration=${wrong}&phase_two=1`, config);
    assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 10400], wrong);
  }
  await refusedWith(10456, "PUT", `${zone.path}/rulesets/phases/http_ratelimit/entrypoint?waf_migration=pending&phase_two=1`, {
    rules: [],
  });
  assert.deepEqual(await statusOf(zone), ["enabled", "disabled", "start"]);

  await done("PUT", `${zone.path}/${ENTRY}?waf_migration=pending&phase_two=1`, config);
  assert.deepEqual(await statusOf(zone), ["disabled", "enabled", "pending"]);
  assert.equal(await visit(zone, `/${ATTACK}`), 403);
  // It is as any other zone now.
  await done("PUT", `${zone.path}/${ENTRY}`, { rules: [] });
  assert.equal(await visit(zone, `/${ATTACK}`), 200);
});

test("SPEC 7.12, SPEC 8.7, SPEC 8.8: more than 200 firewall rules, or one with more than 4 KB, cannot be migrated", async () => {
  const zone = await oldZone("large.test", "business");
  const rules = Array.from({ length: 201 }, (_, n) => ({ action: "log", filter: { expression: `http.request.uri.path eq "/${n}"` } }));
  const made = await done("POST", `${zone.path}/firewall/rules`, rules);
  const put = (): Promise<Answer> => refusedWith(10455, "PUT", `${zone.path}/${ENTRY}?waf_migration=pending&phase_two=1`, { rules: [] });
  await refusedWith(10455, "GET", `${zone.path}/waf_migration/config?phase_two=1`);
  assert.match((await put()).body.errors[0].message, /201 firewall rules/);
  await done("DELETE", `${zone.path}/firewall/rules?id=${made[0].id}&id=${made[1].id}&delete_filter_if_unused=true`);
  const [long] = await done("POST", `${zone.path}/firewall/rules`, [
    { action: "log", filter: { expression: `http.request.uri.path eq "${"é".repeat(2040)}"` } },
  ]);
  assert.match((await put()).body.errors[0].message, /4 KB/);
  await done("DELETE", `${zone.path}/firewall/rules/${long.id}`);
  const unprotected = `${zone.path}/${ENTRY}?waf_migration=pending&phase_two=1`;
  const disabled = { action: "execute", expression: "true", enabled: false, action_parameters: { id: "efb7b8c949ac4650a09736fc376e9aee" } };
  for (const body of [{ rules: [] }, {}, { rules: [disabled] }]) await refusedWith(10458, "PUT", unprotected, body);
  assert.equal((await done("GET", `${zone.path}/waf_migration/status`)).migration_state, "start", "a refusal changes nothing");
  await done("PUT", `${unprotected}&force=1`, { rules: [] });
  assert.equal((await done("GET", `${zone.path}/waf_migration/status`)).migration_state, "pending");
  await done("PUT", unprotected, { rules: [] });
});

for (const [name, steps] of [
  ["straight", ["pending"]],
  ["over validation", ["validation", "pending"]],
] as const) {
  test(`SPEC 4.6: while a zone moves ${name}, no attack passes both versions`, async () => {
    const zone = await oldZone(`hammered-${steps.length}.test`, "enterprise");
    const config = await done("GET", `${zone.path}/waf_migration/config?phase_two=1`);
    const seen = new Map<number, number>();
    let moving = true;
    const hammers = Array.from({ length: 6 }, async () => {
      while (moving) {
        const status = await visit(zone, `/${ATTACK}`);
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
    });
    const later = (count: number) => eventually(async () => (seen.get(403) ?? 0) >= count || seen.size > 1);
    await later(50);
    for (const step of steps) {
      await done("PUT", `${zone.path}/${ENTRY}?waf_migration=${step}&phase_two=1`, config);
      await later((seen.get(403) ?? 0) + 50);
    }
    moving = false;
    await Promise.all(hammers);
    assert.deepEqual([...seen.keys()], [403]);
  });
}
