import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import {
  GATEWAY_ACCOUNT,
  answerChat,
  gatewayFront,
  gatewayOp,
  gatewayTokenOp,
  postJson,
  TEST_CHAT,
  testProvider,
} from "../../test/support/gateway-front.ts";
import { originForm } from "#gateway/request/origin-form.ts";

const TOKEN = "a-token-of-the-account-with-32-characters";
const PAGE = { origin: "https://page.example" };
const PREFLIGHT = {
  ...PAGE,
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization, cf-aig-authorization",
};

test("a page can make a CORS preflight to a gateway with authentication and read the responses, and no other gateway allows pages", async (t) => {
  const provider = await testProvider(t, (res) => {
    res.setHeader("access-control-allow-origin", "https://provider.example");
    answerChat(res, "hello");
  });
  const ops = [gatewayOp("closed", { authentication: true }), gatewayOp("free"), gatewayTokenOp(TOKEN)];
  const { base } = await gatewayFront(t, { ops, providers: { openai: provider.url } });
  for (const path of ["closed/openai/chat/completions", "closed/compat/chat/completions", "closed", "closed/nobody/x"]) {
    const answer = await fetch(`${base}/${path}`, { method: "OPTIONS", headers: PREFLIGHT });
    const { headers } = answer;
    assert.deepEqual(
      [answer.status, headers.get("access-control-allow-origin"), headers.get("access-control-allow-headers"), await answer.text()],
      [204, "*", PREFLIGHT["access-control-request-headers"], ""],
      path,
    );
    assert.match(headers.get("access-control-allow-methods") ?? "", /\bPOST\b/);
  }
  assert.equal(provider.seen.length, 0);
  const refused = await postJson(`${base}/closed/openai/chat/completions`, TEST_CHAT, PAGE);
  assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [401, "*"]);
  const told = await postJson(`${base}/closed/openai/chat/completions`, TEST_CHAT, {
    ...PAGE,
    "cf-aig-authorization": `Bearer ${TOKEN}`,
  });
  assert.deepEqual([told.status, told.headers.get("access-control-allow-origin")], [200, "*"], "once, and not the provider's");
  const plain = await fetch(`${base}/closed/openai/models`, { method: "OPTIONS" });
  assert.deepEqual([plain.status, plain.headers.get("access-control-allow-origin")], [401, null], "no page asks so");
  const free = await postJson(`${base}/free/openai/chat/completions`, TEST_CHAT, PAGE);
  assert.deepEqual([free.status, free.headers.get("access-control-allow-origin")], [200, "https://provider.example"], "the provider's");
});

test("an absolute-form target is treated as its path, and is refused if it names another host", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const { base } = await gatewayFront(t, { ops: [gatewayOp("gw")], providers: { openai: provider.url } });
  const { host, hostname, port } = new URL(base);
  const statusOf = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request({ hostname, port, path, method: "POST", headers: { host, "content-type": "application/json" } }, (res) => {
        res.resume();
        resolve(res.statusCode);
      });
      asked.on("error", reject);
      asked.end(JSON.stringify(TEST_CHAT));
    });
  const path = `/v1/${GATEWAY_ACCOUNT}/gw/openai/chat/completions?a=b`;
  assert.deepEqual(
    await Promise.all([path, `http://${host}${path}`, `HTTP://${host.toUpperCase()}${path}`, `http://other.example${path}`].map(statusOf)),
    [200, 200, 200, 400],
  );
  assert.deepEqual(new Set(provider.seen.map(({ url }) => url)), new Set(["/chat/completions?a=b"]));
});

test("origin forms of targets", () => {
  for (const [target, host, expected] of [
    ["/a?b", "h", "/a?b"],
    ["http://h:80/a?b", "H:80", "/a?b"],
    ["http://h:80/a", "h", "/a"],
    ["https://h/a", "h.:443", "/a"],
    ["https://h:80/a", "h", undefined],
    ["https://h?b", "h", "/?b"],
    ["http://h", undefined, "/"],
    ["http://u@h/a", "h", "http://u@h/a"],
    ["http://other/a", "h", undefined],
    ["*", "h", "*"],
  ] as const)
    assert.equal(originForm(target, host), expected, target);
});

test("usage without a choice reaches only a client that requested it, whether the gateway requested it or the provider sends it anyway", async (t) => {
  const counts = { prompt_tokens: 10, completion_tokens: 5 };
  const provider = await testProvider(t, (res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n');
    res.write(`data: ${JSON.stringify({ id: "x", choices: [], usage: counts })}\n\n`);
    res.end(`data: ${JSON.stringify({ id: "x", usage: counts })}\n\ndata: [DONE]\n\n`);
  });
  const { base } = await gatewayFront(t, {
    ops: [gatewayOp("gw")],
    providers: { openai: provider.url, mistral: provider.url, openrouter: provider.url },
  });
  for (const name of ["openai", "mistral", "openrouter"])
    for (const [options, isTold] of [
      [{}, false],
      [{ stream_options: { include_usage: false } }, false],
      [{ stream_options: { include_usage: true } }, true],
    ] as const)
      for (const [path, model] of [
        [`${name}/chat/completions`, "m"],
        ["compat/chat/completions", `${name}/m`],
      ] as const) {
        const text = await (await postJson(`${base}/gw/${path}`, { ...TEST_CHAT, model, stream: true, ...options })).text();
        // OpenRouter's own clients expect it at its own path without a request for it.
        const isExpected = isTold || path === "openrouter/chat/completions";
        assert.deepEqual(
          [text.includes("usage"), text.includes('"content":"hi"')],
          [isExpected, true],
          `${path} ${JSON.stringify(options)}`,
        );
      }
});
