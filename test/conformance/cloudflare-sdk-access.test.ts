import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import { newId } from "#kernel/crypto/ids.ts";
import { insertUser } from "#store/access/users.ts";
import { type ApiServer, OWNER_EMAIL, OWNER_KEY, startApi } from "../support/api-server.ts";
import { all, failing } from "../support/vendor-client.ts";

// The vendor's own TypeScript client, with nothing changed but the base address, over real HTTP.
let server: ApiServer;
let client: Cloudflare;
let account_id: string;

before(async () => {
  server = await startApi();
  account_id = server.account_id;
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
});
after(() => server.close());

const withToken = (apiToken: string | undefined): Cloudflare =>
  new Cloudflare({ apiToken: apiToken ?? "", baseURL: server.url, maxRetries: 0 });

/** The identifiers that infrastructure code looks up by name. */
async function groupIds(...names: string[]): Promise<{ id: string }[]> {
  const groups = await all(client.user.tokens.permissionGroups.list());
  return names.map((name) => ({ id: groups.find((group) => group.name === name)?.id ?? "" }));
}

test("user.tokens: create, verify, use, get, update, roll, list, delete", async () => {
  const policies = [
    {
      id: "",
      effect: "allow" as const,
      permission_groups: await groupIds("Zone Read", "DNS Write"),
      resources: { [`com.cloudflare.api.account.${account_id}`]: { "com.cloudflare.api.account.zone.*": "*" } },
    },
  ];
  const created = await client.user.tokens.create({
    name: "ci",
    policies,
    condition: { request_ip: { in: ["127.0.0.0/8"] } },
    expires_on: "2035-01-01T00:00:00Z",
  });
  assert.match(created.value ?? "", /^[A-Za-z0-9]{40}$/);
  assert.deepEqual(
    [created.status, created.expires_on, created.condition],
    ["active", "2035-01-01T00:00:00Z", { request_ip: { in: ["127.0.0.0/8"] } }],
  );
  assert.deepEqual(
    created.policies?.[0]?.permission_groups.map(({ name }) => name),
    ["Zone Read", "DNS Write"],
  );
  const id = created.id ?? "";

  const narrow = withToken(created.value);
  assert.deepEqual(await narrow.user.tokens.verify(), { id, status: "active", expires_on: "2035-01-01T00:00:00Z" });
  assert.deepEqual(await all(narrow.zones.list()), []);
  await assert.rejects(narrow.zones.create({ account: { id: account_id }, name: "narrow.test" }), failing(403, 10000));
  await assert.rejects(all(narrow.user.tokens.list()), failing(403, 10000));

  const shown = await client.user.tokens.get(id);
  assert.equal("value" in shown, false);
  const updated = await client.user.tokens.update(id, { name: "ci 2", policies, status: "disabled" });
  assert.deepEqual([updated.name, updated.status, updated.condition], ["ci 2", "disabled", undefined]);
  await assert.rejects(narrow.user.tokens.verify(), failing(403, 9109));
  await client.user.tokens.update(id, { name: "ci 2", policies, status: "active" });
  const rolled = await client.user.tokens.value.update(id, { body: {} });
  await assert.rejects(narrow.user.tokens.verify(), failing(403, 9109));
  assert.equal((await withToken(rolled).user.tokens.verify()).id, id);

  assert.ok((await all(client.user.tokens.list({ per_page: 5 }))).some((token) => token.id === id));
  assert.deepEqual(await client.user.tokens.delete(id), { id });
  await assert.rejects(withToken(rolled).user.tokens.verify(), failing(403, 9109));
  await assert.rejects(client.user.tokens.get(id), failing(404, 10404));
});

test("zones: a token for the records of one zone lists only that zone", async () => {
  const [mine, other] = await Promise.all(
    ["mine.test", "other.test"].map((name) => client.zones.create({ account: { id: account_id }, name })),
  );
  assert.ok(mine && other);
  const policies = [
    {
      id: "",
      effect: "allow" as const,
      permission_groups: await groupIds("DNS Write"),
      resources: { [`com.cloudflare.api.account.zone.${mine.id}`]: "*" },
    },
  ];
  const { value } = await client.user.tokens.create({ name: "certbot", policies });
  const narrow = withToken(value);
  // As certbot and ddclient begin: with the name, to learn the identifier.
  assert.deepEqual(
    (await all(narrow.zones.list({ name: "mine.test" }))).map(({ id }) => id),
    [mine.id],
  );
  assert.deepEqual(
    (await all(narrow.zones.list())).map(({ id }) => id),
    [mine.id],
  );
  assert.equal((await narrow.zones.get({ zone_id: mine.id })).name, "mine.test");
  await assert.rejects(narrow.zones.get({ zone_id: other.id }), failing(404, 1001));
  await assert.rejects(narrow.zones.edit({ zone_id: mine.id, paused: true }), failing(403, 10000));
});

test("user.tokens: the client reads the list to its last page", async () => {
  const policies = [
    {
      id: "",
      effect: "allow" as const,
      permission_groups: await groupIds("Zone Read"),
      resources: { "com.cloudflare.api.account.zone.*": "*" },
    },
  ];
  for (let i = 0; i < 12; i++) await client.user.tokens.create({ name: `page ${i}`, policies });
  const names = (await all(client.user.tokens.list({ per_page: 5, direction: "asc" })))
    .map((token) => token.name ?? "")
    .filter((name) => name.startsWith("page"));
  assert.deepEqual(
    names,
    Array.from({ length: 12 }, (_, i) => `page ${i}`),
  );
});

test("accounts.tokens: create, verify, get, update, roll, list, delete, permission groups", async () => {
  const groups = await all(client.accounts.tokens.permissionGroups.list({ account_id, name: "AI Gateway Run" }));
  assert.deepEqual(
    groups.map(({ name, scopes }) => [name, scopes]),
    [["AI Gateway Run", ["com.cloudflare.api.account"]]],
  );
  const policies = [
    {
      id: "",
      effect: "allow" as const,
      permission_groups: [{ id: groups[0]?.id ?? "" }],
      resources: { [`com.cloudflare.api.account.${account_id}`]: "*" },
    },
  ];
  const created = await client.accounts.tokens.create({ account_id, name: "gateway", policies });
  const id = created.id ?? "";
  const own = withToken(created.value);
  assert.deepEqual(await own.accounts.tokens.verify({ account_id }), { id, status: "active" });
  await assert.rejects(own.user.tokens.verify(), failing(401, 1000));
  await assert.rejects(client.accounts.tokens.verify({ account_id }), failing(401, 1000));
  assert.equal((await client.accounts.tokens.get(id, { account_id })).name, "gateway");
  assert.equal((await client.accounts.tokens.update(id, { account_id, name: "renamed", policies })).name, "renamed");
  const rolled = await client.accounts.tokens.value.update(id, { account_id });
  assert.equal((await withToken(rolled).accounts.tokens.verify({ account_id })).id, id);
  assert.deepEqual(
    (await all(client.accounts.tokens.list({ account_id }))).map((token) => token.id),
    [id],
  );
  assert.deepEqual(await client.accounts.tokens.delete(id, { account_id }), { id });
  assert.deepEqual(await all(client.accounts.tokens.list({ account_id })), []);
});

test("accounts: list, create, get, update, delete", async () => {
  const created = await client.accounts.create({ name: "Second", type: "standard" });
  assert.deepEqual([created.name, created.type], ["Second", "standard"]);
  assert.deepEqual(
    (await all(client.accounts.list({ direction: "asc" }))).map(({ id }) => id),
    [account_id, created.id],
  );
  assert.deepEqual(
    (await all(client.accounts.list({ name: "Second" }))).map(({ id }) => id),
    [created.id],
  );
  assert.deepEqual(await client.accounts.get({ account_id: created.id }), created);
  const updated = await client.accounts.update({
    account_id: created.id,
    id: created.id,
    name: "Renamed",
    type: "standard",
    settings: { enforce_twofactor: true },
  });
  assert.deepEqual([updated.name, updated.settings?.enforce_twofactor], ["Renamed", true]);
  assert.deepEqual(await client.accounts.delete({ account_id: created.id }), { id: created.id });
  await assert.rejects(client.accounts.get({ account_id: created.id }), failing(403, 9109));
  await assert.rejects(client.accounts.delete({ account_id }), failing(400, 10412));
});

test("user: get and edit, by token and by e-mail and key", async () => {
  const user = (await client.user.get()) as { id: string; email: string; organizations: { id: string }[] };
  assert.deepEqual([user.email, user.organizations[0]?.id], [OWNER_EMAIL, account_id]);
  const edited = (await client.user.edit({ first_name: "Ada", country: "GB" })) as { first_name: string; country: string };
  assert.deepEqual([edited.first_name, edited.country], ["Ada", "GB"]);
  const byKey = new Cloudflare({ apiToken: null, apiEmail: OWNER_EMAIL, apiKey: OWNER_KEY, baseURL: server.url, maxRetries: 0 });
  assert.equal(((await byKey.user.get()) as { first_name: string }).first_name, "Ada");
});

test("memberships: list, get and update work, and the last owner cannot be removed", async () => {
  const [membership] = await all(client.memberships.list());
  const id = membership?.id ?? "";
  assert.deepEqual([membership?.status, membership?.account?.id], ["accepted", account_id]);
  assert.equal(((await client.memberships.get(id)) as { id: string }).id, id);
  assert.equal(((await client.memberships.update(id, { status: "accepted" })) as { status: string }).status, "accepted");
  await assert.rejects(client.memberships.delete(id), failing(400, 10412));
  assert.deepEqual(await all(client.memberships.list({ status: "pending" })), []);
});

test("user.organizations: the caller lists its accounts and shows one", async () => {
  const [own, ...others] = await all(client.user.organizations.list({ status: "member" }));
  assert.deepEqual([own?.id, own?.status, others], [account_id, "member", []]);
  assert.deepEqual(await client.user.organizations.get(account_id), own);
  assert.deepEqual(await all(client.user.organizations.list({ status: "invited" })), []);
  await assert.rejects(client.user.organizations.get("0".repeat(32)), Cloudflare.NotFoundError);
});

test("user.invites: an invited user lists, shows, declines and accepts", async () => {
  const email = "invited@example.com";
  const key = "abcdef0123456789abcdef0123456789abcde";
  const now = "2026-01-01T00:00:00.000000Z";
  await server.store.write(({ db }) =>
    insertUser(db, {
      ...{ id: newId(), email, first_name: null, last_name: null, telephone: null, country: null, zipcode: null },
      ...{ api_key_hash: createHash("sha256").update(key).digest("hex"), created_on: now, modified_on: now },
    }),
  );
  const invited = new Cloudflare({ apiToken: null, apiEmail: email, apiKey: key, baseURL: server.url, maxRetries: 0 });
  const invite = (): Promise<unknown> => client.accounts.members.create({ account_id, email, roles: ["4e7c48cd86c3ef2b6eb6de0a3e2a0b1b"] });
  await invite();
  const [open, ...others] = await all(invited.user.invites.list());
  assert.ok(open?.id !== undefined);
  assert.deepEqual(others, []);
  assert.deepEqual(await invited.user.invites.get(open.id), open);
  assert.deepEqual(
    [open.invited_member_email, open.organization_id, open.roles, open.status, open.organization_is_enforcing_twofactor],
    [email, account_id, ["Administrator Read Only"], "pending", false],
  );
  assert.equal((await invited.user.invites.edit(open.id, { status: "rejected" })).status, "rejected");
  await invite();
  const again = (await all(invited.user.invites.list()))[0]?.id ?? assert.fail();
  assert.equal((await invited.user.invites.edit(again, { status: "accepted" })).status, "accepted");
  assert.deepEqual(await all(invited.user.invites.list()), []);
  await assert.rejects(invited.user.invites.edit(again, { status: "rejected" }), failing(400, 10400));
  // Others' invitations are hidden.
  await assert.rejects(client.user.invites.get(again), Cloudflare.NotFoundError);
});

test("errors of the client carry the code of the envelope", async () => {
  await assert.rejects(withToken("x".repeat(40)).user.tokens.verify(), failing(403, 9109));
  await assert.rejects(client.user.tokens.get("nonsense"), failing(404, 7003));
  await assert.rejects(client.accounts.get({ account_id: "f".repeat(32) }), failing(403, 9109));
  await assert.rejects(client.zones.get({ zone_id: "f".repeat(32) }), failing(404, 1001));
});
