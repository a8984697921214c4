import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { totpCode } from "#kernel/crypto/totp.ts";
import { type Answer, type ApiServer, ask, startApi } from "../../test/support/api-server.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "correct horse: battery";
const STEP_MS = 30_000;
const codes = ({ status, body }: Answer): unknown => [status, body.errors?.[0]?.code];
const cookieOf = (answer: Answer): string => answer.headers.get("set-cookie")?.split(";")[0] ?? "";

describe("one-time codes at sign-in", () => {
  let server: ApiServer;
  let cookie = "";
  let secret = "";
  let recovery: readonly string[] = [];
  let nowMs = Date.UTC(2026, 5, 1);
  const clock = { nowMs: () => nowMs, nowMicros: () => nowMs * 1000, monotonicMs: () => nowMs };
  const code = (steps = 0): string => totpCode(secret, Math.floor(nowMs / STEP_MS) + steps);
  const signIn = (body: object, password = PASSWORD): Promise<Answer> =>
    ask(server, "POST", "/user/sessions", {
      ...{ token: null, body },
      headers: { connection: "close", authorization: `Basic ${Buffer.from(`${EMAIL}:${password}`).toString("base64")}` },
    });
  const by = (method: string, path: string, body?: object): Promise<Answer> =>
    ask(server, method, path, {
      ...{ token: null, headers: { connection: "close", cookie, "sec-fetch-site": "same-origin" } },
      ...(body ? { body } : {}),
    });
  before(async () => {
    server = await startApi({ clock });
    cookie = cookieOf(await ask(server, "POST", "/user/setup", { body: { email: EMAIL, password: PASSWORD } }));
  });
  after(() => server.close());

  test("setting up a secret needs the password, and is inactive until its first code", async () => {
    assert.deepEqual(codes(await by("PUT", "/user/totp", { code: "123456" })), [409, 10447]);
    assert.deepEqual(codes(await by("POST", "/user/totp", { current_password: "wrong" })), [403, 10436]);
    const started = await by("POST", "/user/totp", { current_password: PASSWORD });
    ({ secret } = started.body.result);
    assert.equal(new URL(started.body.result.url).searchParams.get("secret"), secret);
    assert.equal((await by("GET", "/user/totp")).body.result.enabled, false);
    assert.equal((await signIn({})).status, 200);
    assert.deepEqual(codes(await by("PUT", "/user/totp", { code: "000000" })), [403, 10446]);
    const confirmed = await by("PUT", "/user/totp", { code: code() });
    recovery = confirmed.body.result.recovery_codes;
    assert.equal(new Set(recovery).size, 10);
    assert.deepEqual((await by("GET", "/user/totp")).body.result, { enabled: true, recovery_codes_left: 10 });
    assert.equal((await by("GET", "/user")).body.result.two_factor_authentication_enabled, true);
    assert.deepEqual(codes(await by("POST", "/user/totp", { current_password: PASSWORD })), [409, 10447]);
  });

  test("neither secret nor recovery codes are readable in the database", async () => {
    const rows = JSON.stringify(await server.store.read.selectFrom("user_totp").selectAll().execute());
    for (const text of [secret, ...recovery]) assert.ok(!rows.includes(text));
    const audit = JSON.stringify(await server.store.read.selectFrom("audit_log").selectAll().execute());
    for (const text of [secret, ...recovery]) assert.ok(!audit.includes(text));
  });

  test("the password alone does not sign in, and each code and recovery code works once", async () => {
    nowMs += 2 * STEP_MS;
    assert.deepEqual(codes(await signIn({})), [403, 10445]);
    assert.deepEqual(codes(await signIn({ code: code() }, "a wrong password")), [403, 10436]);
    assert.deepEqual(codes(await signIn({ code: code(5) })), [403, 10446]);
    const typed = code();
    assert.equal((await signIn({ code: `${typed.slice(0, 3)} ${typed.slice(3)}` })).status, 200);
    assert.deepEqual(codes(await signIn({ code: typed })), [403, 10446]);
    assert.equal((await signIn({ code: recovery[0] })).status, 200);
    assert.deepEqual(codes(await signIn({ code: recovery[0] })), [403, 10446]);
    assert.equal((await by("GET", "/user/totp")).body.result.recovery_codes_left, 9);
  });

  test("two concurrent sign-ins with the same code give one session", async () => {
    nowMs += 3_600_000;
    const typed = code();
    const both = await Promise.all([signIn({ code: typed }), signIn({ code: typed })]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 403]);
  });

  test("after many guesses even correct codes are refused, but not recovery codes", async () => {
    nowMs += 3_600_000;
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess++) statuses.push((await signIn({ code: code(100 + guess) })).status);
    assert.deepEqual([statuses[0], statuses.at(-1)], [403, 429]);
    assert.equal((await signIn({ code: code() })).status, 429);
    assert.equal((await signIn({ code: recovery[1] })).status, 200);
  });

  test("a session needs a code to turn one-time codes off, and an API token does not", async () => {
    nowMs += 3_600_000;
    assert.deepEqual(codes(await by("DELETE", "/user/totp", {})), [403, 10445]);
    assert.deepEqual(codes(await by("DELETE", "/user/totp", { code: "000000" })), [403, 10446]);
    assert.equal((await by("DELETE", "/user/totp", { code: code() })).body.result.enabled, false);
    assert.equal((await signIn({})).status, 200);
    ({ secret } = (await by("POST", "/user/totp", { current_password: PASSWORD })).body.result);
    await by("PUT", "/user/totp", { code: code(1) });
    assert.deepEqual(codes(await signIn({})), [403, 10445]);
    assert.equal((await ask(server, "DELETE", "/user/totp", { body: {} })).status, 200);
    assert.equal((await signIn({})).status, 200);
  });
});
