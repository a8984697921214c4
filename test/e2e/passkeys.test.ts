import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, type TestBrowser } from "../support/browser.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const PASSWORD = "correct horse battery";
const EMAIL = "ada@example.com";

/** With Chromium's own WebAuthn and an authenticator in software. */
describe("passkeys in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  let devices: CDPSession;
  let device = "";
  /** At a name: browsers have no passkeys for addresses. */
  const origin = (): string => `http://localhost:${new URL(server.ready.api).port}`;
  const addDevice = async (): Promise<string> => {
    const options = {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    } as const;
    const { authenticatorId } = await devices.send("WebAuthn.addVirtualAuthenticator", {
      options: { ...options, automaticPresenceSimulation: true },
    });
    return authenticatorId;
  };
  const signOut = async (): Promise<void> => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  };
  before(async () => {
    server = await startSelvedge();
    browser = await startBrowser(origin);
    context = await browser.context();
    page = await context.newPage();
    devices = await context.newCDPSession(page);
    await devices.send("WebAuthn.enable", { enableUI: false });
    device = await addDevice();
    await page.goto(origin());
    await page.getByLabel("Token from the terminal").fill(server.ready.token ?? "");
    await page.getByLabel("Your e-mail").fill(EMAIL);
    await page.locator("input[name=password]").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the first user" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("a passkey is added with the password, shown, and renamed", async () => {
    await page.goto(`${origin()}/account/sign-in`);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill("Laptop");
    await form.getByLabel("Your password").fill("a wrong password");
    await form.getByRole("button", { name: "Add the passkey" }).click();
    await form.getByText("The current password is wrong").waitFor();
    await form.getByLabel("Your password").fill(PASSWORD);
    await form.getByRole("button", { name: "Add the passkey" }).click();
    await page.getByRole("cell", { name: "Laptop", exact: true }).waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Rename Laptop" }).click();
    await form.getByRole("textbox", { name: "Name" }).fill("Work laptop");
    await form.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("cell", { name: "Work laptop", exact: true }).waitFor();
    await page.getByRole("button", { name: "Show this page as API calls" }).click();
    const calls = await page.getByRole("dialog").innerText();
    assert.match(calls, /user\/passkeys/);
    assert.ok(!calls.includes(PASSWORD));
    await page.keyboard.press("Escape");
  });

  test("the passkey signs in by the button, where the browser offers none by itself", async () => {
    await devices.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId: device, enabled: false });
    await signOut();
    assert.deepEqual(await graveViolations(page), []);
    await devices.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId: device, enabled: true });
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.goto(`${origin()}/account/sessions`);
    await page.getByRole("row").filter({ hasText: "this one" }).filter({ hasText: "passkey" }).waitFor();
  });

  test("the browser's offer at the e-mail field signs in without a click, and its assertion works once", async () => {
    const sent = page.waitForResponse((response) => response.url().endsWith("/user/sessions") && response.request().method() === "POST");
    await page.getByRole("button", { name: "Sign out" }).click();
    const response = await sent;
    assert.equal(response.status(), 200);
    const { authorization = "" } = await response.request().allHeaders();
    assert.match(authorization, /^Passkey /);
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    const again = await fetch(`${origin()}/client/v4/user/sessions`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: "{}",
    });
    assert.deepEqual([again.status, ((await again.json()) as { errors: { code: number }[] }).errors[0]?.code], [403, 10459]);
  });

  test("the password is turned off, and the last passkey stays", async () => {
    await page.goto(`${origin()}/account/sign-in`);
    await page.getByRole("button", { name: "Turn the password off" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Current password").fill(PASSWORD);
    await form.getByRole("button", { name: "Turn the password off" }).click();
    await page.getByRole("button", { name: "Set a password" }).waitFor();
    await page.getByRole("button", { name: "Delete Work laptop" }).click();
    await form.getByRole("button", { name: "Delete the passkey" }).click();
    await form.getByText("This is the last way to sign in").waitFor();
    await page.keyboard.press("Escape");
    assert.equal((await succeed(apiCaller(server.ready)("GET", "/user/passkeys"))).length, 1);
    assert.deepEqual(await graveViolations(page), []);
  });

  test("at an IP address the page says where passkeys work", async () => {
    const address = `http://127.0.0.1:${new URL(server.ready.api).port}`;
    const other = await browser.browser.newContext();
    const shown = await other.newPage();
    await shown.goto(address);
    await shown.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.equal(await shown.getByRole("button", { name: "Sign in with a passkey" }).count(), 0);
    await other.close();
  });

  test("the tests above break no content security policy, load nothing external and run no injected script", () =>
    assert.deepEqual(browser.faults, []));
});
