import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testAuthorities } from "../../test/support/acme.ts";
import { fc } from "../../test/support/property.ts";
import { problem, type StubAnswer, startStubAuthority } from "../../test/support/stub-authority.ts";
import { AcmeError } from "./acme-error.ts";
import type { AuthoritiesConfig } from "./accounts.ts";

const never = new AbortController().signal;

async function start(t: TestContext, config: Partial<AuthoritiesConfig> = {}) {
  const stub = await startStubAuthority();
  t.after(() => stub.stop());
  const authorities = testAuthorities(stub, config);
  t.after(() => authorities.close());
  return { stub, authorities };
}

const orderAt = (url: string, more: object = {}): StubAnswer => ({
  status: 201,
  headers: { location: `${url}/order/1` },
  body: { status: "pending", authorizations: [`${url}/authz/1`], finalize: `${url}/finalize/1`, ...more },
});

test("requests are signed for their URL, with a new nonce each, first by the key and later by the account", async (t) => {
  const { stub, authorities } = await start(t, { email: "ops@example.com" });
  stub.answers.set("POST /order", orderAt(stub.url));
  const { client, accountUrl } = await authorities.open("lets_encrypt", never);
  assert.equal(accountUrl, `${stub.url}/account/1`);
  await client.newOrder(["a.example.com"], "id.of-old", never);
  await client.newOrder(["b.example.com"], null, never);
  const posts = stub.requests.filter(({ method }) => method === "POST");
  assert.deepEqual(
    posts.map(({ header: { url, alg, kid, jwk }, payload }) => ({ url, alg, kid, key: jwk !== undefined, payload })),
    [
      {
        ...{ url: `${stub.url}/account`, alg: "ES256", kid: undefined, key: true },
        payload: { termsOfServiceAgreed: true, contact: ["mailto:ops@example.com"] },
      },
      {
        ...{ url: `${stub.url}/order`, alg: "ES256", kid: accountUrl, key: false },
        payload: { identifiers: [{ type: "dns", value: "a.example.com" }], replaces: "id.of-old" },
      },
      {
        ...{ url: `${stub.url}/order`, alg: "ES256", kid: accountUrl, key: false },
        payload: { identifiers: [{ type: "dns", value: "b.example.com" }] },
      },
    ],
  );
  assert.equal(new Set(posts.map(({ header }) => header["nonce"])).size, posts.length);
});

test("an authority's errors keep their type, reason and time, also for one of several names", async (t) => {
  const { stub, authorities } = await start(t);
  const { client, issuance } = await authorities.open("lets_encrypt", never);
  stub.answers.set("POST /order", { ...problem("rateLimited", "too many"), status: 429, headers: { "retry-after": "120" } });
  await assert.rejects(client.newOrder(["a.example.com"], null, never), { type: "rateLimited", status: 429, retryAfterMs: 120_000 });
  const caa = { type: "urn:ietf:params:acme:error:caa", detail: "CAA record for example.com prevents issuance" };
  stub.answers.set(
    "POST /order",
    orderAt(stub.url, { status: "invalid", error: { type: "urn:ietf:params:acme:error:compound", subproblems: [caa] } }),
  );
  await assert.rejects(issuance.place(["a.example.com"], "http", null, never), { type: "caa", message: /prevents issuance/ });
  stub.answers.set("POST /order", problem("caa", "forbidden by CAA"));
  await assert.rejects(issuance.place(["a.example.com"], "http", null, never), { type: "caa" });
});

test("a slow, missing or broken authority gives a specific error and never hangs", async (t) => {
  const { stub, authorities } = await start(t);
  const { client } = await authorities.open("lets_encrypt", never);
  const refused = async (answer: StubAnswer | null, type: string): Promise<void> => {
    stub.answers.set("POST /order", answer);
    await assert.rejects(client.newOrder(["a.example.com"], null, never), { name: "AcmeError", type });
  };
  await refused({ status: 201, body: "<html>" }, "malformed_answer");
  await refused({ status: 201, body: { status: "odd" } }, "malformed_answer");
  await refused({ ...orderAt(stub.url, { finalize: "file:///etc/passwd" }) }, "malformed_answer");
  await refused({ status: 201, body: "x".repeat(2_000_000) }, "malformed_answer");
  await refused({ status: 503, body: "busy" }, "serverInternal");
  await refused({ ...problem("badNonce", "again"), status: 400 }, "badNonce");
  // However slow this machine is, it answers later than that.
  const impatient = testAuthorities(stub, { timeoutMs: 200 });
  t.after(() => impatient.close());
  stub.answers.set("GET /dir", null);
  await assert.rejects(impatient.open("lets_encrypt", never), { type: "unavailable", message: /no response within 200 ms/ });
  await stub.stop();
  await refused(null, "unavailable");
});

test("an invalid token never becomes part of a path", async (t) => {
  const { stub, authorities } = await start(t);
  const { issuance } = await authorities.open("lets_encrypt", never);
  const challenge = { type: "http-01", url: `${stub.url}/challenge/1`, status: "pending", token: "../../../../etc/passwd" };
  stub.answers.set("POST /order", orderAt(stub.url));
  stub.answers.set("POST /authz/1", {
    body: { status: "pending", identifier: { type: "dns", value: "a.example.com" }, challenges: [challenge] },
  });
  await assert.rejects(issuance.place(["a.example.com"], "http", null, never), { type: "malformed_answer" });
});

test("an aborted signal ends all waits with its reason", async (t) => {
  const { stub, authorities } = await start(t);
  const { client } = await authorities.open("lets_encrypt", never);
  const controller = new AbortController();
  stub.answers.set("POST /order", () => {
    controller.abort(new Error("the server stops"));
    return null;
  });
  await assert.rejects(client.newOrder(["a.example.com"], null, controller.signal), /the server stops/);
});

test("renewal advice is a window, and null if the authority gives none (RFC 9773)", async (t) => {
  const { stub, authorities } = await start(t);
  const { client } = await authorities.open("lets_encrypt", never);
  stub.answers.set("GET /renewal/abc.def", { body: { suggestedWindow: { start: "2026-11-22T00:00:00Z", end: "2026-11-24T00:00:00Z" } } });
  assert.deepEqual(await client.renewalInfo("abc.def", never), { startMs: Date.UTC(2026, 10, 22), endMs: Date.UTC(2026, 10, 24) });
  stub.answers.set("GET /renewal/abc.def", { body: { suggestedWindow: { start: "tomorrow", end: "" } } });
  await assert.rejects(client.renewalInfo("abc.def", never), { type: "malformed_answer" });
});

test("malformed responses of any shape give our own error", async (t) => {
  const { stub, authorities } = await start(t);
  const { client } = await authorities.open("lets_encrypt", never);
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.constantFrom(200, 201, 400, 403, 500), async (body, status) => {
      stub.answers.set("POST /any", { status, body });
      for (const ask of [client.order, client.authorization]) await assert.rejects(ask(`${stub.url}/any`, never), AcmeError);
    }),
    { numRuns: 60 },
  );
});
