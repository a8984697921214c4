import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, type TestBrowser } from "../support/browser.ts";
import { readUntil } from "../support/eventually.ts";
import {
  CANARY,
  chat,
  fillAccount,
  GATEWAY,
  get,
  startSurroundings,
  type Surroundings,
  visitSite,
  ZONE,
} from "../support/lively-account.ts";
import { reportPages } from "../support/page-reports.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyzABCD";
const DAY_MS = 86_400_000;
const SHIFTED = new URL("../support/shifted-clock.ts", import.meta.url).href;

/** Typical searches in an account with visitors, attacks and chats, some of them from yesterday. */
describe("the dashboard of an account with traffic", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let around: Surroundings;
  let dataDir: string;
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  let zoneId: string;
  const origin = (): string => new URL(server.ready.api).origin;
  const start = (env: Readonly<Record<string, string>> = {}): Promise<Selvedge> =>
    startSelvedge({
      dataDir,
      args: around.args,
      env: { SELVEDGE_BOOTSTRAP_TOKEN: TOKEN, SELVEDGE_EDGE_GEOIP_DATABASES: join(dataDir, "places.mmdb"), ...env },
    });
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready, TOKEN)(method, path, body));
  const open = (path: string): Promise<unknown> => page.goto(origin() + path);

  before(async () => {
    around = await startSurroundings();
    dataDir = await mkdtemp(join(tmpdir(), "selvedge-lively-"));
    await writeFile(join(dataDir, "places.mmdb"), around.places);
    server = await start({ NODE_OPTIONS: `--import ${SHIFTED}`, TEST_CLOCK_SHIFT_MS: String(-DAY_MS) });
    ({ zoneId } = await fillAccount(server, TOKEN, around.originPort));
    await chat(server);
    await server.stop();
    server = await start();
    await readUntil(
      () => get(server.ready.http, "/"),
      (status) => status === 200,
    );
    await visitSite(server);
    await chat(server);
    await readUntil(
      () => call("GET", `/zones/${zoneId}/security/events`),
      ({ length }: { length: number }) => length === 4,
    );
    browser = await startBrowser(origin);
    context = await browser.context({ timezoneId: "UTC" });
    const signedIn = await fetch(`${server.ready.api}/user/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: "{}",
    });
    const [name = "", value = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=") ?? [];
    await context.addCookies([{ name, value, url: origin(), httpOnly: true, sameSite: "Strict" }]);
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.stop().catch(() => undefined);
    await around?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("three clicks from the first page show yesterday's spend by team", async () => {
    await open("/");
    await page.getByRole("link", { name: "AI gateway" }).click();
    await page.getByLabel("Time", { exact: true }).selectOption("yesterday");
    await page.getByLabel("By", { exact: true }).selectOption("team");
    const spend = page.getByRole("table", { name: "Spend by team" });
    await spend.getByRole("cell", { name: "search" }).waitFor();
    const rows = await spend.getByRole("row").allInnerTexts();
    const yesterday = await call("GET", `/accounts/${server.ready.account_id}/ai-gateway/gateways/${GATEWAY}/logs?per_page=50`);
    assert.equal(yesterday.length, 8, "four of yesterday and four of today");
    assert.deepEqual(
      rows.slice(1).map((row) => row.split(/\s+/).slice(0, 2)),
      [
        ["search", "2"],
        ["support", "2"],
      ],
    );
    assert.match(page.url(), /time=yesterday.*by=team|by=team.*time=yesterday/);
    assert.deepEqual(await graveViolations(page), []);
  });

  test("a zone's charts: the figure selects the series, a click on a bar zooms in, and Back zooms out", async () => {
    await open(`/zones/${ZONE}?time=1h`);
    const figures = page.getByRole("group", { name: "Metric of the chart" });
    const logged: readonly { status: number; bytes_out: number }[] = await call("GET", `/zones/${zoneId}/logs/requests?per_page=1000`);
    assert.equal(logged.filter(({ status }) => status >= 400).length, 6);
    await figures.getByRole("button", { name: `Requests ${logged.length}` }).waitFor();
    await figures.getByRole("button", { name: `4xx and 5xx 6 (${Math.round((6 / logged.length) * 100)} %)` }).waitFor();
    const sent = logged.reduce((sum, { bytes_out: bytes }) => sum + bytes, 0);
    await figures.getByRole("button", { name: `Bandwidth ${(sent / 1024).toFixed(1)} KB` }).click();
    await page.getByRole("img", { name: /^Bytes sent to visitors/ }).waitFor();
    await figures.getByRole("button", { name: /^From the cache \d+ %/ }).click();
    await page.getByRole("img", { name: /^Requests answered from the cache/ }).waitFor();
    await figures.getByRole("button", { name: /Security events\s*4/ }).click();
    const chart = page.getByRole("img", { name: /^Security events by action/ });
    await page.getByRole("region", { name: "Rules" }).getByText("Admin from outside the office").waitFor();
    const box = await chart.boundingBox();
    assert.ok(box);
    await page.mouse.click(box.x + box.width - 30, box.y + 60);
    await page.waitForURL(/since=.*until=/);
    await page.getByRole("button", { name: /^Remove the filter Time/ }).waitFor();
    await page.goBack();
    await page.getByLabel("Time", { exact: true }).waitFor();
    assert.equal(await page.getByLabel("Time", { exact: true }).inputValue(), "1h");
    await page
      .getByRole("region", { name: "Paths" })
      .getByRole("button", { name: /\/search/ })
      .click();
    await page.getByRole("heading", { name: "Security events", level: 1 }).waitFor();
    await page
      .getByRole("link", { name: /\d\d:\d\d/ })
      .nth(1)
      .waitFor();
    assert.equal(new URL(page.url()).searchParams.get("path"), "/search");
  });

  test("an event shows why a request was blocked, and its draft exception allows only that argument", async () => {
    const attack = `/search?q=${encodeURIComponent("1' union select password from users--")}`;
    assert.equal(await get(server.ready.http, attack), 403);
    await open(`/zones/${ZONE}/security/events?path=/search`);
    await page
      .getByRole("row")
      .filter({ hasText: "SQL injection" })
      .getByRole("link", { name: /\d\d:\d\d/ })
      .first()
      .click();
    await page.getByRole("cell", { name: "the query argument q" }).waitFor();
    const before = await call("GET", `/zones/${zoneId}/rulesets/phases/http_request_firewall_managed/entrypoint`);
    await page.getByRole("button", { name: "Allow this" }).click();
    const added = page.getByRole("listitem").filter({ hasText: "http.request.uri.args" });
    await added.getByText('http.host eq "www.shop.example"').waitFor();
    await page.getByRole("button", { name: "Test against recent requests" }).click();
    await page.getByText(/^\d+ of the last \d+ requests match\.$/).waitFor();
    assert.deepEqual(await graveViolations(page), []);
    assert.deepEqual(
      await call("GET", `/zones/${zoneId}/rulesets/phases/http_request_firewall_managed/entrypoint`),
      before,
      "a draft writes nothing",
    );
    await page.getByRole("button", { name: "Save the exception" }).click();
    await page.getByText("The exception is saved").waitFor();
    assert.equal(await page.evaluate("document.activeElement.id"), "main");
    await page.getByText("It passes to the origin").waitFor();
    assert.equal(await get(server.ready.http, attack), 200);
    assert.equal(await get(server.ready.http, attack.replace("?q=", "?other=")), 403);
  });

  test("a rule is built from rows or in the editor, which marks errors, and another phase has its own form", async () => {
    await open(`/zones/${ZONE}/security/rules`);
    await page.getByRole("button", { name: "Add a rule" }).first().click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("Wages are for Germany");
    await form.getByLabel("Value of condition 1").fill("");
    await form.getByRole("button", { name: "Save the rule" }).click();
    await form.locator("input:focus:invalid").waitFor();
    await form.getByLabel("Value of condition 1").fill("/wages");
    await form.getByRole("button", { name: "Add a condition" }).click();
    await form.getByLabel("Comparison of condition 2").selectOption("not in");
    await form.getByLabel("Value of condition 2").fill("DE Austria");
    await form.getByText("Germany, “Austria” is not the code of a country").waitFor();
    await form.getByLabel("Value of condition 2").fill("DE AT");
    await form.getByText("Germany, Austria").waitFor();
    await form.getByLabel("Comparison of condition 2").selectOption("ne");
    await form.getByLabel("Value of condition 2").selectOption({ label: "Germany" });
    await form.getByLabel("How the expression is made").selectOption("write");
    const editor = form.getByRole("textbox", { name: "Expression" });
    const write = async (expression: string): Promise<void> => {
      await editor.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.type(expression);
    };
    await write('http.request.uri.pat contains "/wages"');
    await form
      .getByText(/unknown field/)
      .first()
      .waitFor();
    await write("ip.src.coun");
    const completions = form.getByRole("listbox", { name: "Completions" });
    await completions.waitFor();
    await page.keyboard.press("Escape");
    await completions.waitFor({ state: "detached" });
    await editor.press("t");
    await completions.getByRole("option", { name: "ip.src.country" }).click();
    await form.getByText("ip.src.country", { exact: true }).waitFor();
    await write('http.request.uri.path contains "/wages" and ip.src.country ne "DE"');
    await form.getByText("The expression can be read.").waitFor();
    await form.getByLabel("How the expression is made").selectOption("build");
    assert.equal(await form.getByLabel("Value of condition 2").inputValue(), "DE");
    assert.deepEqual(await graveViolations(page), []);
    await form.getByRole("button", { name: "Save the rule" }).click();
    await page.getByText("Wages are for Germany").waitFor();
    assert.equal(await get(server.ready.http, "/wages", "127.0.0.3"), 403);
    assert.equal(await get(server.ready.http, "/wages", "127.0.0.2"), 200);
    await open(`/zones/${ZONE}/security/rules?phase=http_request_dynamic_redirect`);
    await page.getByRole("button", { name: "Add a rule" }).first().click();
    await form.getByLabel("Value of condition 1").fill("/old");
    await form.getByLabel("To", { exact: true }).fill("https://www.shop.example/new");
    await form.getByRole("button", { name: "Save the rule" }).click();
    await page.getByText("A rule without a name").waitFor();
    assert.equal(await get(server.ready.http, "/old"), 302);
  });

  test("an event and a request with long paths fit a phone, and the keyboard scrolls them", async () => {
    const path = `/wages/${"a".repeat(200)}`;
    assert.equal(await get(server.ready.http, `${path}?q=${encodeURIComponent("1' union select password from users--")}`), 403);
    const [event] = await readUntil(
      () => call("GET", `/zones/${zoneId}/security/events?path=${path}`),
      (found: any[]) => found.length > 0,
    );
    const [request] = await readUntil(
      () => call("GET", `/zones/${zoneId}/logs/requests?ray_id=${event.ray_id}`),
      (found: any[]) => found.length > 0,
    );
    const size = page.viewportSize() ?? { width: 1280, height: 800 };
    await page.setViewportSize({ width: 390, height: 844 });
    try {
      for (const place of [`security/events/${event.id}?at=${event.occurred_at}`, `traffic/requests/${request.ray_id}`]) {
        await open(`/zones/${ZONE}/${place}`);
        await page.getByText("127.0.0.2").first().waitFor();
        const overflow = await page.locator("main").evaluate((main) => main.scrollWidth - main.clientWidth);
        assert.equal(overflow, 0, place);
        assert.deepEqual(await graveViolations(page), []);
      }
      await page.getByRole("link", { name: "127.0.0.2" }).click();
      await page.waitForURL(/client_ip=127\.0\.0\.2/);
    } finally {
      await page.setViewportSize(size);
    }
  });

  test("the list of requests follows the edge, stays as it is while it is paused, and catches up", async () => {
    await open(`/zones/${ZONE}/traffic`);
    await page.getByLabel("Live", { exact: true }).locator("option", { hasText: "Live" }).waitFor({ state: "attached" });
    const list = page.getByRole("table", { name: "Requests" });
    assert.equal(await get(server.ready.http, "/live-1"), 200);
    await list.getByText("/live-1").waitFor();
    await page.getByLabel("Live", { exact: true }).selectOption("off");
    const answered = page.waitForResponse((response) => response.url().endsWith("/logs/requests/tail?"));
    assert.equal(await get(server.ready.http, "/live-2"), 200);
    assert.equal(await list.getByText("/live-2").count(), 0);
    await page.getByLabel("Live", { exact: true }).selectOption("on");
    assert.equal((await answered).headers()["content-type"], "text/event-stream");
    await list.getByText("/live-2").waitFor();
    assert.equal(await list.getByText("/live-1").count(), 1, "in the list once");
    await list.getByRole("button", { name: "127.0.0.2" }).first().click();
    assert.equal(await get(server.ready.http, "/live-3", "127.0.0.3"), 200);
    assert.equal(await get(server.ready.http, "/live-4"), 200);
    await list.getByText("/live-4").waitFor();
    assert.equal(await list.getByText("/live-3").count(), 0, "the filter holds for new requests");
    assert.deepEqual(await graveViolations(page), []);
    const following = page.waitForResponse((response) => response.url().includes("/security/events/tail?"));
    await open(`/zones/${ZONE}/security/events`);
    assert.equal((await following).status(), 200);
    assert.equal(await get(server.ready.http, "/admin/live-5"), 403);
    await page.getByRole("table", { name: "Security events" }).getByText("/admin/live-5").waitFor();
  });

  test("a chat is tried through a gateway, with a token that the page creates", async () => {
    await open(`/gateways/${GATEWAY}/try`);
    await page.getByLabel("Message").fill("Which shoes are for rain?");
    await page.getByLabel("Provider key").fill("sk-of-the-test");
    await page.getByRole("button", { name: "Create a token for one hour" }).click();
    const token = page.getByLabel("Gateway token");
    await readUntil(
      () => token.inputValue(),
      (value) => value !== "",
    );
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(`Of course. ${CANARY}`).waitFor();
    await page.getByText("412 in, 96 out").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Show its log" }).click();
    await page.getByRole("dialog").getByText("gpt-4o-mini (openai)").waitFor();
    await page.keyboard.press("Escape");
    await page.waitForFunction("document.activeElement.matches('button') && document.activeElement.textContent === 'Show its log'");
    await page.getByRole("button", { name: /API call/ }).click();
    assert.equal(await page.getByText("sk-of-the-test").count(), 0, "the panel with the calls does not show keys");
    const tried = (body: object) =>
      apiCaller(server.ready, TOKEN)("POST", `/accounts/${server.ready.account_id}/ai-gateway/gateways/${GATEWAY}/try`, body);
    for (const [body, message] of [
      [{ headers: { "x-forwarded-for": "192.0.2.1" } }, /x-forwarded-for is neither a credential/],
      [{ headers: { authorization: "a\r\nb: c" } }, /a character that headers cannot have/],
      [{ endpoint: "../../zones" }, /endpoint/],
    ] as const) {
      const { status, body: answer } = await tried({ endpoint: "compat/chat/completions", query: {}, ...body });
      assert.equal(status, 400);
      assert.match(answer.errors[0]?.message ?? "", message);
    }
    const { body: unknown } = await tried({ endpoint: "nobody/chat/completions", query: {} });
    assert.deepEqual([unknown.success, unknown.result.status], [true, 400], "the gateway's own refusal is the result");
    const gateway = `/accounts/${server.ready.account_id}/ai-gateway/gateways/${GATEWAY}`;
    const settings = await call("GET", gateway);
    await call("PUT", gateway, { ...settings, authentication: true });
    const { body: refused } = await tried({ endpoint: "compat/chat/completions", query: { model: "openai/gpt-4o", messages: [] } });
    assert.equal(refused.result.status, 401, "the caller's own token is not sent to the gateway");
    await call("PUT", gateway, settings);
  });

  test("a managed rule is turned off after a preview, and a test request shows the effect of the rules", async () => {
    const attack = `/find?q=${encodeURIComponent("<script>alert(1)</script>")}`;
    assert.equal(await get(server.ready.http, attack), 403);
    await open(`/zones/${ZONE}/security/managed`);
    await page.getByRole("link", { name: "Managed Ruleset", exact: true }).click();
    await page.getByLabel("Search rules").fill("xss");
    await page.getByLabel("Action of xss").selectOption("log");
    await page.getByText("default → log").waitFor();
    assert.equal(await get(server.ready.http, attack), 403, "nothing is written before it is saved");
    await page.getByRole("button", { name: "Save the changes" }).click();
    await page.getByText("not saved yet").waitFor({ state: "detached" });
    assert.equal(await get(server.ready.http, attack), 200);
    await open(`/zones/${ZONE}/security/try?url=${encodeURIComponent(`http://www.${ZONE}/admin`)}`);
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("block in Custom rules").waitFor();
    assert.deepEqual(await graveViolations(page), []);
  });

  test("the user queries the nameserver, edits records in bulk after a preview, and reverts that version", async () => {
    await open(`/zones/${ZONE}/dns/ask?name=www`);
    await page.getByText("is proxied, so the answer contains").waitFor();
    await page.getByText(`www.${ZONE}.\t`).waitFor();
    await page.getByLabel("Name").fill("nowhere");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("NXDOMAIN", { exact: true }).waitFor();
    await open(`/zones/${ZONE}/dns/records?type=MX,TXT`);
    await page.getByLabel(/^Select MX/).check();
    await page.getByLabel(/^Select TXT/).check();
    const bulk = page.getByRole("toolbar", { name: "Actions for the selected records" });
    await bulk.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("TTL").selectOption("300");
    assert.equal(await form.getByRole("list", { name: "Preview" }).getByText("ttl 300").count(), 2);
    await form.getByRole("button", { name: "Change 2 records" }).click();
    await form.waitFor({ state: "hidden" });
    const ttls = async (): Promise<readonly number[]> =>
      (await call("GET", `/zones/${zoneId}/dns_records?type=MX&type=TXT`)).map(({ ttl }: { ttl: number }) => ttl);
    assert.deepEqual(await ttls(), [300, 300]);
    await open(`/zones/${ZONE}/dns/versions`);
    await page.getByRole("table", { name: "Versions" }).getByRole("button").first().click();
    await page.getByText(`canary.${ZONE} 300 TXT`).waitFor();
    await page.getByRole("button", { name: "Undo this write" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Undo it" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    assert.deepEqual(await ttls(), [1, 1]);
    await open(`/zones/${ZONE}/dns/settings`);
    await page.getByLabel("TTL of the NS records").fill("7");
    await page.getByRole("button", { name: "Save the settings" }).click();
    await page.getByText(/must be at least 30/).waitFor();
    await page.getByLabel("TTL of the NS records").fill("3600");
    let isRead = false;
    await page.route(/dns_settings$/, async (route) => {
      if (route.request().method() === "GET") {
        // The settings are read again after they are saved; what is typed until then stays.
        await page.getByLabel("Refresh").fill("7200");
        isRead = true;
      }
      await route.continue();
    });
    await page.getByRole("button", { name: "Save the settings" }).click();
    await readUntil(
      () => call("GET", `/zones/${zoneId}/dns_settings`),
      (settings: { ns_ttl: number }) => settings.ns_ttl === 3600 && isRead,
    );
    await page.unroute(/dns_settings$/);
    await page.getByRole("button", { name: "Save the settings" }).click();
    await page.getByText(/Only Enterprise/).waitFor();
  });

  test("a pending custom hostname shows the next step and each record to copy", async () => {
    await open(`/zones/${ZONE}/hostnames`);
    await page.getByRole("link", { name: "app.customer.example" }).click();
    await page.getByText("The zone has no fallback origin.").waitFor();
    const name = page.getByLabel("CNAME record app.customer.example");
    await name.getByText(ZONE, { exact: true }).waitFor();
    await page.getByLabel("CNAME record _acme-challenge.app.customer.example").first().waitFor();
    await page.getByLabel("Fallback origin").selectOption(`www.${ZONE}`);
    await page.getByRole("button", { name: "Make it the fallback origin" }).click();
    await page.getByText(`Requests go to www.${ZONE}.`).waitFor();
    await name.getByText(`www.${ZONE}`).waitFor();
    assert.deepEqual(await graveViolations(page), []);
  });

  test("a policy sends a test to a webhook and lists it as sent", async () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      request.setEncoding("utf8").on("data", (chunk: string) => received.push(chunk));
      response.end();
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    try {
      await open("/account/notifications");
      await page.getByRole("button", { name: "Create a webhook" }).click();
      const form = page.getByRole("dialog");
      await form.getByLabel("Name").fill("pager");
      await form.getByLabel("Address").fill("ftp://127.0.0.1/");
      await form.getByRole("button", { name: "Create the webhook" }).click();
      await form.getByRole("alert").waitFor();
      await form.getByLabel("Address").fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
      await form.getByRole("button", { name: "Create the webhook" }).click();
      await form.waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Create a policy" }).click();
      await form.getByLabel("Alert", { exact: true }).selectOption("zone_moved");
      await form.getByLabel("Name").fill("Zones that go");
      await form.getByLabel("pager").check();
      await form.getByRole("button", { name: "Create the policy" }).click();
      await form.waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Send a test" }).click();
      const sent = page.getByRole("table", { name: "Sent notifications" });
      await sent.getByText("sent", { exact: true }).waitFor();
      assert.match(received.join(""), /Zones that go/);
      assert.deepEqual(await graveViolations(page), []);
      await page.getByRole("button", { name: "Turn off" }).click();
      await page.getByRole("button", { name: "Turn on" }).waitFor();
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  test("a list is created, filled from lines with comments, searched, and loses an item", async () => {
    await open("/account/lists");
    await page.getByRole("button", { name: "Create a list" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("office");
    await form.getByRole("button", { name: "Create the list" }).click();
    await page.getByRole("link", { name: "office" }).click();
    await page.getByRole("button", { name: "Add items" }).click();
    await form.getByLabel("Items").fill("192.0.2.0/24 # Berlin\n2001:db8::/32\n300.1.1.1");
    await form.getByRole("button", { name: "Add 3" }).click();
    await form.getByText("300.1.1.1").last().waitFor();
    await form.getByLabel("Items").fill("192.0.2.0/24 # Berlin\n\n2001:db8::/32");
    await form.getByRole("button", { name: "Add 2" }).click();
    await form.waitFor({ state: "hidden" });
    const items = page.getByRole("table", { name: "Items" });
    await items.getByText("Berlin").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.getByLabel("Search items").fill("2001");
    await items.getByText("Berlin").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete 2001:db8::/32" }).click();
    await page.getByText("No item matches").waitFor();
    const [list] = await call("GET", `/accounts/${server.ready.account_id}/rules/lists`);
    assert.equal(list.num_items, 1);
  });

  test("a dynamic route is created from a template, seen as a picture, gets a second version and is deployed", async () => {
    await open(`/gateways/${GATEWAY}/routes`);
    await page.getByRole("button", { name: "Create a route" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("chat");
    await form.getByLabel("Start with").selectOption("condition");
    await form.getByText("metadata.plan = free").waitFor();
    const elements = form.getByLabel("Elements");
    const good = await elements.inputValue();
    await elements.fill(good.replace("[", "[["));
    await form.getByText(/JSON/).waitFor();
    await elements.fill(good.replace('"small"', '"lost"'));
    await form.getByText("lost is missing").waitFor();
    await form.getByRole("button", { name: "Create and deploy" }).click();
    await form.getByText("first: element lost does not exist").waitFor();
    await elements.fill(good);
    assert.deepEqual(await graveViolations(page), []);
    await form.getByRole("button", { name: "Create and deploy" }).click();
    await page.getByText("openai/gpt-4o-mini").waitFor();
    await page.getByRole("button", { name: "New version" }).click();
    await elements.fill(good.replaceAll("gpt-4o-mini", "gpt-4.1-nano"));
    await form.getByRole("button", { name: "Create the version" }).click();
    await page.getByText("2 versions").click();
    await page.getByRole("button", { name: /^Deploy the version/ }).click();
    await page.getByText("openai/gpt-4.1-nano").waitFor();
    const [route] = await call("GET", `/accounts/${server.ready.account_id}/ai-gateway/gateways/${GATEWAY}/routes`);
    assert.equal(route.elements.find(({ id }: { id: string }) => id === "small").properties.model, "gpt-4.1-nano");
    assert.deepEqual(await graveViolations(page), []);
  });

  test("a team's requests become a dataset, and an evaluation of it has figures", async () => {
    await open(`/gateways/${GATEWAY}/datasets`);
    await page.getByRole("button", { name: "Create a dataset" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("Search <img src=x onerror=alert(1)>");
    await form.getByLabel("Field of filter 1").selectOption("metadata.value");
    await form.getByLabel("Value of filter 1").fill("search");
    await form.getByRole("button", { name: "Create the dataset" }).click();
    await page.getByText("metadata.value is search").waitFor();
    await page.getByRole("button", { name: "Evaluate", exact: true }).click();
    await form.getByLabel("Name").fill("Today");
    assert.deepEqual(await graveViolations(page), []);
    await form.getByRole("button", { name: "Evaluate", exact: true }).click();
    const row = page.getByRole("table", { name: "Evaluations" }).getByRole("row").nth(1);
    await row.getByText("Speed").waitFor();
    const [evaluation] = await call("GET", `/accounts/${server.ready.account_id}/ai-gateway/gateways/${GATEWAY}/evaluations`);
    assert.equal(evaluation.total_logs, 4, "two of yesterday and two of today");
    assert.ok((await row.innerText()).includes(evaluation.results[0].result));
    await page.getByRole("button", { name: /^Delete the dataset Search/ }).click();
    await form.getByRole("button", { name: "Delete the dataset" }).click();
    await page.getByText("No datasets yet").waitFor();
    assert.equal(await page.locator("img[src='x']").count(), 0);
  });

  const HOSTILE = [
    [`/zones/${ZONE}/security/events`, "onerror%3Dalert"],
    [`/zones/${ZONE}/traffic`, "onerror%3Dalert"],
    [`/zones/${ZONE}/dns/records?search=canary`, "<img src=x"],
    [`/gateways/${GATEWAY}/requests`, "<img src=x"],
    ["/gateways?by=user", "<img src=x"],
    [`/zones/${ZONE}/hostnames`, "app.customer.example"],
  ] as const;

  test("every page shows content of visitors, customers and providers as text", async () => {
    for (const [path, text] of HOSTILE) {
      await open(path);
      await page.getByText(text).first().waitFor();
      assert.equal(await page.locator("img[src='x']").count(), 0, path);
    }
    await open(`/gateways/${GATEWAY}/requests`);
    await page.getByRole("table", { name: "Requests of the gateway" }).getByRole("button").first().click();
    await page.getByRole("dialog").getByText("Of course. <img src=x").waitFor();
    await open(`/zones/${ZONE}/security/events?path.contains=/admin/%25`);
    await page
      .getByRole("link", { name: /\d\d:\d\d/ })
      .first()
      .click();
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
  });

  test("Page Shield is turned on, lists what browsers report, and a policy is written, changed and deleted", async () => {
    await open(`/zones/${ZONE}/security/page-shield`);
    await page.getByText("Turn it on above").waitFor();
    await page.getByLabel("Have browsers report what pages load").click({ force: true });
    await page.getByText("No browser has reported a script yet").waitFor();
    assert.equal((await call("GET", `/zones/${zoneId}/page_shield`)).enabled, true);
    await readUntil(
      async () => {
        await reportPages(server);
        return call("GET", `/zones/${zoneId}/page_shield/cookies`);
      },
      ({ length }: { length: number }) => length === 1,
    );
    await readUntil(
      () => call("GET", `/zones/${zoneId}/page_shield/scripts`),
      ({ length }: { length: number }) => length === 3,
    );
    await page.reload();
    await page.getByRole("button", { name: "https://cdn.pay.example/v3/checkout-widget.min.js" }).click();
    await page.getByRole("dialog").getByText("has not been fetched yet").waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Find by host").fill("metrics");
    await page.getByRole("button", { name: "https://cdn.pay.example/v3/checkout-widget.min.js" }).waitFor({ state: "detached" });
    assert.match(page.url(), /find=metrics/);
    const tabs = page.getByRole("navigation", { name: "Page Shield" });
    await tabs.getByRole("link", { name: "Cookies" }).click();
    await page.getByRole("cell", { name: "basket" }).waitFor();
    await tabs.getByRole("link", { name: "Policies" }).click();
    await page.getByRole("button", { name: "Add a policy" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("Checkout");
    await form.getByLabel("Content Security Policy").fill("script-sources 'self'");
    await form.getByRole("button", { name: "Save the policy" }).click();
    await form.getByText("script-sources is not a directive").waitFor();
    await form.getByLabel("Content Security Policy").fill("script-src 'self' cdn.pay.example");
    await form.getByRole("button", { name: "Save the policy" }).click();
    await page.getByRole("button", { name: "Edit Checkout" }).click();
    await form.getByLabel("Then").selectOption("allow");
    await form.getByRole("button", { name: "Save the policy" }).click();
    await page.getByRole("cell", { name: "Enforce" }).waitFor();
    const [policy] = await call("GET", `/zones/${zoneId}/page_shield/policies`);
    assert.deepEqual([policy.action, policy.value], ["allow", "script-src 'self' cdn.pay.example"]);
    await page.getByRole("button", { name: "Show this page as API calls" }).click();
    await page.getByRole("dialog").getByText("page_shield/policies").first().waitFor();
    await page.keyboard.press("Escape");
    for (const list of ["", "/connections", "/cookies", "/policies"]) {
      await open(`/zones/${ZONE}/security/page-shield${list}`);
      await page.getByRole("table").first().waitFor();
      assert.deepEqual(await graveViolations(page), [], list);
    }
    await page.getByRole("button", { name: "Delete Checkout" }).click();
    await page.getByRole("button", { name: "Delete the policy" }).click();
    await page.getByText("Let browsers load what you know").waitFor();
  });

  test("the tests above break no content security policy, load nothing external and run no injected script", () =>
    assert.deepEqual(browser.faults, []));
});
