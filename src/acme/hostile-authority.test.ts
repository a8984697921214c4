import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { testAuthorities } from "../../test/support/acme.ts";
import { fc } from "../../test/support/property.ts";
import { problem, type StubAnswer, startStubAuthority } from "../../test/support/stub-authority.ts";
import { systemClock } from "#kernel/clock.ts";
import type { AuthoritiesConfig } from "./accounts.ts";
import { AcmeError } from "./acme-error.ts";
import { createLocalCa, createRoot } from "./local-ca.ts";

const never = new AbortController().signal;
const TOKEN = "token-of-the-stub-0123456789";

/** An authority with TLS that has an order and a challenge for `a.example.com`, until a test changes the answers. */
async function start(t: TestContext, config: Partial<AuthoritiesConfig> = {}) {
  const root = await createRoot(systemClock);
  const stub = await startStubAuthority(await createLocalCa({ root, clock: systemClock }).issue(["localhost"]));
  const authorities = testAuthorities({ directoryUrl: stub.directoryUrl, roots: root.certificate }, config);
  t.after(async () => {
    await authorities.close();
    await stub.stop();
  });
  const order = (more: object = {}): StubAnswer => ({
    status: 201,
    headers: { location: `${stub.url}/order/1` },
    body: { status: "pending", authorizations: [`${stub.url}/authz/1`], finalize: `${stub.url}/finalize/1`, ...more },
  });
  const authz = (more: object = {}, challenge: object = {}): StubAnswer => ({
    body: {
      ...{ status: "pending", identifier: { type: "dns", value: "a.example.com" } },
      challenges: [{ type: "http-01", url: `${stub.url}/challenge/1`, status: "pending", token: TOKEN, ...challenge }],
      ...more,
    },
  });
  stub.answers.set("POST /order", order());
  stub.answers.set("POST /authz/1", authz());
  return { stub, authorities, order, authz };
}

/** A server beside the authority, such as a metadata service, that must get no request. */
async function bystander(t: TestContext) {
  const seen: string[] = [];
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    res.writeHead(200, { "replay-nonce": "nonce", location: "http://127.0.0.1/" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/latest/meta-data` };
}

test("an authority sends the server to no other host, scheme or port, by no URL and no redirect", async (t) => {
  const other = await bystander(t);
  const refused = async (wish: Promise<unknown>): Promise<void> => assert.rejects(wish, AcmeError);
  for (const field of ["newNonce", "newAccount"]) {
    const { stub, authorities } = await start(t);
    const { url } = stub;
    const body = { newNonce: `${url}/nonce`, newAccount: `${url}/account`, newOrder: `${url}/order`, [field]: other.url };
    stub.answers.set("GET /dir", { body });
    await refused(authorities.open("lets_encrypt", never));
  }
  const { stub, authorities, order, authz } = await start(t);
  const { client, issuance } = await authorities.open("lets_encrypt", never);
  const place = () => issuance.place(["a.example.com"], "http", null, never);
  const placed = await place();
  for (const status of [301, 303, 307, 308]) {
    stub.answers.set("POST /order", { status, headers: { location: other.url } });
    await refused(place());
  }
  stub.answers.set("POST /order", order({ authorizations: [other.url] }));
  await refused(place());
  stub.answers.set("POST /authz/1", authz({}, { url: other.url }));
  await refused(issuance.prove({ ...placed, proofs: [{ ...placed.proofs[0]!, challengeUrl: other.url }] }, never));
  stub.answers.set("POST /order/1", order({ status: "valid", certificate: other.url }));
  await refused(issuance.complete(placed, ["a.example.com"], "", never));
  await refused(client.finalize(other.url, Buffer.alloc(1), never));
  assert.deepEqual(other.seen, []);
});

test("an authority that wants a name proved that was not ordered gets no proof of it", async (t) => {
  const { stub, authorities, order, authz } = await start(t);
  const { issuance } = await authorities.open("lets_encrypt", never);
  const place = () => issuance.place(["a.example.com", "*.b.example.com"], "http", null, never);
  const hosts: readonly [string, boolean][] = [
    ["www.other.test", false],
    ["example.com", false],
    ["a.example.com", true],
    ["b.example.com", false],
  ];
  for (const [value, wildcard] of hosts) {
    stub.answers.set("POST /authz/1", authz({ identifier: { type: "dns", value }, wildcard }));
    await assert.rejects(place(), { type: "malformed_answer", message: /was not ordered/ });
  }
  stub.answers.set("POST /authz/1", authz());
  stub.answers.set("POST /order", order({ authorizations: Array(50).fill(`${stub.url}/authz/1`) }));
  await assert.rejects(place(), { type: "malformed_answer", message: /more proofs than names/ });
});

test("nothing in an authority's error is long or controls a terminal, wherever the text comes from", async (t) => {
  const { stub, authorities, order, authz } = await start(t);
  const { client, issuance } = await authorities.open("lets_encrypt", never);
  const messageOf = (wish: Promise<unknown>): Promise<string> =>
    wish.then(
      () => assert.fail("was accepted"),
      (error: unknown) => (assert.ok(error instanceof AcmeError), `${error.type} ${error.message}`),
    );
  const place = () => issuance.place(["a.example.com"], "http", null, never);
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "\u001b]0;title\u0007",
      "a\u0000b",
      "line\r\nSubject: other",
      "\u202ereversed",
      "\u009b31m",
      "x".repeat(50_000),
      "\ud800",
    ),
  );
  const clean = (message: string): void => {
    assert.ok(message.length < 2_500, `${message.length} characters`);
    assert.doesNotMatch(message, /[\p{Cc}\p{Cf}\u2028\u2029]/u);
    assert.ok(message.isWellFormed());
  };
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      stub.answers.set("POST /order", { status: 400, body: { type: `urn:ietf:params:acme:error:${value}`, detail: value } });
      clean(await messageOf(place()));
      stub.answers.set("POST /order", problem("compound", value, { subproblems: [{ type: value, detail: value }] }));
      clean(await messageOf(place()));
      stub.answers.set("POST /order", order({ status: "invalid", error: { detail: value } }));
      clean(await messageOf(place()));
      stub.answers.set("POST /order", order());
      stub.answers.set("POST /authz/1", authz({ identifier: { type: "dns", value: `x${value}` } }));
      clean(await messageOf(place()));
      stub.answers.set("POST /authz/1", authz({ status: `x${value}` }));
      clean(await messageOf(place()));
      stub.answers.set("POST /authz/1", authz());
      const url = `${stub.url}/authz/${"y".repeat(3_000)}`;
      stub.answers.set("POST /order", order({ authorizations: [url] }));
      clean(await messageOf(place()));
    }),
    { numRuns: 30 },
  );
  stub.answers.set("POST /order", order({ finalize: `${stub.url}/${"f".repeat(100_000)}` }));
  await assert.rejects(client.newOrder(["a.example.com"], null, never), { type: "malformed_answer" });
});

test("a nonce that is very long or not in base64url is never sent back, and bad nonces for ever are ten requests", async (t) => {
  const { stub, authorities, order } = await start(t);
  const { client } = await authorities.open("lets_encrypt", never);
  for (const nonce of ["n".repeat(8_000), 'quo"ted', "with space", "\u00fc"]) {
    stub.answers.set("POST /order", { ...order(), headers: { location: `${stub.url}/order/1`, "replay-nonce": nonce } });
    await client.newOrder(["a.example.com"], null, never);
    await client.newOrder(["a.example.com"], null, never);
  }
  for (const { header } of stub.requests) assert.match(String(header["nonce"] ?? "none"), /^[A-Za-z0-9_-]{1,100}$/);
  stub.requests.length = 0;
  stub.answers.set("POST /order", { ...problem("badNonce", "again"), status: 400 });
  await assert.rejects(client.newOrder(["a.example.com"], null, never), { type: "badNonce" });
  assert.equal(stub.requests.filter(({ path }) => path === "/order").length, 10);
});

test("bodies without end, slow bodies and a million levels end with an error, and leave no open exchange", async (t) => {
  const { stub, authorities } = await start(t, { timeoutMs: 1_500 });
  const { client } = await authorities.open("lets_encrypt", never);
  const open = new Set<ServerResponse>();
  const sending = (body: (res: ServerResponse) => void): StubAnswer => ({
    send: (res) => {
      open.add(res.on("close", () => open.delete(res)));
      res.writeHead(201, { "replay-nonce": "n" });
      body(res);
    },
  });
  const endless = (res: ServerResponse): void => {
    if (!res.destroyed && res.write("x".repeat(65_536))) setImmediate(endless, res);
    else if (!res.destroyed) res.once("drain", () => endless(res));
  };
  const slow = (res: ServerResponse): void => {
    const timer = setInterval(() => (res.destroyed ? clearInterval(timer) : res.write(" ")), 20);
  };
  const early = (res: ServerResponse): void => {
    const timer = setInterval(() => (res.destroyed ? clearInterval(timer) : res.writeProcessing()), 1);
  };
  const attacks: readonly [StubAnswer, string][] = [
    [sending(endless), "malformed_answer"],
    [sending(slow), "unavailable"],
    [{ send: (res) => (open.add(res.on("close", () => open.delete(res))), early(res)) }, "unavailable"],
    [sending((res) => res.end("[".repeat(1_000_000))), "malformed_answer"],
    [sending((res) => res.end(`{"status":${'{"a":'.repeat(150_000)}1${"}".repeat(150_001)}`)), "malformed_answer"],
  ];
  for (const [answer, type] of attacks) {
    stub.answers.set("POST /order", answer);
    await assert.rejects(client.newOrder(["a.example.com"], null, never), { type });
  }
  while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
});
