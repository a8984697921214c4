import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { freePort } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, type TestBrowser } from "../support/browser.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { startSignInProvider, type TestProvider } from "../support/sign-in-provider.ts";

/** A company's members, whose provider of OpenID Connect is another server. */
describe("sign-in by a provider in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let provider: TestProvider;
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  const origin = (): string => new URL(server.ready.api).origin;
  before(async () => {
    provider = await startSignInProvider();
    const port = await freePort();
    server = await startSelvedge({
      args: ["--api-port", String(port)],
      env: {
        SELVEDGE_API_DASHBOARD_URL: `http://127.0.0.1:${port}`,
        SELVEDGE_SIGN_IN_OIDC_ISSUER: provider.issuer,
        SELVEDGE_SIGN_IN_OIDC_CLIENT_ID: provider.clientId,
        SELVEDGE_SIGN_IN_OIDC_CLIENT_SECRET: provider.clientSecret,
        SELVEDGE_SIGN_IN_OIDC_NAME: "Example Inc.",
      },
    });
    const call = apiCaller(server.ready);
    await succeed(call("POST", "/user/setup", { email: "owner@example.com", password: "correct horse battery" }));
    const [, administrator] = await succeed(call("GET", `/accounts/${server.ready.account_id}/roles`));
    await succeed(call("POST", `/accounts/${server.ready.account_id}/members`, { email: "ada@example.com", roles: [administrator.id] }));
    browser = await startBrowser(origin);
    context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await provider?.close();
  });
  const signIn = async (): Promise<void> => {
    await page.goto(origin());
    await page.getByRole("link", { name: "Sign in with Example Inc." }).click();
  };

  test("a stranger is told on the sign-in page that members must invite them", async () => {
    provider.manners.claims = { sub: "stranger", email: "stranger@example.com", email_verified: true };
    await signIn();
    await page.getByText("you are not a member here").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    assert.equal(new URL(page.url()).hash, "");
  });

  test("an invited person signs in, sees the invitation and joins the account", async () => {
    provider.manners.claims = { sub: "ada", email: "ada@example.com", email_verified: true };
    await signIn();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.getByRole("button", { name: /^Join / }).click();
    await page.getByRole("button", { name: /^Join / }).waitFor({ state: "detached" });
    await page.getByText("Put a site behind the edge").waitFor();
    assert.deepEqual(await graveViolations(page), []);
  });

  test("the provider leads back to the page from which it was asked", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    await page.goto(`${origin()}/account/sessions`);
    await page.getByRole("link", { name: "Sign in with Example Inc." }).click();
    await page.getByRole("row").filter({ hasText: "this one" }).filter({ hasText: "provider" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/account/sessions");
  });

  test("a sign-in in one tab is seen in the others: they show what that user sees", async () => {
    const other = await context.newPage();
    await other.goto(`${origin()}/account/sessions`);
    const email = other.locator("input[name=email]");
    for (const [user, ask] of [
      ["ada@example.com", () => other.getByRole("link", { name: "Sign in with Example Inc." }).click()],
      [
        "owner@example.com",
        async () => {
          await email.fill("owner@example.com");
          await other.locator("input[name=password]").fill("correct horse battery");
          await other.getByRole("button", { name: "Sign in", exact: true }).click();
        },
      ],
    ] as const) {
      await other.getByRole("banner").getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      await email.waitFor();
      await ask();
      await page.getByRole("dialog", { name: "Your session has ended" }).waitFor({ state: "detached" });
      await page.getByRole("banner").getByRole("button", { name: user }).waitFor();
      assert.equal(new URL(page.url()).pathname, "/account/sessions");
    }
  });

  test("the tests above break no content security policy and go to the provider alone", () => {
    const asked = browser.faults.filter((fault) => !fault.startsWith(`asked ${provider.issuer}/authorize?`));
    assert.deepEqual(asked, []);
  });
});
