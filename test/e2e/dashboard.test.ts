import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { totpCode } from "#kernel/crypto/totp.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const PASSWORD = "correct horse battery";
const CANARY = "<img src=x onerror=alert(1)>";

/** A person's actions in a browser, against a real server. */
describe("the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  const origin = (): string => new URL(server.ready.api).origin;
  before(async () => {
    server = await startSelvedge();
    browser = await startBrowser(origin);
    context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("the first visitor creates the first user with the token from the terminal and is signed in", async () => {
    await page.goto(origin());
    await page.getByLabel("Token from the terminal").fill("the-token-of-another-server");
    await page.getByLabel("Your e-mail").fill("ada@example.com");
    await page.locator("input[name=password]").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the first user" }).click();
    await page.getByText("The server does not know this token.").waitFor();
    await page.getByLabel("Token from the terminal").fill(server.ready.token ?? "");
    await page.getByRole("button", { name: "Create the first user" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    const kept = await page.evaluate<string>("location.href + JSON.stringify(localStorage) + document.cookie");
    assert.ok(!kept.includes(server.ready.token ?? "-"), "the token is kept nowhere");
    assert.ok(!kept.includes("selvedge="), "no script can read the cookie");
  });

  test("a zone is added, and its pages show the content of its records as text", async () => {
    await page.goto(`${origin()}/zones`);
    await page.getByRole("button", { name: "Add a zone" }).first().click();
    await page.getByLabel("Domain").fill("shop.example");
    await page.getByRole("button", { name: "Add the zone" }).click();
    await page.getByRole("heading", { name: "shop.example", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Add its records" }).click();
    await page.getByRole("link", { name: "import the zone file" }).click();
    await page.getByRole("heading", { name: "Import and export", level: 1 }).waitFor();
    const call = apiCaller(server.ready);
    const [zone] = await succeed(call("GET", "/zones?name=shop.example"));
    const add = (body: object): Promise<unknown> => succeed(call("POST", `/zones/${zone.id}/dns_records`, body));
    await add({ type: "TXT", name: "canary", content: `"${CANARY}"`, comment: CANARY });
  });

  test("a record is added, errors appear next to their field, and the row edits its content", async () => {
    await page.goto(`${origin()}/zones/shop.example/dns/records`);
    await page.getByRole("button", { name: "Add a record" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill("www");
    await form.getByRole("textbox", { name: "Content" }).fill("192.0.2.999");
    await form.getByRole("button", { name: "Add the record" }).click();
    await form.getByText(/IPv4/).first().waitFor();
    await form.getByRole("textbox", { name: "Content" }).fill("192.0.2.7");
    await form.getByRole("button", { name: "Add the record" }).click();
    await form.waitFor({ state: "hidden" });
    const row = page.getByRole("row").filter({ hasText: "192.0.2.7" });
    await row.waitFor();
    await row.getByText("192.0.2.7").dblclick();
    const editor = page.getByLabel("Content of A www.shop.example");
    await editor.fill("192.0.2.8");
    await editor.press("Enter");
    await page.getByRole("row").filter({ hasText: "192.0.2.8" }).waitFor();
    await page.getByLabel("Search records").fill("canary");
    await page.getByRole("row").filter({ hasText: "192.0.2.8" }).waitFor({ state: "detached" });
    for (const text of ["192.0.2", "192.0.2.8"]) {
      await page.getByLabel("Search records").fill(text);
      await page.waitForURL((url) => url.searchParams.get("search") === text);
      await page.getByRole("row").filter({ hasText: "192.0.2.8" }).waitFor();
    }
    await page.getByLabel("Search records").fill("canary");
    await page.waitForURL(/canary/);
    const call = apiCaller(server.ready);
    const [zone] = await succeed(call("GET", "/zones?name=shop.example"));
    const [record] = await succeed(call("GET", `/zones/${zone.id}/dns_records?name=www.shop.example`));
    assert.deepEqual([record.content, page.url().includes("canary")], ["192.0.2.8", true]);
  });

  test("tabs lead from page to page of the account without an error", async () => {
    const thrown: string[] = [];
    page.on("console", (message) => void (message.text().includes("TypeError") && thrown.push(message.text())));
    await page.goto(`${origin()}/account`);
    for (const [tab, text] of [
      ["Members", "The members of this account"],
      ["Sessions", "Browsers that you are signed in with"],
      ["API tokens", "Tokens let programs call the API"],
    ] as const) {
      await page.getByRole("navigation", { name: "Account" }).getByRole("link", { name: tab }).click();
      await page.getByText(text).waitFor();
    }
    assert.deepEqual(thrown, []);
  });

  const PAGES = [
    ["/", "Home"],
    ["/zones", "Zones"],
    ["/zones/shop.example", "shop.example"],
    ["/zones/shop.example/dns/records", "DNS records"],
    ["/zones/shop.example/dns/import", "Import and export"],
    ["/zones/shop.example/dns/ask?name=@", "Ask the nameserver"],
    ["/zones/shop.example/dns/versions", "Versions"],
    ["/zones/shop.example/dns/settings", "DNS settings"],
    ["/zones/shop.example/dns/dnssec", "DNSSEC"],
    ["/zones/shop.example/security/events", "Security events"],
    ["/zones/shop.example/security/rules", "Rules"],
    ["/zones/shop.example/security/managed", "Managed rules"],
    ["/zones/shop.example/security/managed/efb7b8c949ac4650a09736fc376e9aee", "Managed Ruleset"],
    ["/zones/shop.example/security/page-shield", "Page Shield"],
    ["/zones/shop.example/security/page-shield/policies", "Page Shield"],
    ["/zones/shop.example/security/try", "Try a request"],
    ["/zones/shop.example/hostnames", "Custom hostnames"],
    ["/zones/shop.example/traffic", "Requests"],
    ["/zones/shop.example/settings", "Site settings"],
    ["/gateways", "AI gateway"],
    ["/tunnels", "Tunnels"],
    ["/nodes", "Nodes"],
    ["/deprecations", "Deprecations"],
    ["/account", "Account"],
    ["/account/sign-in", "Account"],
    ["/account/sessions", "Account"],
    ["/account/members", "Account"],
    ["/account/audit", "Account"],
    ["/account/notifications", "Account"],
    ["/account/lists", "Account"],
  ] as const;

  test("every page opens from its URL and passes the accessibility checks", async () => {
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 390],
    ] as const) {
      const other = await browser.context({ viewport: { width, height: 800 }, colorScheme, storageState: await context.storageState() });
      const shown = await other.newPage();
      for (const [path, title] of PAGES) {
        await shown.goto(origin() + path);
        await shown.getByRole("heading", { name: title, level: 1 }).waitFor();
        assert.deepEqual(await textsOutside(shown), [], `${path} is too wide at ${width}`);
        assert.deepEqual(await graveViolations(shown), [], `${path}, ${colorScheme}, ${width}`);
      }
      await other.close();
    }
  });

  test("signing out ends the session, and the user signs in again with e-mail and password", async () => {
    await page.goto(origin());
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByLabel("E-mail").fill("ada@example.com");
    await page.locator("input[name=password]").fill("a wrong password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Error 10436").waitFor();
    await page.locator("input[name=password]").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  });

  test("one-time codes are set up from the secret, required at sign-in, and turned off with a recovery code", async () => {
    await page.goto(`${origin()}/account/sign-in`);
    await page.getByLabel("Your password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set one-time codes up" }).click();
    await page.getByRole("img", { name: "The secret as a QR code" }).waitFor();
    const secret = (await page.getByRole("group", { name: "the secret" }).innerText()).trim();
    const code = (steps = 0): string => totpCode(secret, Math.floor(Date.now() / 30_000) + steps);
    await page.getByRole("textbox", { name: "Code" }).fill("000000");
    await page.getByRole("button", { name: "Turn one-time codes on" }).click();
    await page.getByText("The code is wrong").waitFor();
    await page.getByRole("textbox", { name: "Code" }).fill(code());
    await page.getByRole("button", { name: "Turn one-time codes on" }).click();
    const [recovery = ""] = (await page.getByRole("group", { name: "the recovery codes" }).innerText()).split("\n");
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Show this page as API calls" }).click();
    const calls = await page.getByRole("dialog").innerText();
    assert.match(calls, /user\/totp/);
    assert.ok(!calls.includes(PASSWORD), "the password is not shown among the calls");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("E-mail").fill("ada@example.com");
    await page.locator("input[name=password]").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    // The code before this one was used up.
    await page.getByRole("textbox", { name: "Code" }).fill(code());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.locator("input[name=code][aria-invalid=true]").waitFor();
    await page.getByRole("textbox", { name: "Code" }).fill(code(1));
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.goto(`${origin()}/account/sign-in`);
    await page.getByLabel("A code, to turn them off").fill(recovery);
    await page.getByRole("button", { name: "Turn one-time codes off" }).click();
    await page.getByRole("button", { name: "Set one-time codes up" }).waitFor();
  });

  test("the tests above break no content security policy, load nothing external and run no injected script", () =>
    assert.deepEqual(browser.faults, []));
});
