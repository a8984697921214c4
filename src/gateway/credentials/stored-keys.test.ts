import { test } from "node:test";
import assert from "node:assert/strict";
import { createVerify, generateKeyPairSync } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { Op, ProviderKeyEntry } from "#snapshot/entries.ts";
import {
  answerChat,
  type FrontOptions,
  GATEWAY_ACCOUNT,
  gatewayFront,
  gatewayOp,
  gatewayTokenOp,
  type SeenRequest,
  TEST_CHAT,
  testProvider,
} from "../../../test/support/gateway-front.ts";
import { signAws } from "#wire/http/sign-aws.ts";

const SEALER = createSealer(Buffer.alloc(32, 7));

const keyOp = (id: string, provider: string, secret: string, more: Partial<ProviderKeyEntry> = {}): Op => ({
  kind: "provider_key",
  id,
  value: {
    account_id: GATEWAY_ACCOUNT,
    gateway_id: "gw",
    provider,
    alias: id,
    is_default: false,
    secret: SEALER.seal(secret, `provider-key:${id}`),
    ...more,
  },
});

const withKeys = (ops: readonly Op[], options: FrontOptions): FrontOptions => ({
  ops: [gatewayOp("gw"), gatewayOp("other"), gatewayTokenOp("token"), ...ops],
  deps: { sealer: SEALER },
  ...options,
});

/** A request with a gateway token, and without a credential for a provider. */
const ask = (url: string, headers: Record<string, string> = {}, body: unknown = TEST_CHAT): Promise<Response> =>
  askOpenly(url, { "svc-aig-authorization": "Bearer token", ...headers }, body);

/** A request without a gateway token. */
const askOpenly = (url: string, headers: Record<string, string> = {}, body: unknown = TEST_CHAT): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

test("a stored key is sent if the request has none or names its alias, in the field of its provider", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const ops = [
    keyOp("main", "openai", "sk-main", { is_default: true }),
    keyOp("second", "openai", "sk-second"),
    keyOp("claude", "anthropic", "sk-claude", { alias: "default" }),
    keyOp("azure", "azure-openai", "azure-key", { is_default: true }),
  ];
  const providers = { openai: provider.url, anthropic: provider.url, "azure-openai": provider.url };
  const { base, rows } = await gatewayFront(t, withKeys(ops, { providers }));
  const seen = async (path: string, headers: Record<string, string> = {}): Promise<readonly (string | undefined)[]> => {
    const answer = await ask(base + path, headers);
    assert.equal(answer.status, 200, await answer.text());
    const { authorization, "x-api-key": key, "api-key": azure } = provider.seen.at(-1)?.headers ?? {};
    return [authorization, key as string, azure as string];
  };
  const chat = "/gw/openai/chat/completions";
  assert.deepEqual(await seen(chat), ["Bearer sk-main", undefined, undefined]);
  assert.deepEqual(await seen(chat, { authorization: "Bearer own" }), ["Bearer own", undefined, undefined]);
  // SDKs with an empty key send such fields.
  for (const none of ["", "Bearer", "Bearer "]) assert.deepEqual((await seen(chat, { authorization: none }))[0], "Bearer sk-main");
  assert.deepEqual(await seen("/gw/anthropic/v1/messages", { "x-api-key": "" }), [undefined, "sk-claude", undefined]);
  assert.deepEqual(await seen(chat, { authorization: "Bearer own", "cf-aig-byok-alias": "second" }), [
    "Bearer sk-second",
    undefined,
    undefined,
  ]);
  assert.deepEqual(await seen("/gw/anthropic/v1/messages"), [undefined, "sk-claude", undefined]);
  assert.deepEqual(await seen("/gw/azure-openai/acme/gpt/chat/completions"), [undefined, undefined, "azure-key"]);
  assert.deepEqual(
    await seen("/other/openai/chat/completions"),
    [undefined, undefined, undefined],
    "another gateway's key is not for this one",
  );
  const unknown = await ask(base + chat, { "svc-aig-byok-alias": "nobody" });
  assert.deepEqual([unknown.status, ((await unknown.json()) as { internalCode: number }).internalCode], [400, 2906]);
  assert.ok(!JSON.stringify(rows).includes("sk-"));
});

test("a key's rate limit refuses with the seconds to wait, or moves on to the next step", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const ops = [keyOp("main", "openai", "sk-main", { is_default: true, rate_limit: { limit: 2, interval_seconds: 60 } })];
  const { base, clock } = await gatewayFront(t, withKeys(ops, { providers: { openai: provider.url, groq: provider.url } }));
  const url = `${base}/gw/openai/chat/completions`;
  assert.deepEqual([(await ask(url)).status, (await ask(url)).status], [200, 200]);
  const refused = await ask(url);
  assert.deepEqual([refused.status, Number(refused.headers.get("retry-after")) > 0], [429, true]);
  const step = (name: string): object => ({ provider: name, endpoint: "chat/completions", query: TEST_CHAT });
  assert.equal((await ask(`${base}/gw`, {}, [step("openai"), step("groq")])).headers.get("svc-aig-step"), "1");
  clock.advance(120_000);
  assert.equal((await ask(url)).status, 200);
});

test("requests to Bedrock are signed with the stored key for the region in their path", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const secret = JSON.stringify({ access_key_id: "AKID", secret_access_key: "secret", session_token: "session" });
  const { base, clock } = await gatewayFront(
    t,
    withKeys([keyOp("aws", "aws-bedrock", secret, { is_default: true })], { providers: { "aws-bedrock": provider.url } }),
  );
  const answer = await ask(`${base}/gw/aws-bedrock/bedrock-runtime/eu-west-1/model/some.model-v1%3A0/invoke?a=b`, {}, { inputText: "hi" });
  assert.equal(answer.status, 200);
  const { headers, url, body } = provider.seen[0] as SeenRequest;
  assert.equal(url, "/model/some.model-v1%3A0/invoke?a=b");
  const expected = signAws(
    {
      method: "POST",
      host: new URL(provider.url).host,
      target: url,
      headers: { "content-type": "application/json" },
      body: Buffer.from(body),
      region: "eu-west-1",
      service: "bedrock",
      atMs: clock.nowMs(),
    },
    { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: "session" },
  );
  for (const [name, value] of Object.entries(expected)) assert.equal(headers[name], value);
});

test("a service account is exchanged for an access token once, and again when that expires", async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let issued = 0;
  const provider = await testProvider(t, (res, { url, body }) => {
    if (url !== "/token") return answerChat(res, "hello");
    const assertion = new URLSearchParams(body).get("assertion") ?? "";
    const [head = "", claims = "", signature = ""] = assertion.split(".");
    const isSigned = createVerify("RSA-SHA256").update(`${head}.${claims}`).verify(publicKey, signature, "base64url");
    const { iss, aud } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { iss: string; aud: string };
    assert.deepEqual([isSigned, iss, aud], [true, "robot@project", `${provider.url}/token`]);
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ access_token: `token-${++issued}`, expires_in: 3600 }));
  });
  const account = {
    type: "service_account",
    client_email: "robot@project",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    private_key_id: "k1",
    token_uri: `${provider.url}/token`,
  };
  const { base, clock } = await gatewayFront(
    t,
    withKeys([keyOp("vertex", "google-vertex-ai", JSON.stringify(account), { is_default: true })], {
      providers: { "google-vertex-ai": provider.url },
    }),
  );
  const path = "/gw/google-vertex-ai/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent";
  const token = async (): Promise<string | undefined> => {
    assert.equal((await ask(base + path, {}, { contents: [] })).status, 200);
    return provider.seen.at(-1)?.headers.authorization;
  };
  assert.deepEqual(new Set(await Promise.all([token(), token(), token()])), new Set(["Bearer token-1"]));
  clock.advance(3_539_000);
  assert.equal(await token(), "Bearer token-1");
  clock.advance(2_000);
  assert.equal(await token(), "Bearer token-2");
});

test("a key that cannot be decrypted or used gives an error, and no provider request", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const foreign = createSealer(Buffer.alloc(32, 8)).seal("sk", "provider-key:foreign");
  const ops = [
    keyOp("foreign", "openai", "", { is_default: true, secret: foreign }),
    keyOp("vertex", "google-vertex-ai", '{"client_email":"x","private_key":"no key"}', { is_default: true }),
  ];
  const { base, rows } = await gatewayFront(t, withKeys(ops, { providers: { openai: provider.url, "google-vertex-ai": provider.url } }));
  const paths = [
    "/gw/openai/chat/completions",
    "/gw/google-vertex-ai/v1/projects/p/locations/us-central1/publishers/google/models/m:predict",
  ];
  for (const path of paths) assert.equal((await ask(base + path)).status, 400, path);
  assert.deepEqual([provider.seen.length, rows.length], [0, 2]);
});

const codeOf = async (answer: Response): Promise<readonly [status: number, code: number]> => {
  const { internalCode = 0 } = (await answer.json()) as { readonly internalCode?: number };
  return [answer.status, internalCode];
};

test("SPEC 3.1: without authentication requests succeed with any token or none, and only a valid token uses a stored key", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const ops = [keyOp("main", "openai", "sk-main", { is_default: true }), keyOp("second", "groq", "sk-second")];
  const { base } = await gatewayFront(t, withKeys(ops, { providers: { openai: provider.url, groq: provider.url } }));
  const url = `${base}/gw/openai/chat/completions`;
  const own = { authorization: "Bearer sk-own" };
  const tokens: readonly Record<string, string>[] = [
    {},
    { "svc-aig-authorization": "Bearer wrong" },
    { "svc-aig-token": "nonsense" },
    { "cf-aig-authorization": "Bearer token" },
  ];
  for (const token of tokens) {
    assert.deepEqual(await codeOf(await askOpenly(url, { ...token, ...own })), [200, 0]);
    assert.equal(provider.seen.at(-1)?.headers.authorization, "Bearer sk-own");
  }
  const asked = provider.seen.length;
  for (const token of tokens.slice(0, 3)) {
    assert.deepEqual(await codeOf(await askOpenly(url, token)), [401, 2913], JSON.stringify(token));
    // By its alias, at another provider, and at the unified endpoint.
    assert.deepEqual(await codeOf(await askOpenly(url, { ...token, ...own, "svc-aig-byok-alias": "main" })), [401, 2913]);
    const compat = { ...TEST_CHAT, model: "openai/gpt-4o-mini" };
    assert.deepEqual(await codeOf(await askOpenly(`${base}/gw/compat/chat/completions`, token, compat)), [401, 2913]);
  }
  assert.equal(provider.seen.length, asked, "nothing was asked");
  // Without a stored key, the provider itself answers a request without a key.
  assert.deepEqual(await codeOf(await askOpenly(`${base}/gw/groq/chat/completions`)), [200, 0]);
  // A step without the right to use the key leads to the next step.
  const step = (name: string): object => ({ provider: name, endpoint: "chat/completions", query: TEST_CHAT });
  assert.equal((await askOpenly(`${base}/gw`, {}, [step("openai"), step("groq")])).headers.get("svc-aig-step"), "1");
  assert.deepEqual(await codeOf(await ask(url)), [200, 0]);
  assert.equal(provider.seen.at(-1)?.headers.authorization, "Bearer sk-main");
});

test("a custom provider's stored fields that hold a key are sent only for a valid token", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const own = (id: string, fields: object): Op => ({
    kind: "custom_provider",
    id,
    value: {
      ...{ account_id: GATEWAY_ACCOUNT, slug: id, base_url: provider.url, costs: [] },
      headers: SEALER.seal(JSON.stringify(fields), `custom-provider:${id}`),
    },
  });
  const ops = [own("keyed", { "X-Api-Key": "sk-stored", "x-team": "a" }), own("plain", { "x-team": "b" })];
  const { base } = await gatewayFront(
    t,
    withKeys(ops, {
      config: { providerAllow: ["127.0.0.0/8"] },
    }),
  );
  const url = (id: string): string => `${base}/gw/custom-${id}/chat/completions`;
  const seen = (): unknown => {
    const { authorization, "x-api-key": key, "x-team": team } = provider.seen.at(-1)?.headers ?? {};
    return [authorization, key, team];
  };
  assert.deepEqual(await codeOf(await askOpenly(url("keyed"))), [401, 2913]);
  assert.equal(provider.seen.length, 0);
  assert.deepEqual(await codeOf(await askOpenly(url("keyed"), { authorization: "Bearer sk-own" })), [200, 0]);
  assert.deepEqual(seen(), ["Bearer sk-own", undefined, undefined]);
  assert.deepEqual(await codeOf(await ask(url("keyed"))), [200, 0]);
  assert.deepEqual(seen(), [undefined, "sk-stored", "a"]);
  assert.deepEqual(await codeOf(await askOpenly(url("plain"))), [200, 0]);
  assert.deepEqual(seen(), [undefined, undefined, "b"]);
});

test("a stored key that a provider repeats, in any status, encoding or chunks, reaches neither the client nor the log", async (t) => {
  const KEY = "sk-stored/0123456789+";
  const codings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    identity: (bytes) => bytes,
    gzip: gzipSync,
    br: brotliCompressSync,
  };
  const repeated: string[] = [];
  for (const [coding, encode] of Object.entries(codings))
    for (const status of [401, 500, 200]) {
      const provider = await testProvider(t, (res) => {
        const sent = res.req.headers.authorization ?? "";
        repeated.push(sent);
        const key = sent.replace("Bearer ", "");
        const forms = [sent, encodeURIComponent(key), Buffer.from(sent).toString("base64"), Buffer.from(key).toString("base64")];
        const body = encode(Buffer.from(JSON.stringify({ error: { message: `key: ${forms.join(" ")}` }, key })));
        res.writeHead(status, {
          "content-type": "application/json",
          "content-encoding": coding,
          "x-key": sent,
          "content-length": body.length,
        });
        res.write(body.subarray(0, 40));
        setTimeout(() => res.end(body.subarray(40)), 20);
      });
      const ops = [keyOp("main", "openai", KEY, { is_default: true })];
      const { base, rows } = await gatewayFront(t, withKeys(ops, { providers: { openai: provider.url } }));
      for (const path of ["openai", "compat"]) {
        const model = path === "compat" ? { ...TEST_CHAT, model: "openai/gpt-4o-mini" } : TEST_CHAT;
        const answer = await ask(`${base}/gw/${path}/chat/completions`, {}, model);
        assert.equal(answer.status, status);
        const shown = JSON.stringify([...answer.headers]) + (await answer.text()) + JSON.stringify(rows.at(-1));
        for (const form of [
          "sk-stored",
          encodeURIComponent(KEY),
          ...[KEY, `Bearer ${KEY}`].map((text) => Buffer.from(text).toString("base64")),
        ])
          assert.ok(!shown.includes(form), `${coding} ${status} ${path}: ${form} in ${shown}`);
        assert.match(shown, /key: Bearer \*{21}/);
      }
      const head = await fetch(`${base}/gw/openai/models`, { method: "HEAD", headers: { "svc-aig-authorization": "Bearer token" } });
      assert.equal(head.headers.get("x-key"), `Bearer ${"*".repeat(21)}`);
      // The client may see its own key.
      const own = await ask(`${base}/gw/openai/chat/completions`, { authorization: "Bearer own-0123456789" });
      assert.match(String(own.headers.get("x-key")), /own-0123456789/);
      await own.text();
    }
  assert.ok(repeated.includes(`Bearer ${KEY}`));
});

test("a stored key that a provider says in pieces, in a streamed list or in lines, is masked for the client and in the log", async (t) => {
  const KEY = "AIzaSy0123456789abcdefghijklmnopqrstuvw";
  const pieces = KEY.match(/.{1,7}/g) ?? [];
  const items = pieces.map((text) => JSON.stringify({ candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }] }));
  const framings = {
    "application/json": [...items.map((item, i) => `${i === 0 ? "[" : "\n,\r\n"}${item}`), "]"],
    "application/x-ndjson": items.map((item) => `${item}\n`),
  };
  for (const [type, chunks] of Object.entries(framings)) {
    const provider = await testProvider(t, async (res) => {
      res.writeHead(200, { "content-type": type });
      for (const chunk of chunks) {
        res.write(chunk);
        await new Promise(setImmediate);
      }
      res.end();
    });
    const ops = [keyOp("main", "google-ai-studio", KEY, { is_default: true })];
    const { base, rows } = await gatewayFront(t, withKeys(ops, { providers: { "google-ai-studio": provider.url } }));
    const answer = await ask(`${base}/gw/google-ai-studio/v1beta/models/gemini:streamGenerateContent`, {}, { contents: [] });
    const text = await answer.text();
    assert.equal(text.length, chunks.join("").length);
    const shown = text + JSON.stringify(rows.at(-1));
    for (const piece of pieces) assert.ok(!shown.includes(piece), `${piece} in ${shown}`);
  }
});
