import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createAccess } from "#control/access/access.ts";
import { resetFirstToken } from "#control/access/first-token.ts";
import { SESSION_IDLE_SECONDS, SESSION_SECONDS_MAX } from "#model/access/session.ts";
import { type Answer, type ApiServer, ask, startApi } from "../../test/support/api-server.ts";

const EMAIL = "Ada@Example.com";
const PASSWORD = "correct horse: battery";
/** The clock is set hours ahead, and the server ends connections that were idle for so long. */
const ALONE = { connection: "close" };
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const basic = (email: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString("base64")}`,
});
const codes = ({ status, body }: Answer): unknown => [status, body.errors?.[0]?.code];
/** The `name=secret` of a Set-Cookie header. */
const cookieOf = (answer: Answer): string => answer.headers.get("set-cookie")?.split(";")[0] ?? "";

describe("sessions", () => {
  let server: ApiServer;
  let cookie = "";
  let shiftMs = 0;
  const clock = {
    nowMs: () => Date.UTC(2026, 5, 1) + shiftMs + performance.now(),
    nowMicros: () => Math.round((Date.UTC(2026, 5, 1) + shiftMs + performance.now()) * 1000),
    monotonicMs: () => performance.now() + shiftMs,
  };
  const open = async (): Promise<boolean> => (await ask(server, "GET", "/setup", { token: null })).body.result.open;
  const signIn = (email = EMAIL, password = PASSWORD): Promise<Answer> =>
    ask(server, "POST", "/user/sessions", { token: null, headers: { ...ALONE, ...basic(email, password) }, body: { label: "a test" } });
  const by = (held: string, method: string, path: string, body?: object, headers: Record<string, string> = SAME_ORIGIN): Promise<Answer> =>
    ask(server, method, path, { token: null, headers: { ...ALONE, cookie: held, ...headers }, ...(body ? { body } : {}) });
  const groupId = async (name: string): Promise<string> => {
    const groups = (await ask(server, "GET", "/user/tokens/permission_groups")).body.result as { name: string; id: string }[];
    return groups.find((group) => group.name === name)?.id ?? "";
  };
  before(async () => {
    server = await startApi({ clock });
  });
  after(() => server.close());

  test("set-up accepts the first token, sets the first user's password and then closes", async () => {
    assert.equal(await open(), true);
    const limited = await ask(server, "POST", "/user/tokens", {
      body: {
        name: "limited",
        policies: [
          {
            effect: "allow",
            resources: { [`com.cloudflare.api.user.${server.user_id}`]: "*" },
            permission_groups: [{ name: "User Details Write" }],
          },
        ],
      },
    });
    const setup = { email: EMAIL, password: PASSWORD };
    if (limited.body.success)
      assert.deepEqual(codes(await ask(server, "POST", "/user/setup", { token: limited.body.result.value, body: setup })), [403, 10000]);
    const short = await ask(server, "POST", "/user/setup", { body: { email: EMAIL, password: "short" } });
    assert.deepEqual([short.status, short.body.errors[0].source.pointer], [400, "/password"]);
    const done = await ask(server, "POST", "/user/setup", { body: setup });
    assert.equal(done.status, 200, done.text);
    assert.match(done.headers.get("set-cookie") ?? "", /^selvedge=[\w-]{40}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    assert.ok(!done.text.includes(cookieOf(done).split("=")[1] ?? ""), "the secret is in the cookie alone");
    assert.equal(await open(), false);
    assert.deepEqual(codes(await ask(server, "POST", "/user/setup", { body: setup })), [409, 10439]);
    assert.equal((await by(cookieOf(done), "GET", "/user")).body.result.email, "ada@example.com");
  });

  test("e-mail and password sign in, and allow nothing else", async () => {
    const answer = await signIn();
    assert.equal(answer.status, 200, answer.text);
    cookie = cookieOf(answer);
    assert.deepEqual(codes(await signIn(EMAIL, "wrong horse battery")), [403, 10436]);
    assert.deepEqual(codes(await signIn("nobody@example.com")), [403, 10436]);
    assert.deepEqual(codes(await ask(server, "GET", "/user", { token: null, headers: basic(EMAIL, PASSWORD) })), [403, 10440]);
    assert.deepEqual(codes(await by(cookie, "POST", "/user/sessions", {})), [403, 10440]);
  });

  test("the secret is stored only as a hash, and an invented cookie is not a session", async () => {
    const rows = JSON.stringify(await server.store.read.selectFrom("sessions").selectAll().execute());
    assert.ok(!rows.includes(cookie.split("=")[1] ?? ""));
    const users = JSON.stringify(await server.store.read.selectFrom("users").selectAll().execute());
    assert.ok(!users.includes(PASSWORD) && users.includes("$argon2id$"));
    const chosen = "selvedge=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert.deepEqual(codes(await by(chosen, "GET", "/user")), [401, 10437]);
    const fixed = await ask(server, "POST", "/user/sessions", {
      token: null,
      headers: { ...basic(EMAIL, PASSWORD), cookie: chosen },
      body: {},
    });
    assert.notEqual(cookieOf(fixed), chosen);
    assert.deepEqual(codes(await by(chosen, "GET", "/user")), [401, 10437]);
  });

  test("a page of another site or port cannot use the cookie", async () => {
    const before = (await by(cookie, "GET", "/zones")).body.result_info.total_count;
    const host = `127.0.0.1:${server.port}`;
    const zone = { name: "csrf.example", account: { id: server.account_id } };
    for (const headers of [
      {},
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: "http://127.0.0.1:1" },
      { origin: `http://${host}`, "sec-fetch-site": "same-site" },
    ] as Record<string, string>[])
      assert.deepEqual(codes(await by(cookie, "POST", "/zones", zone, headers)), [403, 10438], JSON.stringify(headers));
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "http://evil.example" }] as Record<string, string>[])
      assert.deepEqual(codes(await by(cookie, "GET", "/zones", undefined, headers)), [403, 10438]);
    assert.equal((await by(cookie, "GET", "/zones", undefined, {})).body.result_info.total_count, before);
    assert.equal((await by(cookie, "POST", "/zones", zone, { origin: `http://${host}` })).status, 200);
  });

  test("sessions are listed, end one by one, and a new password ends all others", async () => {
    const other = cookieOf(await signIn());
    const list = (await by(cookie, "GET", "/user/sessions")).body.result as { id: string; current: boolean; label: string }[];
    assert.equal(list.filter(({ current }) => current).length, 1);
    const third = cookieOf(await signIn());
    const thirdId = (await by(third, "GET", "/user/sessions")).body.result.find(({ current }: { current: boolean }) => current).id;
    assert.equal((await by(cookie, "DELETE", `/user/sessions/${thirdId}`)).status, 200);
    assert.deepEqual(codes(await by(third, "GET", "/user")), [401, 10437]);
    const change = { current_password: "wrong", password: `${PASSWORD} 2` };
    assert.deepEqual(codes(await by(cookie, "PUT", "/user/password", change)), [403, 10436]);
    const changed = await by(cookie, "PUT", "/user/password", { ...change, current_password: PASSWORD });
    assert.ok(changed.body.result.sessions_ended >= 1);
    assert.deepEqual(codes(await by(other, "GET", "/user")), [401, 10437]);
    assert.equal((await by(cookie, "GET", "/user")).status, 200);
    const out = await by(cookie, "DELETE", "/user/sessions/current");
    assert.match(out.headers.get("set-cookie") ?? "", /^selvedge=; .*Max-Age=0/);
    assert.deepEqual(codes(await by(cookie, "GET", "/user")), [401, 10437]);
  });

  test("a session from a token has the token's permissions, and ends with it", async () => {
    const groups = (await ask(server, "GET", "/user/tokens/permission_groups")).body.result as { id: string; name: string }[];
    const made = await ask(server, "POST", `/accounts/${server.account_id}/tokens`, {
      body: {
        name: "reads zones",
        policies: [
          {
            effect: "allow",
            resources: { [`com.cloudflare.api.account.${server.account_id}`]: "*" },
            permission_groups: [{ id: groups.find(({ name }) => name === "Zone Read")?.id }],
          },
        ],
      },
    });
    const { value, id } = made.body.result;
    const held = cookieOf(await ask(server, "POST", "/user/sessions", { token: value, body: {} }));
    assert.equal((await by(held, "GET", "/zones")).status, 200);
    assert.equal((await by(held, "POST", "/zones", { name: "no.example", account: { id: server.account_id } })).status, 403);
    await ask(server, "DELETE", `/accounts/${server.account_id}/tokens/${id}`);
    assert.deepEqual(codes(await by(held, "GET", "/zones")), [401, 10437]);
  });

  test("a new token secret ends the sessions of the old one, even those that start at that moment", async () => {
    const access = createAccess({ store: server.store, clock, sealer: null });
    const sessionBy = async (token: string): Promise<string> =>
      cookieOf(await ask(server, "POST", "/user/sessions", { token, body: {}, headers: ALONE }));
    const made = await ask(server, "POST", "/user/tokens", {
      body: {
        name: "leaks",
        policies: [
          {
            effect: "allow",
            resources: { [`com.cloudflare.api.user.${server.user_id}`]: "*" },
            permission_groups: [{ id: await groupId("User Details Read") }],
          },
        ],
      },
    });
    const { value: leaked, id } = made.body.result;
    const held = await sessionBy(leaked);
    const late = await access.authenticate({ type: "token", secret: leaked }, "192.0.2.1");
    assert.equal((await by(held, "GET", "/user")).status, 200);
    const rolled = await ask(server, "PUT", `/user/tokens/${id}/value`, { body: {} });
    assert.deepEqual(codes(await by(held, "GET", "/user")), [401, 10437]);
    await assert.rejects(access.sessions.create({ actor: late, request_id: "late", rev: null }, {}), { errorName: "invalid_token" });
    const anew = await sessionBy(rolled.body.result);
    await ask(server, "PUT", `/user/tokens/${id}`, { body: { name: "renamed", policies: made.body.result.policies } });
    assert.equal((await by(anew, "GET", "/user")).status, 200, "another name ends nothing");
    access.close();
  });

  test("a new secret for the first token signs out everyone who used the old one", async () => {
    const held = cookieOf(await ask(server, "POST", "/user/sessions", { body: {}, headers: ALONE }));
    assert.equal((await by(held, "GET", "/accounts")).status, 200);
    const reset = await resetFirstToken({ store: server.store, clock });
    assert.ok(reset);
    server = { ...server, token: reset.secret };
    assert.deepEqual(codes(await by(held, "GET", "/accounts")), [401, 10437]);
  });

  test("a form on another site cannot sign anyone in, and a session cannot start with a password that was just changed", async () => {
    const access = createAccess({ store: server.store, clock, sealer: null });
    const password = `${PASSWORD} 2`;
    const from = (headers: Record<string, string>) =>
      ask(server, "POST", "/user/sessions", { token: null, headers: { ...ALONE, ...basic(EMAIL, password), ...headers }, body: {} });
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, { origin: "http://evil.example" }])
      assert.deepEqual(codes(await from(headers)), [403, 10438], JSON.stringify(headers));
    for (const headers of [SAME_ORIGIN, {}]) assert.equal((await from(headers)).status, 200, JSON.stringify(headers));
    const late = await access.authenticate({ type: "password", email: EMAIL, password }, "192.0.2.1");
    await access.sessions.changePassword({ actor: late, request_id: "change", rev: null }, { current_password: password, password });
    await assert.rejects(access.sessions.create({ actor: late, request_id: "late", rev: null }, {}), { errorName: "wrong_password" });
    access.close();
  });

  test("password guesses are limited equally at a password change and at sign-in", async () => {
    shiftMs += 3_600_000;
    const held = cookieOf(await signIn(EMAIL, `${PASSWORD} 2`));
    const guess = (at: number) =>
      by(held, "PUT", "/user/password", { current_password: `a wrong password ${at}`, password: "another good password" });
    const answers = await Promise.all(Array.from({ length: 25 }, (_, at) => guess(at)));
    const refused = answers.filter(({ status }) => status === 403).length;
    assert.ok(refused > 0 && refused <= 20, String(refused));
    assert.ok(answers.every(({ status }) => status === 403 || status === 429));
    shiftMs += 3_600_000;
  });

  test("an unused session ends, and every session ends at its maximum age", async () => {
    const password = `${PASSWORD} 2`;
    const idle = cookieOf(await signIn(EMAIL, password));
    const used = cookieOf(await signIn(EMAIL, password));
    for (let seconds = 0; seconds < SESSION_SECONDS_MAX - SESSION_IDLE_SECONDS; seconds += SESSION_IDLE_SECONDS - 600) {
      shiftMs += (SESSION_IDLE_SECONDS - 600) * 1000;
      assert.equal((await by(used, "GET", "/user")).status, 200, String(seconds));
    }
    assert.deepEqual(codes(await by(idle, "GET", "/user")), [401, 10437]);
    shiftMs += SESSION_IDLE_SECONDS * 1000;
    assert.deepEqual(codes(await by(used, "GET", "/user")), [401, 10437]);
  });

  test("guesses are slowed down, and the user can still sign in from elsewhere", async () => {
    const password = `${PASSWORD} 2`;
    shiftMs += 3_600_000;
    const wrong = await Promise.all(Array.from({ length: 25 }, () => signIn("eve@example.com", "a wrong password")));
    assert.ok(wrong.some(({ status }) => status === 429) && wrong.some(({ status }) => status === 403));
    const blocked = await signIn(EMAIL, password);
    assert.deepEqual([blocked.status, Number(blocked.headers.get("retry-after")) > 0], [429, true]);
    // A token signs in all the same, and other addresses are not concerned.
    assert.equal((await ask(server, "POST", "/user/sessions", { body: {}, headers: ALONE })).status, 200);
    shiftMs += 3_600_000;
    assert.equal((await signIn(EMAIL, password)).status, 200);
  });
});
