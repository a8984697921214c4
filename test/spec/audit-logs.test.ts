import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { newId } from "#kernel/crypto/ids.ts";
import { insertUser } from "#store/access/users.ts";
import { type ApiServer, ask, OWNER_EMAIL, OWNER_KEY, startApi } from "../support/api-server.ts";

const ADMINISTRATOR = "05784afa30c1afe1440e79d9351c7430";
const EMAIL = "second@example.com";
const KEY = "abcdef0123456789abcdef0123456789abcde";
const owner = { token: null, headers: { "x-auth-email": OWNER_EMAIL, "x-auth-key": OWNER_KEY } };
const second = { token: null, headers: { "x-auth-email": EMAIL, "x-auth-key": KEY } };

let server: ApiServer;
before(async () => {
  server = await startApi();
  const now = "2026-01-01T00:00:00.000000Z";
  await server.store.write(({ db }) =>
    insertUser(db, {
      ...{ id: newId(), email: EMAIL, first_name: null, last_name: null, telephone: null, country: null, zipcode: null },
      ...{ api_key_hash: createHash("sha256").update(KEY).digest("hex"), created_on: now, modified_on: now },
    }),
  );
});
after(() => server.close());

test("a user's log has the user's own changes, those of its tokens, and those in accounts that it belongs to", async () => {
  const account = { id: server.account_id };
  const logOf = async (who: object, query = ""): Promise<any[]> => (await ask(server, "GET", `/user/audit_logs${query}`, who)).body.result;
  const actionsOf = async (who: object, query = ""): Promise<readonly string[]> =>
    (await logOf(who, query)).map(({ action }) => action.type);
  const done = async (method: string, path: string, asking: object): Promise<any> => {
    const answer = await ask(server, method, path, asking);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.result;
  };
  const members = `/accounts/${server.account_id}/members`;
  const invited = await done("POST", members, { ...owner, body: { email: EMAIL, roles: [ADMINISTRATOR] } });
  const [membership] = await done("GET", "/memberships", second);
  await done("PUT", `/memberships/${membership.id}`, { ...second, body: { status: "accepted" } });
  await done("PATCH", "/user", { ...second, body: { first_name: "Ada" } });
  await done("POST", "/zones", { ...second, body: { name: "theirs.test", account } });
  // By the owner's token.
  await done("POST", "/zones", { body: { name: "mine.test", account } });

  assert.deepEqual(await actionsOf(second), ["zone.create", "user.edit", "membership.update"]);
  assert.deepEqual(await actionsOf(second, "?direction=asc&action.type=user.edit"), ["user.edit"]);
  assert.deepEqual(await actionsOf(second, "?hide_user_logs=true"), []);
  const mine = await logOf({});
  const user = await done("GET", "/user", owner);
  const token = await done("GET", "/user/tokens/verify", {});
  assert.ok(mine.every(({ actor }) => actor.type === "user" && actor.email === OWNER_EMAIL && actor.id === user.id));
  assert.equal(mine[0].metadata.token_id, token.id);
  // The second form has both as well, and finds the changes by either.
  for (const query of [`actor_id=${user.id}`, `actor_token_id=${token.id}`]) {
    const [event] = await done("GET", `/accounts/${server.account_id}/logs/audit?since=2020-01-01&before=2100-01-01&${query}`, {});
    assert.deepEqual([event.actor.id, event.actor.token_id, event.action.description], [user.id, token.id, "zone.create"], query);
  }
  assert.deepEqual([mine[0].action.type, mine[0].metadata.actor_type, mine[0].interface], ["zone.create", "token", "API"]);

  await done("DELETE", `${members}/${invited.id}`, owner);
  assert.deepEqual(await actionsOf(second), ["user.edit"], "the account's changes are no longer the user's to read");
});
