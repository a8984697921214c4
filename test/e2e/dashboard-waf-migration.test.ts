import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyzABCD";
const ATTACK = "?q=1%20UNION%2F**%2FSELECT%20null,null";
const UNION = "SQL injection: UNION SELECT";

/** SPEC 1.5, SPEC 3.3: the way from the previous WAF, in a browser and with visitors at the edge. */
describe("migration from the previous WAF in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let origin: Server;
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  const home = (): string => new URL(server.ready.api).origin;
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready, TOKEN)(method, path, body));
  const visit = async (name: string, path: string): Promise<number | undefined> => {
    const sent = request(new URL(path, server.ready.http), {
      agent: false,
      headers: { host: `www.${name}`, "user-agent": "visitor" },
    }).end();
    const [response] = await once(sent, "response");
    response.resume();
    return response.statusCode;
  };

  /** A zone whose visitors the previous WAF protects. */
  const createZone = async (name: string, plan: string): Promise<string> => {
    const { id } = await call("POST", "/zones", { account: { id: server.ready.account_id }, name });
    await call("PATCH", `/zones/${id}`, { plan: { id: plan } });
    await call("POST", `/zones/${id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true });
    await call("PATCH", `/zones/${id}/settings/waf`, { value: "on" });
    return `/zones/${id}`;
  };
  const statusOf = async (zone: string): Promise<readonly string[]> => {
    const { old_waf_status, new_waf_status, migration_state } = await call("GET", `${zone}/waf_migration/status`);
    return [old_waf_status, new_waf_status, migration_state];
  };
  const open = (name: string): Promise<unknown> => page.goto(`${home()}/zones/${name}/security/managed`);
  const turnOff = async (name: string): Promise<void> => {
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Turn it off for good" });
    assert.ok(await confirm.isDisabled(), "nobody turns it off by a click too many");
    await dialog.getByRole("textbox").fill(name);
    await confirm.click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "From the previous WAF to managed rules" }).waitFor({ state: "detached" });
  };

  before(async () => {
    origin = createServer((_req, res) => res.end("page")).listen(0, "127.0.0.1");
    await once(origin, "listening");
    server = await startSelvedge({
      env: {
        SELVEDGE_BOOTSTRAP_TOKEN: TOKEN,
        SELVEDGE_DEPRECATIONS_AS_OF: "2025-06-01",
        SELVEDGE_EDGE_ORIGIN_PORT: String((origin.address() as AddressInfo).port),
      },
    });
    browser = await startBrowser(home);
    context = await browser.context({ timezoneId: "UTC" });
    const signedIn = await fetch(`${server.ready.api}/user/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: "{}",
    });
    const [name = "", value = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=") ?? [];
    await context.addCookies([{ name, value, url: home(), httpOnly: true, sameSite: "Strict" }]);
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    origin?.close();
  });

  test("a Pro zone reviews the configuration and moves by Deploy", async () => {
    const zone = await createZone("pro.test", "pro");
    await open("pro.test");
    await page.getByRole("button", { name: "Review the configuration" }).click();
    await page.getByRole("list", { name: "Rules of the configuration" }).getByRole("listitem").first().waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await turnOff("pro.test");
    assert.deepEqual(await statusOf(zone), ["disabled", "enabled", "pending"]);
    assert.equal(await visit("pro.test", `/${ATTACK}`), 403);
  });

  test("an Enterprise zone compares both versions before it turns the previous one off", async () => {
    const zone = await createZone("large.test", "enterprise");
    await open("large.test");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Deploy" }).click();
    await page.getByText("both versions run", { exact: true }).waitFor();
    assert.deepEqual(await statusOf(zone), ["enabled", "enabled", "validation"]);

    // The new version blocks first; with its rules set to log, the previous one acts.
    const entrypoint = `${zone}/rulesets/phases/http_request_firewall_managed/entrypoint`;
    assert.equal(await visit("large.test", `/new${ATTACK}`), 403);
    const { name, rules } = await call("GET", entrypoint);
    const logging = rules.map(({ id: _id, version: _version, last_updated: _updated, ...rule }: any) =>
      rule.action === "execute" ? { ...rule, action_parameters: { ...rule.action_parameters, overrides: { action: "log" } } } : rule,
    );
    await call("PUT", `${entrypoint}?waf_migration=validation&phase_two=1`, { name, rules: logging });
    assert.equal(await visit("large.test", `/old${ATTACK}`), 403);
    await eventually(async () => (await call("GET", `${zone}/security/events?path=/old`)).length > 1);

    await page.reload();
    const previous = page.getByRole("table", { name: "Events of the previous version" });
    await previous.getByText(UNION).first().waitFor();
    await page.getByRole("table", { name: "Events of managed rules" }).getByText(UNION).first().waitFor();
    assert.deepEqual(await graveViolations(page), []);
    if (process.env["SELVEDGE_PICTURES"])
      await page.screenshot({ path: `${process.env["SELVEDGE_PICTURES"]}/waf-validation.png`, fullPage: true });
    await previous.getByRole("link", { name: UNION }).click();
    await page.getByRole("table").getByText("www.large.test/old").first().waitFor();
    await page.goBack();

    await page.getByRole("button", { name: "Ready to update" }).click();
    await page.getByRole("button", { name: "Turn off previous version" }).click();
    await turnOff("large.test");
    assert.deepEqual(await statusOf(zone), ["disabled", "enabled", "pending"]);
    const kept = await call("GET", entrypoint);
    assert.deepEqual(
      kept.rules.map(({ action_parameters }: any) => action_parameters.overrides?.action),
      logging.map(({ action_parameters }: any) => action_parameters.overrides?.action),
      "changes made while both versions ran stay",
    );
  });

  test("the page fits a phone, and the tests above break no content security policy", async () => {
    await createZone("small.test", "enterprise");
    const phone = await browser.context({
      viewport: { width: 390, height: 800 },
      colorScheme: "dark",
      storageState: await context.storageState(),
    });
    const small = await phone.newPage();
    await small.goto(`${home()}/zones/small.test/security/managed`);
    await small.getByRole("button", { name: "Review the configuration" }).click();
    await small.getByRole("list", { name: "Rules of the configuration" }).waitFor();
    assert.deepEqual(await textsOutside(small), []);
    assert.deepEqual(await graveViolations(small), []);
    await small.evaluate(`{
      const [cut, long] = ["div", "pre"].map((name) => document.createElement(name));
      cut.style.overflow = "hidden";
      long.textContent = "cut off ".repeat(50);
      cut.append(long);
      document.querySelector("main section").append(cut);
    }`);
    assert.equal((await textsOutside(small)).at(-1)?.startsWith("cut off"), true, "the check sees a text that a card cuts off");
    if (process.env["SELVEDGE_PICTURES"])
      await small.screenshot({ path: `${process.env["SELVEDGE_PICTURES"]}/waf-390.png`, fullPage: true });
    await phone.close();
    assert.deepEqual(browser.faults, []);
  });
});
