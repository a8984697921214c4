import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PERMISSION_GROUPS, type PermissionScope } from "#model/access/permission-groups.ts";
import { phaseNamed, PHASES, type RulesetLevel } from "#rules/phases.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

let server: ApiServer;
let zone_id: string;

before(async () => {
  server = await startApi();
  const { body } = await ask(server, "POST", "/zones", { body: { name: "permissions.test", account: { id: server.account_id } } });
  zone_id = body.result.id;
});
after(() => server.close());

const baseOf = (level: RulesetLevel): string => (level === "zone" ? `/zones/${zone_id}` : `/accounts/${server.account_id}`);
const SCOPES: Readonly<Record<RulesetLevel, PermissionScope>> = {
  zone: "com.cloudflare.api.account.zone",
  account: "com.cloudflare.api.account",
};

/** A token with one group on the zone or the account, and nothing else. */
async function tokenWith(level: RulesetLevel, name: string): Promise<string> {
  const group = PERMISSION_GROUPS.find((one) => one.name === name && one.scopes.includes(SCOPES[level]));
  assert.ok(group, name);
  const resource = level === "zone" ? `${SCOPES.zone}.${zone_id}` : `${SCOPES.account}.${server.account_id}`;
  const policies = [{ effect: "allow", resources: { [resource]: "*" }, permission_groups: [{ id: group.id }] }];
  const { body } = await ask(server, "POST", "/user/tokens", { body: { name, policies } });
  return body.result.value;
}

const FIREWALL = ["http_request_firewall_custom", "http_ratelimit"];
const WAF = [...FIREWALL, "http_request_firewall_managed", "http_response_firewall_managed"];
/** Phases without a separate group. */
const ZONE_OTHERS = ["http_request_sanitize", "ddos_l7", "http_request_sbfm"];
const TRANSFORMS = ["http_request_late_transform", "http_response_headers_transform"];
const ofLevel = (level: RulesetLevel): readonly string[] =>
  PHASES.filter(({ levels }) => (levels as readonly RulesetLevel[]).includes(level)).map(({ name }) => name);

/** The phases of each family of groups, and no others. */
const FAMILIES: readonly (readonly [level: RulesetLevel, family: string, phases: readonly string[]])[] = [
  ["zone", "Zone WAF", [...WAF, ...ZONE_OTHERS]],
  ["zone", "Firewall Services", FIREWALL],
  ["zone", "Zone Transform Rules", ["http_request_transform", ...TRANSFORMS]],
  ["zone", "Dynamic URL Redirects", ["http_request_dynamic_redirect"]],
  ["zone", "Config Settings", ["http_config_settings"]],
  ["zone", "Origin", ["http_request_origin"]],
  ["zone", "Cache Settings", ["http_request_cache_settings", "http_response_cache_settings"]],
  ["zone", "Custom Errors", ["http_custom_errors"]],
  ["zone", "Response Compression", ["http_response_compression"]],
  ["zone", "Logs", ["http_log_custom_fields"]],
  ["zone", "DNS", []],
  ["account", "Account Rulesets", ofLevel("account")],
  ["account", "Account WAF", WAF],
  ["account", "Transform Rules", TRANSFORMS],
  ["account", "Mass URL Redirects", ["http_request_redirect"]],
  ["account", "Logs", []],
];

/** Status and, of a failure, its code. */
async function tried(method: string, path: string, token: string, body?: object): Promise<number | string> {
  const answer = await ask(server, method, path, { token, ...(body === undefined ? {} : { body }) });
  return answer.status < 400 ? answer.status : `${answer.status} ${answer.body.errors[0].code}`;
}
const DENIED = "403 10000";

test("the permission groups cover all phases of their level", () => {
  for (const level of ["zone", "account"] as const) {
    const named = new Set(FAMILIES.flatMap(([at, , phases]) => (at === level ? phases : [])));
    assert.deepEqual([...named].toSorted(), [...ofLevel(level)].toSorted());
  }
});

for (const [level, family, phases] of FAMILIES)
  test(`${family} of ${level}: ${phases.length === 0 ? "no phase" : phases.join(", ")}, and no other`, async () => {
    const [reads, writes] = [await tokenWith(level, `${family} Read`), await tokenWith(level, `${family} Write`)];
    const owner = server.token;
    const readable: string[] = [];
    for (const phase of ofLevel(level)) {
      const path = `${baseOf(level)}/rulesets/phases/${phase}/entrypoint`;
      // A phase that no plane runs takes no ruleset from anybody, and tells only those who may use it.
      const [put, got] = phaseNamed(phase)?.runs ? [200, 200] : ["400 20015", "404 10003"];
      assert.equal(await tried("PUT", path, owner, { rules: [] }), put, phase);
      const isOurs = phases.includes(phase);
      assert.equal(await tried("PUT", path, reads, { rules: [] }), DENIED, phase);
      assert.equal(await tried("PUT", path, writes, { rules: [] }), isOurs ? put : DENIED, phase);
      for (const token of [reads, writes]) assert.equal(await tried("GET", path, token), isOurs ? got : DENIED, phase);
      if (isOurs && got === 200) readable.push(phase);
    }
    if (phases.length === 0) return;
    const { body } = await ask(server, "GET", `${baseOf(level)}/rulesets?per_page=50`, { token: reads });
    const shown = (body.result as readonly { readonly kind: string; readonly phase: string }[]).filter(({ kind }) => kind !== "managed");
    assert.deepEqual(shown.map(({ phase }) => phase).toSorted(), readable.toSorted());
  });

test("every ruleset route checks the permission for its phase: rules, versions, dry runs and deletion", async () => {
  const token = await tokenWith("zone", "Zone Transform Rules Write");
  const rule = { action: "block", expression: "true", description: "secret" };
  const path = `${baseOf("zone")}/rulesets`;
  const { body } = await ask(server, "PUT", `${path}/phases/http_request_firewall_custom/entrypoint`, { body: { rules: [rule] } });
  const { id, version, rules } = body.result;
  for (const [method, more, sent] of [
    ["GET", "", undefined],
    ["PUT", "", { rules: [] }],
    ["DELETE", "", undefined],
    ["POST", "/rules", rule],
    ["PATCH", `/rules/${rules[0].id}`, rule],
    ["PATCH", `/rules/${rules[0].id}?dry_run=true`, rule],
    ["DELETE", `/rules/${rules[0].id}`, undefined],
    ["GET", "/versions", undefined],
    ["GET", `/versions/${version}`, undefined],
    ["DELETE", `/versions/${version}`, undefined],
    ["GET", `/versions/${version}/by_tag/x`, undefined],
  ] as const)
    assert.equal(await tried(method, `${path}/${id}${more}`, token, sent), DENIED, `${method} ${more}`);
  for (const more of ["/versions", `/versions/${version}`])
    assert.equal(await tried("GET", `${path}/phases/http_request_firewall_custom/entrypoint${more}`, token), DENIED);
  const created = { name: "x", kind: "zone", phase: "http_request_cache_settings", rules: [] };
  assert.equal(await tried("POST", path, token, created), DENIED);

  // A trace says that a rule blocked, not what it says.
  const traced = await ask(server, "POST", `${path}/trace`, { token, body: { url: "https://permissions.test/" } });
  assert.equal(traced.body.result.terminated_by.rule_id, rules[0].id);
  assert.doesNotMatch(traced.text, /secret/);
  assert.match((await ask(server, "POST", `${path}/trace`, { body: { url: "https://permissions.test/" } })).text, /secret/);
});
