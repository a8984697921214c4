import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test, type TestContext } from "node:test";
import { newId } from "#kernel/crypto/ids.ts";
import { OWNER_ROLE } from "#model/access/membership.ts";
import { AUDIT_DOCUMENT_CHARS_MAX } from "#store/database/unit.ts";
import { insertMembership } from "#store/access/memberships.ts";
import { insertUser } from "#store/access/users.ts";
import { insertGateway } from "#store/gateways/gateways.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";
import { controlOver } from "../support/control.ts";
import { PLAIN_GATEWAY } from "../support/plain-gateway.ts";
import { storeTest } from "../support/store.ts";

// An account can only have a limited number of anything: otherwise one tenant fills the disk and the memory of all.

/** Later than the first user. */
const AT = "2099-01-01T00:00:00.000000Z";

async function started(t: TestContext): Promise<ApiServer> {
  const server = await startApi();
  t.after(() => server.close());
  return server;
}

/** Creates objects until one is refused; gives their number and the reason. */
async function most(create: (n: number) => Promise<{ readonly status: number; readonly body: any }>): Promise<readonly [number, string]> {
  for (let n = 0; n < 600; n++) {
    const { status, body } = await create(n);
    if (status >= 400) return [n, body.errors[0].message];
  }
  return [Infinity, ""];
}

test("an account has a limited number of gateways, and these of datasets and evaluations", async (t) => {
  const server = await started(t);
  const path = `/accounts/${server.account_id}/ai-gateway/gateways`;
  assert.equal((await ask(server, "POST", path, { body: { id: "first", ...PLAIN_GATEWAY } })).status, 200);
  const dataset = (n: number) => ask(server, "POST", `${path}/first/datasets`, { body: { name: `d${n}`, enable: true, filters: [] } });
  assert.deepEqual(await most(dataset), [100, "A gateway can have at most 100 datasets."]);
  const [{ id: dataset_id }] = (await ask(server, "GET", `${path}/first/datasets`)).body.result;
  const [{ id: type }] = (await ask(server, "GET", `/accounts/${server.account_id}/ai-gateway/evaluation-types`)).body.result;
  const evaluation = (n: number) =>
    ask(server, "POST", `${path}/first/evaluations`, {
      body: { name: `e${n}`, dataset_ids: [dataset_id], evaluation_type_ids: [type] },
    });
  assert.deepEqual(await most(evaluation), [100, "A gateway can have at most 100 evaluations."]);

  await server.store.write(async ({ db }) => {
    for (let n = 0; n < 1_998; n++)
      await insertGateway(db, { account_id: server.account_id, id: `g${n}`, settings: "{}", created_at: AT, modified_at: AT });
  });
  const gateway = (n: number) => ask(server, "POST", path, { body: { id: `last${n}`, ...PLAIN_GATEWAY } });
  assert.deepEqual(await most(gateway), [1, "An account can have at most 2000 gateways."]);
});

test("an account has a limited number of ACLs, keys and peers for zone transfers", async (t) => {
  const server = await started(t);
  const path = `/accounts/${server.account_id}/secondary_dns/acls`;
  const acl = (n: number) => ask(server, "POST", path, { body: { name: `a${n}`, ip_range: `192.0.2.${n % 250}/32` } });
  assert.deepEqual(await most(acl), [500, "An account can have at most 500 of these."]);
});

test("a user who is not the installation's first has a limited number of accounts", async (t) => {
  const server = await started(t);
  const key = "abcdef0123456789abcdef0123456789abcde";
  const user = { id: newId(), email: "second@example.com" };
  await server.store.write(async ({ db }) => {
    await insertUser(db, {
      ...{ ...user, first_name: null, last_name: null, telephone: null, country: null, zipcode: null },
      ...{ api_key_hash: createHash("sha256").update(key).digest("hex"), created_on: AT, modified_on: AT },
    });
    await insertMembership(db, {
      ...{ id: newId(), account_id: server.account_id, user_id: user.id },
      ...{ roles: JSON.stringify([OWNER_ROLE]), status: "accepted", created_on: AT },
    });
  });
  const headers = { "x-auth-email": user.email, "x-auth-key": key };
  const account = (n: number) => ask(server, "POST", "/accounts", { token: null, headers, body: { name: `a${n}` } });
  assert.deepEqual(await most(account), [19, "A user can be a member of at most 20 accounts."]);
  for (let n = 0; n < 30; n++) assert.equal((await ask(server, "POST", "/accounts", { body: { name: `b${n}` } })).status, 200);
});

storeTest("an account that the operator does not trust has a limited number of zones", async ({ store }) => {
  const { control, call, account_id } = await controlOver(store, { ownership: { zonesMax: 3, trustedAccounts: ["f".repeat(32)] } });
  const create = (n: number) => control.zones.create(call(), { name: `zone${n}.example`, account: { id: account_id } });
  for (let n = 0; n < 3; n++) await create(n);
  await assert.rejects(create(3), { errorName: "zones_max", message: "The account has too many zones: at most 3 are allowed." });
  const trusted = await controlOver(store, { ownership: { zonesMax: 3, trustedAccounts: [account_id] } });
  await trusted.control.zones.create(call(), { name: "zone3.example", account: { id: account_id } });
});

test("the audit log keeps a digest of large objects, and versions of long rulesets are few", async (t) => {
  const server = await started(t);
  const zone = (await ask(server, "POST", "/zones", { body: { name: "long.example", account: { id: server.account_id } } })).body.result.id;
  const path = `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`;
  const rules = (first: string) =>
    Array.from({ length: 1000 }, (_, n) => ({
      action: "log",
      expression: `http.host eq "${"x".repeat(3_950)}${n}"`,
      description: n === 0 ? first : "",
    }));
  for (let n = 0; n < 7; n++) assert.equal((await ask(server, "PUT", path, { body: { rules: rules(`change ${n}`) } })).status, 200);
  const sizes = await server.store.read.selectFrom("audit_log").select(["before", "after"]).where("zone_id", "=", zone).execute();
  for (const { before, after } of sizes)
    for (const text of [before, after]) assert.ok((text ?? "").length <= AUDIT_DOCUMENT_CHARS_MAX, `${text?.length} characters`);
  assert.match(sizes.at(-1)?.after ?? "", /^\{"left_out":\{"characters":\d{7},"sha256":"[0-9a-f]{64}"\}\}$/);
  const versions = await server.store.read.selectFrom("ruleset_versions").select(["version", "rules"]).orderBy("version").execute();
  assert.deepEqual(
    versions.map(({ version }) => version),
    [5, 6, 7],
  );
});
