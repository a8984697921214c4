import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { readUntil } from "../support/eventually.ts";
import { get, ZONE } from "../support/lively-account.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyzABCD";
/** Valid by its check digit, and published for tests. */
const CARD = "4242424242424242";

/** An operator's daily work with a zone, in a browser and against real planes. */
describe("operations in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let origin: Server;
  let visits = 0;
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  let zoneId: string;
  const home = (): string => new URL(server.ready.api).origin;
  const open = (path: string): Promise<unknown> => page.goto(home() + path);
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready, TOKEN)(method, path, body));

  before(async () => {
    origin = createServer((_req, res) => {
      visits++;
      res.setHeader("cache-control", "max-age=3600").setHeader("content-type", "text/css").end("body {}");
    }).listen(0, "127.0.0.1");
    await once(origin, "listening");
    server = await startSelvedge({
      env: {
        SELVEDGE_BOOTSTRAP_TOKEN: TOKEN,
        SELVEDGE_DEPRECATIONS_AS_OF: "2025-06-01",
        SELVEDGE_EDGE_ORIGIN_PORT: String((origin.address() as AddressInfo).port),
      },
    });
    ({ id: zoneId } = await call("POST", "/zones", { account: { id: server.ready.account_id }, name: ZONE }));
    await call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true });
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
    origin?.closeAllConnections();
    origin?.close();
  });

  /** The names of the certificate that the edge shows. */
  const shown = async (servername: string): Promise<string> => {
    const { hostname: host, port } = new URL(server.ready.https);
    const socket = connect({ host, port: Number(port), servername, rejectUnauthorized: false });
    try {
      await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
      return socket.getPeerCertificate().subjectaltname ?? "";
    } finally {
      socket.destroy();
    }
  };

  test("an upload with the wrong key is refused, and a valid certificate is uploaded and deleted", async () => {
    const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
    const [own, other] = [await ca.issue(["special.shop.example"]), await ca.issue(["special.shop.example"])];
    await open(`/zones/${ZONE}/certificates`);
    await page.getByRole("button", { name: "Upload a certificate" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Certificate" }).fill(own.chain);
    await form.getByRole("textbox", { name: "Private key" }).fill(other.privateKey);
    await form.getByRole("button", { name: "Upload the certificate" }).click();
    await form.getByText(/key/i).last().waitFor();
    assert.deepEqual(await call("GET", `/zones/${zoneId}/custom_certificates`), []);
    await form.getByRole("textbox", { name: "Private key" }).fill(own.privateKey);
    await form.getByRole("button", { name: "Upload the certificate" }).click();
    await form.waitFor({ state: "hidden" });
    await page.getByRole("table", { name: "Uploaded certificates" }).getByText("in use").waitFor();
    assert.equal(await shown("special.shop.example"), "DNS:special.shop.example");
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Delete" }).click();
    await form.getByRole("button", { name: "Delete the certificate" }).click();
    await form.waitFor({ state: "hidden" });
    assert.notEqual(await shown("special.shop.example"), "DNS:special.shop.example");
  });

  test("a text is scanned, and an allowed value is not reported again", async () => {
    await open(`/zones/${ZONE}/security/sensitive-data`);
    await page.getByLabel("Text").fill(`{"order": {"card": "${CARD}"}}`);
    await page.getByRole("button", { name: "Scan", exact: true }).click();
    const findings = page.getByRole("table", { name: "Findings" });
    await findings.getByText("$.order.card").first().waitFor();
    await findings
      .getByRole("button", { name: /^Leave out this/ })
      .first()
      .click();
    await page.getByRole("table", { name: "Left out" }).getByText("one value, everywhere").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    const allowed = await call("GET", `/zones/${zoneId}/sensitive_data/allowed`);
    assert.match(allowed[0].value_hash, /^[0-9a-f]{32}$/);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("table", { name: "Left out" }).waitFor({ state: "detached" });
  });

  test("a link opens one request, and a purged URL is fetched from the origin again", async () => {
    await get(server.ready.http, "/style.css");
    await get(server.ready.http, "/style.css");
    assert.equal(visits, 1, "the second visit is answered from the cache");
    const rows: readonly { ray_id: string; cache_status: string }[] = await readUntil(
      () => call("GET", `/zones/${zoneId}/logs/requests`),
      (all: readonly { ray_id: string; cache_status: string }[]) => all.length === 2,
    );
    await open(`/zones/${ZONE}/traffic`);
    await page.locator(`a[title="${rows[0]?.ray_id}"]`).click();
    await page.getByRole("heading", { name: "GET www.shop.example/style.css", level: 1 }).waitFor();
    await page.getByText(rows[0]?.cache_status ?? "", { exact: true }).waitFor();
    await page.getByText("No security rule matched.").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await open(`/zones/${ZONE}/cache`);
    await page.getByRole("textbox", { name: "Addresses" }).fill("http://www.shop.example/style.css");
    await page.getByRole("button", { name: "Purge", exact: true }).click();
    await page.getByText("Purged.").waitFor();
    await get(server.ready.http, "/style.css");
    assert.equal(visits, 2);
    await page.getByRole("button", { name: "Purge everything" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Purge everything" }).click();
    await page.getByText("Purged.").waitFor();
    await get(server.ready.http, "/style.css");
    assert.equal(visits, 3);
  });

  test("an expression is tested against recent requests before it is saved, and a rule is dragged to the top", async () => {
    await open(`/zones/${ZONE}/security/rules`);
    await page.getByRole("button", { name: "Add a rule" }).first().click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("Third");
    await form.getByLabel("Value of condition 1").fill("/style");
    await form.getByRole("button", { name: "Test against recent requests" }).click();
    await form.getByText(/^4 of the last 4 requests match\.$/).waitFor();
    await form.getByRole("table", { name: "Requests that match" }).getByText("www.shop.example/style.css").first().waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await form.getByLabel("Value of condition 1").fill("/other");
    await form.getByText("requests match.").waitFor({ state: "detached" });
    await form.getByRole("button", { name: "Test against recent requests" }).click();
    await form.getByText("0 of the last 4 requests match.").waitFor();
    await form.getByRole("button", { name: "Cancel" }).click();
    const rule = (description: string) => ({ description, expression: `http.host eq "${description.toLowerCase()}.test"`, action: "log" });
    const path = `/zones/${zoneId}/rulesets/phases/http_request_firewall_custom/entrypoint`;
    await call("PUT", path, { rules: [{ ...rule("Abroad"), expression: 'ip.src.country eq "DE"' }] });
    await open(`/zones/${ZONE}/security/rules`);
    await page.getByText("“Abroad”: ip.src.country is unknown for everybody, because this server has no GeoIP database").waitFor();
    await call("PUT", path, { rules: ["First", "Second", "Third"].map(rule) });
    await open(`/zones/${ZONE}/security/rules`);
    const rows = page.locator("ol > li");
    await rows.nth(2).getByTitle("Drag to change the order").dragTo(rows.nth(0));
    await rows.nth(0).getByText("Third", { exact: true }).waitFor();
    const { rules } = await call("GET", path);
    assert.deepEqual(
      rules.map(({ description }: { description: string }) => description),
      ["Third", "First", "Second"],
    );
    await page.getByRole("button", { name: "Move rule 2 down" }).focus();
    await page.keyboard.press("Enter");
    await rows.nth(2).getByText("First", { exact: true }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "Move rule 3 down");
  });

  test("an import compares first, names each invalid line, and adds the others on request", async () => {
    await open(`/zones/${ZONE}/dns/import`);
    const file = `$ORIGIN ${ZONE}.\n$TTL 300\none A 192.0.2.1\nwrong A 300.1.1.1\ntwo A 192.0.2.2\nmail MX none\n`;
    await page.getByLabel("Choose a zone file").setInputFiles({ name: "zone.txt", mimeType: "text/plain", buffer: Buffer.from(file) });
    await page.getByRole("button", { name: "Compare with the zone" }).click();
    await page.getByText("2 lines cannot be imported").waitFor();
    const lines = await page.getByRole("list", { name: "Changed lines" }).getByRole("listitem").allTextContents();
    assert.deepEqual(
      lines.map((line) => /^\w+/.exec(line)?.[0]),
      ["wrong", "mail", "one", "two"],
    );
    assert.match(lines[0] ?? "", /Line 4: .*IPv4/);
    assert.deepEqual(await graveViolations(page), []);
    const namesOf = async (): Promise<readonly string[]> => {
      const records = await call("GET", `/zones/${zoneId}/dns_records?content.startswith=192.0.2.`);
      return records.map(({ name }: { name: string }) => name).toSorted();
    };
    assert.deepEqual(await namesOf(), [], "a comparison changes nothing");
    await page.getByRole("button", { name: "Import 2 records without 2 lines" }).click();
    await page.getByText("2 records were added.").waitFor();
    assert.deepEqual(await namesOf(), [`one.${ZONE}`, `two.${ZONE}`]);
  });

  test("a secondary nameserver is added, linked to the zone and removed", async () => {
    await open(`/zones/${ZONE}/dns/transfers`);
    await page.getByRole("textbox", { name: "Name" }).fill("ns of a friend");
    await page.getByRole("textbox", { name: "IP address" }).fill("192.0.2.999");
    await page.getByRole("button", { name: "Add the nameserver" }).click();
    await page
      .getByText(/Error|IP address/)
      .last()
      .waitFor();
    await page.getByRole("textbox", { name: "IP address" }).fill("192.0.2.53");
    await page.getByRole("button", { name: "Add the nameserver" }).click();
    await page.getByRole("checkbox", { name: /^ns of a friend/ }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByRole("button", { name: "Turn off" }).waitFor();
    assert.deepEqual(await graveViolations(page), []);
    const { peers } = await call("GET", `/zones/${zoneId}/secondary_dns/outgoing`);
    assert.equal(peers.length, 1);
    await page.getByRole("checkbox", { name: /^ns of a friend/ }).uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("No other server gets this zone.").waitFor();
  });

  test("a zone's identifier in the address leads to its name, with the filters of the page", async () => {
    await open(`/zones/${zoneId}/dns/records?type=A`);
    await page.waitForURL(`${home()}/zones/${ZONE}/dns/records?type=A`);
    await page.getByRole("heading", { name: "DNS records" }).waitFor();
    await open(`/zones/${zoneId.toUpperCase()}`);
    await page.waitForURL(`${home()}/zones/${ZONE}`);
    await open(`/zones/${"0".repeat(32)}/dns/records`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.deepEqual(await graveViolations(page), []);
  });

  test("a user agent is blocked and let through again, and a lockdown admits one address to a page", async () => {
    const seen = (path: string, address: string, agent: string, status: number): Promise<number> =>
      readUntil(
        () => get(server.ready.http, path, address, agent),
        (answered) => answered === status,
      );
    await open(`/zones/${ZONE}/security/visitors`);
    const form = page.getByRole("dialog");
    await page.getByRole("button", { name: "Add a user agent" }).click();
    await form.getByRole("textbox", { name: "User agent" }).fill("BadBot/1.0");
    await form.getByRole("button", { name: "Save the user agent" }).click();
    await page.getByRole("table", { name: "User agents" }).getByText("BadBot/1.0").waitFor();
    await seen("/", "127.0.0.2", "BadBot/1.0", 403);
    await seen("/", "127.0.0.2", "GoodBot/1.0", 200);
    await page.getByRole("button", { name: "Edit BadBot/1.0" }).click();
    await form.getByLabel("On", { exact: true }).click({ force: true });
    await form.getByRole("button", { name: "Save the user agent" }).click();
    await page.getByRole("table", { name: "User agents" }).getByText("off", { exact: true }).waitFor();
    await seen("/", "127.0.0.2", "BadBot/1.0", 200);
    await page.getByRole("button", { name: "Add a lockdown" }).click();
    await form.getByLabel("Pages").fill("www.other.example/staff/*");
    await form.getByLabel("Only these addresses reach them").fill("127.0.0.3");
    await form.getByRole("button", { name: "Save the lockdown" }).click();
    await form.getByText(/must name a host of the zone/).waitFor();
    await form.getByLabel("Pages").fill(`www.${ZONE}/staff/*`);
    assert.deepEqual(await graveViolations(page), []);
    await form.getByRole("button", { name: "Save the lockdown" }).click();
    await page.getByRole("table", { name: "Lockdowns" }).getByText("127.0.0.3").waitFor();
    await seen("/staff/plan", "127.0.0.2", "GoodBot/1.0", 403);
    await seen("/staff/plan", "127.0.0.3", "GoodBot/1.0", 200);
    await page.getByRole("button", { name: `Delete www.${ZONE}/staff/*` }).click();
    await form.getByRole("button", { name: "Delete the rule" }).click();
    await page.getByText("A lockdown closes pages").waitFor();
    await seen("/staff/plan", "127.0.0.2", "GoodBot/1.0", 200);
    await page.getByRole("button", { name: "Add addresses" }).click();
    await form.getByLabel("Addresses, networks or countries").fill("127.0.0.4");
    await form.getByLabel("Action").selectOption("block");
    await form.getByRole("button", { name: "Add 1 rule" }).click();
    await page.getByRole("table", { name: "Addresses" }).getByText("127.0.0.4").waitFor();
    await seen("/", "127.0.0.4", "GoodBot/1.0", 403);
    assert.deepEqual(await graveViolations(page), []);
  });

  test("a rehearsal of a date lists the calls that end, their callers and their replacements", async () => {
    await call("GET", `/zones/${zoneId}/firewall/rules`);
    // Calls are recorded in batches.
    await readUntil(
      () => call("POST", `/accounts/${server.ready.account_id}/deprecations/rehearsals`, { as_of: "2026-01-01" }),
      ({ breaking }: { breaking: number }) => breaking > 0,
    );
    await open("/deprecations");
    await page.getByLabel("Day to rehearse").fill("2026-01-01");
    await page.getByRole("button", { name: "Rehearse", exact: true }).click();
    const changes = page.getByRole("table", { name: "Calls that change" });
    await changes.getByText("gone").waitFor();
    await changes.getByText("GET /zones/:zone_id/firewall/rules").waitFor();
    assert.deepEqual(await graveViolations(page), []);
  });

  const PAGES = ["certificates", "security/sensitive-data", "cache", "dns/transfers"] as const;

  test("the pages above fit a phone and pass the accessibility checks", async () => {
    const phone = await browser.context({
      ...{ viewport: { width: 390, height: 800 }, colorScheme: "dark", storageState: await context.storageState() },
    });
    const small = await phone.newPage();
    for (const path of PAGES) {
      await small.goto(`${home()}/zones/${ZONE}/${path}`);
      await small.getByRole("heading", { level: 1 }).waitFor();
      await small.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
      assert.deepEqual(await textsOutside(small), [], `${path} is too wide`);
      assert.deepEqual(await graveViolations(small), [], path);
      if (process.env["SELVEDGE_PICTURES"])
        await small.screenshot({ path: `${process.env["SELVEDGE_PICTURES"]}/${path.replace("/", "-")}-390.png`, fullPage: true });
    }
    await small.goto(`${home()}/account/lists`);
    const tab = small.getByRole("link", { name: "Lists", exact: true });
    await tab.waitFor();
    const box = await tab.boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 390, "the tab of the page is in view");
    await phone.close();
  });

  test("the tests above break no content security policy, load nothing external and run no injected script", () =>
    assert.deepEqual(browser.faults, []));
});
