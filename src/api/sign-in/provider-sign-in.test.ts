import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { type ApiServer, ask, startApi } from "../../../test/support/api-server.ts";
import { startSignInProvider, type TestProvider } from "../../../test/support/sign-in-provider.ts";

const PATH = "/sign_in/provider";
const REDIRECT = "https://selvedge.example/client/v4/sign_in/provider/callback";
const HOME = { host: "selvedge.example", connection: "close" };

/** One browser's steps: with its cookies, and without following anything by itself. */
describe("sign-in by a provider", () => {
  let server: ApiServer;
  let provider: TestProvider;
  let nowMs = Date.now();
  const clock = { nowMs: () => nowMs, nowMicros: () => nowMs * 1000, monotonicMs: () => nowMs };
  const get = async (path: string, cookie = ""): Promise<{ location: string; cookies: readonly string[]; status: number }> => {
    const { request } = await import("node:http");
    return new Promise((resolve, reject) => {
      const sent = request(server.url + path, { headers: { ...HOME, ...(cookie && { cookie }) } }, (res) => {
        const cookies = (res.headers["set-cookie"] ?? []).map((one) => one.split(";")[0] ?? "");
        res.resume().on("end", () => resolve({ location: res.headers.location ?? "", cookies, status: res.statusCode ?? 0 }));
      });
      sent.on("error", reject).end();
    });
  };
  /** To the provider and back: the address that the browser would open next, and its cookie. */
  const throughProvider = async (): Promise<{ back: string; cookie: string }> => {
    const started = await get(PATH);
    assert.ok(started.location.startsWith(`${provider.issuer}/authorize?`), started.location);
    const returned = await fetch(started.location, { redirect: "manual" });
    const location = new URL(returned.headers.get("location") ?? "");
    assert.equal(location.origin + location.pathname, REDIRECT);
    return { back: `${PATH}/callback${location.search}`, cookie: started.cookies[0] ?? "" };
  };
  const signIn = async (): Promise<string> => {
    const { back, cookie } = await throughProvider();
    const { location, cookies } = await get(back, cookie);
    assert.ok(cookies.some((one) => one === "selvedge-sign-in="));
    const session = cookies.find((one) => one.startsWith("selvedge="));
    if (session === undefined) return location;
    const { body } = await ask(server, "GET", "/user", { token: null, headers: { cookie: session, connection: "close" } });
    return body.result.email;
  };
  const invite = async (email: string): Promise<string> => {
    const roles = (await ask(server, "GET", `/accounts/${server.account_id}/roles`)).body.result;
    const { body } = await ask(server, "POST", `/accounts/${server.account_id}/members`, { body: { email, roles: [roles[0].id] } });
    return body.result.id;
  };

  before(async () => {
    provider = await startSignInProvider();
    server = await startApi({
      clock,
      signInProvider: {
        ...{ issuer: provider.issuer, clientId: provider.clientId, clientSecret: () => provider.clientSecret },
        ...{ emailDomains: ["example.com"], name: "Example", redirectUri: REDIRECT, requestMs: 1_000 },
      },
    });
  });
  after(async () => {
    await server?.close();
    await provider?.close();
  });
  beforeEach(() => {
    nowMs += 3_700_000;
    Object.assign(provider.manners, {
      forged: {},
      hasOtherKey: false,
      returnedIssuer: undefined,
      error: undefined,
      silent: undefined,
      endless: undefined,
    });
  });

  test("the sign-in page learns the provider's name, and a member signs in by a verified address", async () => {
    assert.deepEqual((await ask(server, "GET", "/sign_in", { token: null })).body.result, { provider: { name: "Example" } });
    provider.manners.claims = { sub: "owner", email: "Owner@example.com", email_verified: true };
    assert.equal(await signIn(), "owner@example.com");
    const sessions = (await ask(server, "GET", "/user/sessions")).body.result;
    assert.equal(sessions[0].signed_in_with, "provider");
    assert.deepEqual(provider.refused, []);
  });

  test("nobody becomes a user or a member by signing in, and an invited person stays invited", async () => {
    provider.manners.claims = { sub: "stranger", email: "stranger@example.com", email_verified: true };
    assert.equal(await signIn(), "/#sign_in=10463");
    const users = await server.store.read.selectFrom("users").selectAll().execute();
    assert.ok(users.every(({ email }) => email !== "stranger@example.com"));
    const member = await invite("ada@example.com");
    provider.manners.claims = { sub: "ada", email: "ada@example.com", email_verified: true };
    assert.equal(await signIn(), "ada@example.com");
    const { body } = await ask(server, "GET", `/accounts/${server.account_id}/members/${member}`);
    assert.equal(body.result.status, "pending");
  });

  test("an address that is not verified, is missing, or has another domain signs nobody in", async () => {
    for (const claims of [
      { email: "owner@example.com", email_verified: false },
      { email: "owner@example.com" },
      { email: "owner@example.com", email_verified: "true" },
      {},
      { email: "owner@evil.example", email_verified: true },
      { email: "owner@example.com@evil.example", email_verified: true },
    ]) {
      provider.manners.claims = { sub: "owner", ...claims };
      assert.equal(await signIn(), "/#sign_in=10465", JSON.stringify(claims));
    }
  });

  test("an address that the provider gives to another person does not sign in as its first owner", async () => {
    provider.manners.claims = { sub: "owner", email: "owner@example.com", email_verified: true };
    assert.equal(await signIn(), "owner@example.com");
    provider.manners.claims = { sub: "somebody else", email: "owner@example.com", email_verified: true };
    assert.equal(await signIn(), "/#sign_in=10463");
    provider.manners.claims = { sub: "owner", email: "renamed@example.com", email_verified: true };
    assert.equal(await signIn(), "owner@example.com");
  });

  test("login CSRF: a return without the cookie of this browser, with that of another, or a second time signs nobody in", async () => {
    provider.manners.claims = { sub: "owner", email: "owner@example.com", email_verified: true };
    const [attacker, victim] = [await throughProvider(), await throughProvider()];
    assert.equal((await get(attacker.back)).location, "/#sign_in=10466");
    assert.equal((await get(attacker.back, victim.cookie)).location, "/#sign_in=10462");
    assert.equal((await get(attacker.back, attacker.cookie)).location, "/");
    assert.equal((await get(attacker.back, attacker.cookie)).location, "/#sign_in=10466");
    const late = await throughProvider();
    nowMs += 601_000;
    assert.equal((await get(late.back, late.cookie)).location, "/#sign_in=10466");
  });

  test("mix-up: a return that names another issuer, or none, is refused", async () => {
    provider.manners.returnedIssuer = "https://evil.example";
    assert.equal(await signIn(), "/#sign_in=10462");
    provider.manners.returnedIssuer = undefined;
    const { back, cookie } = await throughProvider();
    assert.equal((await get(back.replace(/&iss=[^&]*/, ""), cookie)).location, "/#sign_in=10462");
  });

  test("forged ID tokens are refused: another nonce, client, issuer, key, or one that has expired", async () => {
    provider.manners.claims = { sub: "owner", email: "owner@example.com", email_verified: true };
    const past = Math.floor(Date.now() / 1000) - 3600;
    for (const forged of [{ nonce: "another" }, { nonce: undefined }, { aud: "another" }, { iss: "https://evil.example" }, { exp: past }]) {
      provider.manners.forged = forged;
      assert.equal(await signIn(), "/#sign_in=10462", JSON.stringify(forged));
    }
    provider.manners.forged = {};
    provider.manners.hasOtherKey = true;
    assert.equal(await signIn(), "/#sign_in=10462");
    provider.manners.hasOtherKey = false;
    assert.equal(await signIn(), "owner@example.com");
  });

  test("a person who ends the sign-in at the provider comes back to the sign-in page", async () => {
    provider.manners.error = "access_denied";
    assert.equal(await signIn(), "/#sign_in=10462");
  });

  test("a provider that does not answer, or does not end, is left after a limit", async () => {
    for (const path of ["/.well-known/openid-configuration", "/token", "/keys"])
      for (const manner of ["silent", "endless"] as const) {
        nowMs += 3_700_000;
        const began = await throughProvider().catch(() => undefined);
        nowMs += path.startsWith("/.well") ? 3_700_000 : 0;
        provider.manners[manner] = path;
        const { location } = path.startsWith("/.well") ? await get(PATH) : await get(began?.back ?? "", began?.cookie);
        assert.match(location, /^\/#sign_in=1046[24]$/, `${path} ${manner}`);
        provider.manners[manner] = undefined;
      }
  });

  test("a browser at another address is sent to the address of the dashboard first", async () => {
    const { status, headers } = await fetch(`${server.url}${PATH}?label=Firefox`, { redirect: "manual", headers: { connection: "close" } });
    assert.deepEqual([status, headers.get("location")], [302, "https://selvedge.example/client/v4/sign_in/provider?label=Firefox&moved=1"]);
  });

  test("secrets of a round are neither in the database nor in the log", async () => {
    const { back, cookie } = await throughProvider();
    const rows = JSON.stringify(await server.store.read.selectFrom("sign_in_challenges").selectAll().execute());
    assert.ok(!rows.includes(cookie.split("=")[1] ?? "-"));
    assert.ok(!rows.includes(new URLSearchParams(back.split("?")[1]).get("state") ?? "-"));
    assert.ok(!server.logged.join().includes(provider.clientSecret));
  });
});
