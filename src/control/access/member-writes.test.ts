import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newId } from "#kernel/crypto/ids.ts";
import { insertUser } from "#store/access/users.ts";
import { type ApiServer, ask, OWNER_EMAIL, startApi } from "../../../test/support/api-server.ts";

const [SUPER, ADMINISTRATOR, READ_ONLY] = [
  "33666b9c79b9a5273fc7344ff42f953d",
  "05784afa30c1afe1440e79d9351c7430",
  "4e7c48cd86c3ef2b6eb6de0a3e2a0b1b",
] as const;
const EMAIL = "second@example.com";
const KEY = "abcdef0123456789abcdef0123456789abcde";

let server: ApiServer;
let path = "";
const theirs = { token: null, headers: { "x-auth-email": EMAIL, "x-auth-key": KEY } };
const mine = { token: null, headers: { "x-auth-email": OWNER_EMAIL, "x-auth-key": "0123456789abcdef0123456789abcdef01234" } };

before(async () => {
  server = await startApi();
  path = `/accounts/${server.account_id}/members`;
  const now = "2026-01-01T00:00:00.000000Z";
  const { createHash } = await import("node:crypto");
  await server.store.write(({ db }) =>
    insertUser(db, {
      ...{ id: newId(), email: EMAIL, first_name: "Ada", last_name: "Lovelace", telephone: null, country: null, zipcode: null },
      ...{ api_key_hash: createHash("sha256").update(KEY).digest("hex"), created_on: now, modified_on: now },
    }),
  );
});
after(() => server.close());

test("an invited user gets nothing before accepting, then the permissions of the roles, and loses them with the roles", async () => {
  const zones = async () =>
    (await ask(server, "POST", "/zones", { ...theirs, body: { name: `z${Date.now()}.test`, account: { id: server.account_id } } })).status;
  const invited = await ask(server, "POST", path, {
    ...mine,
    body: { email: EMAIL.toUpperCase(), roles: [ADMINISTRATOR], status: "pending" },
  });
  assert.equal(invited.status, 200, invited.text);
  const { id, status, roles, user } = invited.body.result;
  assert.deepEqual([status, roles.length, roles[0].id], ["pending", 1, ADMINISTRATOR]);
  assert.deepEqual([user.email, user.first_name], [EMAIL, null], "an invitation tells nothing about the user");
  assert.equal(await zones(), 403);
  const again = await ask(server, "POST", path, { ...mine, body: { email: EMAIL, roles: [READ_ONLY] } });
  assert.deepEqual([again.status, again.body.errors[0].source.pointer], [400, "/email"]);

  const accepted = await ask(server, "PUT", `/memberships/${id}`, { ...theirs, body: { status: "accepted" } });
  assert.equal(accepted.status, 200, accepted.text);
  assert.equal((await ask(server, "GET", `${path}/${id}`)).body.result.user.first_name, "Ada");
  assert.equal(await zones(), 200);

  // An administrator lacks a permission that a super administrator has.
  for (const [method, place, body] of [
    ["PUT", `${path}/${id}`, { roles: [{ id: SUPER }] }],
    ["POST", path, { email: OWNER_EMAIL, roles: [SUPER] }],
  ] as const)
    assert.deepEqual((await ask(server, method, place, { ...theirs, body })).body.errors[0]?.code, 10000, method);
  const owner = (await ask(server, "GET", path)).body.result.find((member: { email: string }) => member.email === OWNER_EMAIL);
  assert.equal((await ask(server, "DELETE", `${path}/${owner.id}`, theirs)).status, 403);

  const changed = await ask(server, "PUT", `${path}/${id}`, { ...mine, body: { roles: [{ id: READ_ONLY }] } });
  assert.deepEqual(
    changed.body.result.roles.map((role: { id: string }) => role.id),
    [READ_ONLY],
  );
  assert.equal(await zones(), 403, "at once");
  assert.equal((await ask(server, "DELETE", `${path}/${id}`, mine)).status, 200);
  assert.equal((await ask(server, "GET", `/accounts/${server.account_id}`, theirs)).body.success, false);
  assert.equal((await ask(server, "DELETE", `${path}/${id}`, mine)).status, 404);
  const actions = (await ask(server, "GET", `/accounts/${server.account_id}/audit_logs`)).body.result.map(
    ({ action }: { action: { type: string } }) => action.type,
  );
  for (const action of ["member.invite", "member.update", "member.remove"])
    assert.ok(actions.includes(action), `${action} of ${actions.join()}`);
});

test("an account keeps an owner, and unknown roles are refused", async () => {
  const [owner] = (await ask(server, "GET", path)).body.result;
  assert.equal(
    (await ask(server, "DELETE", `${path}/${owner.id}`, mine)).body.errors[0].message,
    "The account's last owner cannot leave it.",
  );
  const demoted = await ask(server, "PUT", `${path}/${owner.id}`, { ...mine, body: { roles: [{ id: READ_ONLY }] } });
  assert.equal(demoted.body.success, false);
  assert.deepEqual((await ask(server, "GET", `${path}/${owner.id}`)).body.result.roles, owner.roles);
  const norole = await ask(server, "POST", path, { ...mine, body: { email: EMAIL, roles: [READ_ONLY, "0".repeat(32)] } });
  assert.deepEqual([norole.status, norole.body.errors[0].source.pointer], [400, "/roles/1"]);
  assert.equal((await ask(server, "POST", path, { ...mine, body: { email: EMAIL, roles: [] } })).status, 400);
});
