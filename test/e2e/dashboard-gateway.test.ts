import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { LLMock } from "@copilotkit/aimock";
import type { Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { readUntil } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const run = promisify(execFile);
const SAID = "Good morning from the model.";
const FIRST = {
  cache_invalidate_on_update: true,
  cache_ttl: 0,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
const CARD = "4111 1111 1111 1111";

/** Providers, protection and clients of a gateway. */
describe("a gateway in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  let server: Selvedge;
  let browser: TestBrowser;
  let page: Page;
  const origin = (): string => new URL(server.ready.api).origin;
  const gateway = (): string => `/accounts/${server.ready.account_id}/ai-gateway/gateways/chats`;
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready)(method, path, body));

  before(async () => {
    mock.onMessage(/./, { content: SAID });
    await mock.start();
    const bases = { openai: `${mock.url}/v1`, anthropic: `${mock.url}/v1`, "google-ai-studio": mock.url, "aws-bedrock": mock.url };
    server = await startSelvedge({ args: Object.entries(bases).flatMap(([name, base]) => ["--provider", `${name}=${base}`]) });
    browser = await startBrowser(origin);
    page = await (await browser.context()).newPage();
    await page.goto(origin());
    await page.getByLabel("Token from the terminal").fill(server.ready.token ?? "");
    await page.getByLabel("Your e-mail").fill("ada@example.com");
    await page.locator("input[name=password]").fill("correct horse battery");
    await page.getByRole("button", { name: "Create the first user" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await call("POST", `/accounts/${server.ready.account_id}/ai-gateway/gateways`, { id: "chats", ...FIRST, authentication: true });
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await mock.stop();
  });

  test("an invalid name of a new gateway is explained at its field", async () => {
    await page.goto(`${origin()}/gateways?add=1`);
    const field = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
    await field.fill("a name with spaces");
    await field.press("Enter");
    await page.locator("input[aria-invalid=true]").waitFor();
    await field.fill("chats");
    await field.press("Enter");
    await page
      .getByRole("dialog")
      .getByText(/already/)
      .waitFor();
    await page.keyboard.press("Escape");
  });

  test("a provider's key is stored with an alias, shown by its ends alone, replaced and deleted", async () => {
    await page.goto(`${origin()}/gateways/chats/providers`);
    await page.getByRole("button", { name: "Store a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Provider", { exact: true }).selectOption("openai");
    await dialog.getByRole("textbox", { name: "Alias" }).fill("two words");
    await dialog.locator("input[type=password]").fill("sk-first-1234567890abcdef");
    await dialog.getByRole("button", { name: "Store the key" }).click();
    await dialog.locator("input[aria-invalid=true]").waitFor();
    await dialog.getByRole("textbox", { name: "Alias" }).fill("production");
    await dialog.getByRole("button", { name: "Store the key" }).click();
    const row = page.getByRole("table", { name: "Stored keys" }).getByRole("row").filter({ hasText: "production" });
    await row.getByText("default").waitFor();
    const [before] = await call("GET", `${gateway()}/provider_configs`);
    await row.getByRole("button", { name: "Replace" }).click();
    await dialog.locator("input[type=password]").fill("sk-second-1234567890wxyz");
    await dialog.getByRole("button", { name: "Replace the key" }).click();
    await row.getByText("wxyz").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: /API call/ }).click();
    assert.ok(!(await page.getByRole("dialog").innerText()).includes("sk-second"), "the calls show no key");
    await page.keyboard.press("Escape");
    const [now] = await call("GET", `${gateway()}/provider_configs`);
    assert.deepEqual([now.id, now.alias, now.default_config], [before.id, "production", true]);
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the key" }).click();
    await page.getByText("No stored keys yet").waitFor();
  });

  test("a custom provider is added with a header, keeps the header's value, and answers a try", async () => {
    await page.goto(`${origin()}/gateways/chats/providers`);
    await page.getByRole("button", { name: "Add a provider" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Our Models");
    await dialog.getByRole("textbox", { name: "Base URL" }).fill(`${mock.url}/v1`);
    await dialog.getByRole("button", { name: "Add a header" }).click();
    await dialog.getByLabel("Name of header 1").fill("x-team");
    await dialog.getByLabel("Value of header 1").fill("a-secret-of-the-team");
    assert.deepEqual(await graveViolations(page), []);
    await dialog.getByRole("button", { name: "Add the provider" }).click();
    const row = page.getByRole("row").filter({ hasText: "custom-our-models" });
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Models of ours");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText("Models of ours").waitFor();
    await page.getByRole("button", { name: /API call/ }).click();
    assert.ok(!(await page.getByRole("dialog").innerText()).includes("a-secret-of-the-team"), "the calls show no value of a header");
    await page.keyboard.press("Escape");
    await row.getByRole("link", { name: /Try it/ }).click();
    await page.getByRole("textbox", { name: "Model" }).fill("custom-our-models/gpt-4o");
    await page.getByLabel("Message").fill("Hello");
    await page.getByRole("button", { name: "Create a token for one hour" }).click();
    await readUntil(
      () => page.getByLabel("Gateway token").inputValue(),
      (value) => value !== "",
    );
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(SAID).waitFor();
    assert.equal(mock.getLastRequest()?.headers["x-team"], "a-secret-of-the-team");
  });

  test("a policy blocks a card number, words of the account are kept, and the hit is listed", async () => {
    await page.goto(`${origin()}/gateways/chats/protection`);
    await page.getByRole("button", { name: "Add a policy" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("cards");
    await dialog.getByRole("checkbox", { name: /Financial/ }).check();
    await dialog.getByRole("button", { name: "Words of your own" }).click();
    await dialog.getByLabel("Name of the words").fill("Projects");
    await dialog.getByLabel("Words", { exact: true }).fill("Project Falcon");
    await dialog.getByRole("button", { name: "Keep the words" }).click();
    await dialog.getByRole("checkbox", { name: /Projects/, checked: true }).waitFor();
    await dialog.getByLabel("Then").selectOption("BLOCK");
    assert.deepEqual(await graveViolations(page), []);
    await dialog.getByRole("button", { name: "Add the policy" }).click();
    await page.getByRole("table", { name: "Policies" }).getByText("Financial Information, Projects").waitFor();
    const headers = {
      "content-type": "application/json",
      authorization: "Bearer k",
      "cf-aig-authorization": `Bearer ${server.ready.token}`,
    };
    const { status } = await fetch(`${server.ready.gateway}/v1/${server.ready.account_id}/chats/openai/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: `My card is ${CARD}` }] }),
    });
    assert.equal(status, 400);
    await page.getByRole("table", { name: "Latest hits" }).getByText("blocked").waitFor();
    await page.getByLabel("Violent crimes in prompts").selectOption("BLOCK");
    await page.getByRole("button", { name: "Save guardrails" }).click();
    await page.getByText(/the operator must set gateway\.guardrail_model/).waitFor();
    assert.deepEqual(await graveViolations(page), []);
  });

  test("the pages fit a phone in the dark", async () => {
    const storageState = await page.context().storageState();
    const small = await (await browser.context({ viewport: { width: 390, height: 800 }, colorScheme: "dark", storageState })).newPage();
    for (const [path, text] of [
      ["providers", "Models of ours"],
      ["protection", "cards"],
      ["settings", "Connect an application"],
    ] as const) {
      await small.goto(`${origin()}/gateways/chats/${path}`);
      await small.getByText(text).first().waitFor();
      assert.deepEqual(await textsOutside(small), [], path);
      assert.deepEqual(await graveViolations(small), [], path);
    }
    await small.close();
  });

  test("each example runs as it is shown and gets an answer through the gateway", async (t) => {
    const folder = await mkdtemp(join(import.meta.dirname, ".example-"));
    t.after(() => rm(folder, { recursive: true }));
    const env = {
      ...{ PATH: process.env["PATH"], HOME: folder, GATEWAY_TOKEN: server.ready.token ?? "" },
      ...{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GEMINI_API_KEY: "k", AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "s" },
    };
    const example = async (client: string): Promise<string> => {
      await page.goto(`${origin()}/gateways/chats/settings?client=${client}`);
      return page.getByRole("group", { name: "the example" }).innerText();
    };
    for (const client of ["openai-js", "anthropic-js", "google-genai", "vercel-ai", "langchain", "bedrock"]) {
      const file = join(folder, `${client}.mjs`);
      await writeFile(file, await example(client));
      const { stdout } = await run(process.execPath, [file], { env, timeout: 120_000 });
      assert.ok(stdout.includes(SAID), `${client}: ${stdout}`);
    }
    assert.match((await run("sh", ["-c", await example("curl")], { env, timeout: 60_000 })).stdout, /Good morning/);
    await call("PUT", gateway(), { ...FIRST, authentication: false });
    assert.ok(!(await example("openai-python")).includes("cf-aig-authorization"), "an open gateway needs no token");
  });

  test("the tests above break no content security policy and load nothing external", () => assert.deepEqual(browser.faults, []));
});
