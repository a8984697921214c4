import assert from "node:assert/strict";
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { findTool } from "../../tools/system-tools.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const terraform = findTool("terraform");

/** Addresses that may do something, the first steps, and changes as resources of Terraform. */
describe("addresses and resources in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let server: Selvedge;
  let browser: TestBrowser;
  let page: Page;
  const origin = (): string => new URL(server.ready.api).origin;
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready)(method, path, body));

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
    await call("POST", "/zones", { account: { id: server.ready.account_id }, name: "shop.example" });
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** The calls of the page in one form of the panel. */
  const shownAs = async (form: string): Promise<string> => {
    await page.getByRole("button", { name: /API call/ }).click();
    await page.getByLabel("Form").selectOption(form);
    const text = await page.getByRole("dialog").locator("pre").allInnerTexts();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return text.join("\n\n");
  };

  test("a token works from some addresses only, which its row shows and changes", async () => {
    await page.goto(`${origin()}/account?add=1`);
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("deploys");
    await dialog.getByRole("checkbox", { name: /^Zone Read/ }).check();
    await dialog.getByLabel("Works from").fill("192.0.2.0/24\n127.0.0.0/8");
    await dialog.getByLabel("But not from").fill("192.0.2.9");
    assert.deepEqual(await graveViolations(page), []);
    await dialog.getByRole("button", { name: "Create the token" }).click();
    const value = (await dialog.getByRole("group", { name: "the token" }).innerText()).trim();
    await dialog.getByRole("button", { name: "I have it" }).click();
    const row = page.getByRole("row").filter({ hasText: "deploys" });
    await row.getByText("192.0.2.0/24, 127.0.0.0/8, not 192.0.2.9").waitFor();
    const verified = async (): Promise<number> =>
      (await fetch(`${server.ready.api}/user/tokens/verify`, { headers: { authorization: `Bearer ${value}` } })).status;
    assert.equal(await verified(), 200);
    await row.getByRole("button", { name: "Addresses" }).click();
    await dialog.getByLabel("Works from").fill("192.0.2.0/24");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText("192.0.2.0/24, not 192.0.2.9").waitFor();
    assert.notEqual(await verified(), 200);
  });

  test("addresses are admitted or blocked in all zones; a refused one stays in the form with the reason", async () => {
    await page.goto(`${origin()}/account/addresses`);
    await page.getByRole("button", { name: "Add addresses" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Addresses, networks/).fill("192.0.2.1\nAS64496\n192.0.2.300\nDE");
    await dialog.getByLabel("Action").selectOption("block");
    await dialog.getByRole("button", { name: "Add 4 rules" }).click();
    await page.locator("textarea[aria-invalid=true]").waitFor();
    assert.equal(await dialog.getByLabel(/^Addresses, networks/).inputValue(), "192.0.2.300\nDE");
    await dialog.getByLabel(/^Addresses, networks/).fill("192.0.2.30\nDE");
    await dialog.getByRole("button", { name: "Add 2 rules" }).click();
    await page.getByRole("table", { name: "Addresses" }).getByText("192.0.2.30").waitFor();
    const rules = await call("GET", `/accounts/${server.ready.account_id}/firewall/access_rules/rules`);
    assert.deepEqual(
      rules
        .map(({ configuration }: { configuration: { target: string; value: string } }) => `${configuration.target} ${configuration.value}`)
        .toSorted(),
      ["asn AS64496", "country DE", "ip 192.0.2.1", "ip 192.0.2.30"],
    );
    assert.match(await shownAs("terraform"), /resource "cloudflare_access_rule" "this_192_0_2_30" \{/);
    await page.getByLabel("Action").selectOption("whitelist");
    await page.getByText("No rule has this action").waitFor();
    await page.getByLabel("Action").selectOption("");
    await page.getByRole("button", { name: "Delete the rule for DE" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the rule" }).click();
    await page.getByText("DE", { exact: true }).waitFor({ state: "detached" });
    assert.deepEqual(await graveViolations(page), []);
  });

  test("the first steps name the port that the edge listens on", async () => {
    await page.goto(`${origin()}/zones/shop.example`);
    await page.getByText(`curl -H "Host: shop.example" ${server.ready.http}/`).waitFor();
  });

  test("a record and a setting are shown as resources that Terraform can read", async (t) => {
    await page.goto(`${origin()}/zones/shop.example/dns/records?record=new`);
    const form = page.getByRole("dialog");
    await form.getByLabel("Type").selectOption("TXT");
    await form.getByRole("textbox", { name: "Name" }).fill("note");
    await form.getByRole("textbox", { name: "Content" }).fill('"costs ${5} and 100%{x} \\"quoted\\""');
    await form.getByRole("button", { name: "Add the record" }).click();
    await page.getByRole("row").filter({ hasText: "costs" }).waitFor();
    const record = await shownAs("terraform");
    assert.match(record, /^resource "cloudflare_dns_record" "note_txt" \{\n {2}zone_id = "[0-9a-f]{32}"\n/m);
    assert.match(record, /\$\$\{5\} and 100%%\{x\}/);
    await page.goto(`${origin()}/zones/shop.example/settings`);
    await page.getByLabel("Encryption").selectOption("strict");
    await page.getByRole("main").getByLabel("Encryption").waitFor();
    const setting = await shownAs("terraform");
    assert.match(setting, /resource "cloudflare_zone_setting" "ssl" \{[^}]*value += "strict"/);
    if (terraform === undefined) return t.diagnostic("terraform is not installed");
    for (const text of [record, setting]) {
      const formatted: SpawnSyncReturns<string> = spawnSync(terraform, ["fmt", "-"], {
        input: `${text}\n`,
        encoding: "utf8",
        timeout: 60_000,
      });
      assert.equal(formatted.status, 0, formatted.stderr);
      assert.equal(formatted.stdout, `${text}\n`, "it has the canonical format");
    }
  });

  test("hostnames are added one after the other, also while other pages are open and after a reload", async () => {
    // From the fifth on, requests wait as long as the page is open, so that it is left in the midst.
    let posts = 0;
    await page.route("**/custom_hostnames", async (route) => {
      if (route.request().method() === "POST" && ++posts > 4) return;
      await route.continue();
    });
    await page.goto(`${origin()}/zones/shop.example/hostnames`);
    const names = Array.from({ length: 12 }, (_, at) => `app${at}.customer.example`);
    await page.getByRole("button", { name: "Add hostnames" }).click();
    await page
      .getByRole("dialog")
      .getByRole("textbox")
      .fill(["not_a_name..example", ...names].join("\n"));
    await page.getByRole("dialog").getByRole("button", { name: /^Add/ }).click();
    await page.getByText("Adding hostnames").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("link", { name: "Certificates" }).first().click();
    await page.getByRole("heading", { name: "Certificates", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Custom hostnames" }).first().click();
    await page.getByText("4 of 13").waitFor();
    await page.unroute("**/custom_hostnames");
    await page.reload();
    await page.getByText("Hostnames wait to be added").waitFor();
    await page.getByRole("button", { name: /^Go on with/ }).click();
    await page.getByText("These were not added").waitFor();
    await page.getByText("1 hostname refused").waitFor();
    const [zone] = await call("GET", "/zones?name=shop.example");
    const added: unknown[] = await call("GET", `/zones/${zone.id}/custom_hostnames?per_page=50`);
    assert.equal(added.length, names.length);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByText("These were not added").waitFor({ state: "detached" });
    assert.equal(await page.evaluate<number>("Object.keys(localStorage).filter((key) => key.startsWith('selvedge.adding')).length"), 0);
  });

  test("the pages fit a phone in the dark", async () => {
    const storageState = await page.context().storageState();
    const small = await (await browser.context({ viewport: { width: 390, height: 800 }, colorScheme: "dark", storageState })).newPage();
    for (const [path, text] of [
      ["/account/addresses", "192.0.2.30"],
      ["/account", "deploys"],
    ] as const) {
      await small.goto(`${origin()}${path}`);
      await small.getByText(text).first().waitFor();
      assert.deepEqual(await textsOutside(small), [], path);
      assert.deepEqual(await graveViolations(small), [], path);
    }
    await small.close();
    assert.deepEqual(browser.faults, []);
  });
});
