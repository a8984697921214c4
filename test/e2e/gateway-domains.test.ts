import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { Agent, fetch as undiciFetch } from "undici";
import { eventually } from "../support/eventually.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";

const HOST = "ai.acme-models.example";
const SETTINGS = {
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};

/** From a zone to a client that knows nothing but the name. */
describe("a custom hostname of a gateway", () => {
  let selvedge: Selvedge;
  let mock: LLMock;
  let zone: { readonly id: string };
  let agent: Agent;
  /** Of a provider that begins an answer, where it is asked for a stream, and never ends it; `asked` comes with each. */
  const endless = new EventEmitter<{ asked: [ServerResponse] }>();
  const endlessProvider = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => (body += chunk.toString()));
    req.on("end", () => {
      if (body.includes('"stream":true')) {
        res.writeHead(200, { "content-type": "text/event-stream" });
        res.write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n');
      }
      endless.emit("asked", res);
    });
  });

  const call = (method: string, path: string, body?: object) => api(selvedge, selvedge.ready.token ?? "", method, path, body);
  const gateways = (): string => `/accounts/${selvedge.ready.account_id}/ai-gateway/gateways`;
  const atEdge = (path: string): string => `https://${HOST}:${new URL(selvedge.ready.https).port}${path}`;
  const atGateway = (path: string): string => `http://${HOST}:${new URL(selvedge.ready.gateway).port}${path}`;
  const ask = (url: string, init: Parameters<typeof undiciFetch>[1] = {}) => undiciFetch(url, { dispatcher: agent, ...init });
  const agentFrom = (localAddress: string): Agent =>
    new Agent({
      localAddress,
      connect: {
        ca: readFileSync(join(selvedge.dataDir, "ca.pem"), "utf8"),
        lookup: (_host, { all }, answer) => (all ? answer(null, [{ address: "127.0.0.1", family: 4 }]) : answer(null, "127.0.0.1", 4)),
      },
    });
  const client = (baseURL: string, headers: Record<string, string> = {}): OpenAI =>
    new OpenAI({ baseURL, apiKey: "k", maxRetries: 0, fetch: ask as unknown as typeof fetch, defaultHeaders: headers });
  const asking = { model: "gpt-4o-mini", messages: [{ role: "user" as const, content: "hello" }] };

  before(async () => {
    mock = new LLMock({ port: 0, logLevel: "silent" });
    mock.onMessage("hello", { content: "Hi there, how are you?" }, { chunkSize: 4 });
    await mock.start();
    endlessProvider.listen(0, "127.0.0.1");
    await once(endlessProvider, "listening");
    const groq = `http://127.0.0.1:${(endlessProvider.address() as AddressInfo).port}`;
    selvedge = await startSelvedge({ args: ["--provider", `openai=${mock.url}/v1`, "--provider", `groq=${groq}`] });
    agent = agentFrom("127.0.0.2");
    for (const [id, authentication] of [
      ["open", false],
      ["closed", true],
    ] as const)
      assert.equal((await call("POST", gateways(), { id, authentication, ...SETTINGS })).status, 200);
    zone = (await call("POST", "/zones", { name: "acme-models.example", account: { id: selvedge.ready.account_id } })).body.result;
    const made = await call("POST", `${gateways()}/open/custom-domains`, { domain: HOST, zone_id: zone.id });
    assert.deepEqual([made.status, made.body.result.status], [200, "active"]);
  });

  after(async () => {
    await agent?.close();
    await selvedge?.stop();
    await mock?.stop();
    endlessProvider.closeAllConnections();
    endlessProvider.close();
  });

  for (const [where, at] of [
    ["the edge, over TLS", atEdge],
    ["the gateway's own port", atGateway],
  ] as const)
    test(`OpenAI's client reaches the gateway through ${where}, and the rows belong to the gateway`, async () => {
      const openai = client(at("/openai"));
      assert.equal((await openai.chat.completions.create(asking)).choices[0]?.message.content, "Hi there, how are you?");
      let text = "";
      for await (const chunk of await openai.chat.completions.create({ ...asking, stream: true }))
        text += chunk.choices[0]?.delta.content ?? "";
      assert.equal(text, "Hi there, how are you?");
      const any = client(at("/compat"));
      assert.equal((await any.chat.completions.create({ ...asking, model: "openai/gpt-4o-mini" })).choices.length, 1);
      // Set up with the whole path, and the universal endpoint.
      assert.equal((await client(at(`/v1/${selvedge.ready.account_id}/open/openai`)).chat.completions.create(asking)).choices.length, 1);
      const steps = [{ provider: "openai", endpoint: "chat/completions", headers: { authorization: "Bearer k" }, query: asking }];
      const universal = await ask(at("/"), {
        method: "POST",
        body: JSON.stringify(steps),
        headers: { "content-type": "application/json" },
      });
      assert.deepEqual([universal.status, universal.headers.get("cf-aig-step") ?? universal.headers.get("svc-aig-step")], [200, "0"]);
      const seen = mock.getLastRequest()?.headers ?? {};
      const told = Object.keys(seen).filter((name) => /forwarded|connecting-ip|cdn-loop|ray|visitor/.test(name));
      assert.deepEqual(told, ["cdn-loop"], "the provider learns nothing of the way here");
      assert.match(String(seen["cdn-loop"]), /^[\w-]+$/, "but for one random name, which ends loops");
      const { body } = await call("GET", `${gateways()}/open/logs?per_page=1`);
      assert.equal(body.result[0]?.success, true);
    });

  test("the hostname serves only its own gateway, and not over plain HTTP at the edge", async () => {
    for (const at of [atEdge, atGateway]) {
      const other = await ask(at(`/v1/${selvedge.ready.account_id}/closed/openai/models`));
      assert.deepEqual([other.status, ((await other.json()) as any).internalCode], [400, 2008]);
    }
    const plain = await ask(`http://${HOST}:${new URL(selvedge.ready.http).port}/openai/chat/completions`, { method: "POST", body: "{}" });
    assert.notEqual(plain.status, 200);
    await plain.body?.cancel();
  });

  let gone = 0;
  for (const stream of [true, false])
    test(`a client that disconnects ${stream ? "during its stream" : "before its answer"} ends the provider's request, through the edge too`, async () => {
      for (const at of [atEdge, atGateway]) {
        const leaving = new AbortController();
        const asked = once(endless, "asked") as Promise<[ServerResponse]>;
        const answer = ask(at("/groq/chat/completions"), {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...asking, stream }),
          signal: leaving.signal,
        });
        answer.catch(() => undefined);
        const [provider] = await asked;
        const left = once(provider, "close");
        if (stream) await (await answer).body?.getReader().read();
        leaving.abort();
        await left;
        // Words that nobody counted are counted first.
        const count = ++gone;
        await eventually(async () => {
          const { result, result_info } = (await call("GET", `${gateways()}/open/logs?provider=groq`)).body as any;
          if (result_info.total_count < count) return false;
          assert.deepEqual([result[0].success, result[0].status_code], [false, stream ? 200 : 499]);
          return true;
        });
      }
    });

  test("the hostname requires the same tokens, and checks the client's address", async () => {
    const host = "closed.acme-models.example";
    const at = atEdge("/openai").replace(HOST, host);
    assert.equal((await call("POST", `${gateways()}/closed/custom-domains`, { domain: host, zone_id: zone.id })).status, 200);
    await assert.rejects(
      client(at).chat.completions.create(asking),
      (error: unknown) => error instanceof OpenAI.APIError && error.status === 401,
    );
    const groups = (await call("GET", "/user/tokens/permission_groups")).body.result;
    const run = groups.find(({ name }: { name: string }) => name === "AI Gateway Run").id;
    const token = async (address: string): Promise<string> =>
      (
        await call("POST", "/user/tokens", {
          name: address,
          policies: [
            {
              effect: "allow",
              resources: { [`com.cloudflare.api.account.${selvedge.ready.account_id}`]: "*" },
              permission_groups: [{ id: run }],
            },
          ],
          condition: { request_ip: { in: [address] } },
        })
      ).body.result.value;
    const asked = (value: string, more = {}) =>
      client(at, { "svc-aig-authorization": `Bearer ${value}`, ...more }).chat.completions.create(asking);
    assert.equal((await asked(await token("127.0.0.2/32"))).choices.length, 1);
    // The edge's own address, and whatever visitors say of theirs.
    for (const address of ["127.0.0.1", "203.0.113.7"])
      for (const more of [{}, { "svc-connecting-ip": address }, { "x-forwarded-for": address }])
        await assert.rejects(
          asked(await token(`${address}/32`), more),
          (error: unknown) => error instanceof OpenAI.APIError && error.status === 401,
        );
  });

  test("a removed hostname, or one of a paused zone, no longer serves the gateway", async () => {
    const post = (at: string) => ask(at, { method: "POST", body: JSON.stringify(asking), headers: { "content-type": "application/json" } });
    const status = async (at: string): Promise<number> => {
      const answer = await post(at);
      await answer.body?.cancel();
      return answer.status;
    };
    assert.equal(await status(atEdge("/openai/chat/completions")), 200);
    await call("PATCH", `/zones/${zone.id}`, { paused: true });
    assert.notEqual(await status(atEdge("/openai/chat/completions")), 200);
    await call("PATCH", `/zones/${zone.id}`, { paused: false });
    assert.equal(await status(atEdge("/openai/chat/completions")), 200);
    assert.equal((await call("DELETE", `${gateways()}/open/custom-domains/${HOST}`)).status, 200);
    assert.notEqual(await status(atEdge("/openai/chat/completions")), 200);
    assert.equal(await status(atGateway("/openai/chat/completions")), 421);
  });
});
