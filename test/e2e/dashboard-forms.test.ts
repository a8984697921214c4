import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, type TestBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { get } from "../support/lively-account.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

/** Records, settings of a site, members, tokens and accounts, as people change them. */
describe("forms of the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let server: Selvedge;
  let browser: TestBrowser;
  let page: Page;
  const origin = (): string => new URL(server.ready.api).origin;
  before(async () => {
    server = await startSelvedge();
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
  });

  test("a domain is taken from an address that was pasted", async () => {
    await page.goto(`${origin()}/zones`);
    await page.getByRole("button", { name: "Add a zone" }).first().click();
    await page.getByLabel("Domain").fill("https://www.Shop.example/cart?id=7");
    await page.getByRole("button", { name: "Use shop.example" }).click();
    await page.getByRole("button", { name: "Add the zone" }).click();
    await page.getByRole("heading", { name: "shop.example", level: 1 }).waitFor();
  });

  test("the dialog of a deletion can be read, and a deleted zone leads to the list of zones", async () => {
    const call = apiCaller(server.ready);
    await succeed(call("POST", "/zones", { account: { id: server.ready.account_id }, name: "gone.example" }));
    await page.goto(`${origin()}/zones/gone.example`);
    await page.getByRole("button", { name: "Delete the zone" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("gone.example");
    assert.deepEqual(await graveViolations(page), []);
    await dialog.getByRole("button", { name: "Delete the zone" }).click();
    await page.getByRole("heading", { name: "Zones", level: 1 }).waitFor();
    await page.getByRole("link", { name: "shop.example" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "gone.example" }).count(), 0);
  });

  test("a record of any type is added with its priority, and the dialog gives the focus back", async () => {
    await page.goto(`${origin()}/zones/shop.example/dns/records`);
    const call = apiCaller(server.ready);
    const [zone] = await succeed(call("GET", "/zones?name=shop.example"));
    for (const [type, name, content] of [
      ["SRV", "_sip._tcp", "20 5 5060 sip.example.net"],
      ["SSHFP", "shell", "4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789"],
    ] as const) {
      await page.getByRole("button", { name: "Add a record" }).focus();
      await page.keyboard.press("Enter");
      const form = page.getByRole("dialog");
      const tops = await Promise.all(
        [form.getByLabel("Type"), form.getByRole("textbox", { name: "Name" })].map(async (field) => (await field.boundingBox())?.y),
      );
      assert.equal(tops[0], tops[1], "a list and a text field in a row begin at the same height");
      await form.getByLabel("Type").selectOption(type);
      await form.getByRole("textbox", { name: "Name" }).fill(name);
      await form.getByRole("textbox", { name: "Content" }).fill(content);
      await form.getByRole("button", { name: "Add the record" }).click();
      await page.getByRole("row").filter({ hasText: content }).waitFor();
      await page.waitForFunction("document.activeElement.matches('button') && document.activeElement.textContent.includes('Add a record')");
    }
    const [record] = await succeed(call("GET", `/zones/${zone.id}/dns_records?type=SRV`));
    assert.deepEqual([record.priority, record.content], [20, "5 5060 sip.example.net"]);
  });

  test("a record is checked as it is typed, by the API's rules and before it is sent", async () => {
    const call = apiCaller(server.ready);
    const [{ id }] = await succeed(call("GET", "/zones?name=shop.example"));
    const before = await succeed(call("GET", `/zones/${id}/dns_records`));
    await page.goto(`${origin()}/zones/shop.example/dns/records?record=new`);
    const form = page.getByRole("dialog");
    const content = form.getByRole("textbox", { name: "Content" });
    await content.pressSequentially("192.0.2.999");
    await form.getByText("Content for A record must be a valid IPv4 address. (9005)").waitFor();
    await content.press("Backspace");
    await form.getByText("(9005)").waitFor({ state: "detached" });
    await form.getByRole("textbox", { name: "Name" }).fill("two words");
    await form.getByRole("textbox", { name: "Name" }).blur();
    await form.locator("input[aria-invalid=true]").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    assert.deepEqual(await succeed(call("GET", `/zones/${id}/dns_records`)), before, "nothing was written");
  });

  test("a row changes type, content, comment and tags in place, and says what is wrong while one types", async () => {
    const call = apiCaller(server.ready);
    const [{ id }] = await succeed(call("GET", "/zones?name=shop.example"));
    await succeed(call("PATCH", `/zones/${id}`, { plan: { id: "pro" } }));
    await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "inplace", content: "192.0.2.77" }));
    await page.goto(`${origin()}/zones/shop.example/dns/records?search=inplace`);
    await page.getByRole("row").filter({ hasText: "192.0.2.77" }).locator("input").focus();
    await page.keyboard.press("t");
    await page.getByLabel("Type of A inplace.shop.example").selectOption("AAAA");
    await page.getByText("(9006)").waitFor();
    await page.getByLabel("Content of AAAA inplace.shop.example").fill("2001:db8::77");
    await page.getByText("(9006)").waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.getByRole("row").filter({ hasText: "AAAA" }).getByText("2001:db8::77").waitFor();
    await page.waitForFunction("document.activeElement.matches('[role=row]')");
    await page.keyboard.press("c");
    await page.getByLabel("Comment of AAAA inplace.shop.example").fill("moved");
    await page.getByLabel("Tags of AAAA inplace.shop.example").fill("bad tag:1");
    await page.locator("[role=row] input[aria-invalid=true]").waitFor();
    await page.getByLabel("Tags of AAAA inplace.shop.example").fill("team:web");
    await page.keyboard.press("Enter");
    await page.getByText("moved #team:web").waitFor();
    const [record] = await succeed(call("GET", `/zones/${id}/dns_records?name=inplace.shop.example`));
    assert.deepEqual([record.type, record.content, record.comment, record.tags], ["AAAA", "2001:db8::77", "moved", ["team:web"]]);
    await succeed(call("PATCH", `/zones/${id}`, { plan: { id: "free" } })).catch(() => {});
  });

  test("the first steps tick themselves when the first visitor comes", async () => {
    const call = apiCaller(server.ready);
    const [{ id }] = await succeed(call("GET", "/zones?name=shop.example"));
    await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
    await page.goto(`${origin()}/zones/shop.example`);
    const step = page.getByRole("listitem").filter({ hasText: "See a request" });
    await step.getByText("open", { exact: true }).waitFor();
    await get(server.ready.http, "/");
    await step
      .getByText("done", { exact: true })
      .or(page.getByRole("heading", { name: "Statuses" }))
      .first()
      .waitFor();
  });

  test("a record of a zone whose plan has tags gets some, with an error next to the field", async () => {
    const call = apiCaller(server.ready);
    const [{ id }] = await succeed(call("GET", "/zones?name=shop.example"));
    await succeed(call("PATCH", `/zones/${id}`, { plan: { id: "pro" } }));
    await page.goto(`${origin()}/zones/shop.example/dns/records?record=new`);
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill("tagged");
    await form.getByRole("textbox", { name: "Content" }).fill("192.0.2.8");
    await form.getByLabel("Tags").fill("a tag with spaces:1");
    await form.getByRole("button", { name: "Add the record" }).click();
    await form.getByText(/\(\d{4}\)/).waitFor();
    await form.getByLabel("Tags").fill("team:web, old");
    await form.getByRole("button", { name: "Add the record" }).click();
    await page.getByText("#old #team:web").or(page.getByText("#team:web #old")).waitFor();
    assert.equal(new URL(page.url()).search, "");
    const [record] = await succeed(call("GET", `/zones/${id}/dns_records?name=tagged.shop.example`));
    assert.deepEqual(record.tags.toSorted(), ["old", "team:web"]);
  });

  test("a gateway gets a cache and a limit, keeps its other settings, and is deleted after its name is typed", async () => {
    const call = apiCaller(server.ready);
    const base = `/accounts/${server.ready.account_id}/ai-gateway/gateways`;
    const settings = { cache_invalidate_on_update: true, cache_ttl: null, collect_logs: true };
    const limits = { rate_limiting_interval: null, rate_limiting_limit: null };
    await succeed(call("POST", base, { id: "chats", ...settings, ...limits, authentication: true, retry_delay: 700 }));
    await page.goto(`${origin()}/gateways/chats/settings`);
    await page.getByLabel("Keep answers").selectOption("3600");
    await page.getByLabel("Requests at most").fill("20 a");
    await page.getByLabel("In", { exact: true }).selectOption("300");
    await page.getByLabel("Ask a provider that fails").selectOption("3");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved, for the next request.").waitFor();
    const { cache_ttl, rate_limiting_limit, rate_limiting_interval, retry_max_attempts, ...kept } = await succeed(
      call("GET", `${base}/chats`),
    );
    assert.deepEqual([cache_ttl, rate_limiting_limit, rate_limiting_interval, retry_max_attempts], [3600, 20, 300, 3]);
    assert.deepEqual([kept.authentication, kept.retry_delay, kept.cache_invalidate_on_update], [true, 700, true]);
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Delete the gateway" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("chats");
    await dialog.getByRole("button", { name: "Delete the gateway" }).click();
    await page.getByRole("heading", { name: "AI gateway", level: 1 }).waitFor();
    assert.deepEqual(await succeed(call("GET", base)), []);
  });

  test("settings of the site are saved at once, and stay after a reload", async () => {
    await page.goto(`${origin()}/zones/shop.example/settings`);
    await page.getByRole("heading", { name: "Site settings", level: 1 }).waitFor();
    await page.getByLabel("Encryption").selectOption("strict");
    await page.getByRole("switch", { name: /Always use HTTPS/ }).click();
    await page.getByLabel("HSTS").selectOption("300");
    await page.getByRole("switch", { name: /Always use HTTPS/, checked: true }).waitFor();
    const call = apiCaller(server.ready);
    const [zone] = await succeed(call("GET", "/zones?name=shop.example"));
    const saved = async (): Promise<unknown[]> => {
      const settings: { id: string; value: any }[] = await succeed(call("GET", `/zones/${zone.id}/settings`));
      const valueOf = (id: string): any => settings.find((one) => one.id === id)?.value;
      const { enabled, max_age } = valueOf("security_header").strict_transport_security;
      return [valueOf("ssl"), valueOf("always_use_https"), enabled, max_age];
    };
    await eventually(async () => JSON.stringify(await saved()) === JSON.stringify(["strict", "on", true, 300]));
    await page.reload();
    await page.getByRole("switch", { name: /Always use HTTPS/, checked: true }).waitFor();
    assert.equal(await page.getByLabel("Encryption").inputValue(), "strict");
    assert.deepEqual(await graveViolations(page), []);
  });

  test("a member's invitation is withdrawn, and the account's tokens are listed", async () => {
    const call = apiCaller(server.ready);
    const account = `/accounts/${server.ready.account_id}`;
    const [role] = await succeed(call("GET", `${account}/roles`));
    const { invitation } = await succeed(call("POST", `${account}/members`, { email: "bo@example.com", roles: [role.id] }));
    await page.goto(`${origin()}/account/members`);
    await page.getByRole("button", { name: "Change bo@example.com" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Withdraw the invitation" }).click();
    await dialog.getByRole("button", { name: "Yes, remove" }).click();
    await page.getByText("bo@example.com").first().waitFor({ state: "detached" });
    await page.goto(`${origin()}/#invitation=${invitation.secret}`);
    await page.getByText("The invitation does not exist, or has ended.").waitFor();
    await page.getByRole("link", { name: "Go to the dashboard" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    const groups: { id: string; name: string }[] = await succeed(call("GET", `${account}/tokens/permission_groups`));
    const permission_groups = groups.filter(({ name }) => name === "Account Settings Read").map(({ id }) => ({ id }));
    const policies = [
      { effect: "allow", resources: { [`com.cloudflare.api.account.${server.ready.account_id}`]: "*" }, permission_groups },
    ];
    await succeed(call("POST", `${account}/tokens`, { name: "pipeline", policies }));
    await page.goto(`${origin()}/account`);
    await page.getByRole("table", { name: "Tokens of the account" }).getByText("pipeline").waitFor();
  });

  test("a member of two accounts changes from one to the other", async () => {
    const call = apiCaller(server.ready);
    const second = await succeed(call("POST", "/accounts", { name: "Second company", type: "standard" }));
    const gateway = { authentication: true, collect_logs: true, cache_invalidate_on_update: false };
    const limits = { cache_ttl: null, rate_limiting_interval: null, rate_limiting_limit: null };
    await succeed(call("POST", `/accounts/${second.id}/ai-gateway/gateways`, { id: "of-the-second", ...gateway, ...limits }));
    await page.goto(`${origin()}/gateways`);
    await page.getByRole("heading", { name: "AI gateway", level: 1 }).waitFor();
    await page.getByLabel("Account", { exact: true }).selectOption(second.id);
    await page.getByRole("main").getByText("Second company").waitFor();
    await page.goto(`${origin()}/gateways`);
    await page.getByRole("link", { name: "of-the-second" }).waitFor();
    await page.getByLabel("Account", { exact: true }).selectOption(server.ready.account_id ?? "");
  });

  test("pages of a token that sees zones alone do not wait for ever", async () => {
    const call = apiCaller(server.ready);
    const groups: { id: string; name: string }[] = await succeed(call("GET", "/user/tokens/permission_groups"));
    const permission_groups = groups.filter(({ name }) => name === "Zone Read").map(({ id }) => ({ id }));
    const resources = { [`com.cloudflare.api.account.${server.ready.account_id}`]: { "com.cloudflare.api.account.zone.*": "*" } };
    const { value } = await succeed(
      call("POST", "/user/tokens", { name: "narrow", policies: [{ effect: "allow", resources, permission_groups }] }),
    );
    const other = await (await browser.context()).newPage();
    await other.goto(origin());
    await other.getByText("Use an API token instead").click();
    await other.locator("input").first().fill(value);
    await other.keyboard.press("Enter");
    await other.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await other.goto(`${origin()}/account/members`);
    await other.getByText("You may not see this").waitFor();
    await other.getByText("Account Settings Read").waitFor();
  });

  test("the palette leads to pages of the account, and says so if nothing fits", async () => {
    await page.goto(origin());
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Zone, page or action" });
    await field.fill("nothing like it");
    await page.getByText("No zone, page or action has these words").waitFor();
    await field.fill("audit");
    await field.press("Enter");
    await page.getByText("Every change: who, what and when").waitFor();
  });

  test("the audit log says who did it and which change it was, and a click on its name shows only such changes", async () => {
    const log = page.getByRole("table", { name: "Audit log" });
    const row = log.getByRole("row").filter({ hasText: "created a DNS record" });
    await row.filter({ hasText: "ada@example.com" }).first().waitFor();
    await log.getByText("changed settings of a site").first().waitFor();
    await row.getByRole("button", { name: "dns_record.create" }).first().click();
    await page.waitForURL(/action=dns_record\.create/);
    await log.getByText("changed settings of a site").first().waitFor({ state: "detached" });
    assert.equal(await page.getByLabel("Action", { exact: true }).inputValue(), "dns_record.create");
    assert.deepEqual(await graveViolations(page), []);
    assert.deepEqual(browser.faults, []);
  });
});
