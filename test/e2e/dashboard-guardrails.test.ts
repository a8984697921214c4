import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import type { Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { readUntil } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

describe("guardrail hits in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  const [mock, judge] = [new LLMock({ port: 0, logLevel: "silent" }), new LLMock({ port: 0, logLevel: "silent" })];
  let server: Selvedge;
  let browser: TestBrowser;
  let page: Page;
  const origin = (): string => new URL(server.ready.api).origin;
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready)(method, path, body));
  const base = (): string => `/accounts/${server.ready.account_id}/ai-gateway/gateways`;
  const ask = async (content: string): Promise<number> => {
    const response = await fetch(`${server.ready.gateway}/v1/${server.ready.account_id}/chats/openai/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer k" },
      body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  before(async () => {
    mock.onMessage(/./, { content: "Good morning." });
    judge.onMessage(/bomb/, { content: "unsafe\nS9" });
    judge.onMessage(/insult/, { content: "unsafe\nS10,S5" });
    judge.onMessage(/./, { content: "safe" });
    await Promise.all([mock.start(), judge.start()]);
    const providers = [`openai=${mock.url}/v1`, `groq=${judge.url}/v1`].flatMap((provider) => ["--provider", provider]);
    server = await startSelvedge({ args: [...providers, "--gateway-guardrail-model", "groq/llama-guard"] });
    const limits = { cache_invalidate_on_update: true, cache_ttl: 0, rate_limiting_interval: null, rate_limiting_limit: null };
    const guardrails = { prompt: { S9: "BLOCK", S10: "FLAG", S5: "FLAG" }, response: {} };
    await call("POST", base(), { id: "chats", ...limits, collect_logs: true, authentication: false, guardrails });
    browser = await startBrowser(origin);
    page = await (await browser.context()).newPage();
    await page.goto(origin());
    await page.getByLabel("Token from the terminal").fill(server.ready.token ?? "");
    await page.getByLabel("Your e-mail").fill("ada@example.com");
    await page.locator("input[name=password]").fill("correct horse battery");
    await page.getByRole("button", { name: "Create the first user" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await Promise.all([mock.stop(), judge.stop()]);
  });

  test("requests show what guardrails did and why, a filter finds them, and the latest hits list them", async () => {
    const statuses = await readUntil(
      async () => [await ask("hello"), await ask("an insult"), await ask("a bomb")],
      ([harmless]) => harmless === 200,
    );
    assert.deepEqual(statuses, [200, 200, 400]);
    const logs = await call("GET", `${base()}/chats/logs?order_by=created_at`);
    const found = logs.map((log: any) => [log.guardrail_action, log.guardrail_findings]);
    for (const expected of [
      ["", ""],
      ["FLAG", '{"prompt":["S10","S5"]}'],
      ["BLOCK", '{"prompt":["S9"]}'],
    ])
      assert.ok(
        found.some((one: unknown) => JSON.stringify(one) === JSON.stringify(expected)),
        JSON.stringify(found),
      );
    await page.goto(`${origin()}/gateways/chats/requests`);
    const table = page.getByRole("table", { name: "Requests of the gateway" });
    await table.getByText("flagged", { exact: true }).waitFor();
    await page.getByLabel("Protection").selectOption("guardrail_action.BLOCK");
    await table.getByText("flagged", { exact: true }).waitFor({ state: "detached" });
    assert.equal(await table.getByRole("row").count(), 2, "the heading and the blocked request");
    assert.match(page.url(), /found=guardrail_action\.BLOCK/);
    await table.getByRole("button").first().click();
    await page.getByRole("dialog").getByText("weapons of mass destruction in the prompt").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.goto(`${origin()}/gateways/chats/protection`);
    const hits = page.getByRole("table", { name: "Latest hits" });
    await hits.getByText("hate, defamation in the prompt").waitFor();
    assert.deepEqual(await hits.getByText(/^(?:flagged|blocked)$/).allInnerTexts(), ["blocked", "flagged"]);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.deepEqual(await textsOutside(page), []);
    assert.deepEqual(await graveViolations(page), []);
    assert.deepEqual(browser.faults, []);
  });
});
