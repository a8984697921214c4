import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page, Route } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, type TestBrowser } from "../support/browser.ts";
import { readUntil } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const API = "**/client/v4/**";
const envelope = (code: number, message: string) =>
  JSON.stringify({ success: false, errors: [{ code, message }], messages: [], result: null });

/** Pages while something is missing: the server, a permission, an object, a network. */
describe("states of the dashboard's pages", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  let zoneId: string;
  const open = (path: string): Promise<unknown> => page.goto(new URL(path, server.ready.api).href);
  const heading = (name: string | RegExp): Promise<void> => page.getByRole("heading", { name, level: 1 }).waitFor();

  before(async () => {
    server = await startSelvedge();
    const call = apiCaller(server.ready);
    const account = { id: server.ready.account_id };
    ({ id: zoneId } = await succeed(call("POST", "/zones", { account, name: "shop.example" })));
    await succeed(call("POST", "/zones", { account, name: "bücher.example" }));
    browser = await startBrowser(() => new URL(server.ready.api).origin);
    context = await browser.context();
    page = await context.newPage();
    await open("/");
    await page.getByLabel("Token from the terminal").fill(server.ready.token ?? "");
    await page.getByLabel("Your e-mail").fill("ada@example.com");
    await page.locator("input[name=password]").fill("correct horse battery");
    await page.getByRole("button", { name: "Create the first user" }).click();
    await heading("Home");
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("the page of a server that does not answer says so instead of asking for a password, and comes back by itself", async () => {
    const failures: Readonly<Record<string, (route: Route) => Promise<void>>> = {
      "An unknown error": (route) =>
        route.fulfill({ status: 500, contentType: "application/json", body: envelope(10013, "An unknown error") }),
      "The server answered 502 without an explanation.": (route) => route.fulfill({ status: 502, body: "<h1>Bad gateway</h1>" }),
      "The answer of the server arrived in part.": (route) => route.fulfill({ status: 200, body: '{"success":tr' }),
      "The server cannot be reached.": (route) => route.abort("connectionreset"),
    };
    for (const [said, fail] of Object.entries(failures)) {
      await page.route(API, fail);
      await open("/zones/shop.example/dns/records");
      await heading("This could not be loaded");
      await page.getByText(said).waitFor();
      assert.equal(await page.getByLabel("E-mail").count(), 0);
      assert.deepEqual(await graveViolations(page), []);
      // The page may come back by itself before a click that waits for the button.
      const again = await page.getByRole("button", { name: "Try again" }).elementHandle();
      await page.unroute(API);
      // The first time, the page is left alone.
      if (said !== Object.keys(failures)[0]) await again?.dispatchEvent("click");
      await heading("DNS records");
    }
  });

  test("a busy API is waited for if it is soon free, and otherwise the page says when", async () => {
    const zones = "**/client/v4/zones?**";
    const limit = (seconds: string) => (route: Route) =>
      route.fulfill({
        status: 429,
        headers: { "retry-after": seconds },
        contentType: "application/json",
        body: envelope(971, "Too many requests."),
      });
    await page.route(zones, limit("1"), { times: 1 });
    await open("/zones/shop.example/dns/records");
    await heading("DNS records");
    await page.route(zones, limit("90"));
    await open("/zones/shop.example/dns/records");
    await page.getByText("Too many requests. Try again in 2 min.").waitFor();
    await page.unroute(zones);
  });

  test("a write that is cut off says that it may have been done, and keeps what was typed", async () => {
    await open("/zones?add=1");
    await page.getByLabel("Domain").fill("cut.example");
    await page.route(API, (route) => route.abort("connectionreset"));
    await page.getByRole("button", { name: "Add the zone" }).click();
    await page.getByText(/The server cannot be reached.*may have been made/).waitFor();
    assert.equal(await page.getByLabel("Domain").inputValue(), "cut.example");
    await page.unroute(API);
  });

  test("without a network, the next page says so in its place", async () => {
    await open("/zones/shop.example");
    await heading("shop.example");
    await context.setOffline(true);
    await page.getByRole("link", { name: "Zone transfers" }).click();
    await page.getByText("The server cannot be reached.").waitFor();
    await context.setOffline(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await heading("Zone transfers");
  });

  test("a page keeps what it shows while later reads fail, says that it is not up to date, and reads again on request", async () => {
    const failures: Readonly<Record<string, (route: Route) => Promise<void>>> = {
      "The server answered 502 without an explanation.": (route) => route.fulfill({ status: 502, body: "<h1>Bad gateway</h1>" }),
      "Too many requests. Try again in 2 min.": (route) =>
        route.fulfill({
          status: 429,
          headers: { "retry-after": "90" },
          contentType: "application/json",
          body: envelope(971, "Too many requests."),
        }),
      "The server cannot be reached.": (route) => route.abort("connectionreset"),
    };
    const zone = "/zones/shop.example";
    const pages = [
      "/",
      "/zones",
      zone,
      `${zone}/dns/records`,
      `${zone}/dns/dnssec`,
      `${zone}/security/rules`,
      `${zone}/settings`,
      "/account",
    ];
    for (const [at, path] of pages.entries()) {
      const [said, fail] = Object.entries(failures)[at % 3] ?? assert.fail();
      await open(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
      const shown = await page.locator("main").innerText();
      assert.ok(!shown.includes("could not be loaded"), shown);
      await page.route(API, fail);
      // A browser whose network comes back reads everything again.
      await context.setOffline(true);
      await context.setOffline(false);
      const notice = page.getByRole("status").filter({ hasText: "Not up to date" });
      await notice.getByText(said).waitFor();
      await page.unroute(API);
      assert.match(await notice.innerText(), /This page shows the state of \d\d:\d\d:\d\d/);
      const kept = await page.locator("main").innerText();
      assert.ok(!kept.includes("could not be loaded"), `${path}: ${kept}`);
      // Figures may have arrived in between, but nothing may have gone.
      assert.ok(kept.length >= shown.length, `${path}: ${kept} instead of ${shown}`);
      assert.deepEqual(await graveViolations(page), []);
      await page.getByRole("button", { name: "Try again" }).click();
      await notice.waitFor({ state: "detached" });
    }
  });

  test("a list that another user deleted leaves the page at the next read", async () => {
    const call = apiCaller(server.ready);
    const lists = `/accounts/${server.ready.account_id}/rules/lists`;
    const { id } = await succeed(call("POST", lists, { name: "offices", kind: "ip" }));
    await open(`/account/lists/${id}`);
    await heading("offices");
    await succeed(call("DELETE", `${lists}/${id}`));
    await context.setOffline(true);
    await context.setOffline(false);
    await heading("Not found");
  });

  test("the navigation and the reads of a page do not wait for the answer who is signed in", async () => {
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    await page.route("**/client/v4/user", (route) => seen.then(() => route.continue()));
    await open("/zones/shop.example/dns/records");
    await heading("DNS records");
    await page.getByRole("link", { name: "Ask the nameserver" }).waitFor();
    assert.equal(await page.getByText("ada@example.com").count(), 0);
    see();
    await page.getByText("ada@example.com").waitFor();
    await page.unroute("**/client/v4/user");
  });

  test("until the code of the first page has been loaded, the document says so", async () => {
    const held = Promise.withResolvers<void>();
    await page.route("**/assets/home-*.js", (route) => held.promise.then(() => route.continue()));
    await page.goto(new URL("/", server.ready.api).href, { waitUntil: "commit" });
    await page.getByRole("status", { name: "Loading" }).getByText("Selvedge").waitFor();
    held.resolve();
    await heading("Home");
    await page.unroute("**/assets/home-*.js");
  });

  test("each page has a title and a heading, also where nothing is", async () => {
    const titles = {
      "/": "Home · Selvedge",
      "/zones/shop.example": "shop.example · Selvedge",
      "/zones/shop.example/dns/records": "DNS records · shop.example · Selvedge",
      "/account/members": "Members · Account · Selvedge",
      "/nothing": "Page not found · Selvedge",
      "/tunnels/nothing": "Not found · Selvedge",
      "/account/lists/nothing": "Not found · Selvedge",
      "/zones/none.example/dns/records": "Zone none.example not found · none.example · Selvedge",
    };
    for (const [path, title] of Object.entries(titles)) {
      await open(path);
      await readUntil(
        () => page.title(),
        (shown) => shown === title,
      );
      assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1, path);
    }
  });

  test("an internationalised name is shown in its own letters, and its address may have them", async () => {
    await open("/zones");
    await page.getByRole("link", { name: "bücher.example" }).waitFor();
    await open("/zones/bücher.example");
    await heading("bücher.example");
    await page.getByText("xn--bcher-kva.example in DNS.").waitFor();
  });

  test("a certificate that failed leads to the page of its hostname", async () => {
    const { id } = await succeed(
      apiCaller(server.ready)("POST", `/zones/${zoneId}/custom_hostnames`, {
        hostname: "app.customer.example",
        ssl: { method: "txt", type: "dv" },
      }),
    );
    const object = { id, name: "app.customer.example", zone_id: zoneId, zone_name: "shop.example", reason: "caa_error" };
    await page.route("**/attention", (route) =>
      route.fulfill({
        json: { success: true, errors: [], messages: [], result: [{ kind: "hostname_failing", objects: [object], has_more: false }] },
      }),
    );
    await open("/");
    await page.getByRole("link", { name: "app.customer.example has no valid certificate" }).click();
    await heading("app.customer.example");
    await page.unroute("**/attention");
  });

  test("the palette opens forms and pages of zones, and Back closes the form", async () => {
    await open("/");
    await heading("Home");
    const field = page.getByRole("combobox", { name: "Zone, page or action" });
    await page.keyboard.press("Control+k");
    await field.fill("purge shop");
    await page.getByRole("option", { name: /Purge the cache/ }).waitFor();
    await field.press("Enter");
    await heading("Purge the cache");
    await page.keyboard.press("Control+k");
    await field.fill("invite");
    await page.getByRole("option", { name: /Invite a member/ }).waitFor();
    await field.press("Enter");
    await page.getByRole("dialog", { name: "Invite somebody" }).waitFor();
    await page.goBack();
    await heading("Purge the cache");
    assert.equal(await page.getByRole("dialog").count(), 0);
  });

  test("pages name the permission that a narrow token lacks, instead of showing an empty list", async () => {
    const call = apiCaller(server.ready);
    const groups: { id: string; name: string }[] = await succeed(call("GET", "/user/tokens/permission_groups"));
    const permission_groups = groups.filter(({ name }) => name === "Zone Read").map(({ id }) => ({ id }));
    const resources = { [`com.cloudflare.api.account.zone.${zoneId}`]: "*" };
    const policies = [{ effect: "allow", resources, permission_groups }];
    const { value } = await succeed(call("POST", "/user/tokens", { name: "narrow", policies }));
    const narrow = await (await browser.context()).newPage();
    await narrow.goto(new URL("/", server.ready.api).href);
    await narrow.getByText("Use an API token instead").click();
    await narrow.getByLabel("API token").fill(value);
    await narrow.keyboard.press("Enter");
    await narrow.getByText(/^\d of 6 done/).click();
    await narrow.getByText("so the server has not asked which name servers the domain has").waitFor();
    await narrow.getByText("Whether it is done could not be read.").first().waitFor();
    await narrow.goto(new URL("/zones/shop.example", server.ready.api).href);
    await narrow.getByText("It needs SSL and Certificates Read").waitFor();
    assert.equal(await narrow.getByText("None yet.").count(), 0);
    await narrow.close();
  });

  test("a sign-out in one tab is seen in the others", async () => {
    const other = await context.newPage();
    await other.goto(new URL("/zones", server.ready.api).href);
    await other.getByRole("heading", { name: "Zones", level: 1 }).waitFor();
    await open("/");
    await page.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    await other.close();
    assert.deepEqual(browser.faults, []);
  });
});
