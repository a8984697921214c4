import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Answer, type ApiServer, ask, startApi } from "../../test/support/api-server.ts";
import { createAuthenticator, type SoftAuthenticator } from "../../test/support/authenticator.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "correct horse: battery";
const codes = ({ status, body }: Answer): unknown => [status, body.errors?.[0]?.code];
const cookieOf = (answer: Answer): string => answer.headers.get("set-cookie")?.split(";")[0] ?? "";
const REFUSED = [403, 10459];

describe("passkeys", () => {
  let server: ApiServer;
  let cookie = "";
  let device: SoftAuthenticator;
  let origin = "";
  let nowMs = Date.UTC(2026, 5, 1);
  const clock = { nowMs: () => nowMs, nowMicros: () => nowMs * 1000, monotonicMs: () => nowMs };
  const named = (path: string): { url: string } => ({ url: server.url.replace("127.0.0.1", "localhost") + path });
  /** At the name `localhost`, because addresses have no passkeys. */
  const at = async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    const { url } = named("");
    return ask({ ...server, url }, method, path, { token: null, headers: { connection: "close", ...headers }, ...(body ? { body } : {}) });
  };
  const by = (method: string, path: string, body?: object, who = cookie): Promise<Answer> =>
    at(method, path, body, { cookie: who, "sec-fetch-site": "same-origin" });
  const register = async (authenticator: SoftAuthenticator, name: string, options: object = {}): Promise<Answer> => {
    const started = await by("POST", "/user/passkeys/options", { current_password: PASSWORD });
    const credential = authenticator.create(started.body.result, { origin, ...options });
    return by("POST", "/user/passkeys", { name, credential });
  };
  const challenge = async (): Promise<string> => (await at("POST", "/sign_in/passkey")).body.result.challenge;
  const present = (assertion: object): Promise<Answer> =>
    at(
      "POST",
      "/user/sessions",
      { label: "test" },
      { authorization: `Passkey ${Buffer.from(JSON.stringify(assertion)).toString("base64url")}` },
    );
  const signIn = async (authenticator = device, options: object = {}): Promise<Answer> =>
    present(authenticator.get(await challenge(), { origin, ...options }));

  before(async () => {
    server = await startApi({ clock });
    origin = new URL(named("").url).origin;
    device = createAuthenticator();
    cookie = cookieOf(await ask(server, "POST", "/user/setup", { body: { email: EMAIL, password: PASSWORD } }));
  });
  after(() => server.close());
  /** The next period of the limits per address. */
  const later = (): void => void (nowMs += 301_000);

  test("a passkey is made with the password, and signs in without it and without a one-time code", async () => {
    assert.deepEqual(codes(await by("POST", "/user/passkeys/options", { current_password: "wrong" })), [403, 10436]);
    assert.deepEqual(codes(await by("POST", "/user/passkeys/options", {})), [403, 10436]);
    const made = await register(device, "Phone");
    assert.deepEqual([made.status, made.body.result.name, made.body.result.host], [200, "Phone", "localhost"]);
    const session = await signIn();
    assert.deepEqual([session.status, session.body.result.signed_in_with], [200, "passkey"]);
    assert.equal((await by("GET", "/user", undefined, cookieOf(session))).body.result.email, EMAIL);
    assert.equal((await by("GET", "/user/passkeys")).body.result[0].last_used_on, "2026-06-01T00:00:00.000000Z");
  });

  test("a limited token of the user cannot add a passkey without the password", async () => {
    const token = await ask(server, "POST", "/user/tokens", {
      body: {
        name: "details only",
        policies: [
          {
            effect: "allow",
            resources: { [`com.cloudflare.api.user.${server.user_id}`]: "*" },
            permission_groups: [{ id: await groupId() }],
          },
        ],
      },
    });
    const answer = await at("POST", "/user/passkeys/options", {}, { authorization: `Bearer ${token.body.result.value}` });
    assert.deepEqual(codes(answer), [403, 10436]);
  });
  const groupId = async (): Promise<string> => {
    const groups = await ask(server, "GET", "/user/tokens/permission_groups");
    return groups.body.result.find(({ name }: { name: string }) => name === "User Details Write").id;
  };

  test("forged: another origin, another host name, no verified user, a wrong signature", async () => {
    later();
    assert.deepEqual(codes(await signIn(device, { origin: "https://evil.example" })), REFUSED);
    assert.deepEqual(codes(await signIn(device, { origin: "http://localhost:1" })), REFUSED);
    assert.deepEqual(codes(await signIn(device, { rpId: "evil.example" })), REFUSED);
    assert.deepEqual(codes(await signIn(device, { isVerified: false })), REFUSED);
    const assertion = device.get(await challenge(), { origin });
    const { signature } = device.get(await challenge(), { origin }).response;
    assert.deepEqual(codes(await present({ ...assertion, response: { ...assertion.response, signature } })), REFUSED);
    assert.equal((await signIn()).status, 200);
  });

  test("a challenge works once, for one purpose, and for ten minutes", async () => {
    later();
    const used = device.get(await challenge(), { origin });
    assert.equal((await present(used)).status, 200);
    assert.deepEqual(codes(await present(used)), REFUSED);
    const late = device.get(await challenge(), { origin });
    nowMs += 600_000;
    assert.deepEqual(codes(await present(late)), REFUSED);
    assert.deepEqual(codes(await present(device.get("made-up", { origin }))), REFUSED);
    const forCreation = (await by("POST", "/user/passkeys/options", { current_password: PASSWORD })).body.result.challenge;
    assert.deepEqual(codes(await present(device.get(forCreation, { origin }))), REFUSED);
    const both = device.get(await challenge(), { origin });
    const answers = await Promise.all([present(both), present(both)]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 403]);
  });

  test("a copied authenticator is noticed by its count", async () => {
    later();
    const counting = createAuthenticator({ counts: true });
    await register(counting, "Key");
    assert.equal((await signIn(counting)).status, 200);
    assert.deepEqual(codes(await signIn(counting, { counter: 1 })), REFUSED);
    assert.equal((await signIn(counting)).status, 200);
  });

  test("another user's credential cannot be registered, and does not sign in for somebody else", async () => {
    later();
    const stranger = createAuthenticator();
    assert.deepEqual(codes(await signIn(stranger)), REFUSED);
    assert.deepEqual(codes(await present({ ...stranger.get(await challenge(), { origin }), id: device.id })), REFUSED);
    assert.deepEqual(codes(await signIn(device, { userHandle: Buffer.from("somebody else").toString("base64url") })), REFUSED);
    assert.deepEqual(codes(await register(device, "Again")), REFUSED);
    const startedByOther = (await by("POST", "/user/passkeys/options", { current_password: PASSWORD })).body.result;
    await server.store.write(({ db }) =>
      db
        .insertInto("users")
        .values({ ...OTHER, created_on: "2026-06-02T00:00:00Z", modified_on: "2026-06-02T00:00:00Z" })
        .execute(),
    );
    await server.store.write(({ db }) =>
      db.updateTable("sign_in_challenges").set({ user_id: OTHER.id }).where("purpose", "=", "passkey_create").execute(),
    );
    const credential = stranger.create(startedByOther, { origin });
    assert.deepEqual(codes(await by("POST", "/user/passkeys", { name: "Theirs", credential })), REFUSED);
  });
  const OTHER = {
    ...{ id: "f".repeat(32), email: "eve@example.com", first_name: null, last_name: null, telephone: null, country: null },
    ...{ zipcode: null, api_key_hash: null },
  };

  test("registrations of another origin, another host, and without a verified user are refused", async () => {
    later();
    for (const options of [{ origin: "https://evil.example" }, { rpId: "evil.example" }, { isVerified: false }])
      assert.deepEqual(codes(await register(createAuthenticator(), "Forged", options)), REFUSED);
  });

  test("the statement of an attestation, whose certificates can name addresses to ask, is never read", async () => {
    for (const format of ["packed", "apple", "android-key", "tpm", "fido-u2f", "other"]) {
      later();
      const answer = await register(createAuthenticator(), format, { format });
      assert.deepEqual([answer.status, answer.body.result?.name], [200, format]);
    }
  });

  test("addresses have no passkeys", async () => {
    assert.deepEqual(codes(await ask(server, "POST", "/sign_in/passkey", { token: null })), [400, 10460]);
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const body = { current_password: PASSWORD };
    assert.deepEqual(codes(await ask(server, "POST", "/user/passkeys/options", { token: null, headers, body })), [400, 10460]);
  });

  test("a page of another site cannot sign the browser in", async () => {
    later();
    const text = Buffer.from(JSON.stringify(device.get(await challenge(), { origin }))).toString("base64url");
    const headers = { authorization: `Passkey ${text}`, "sec-fetch-site": "cross-site" };
    assert.deepEqual(codes(await at("POST", "/user/sessions", {}, headers)), [403, 10438]);
    assert.deepEqual(codes(await at("POST", "/sign_in/passkey", undefined, { "sec-fetch-site": "cross-site" })), [403, 10438]);
  });

  test("attempts of one address are limited like those with passwords", async () => {
    later();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 21; attempt++) statuses.push((await present(device.get("made-up", { origin }))).status);
    assert.deepEqual([statuses[0], statuses[19], statuses[20]], [403, 403, 429]);
    assert.equal((await signIn()).status, 429);
    later();
    assert.equal((await signIn()).status, 200);
  });

  test("passkeys are renamed and deleted; a deleted one ends its sessions and signs in no more", async () => {
    later();
    const lost = createAuthenticator();
    const { id } = (await register(lost, "Lost phone")).body.result;
    const session = cookieOf(await signIn(lost));
    assert.equal((await by("PATCH", `/user/passkeys/${id}`, { name: "Old phone" })).body.result.name, "Old phone");
    assert.equal((await by("DELETE", `/user/passkeys/${id}`)).status, 200);
    assert.equal((await by("GET", "/user", undefined, session)).status, 401);
    assert.deepEqual(codes(await signIn(lost)), REFUSED);
    assert.equal((await by("DELETE", `/user/passkeys/${id}`)).status, 404);
  });

  test("the password can be ended while another way exists, and the last way stays", async () => {
    later();
    assert.deepEqual(codes(await by("DELETE", "/user/password", { current_password: "wrong" })), [403, 10436]);
    assert.deepEqual((await by("DELETE", "/user/password", { current_password: PASSWORD })).body.result, { enabled: false });
    assert.equal((await ask(server, "GET", "/setup", { token: null })).body.result.open, false);
    assert.deepEqual(codes(await ask(server, "POST", "/user/setup", { body: { email: EMAIL, password: PASSWORD } })), [409, 10439]);
    const passkeys = (await by("GET", "/user/passkeys")).body.result as readonly { id: string }[];
    for (const { id } of passkeys.slice(1)) await by("DELETE", `/user/passkeys/${id}`);
    assert.deepEqual(codes(await by("DELETE", `/user/passkeys/${passkeys[0]?.id}`)), [409, 10461]);
    cookie = cookieOf(await signIn());
    assert.equal((await by("PUT", "/user/password", { password: PASSWORD })).status, 200);
    assert.equal((await by("DELETE", `/user/passkeys/${passkeys[0]?.id}`)).status, 200);
    assert.equal((await by("GET", "/user", undefined, cookie)).status, 401);
  });

  test("a user without passkeys cannot end the password", async () => {
    later();
    const basic = { authorization: `Basic ${Buffer.from(`${EMAIL}:${PASSWORD}`).toString("base64")}` };
    cookie = cookieOf(await at("POST", "/user/sessions", {}, basic));
    assert.deepEqual(codes(await by("DELETE", "/user/password", { current_password: PASSWORD })), [409, 10461]);
    assert.equal((await by("GET", "/user/password")).body.result.enabled, true);
  });

  test("challenges are stored as hashes", async () => {
    const issued = await challenge();
    const rows = await server.store.read.selectFrom("sign_in_challenges").selectAll().execute();
    assert.ok(rows.length > 0);
    assert.ok(!JSON.stringify(rows).includes(issued));
  });
});
