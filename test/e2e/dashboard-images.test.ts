import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, type TestBrowser } from "../support/browser.ts";
import { readUntil } from "../support/eventually.ts";
import { TINY_GIF } from "../support/planted-images.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

/** Pages of the account that have their own objects: images, Access applications, its name. */
describe("the dashboard's pages of images, Access applications and the account", { skip: chrome === undefined && "no chromium" }, () => {
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  const open = (path: string): Promise<unknown> => page.goto(new URL(path, server.ready.api).href);
  const call = (method: string, path: string, body?: object) =>
    succeed(apiCaller(server.ready)(method, `/accounts/${server.ready.account_id}${path}`, body));
  const dialog = (): Locator => page.getByRole("dialog");
  /** Of each image in the list, whether the browser could draw it. */
  const drawn = (): Promise<readonly boolean[]> =>
    page.evaluate("Array.from(document.querySelectorAll('main ul img'), (one) => one.naturalWidth > 0)");

  before(async () => {
    server = await startSelvedge();
    browser = await startBrowser(() => new URL(server.ready.api).origin);
    context = await browser.context();
    page = await context.newPage();
    await open("/");
    await page.getByLabel("Token from the terminal").fill(server.ready.token ?? "");
    await page.getByLabel("Your e-mail").fill("ada@example.com");
    await page.locator("input[name=password]").fill("correct horse battery");
    await page.getByRole("button", { name: "Create the first user" }).click();
    await page.getByRole("heading", { name: "Home" }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("files and addresses are uploaded one by one, and one that is refused says why", async () => {
    await page.getByRole("link", { name: "Images" }).click();
    await page.getByRole("button", { name: "Upload images" }).click();
    await dialog()
      .getByLabel("Drop files here")
      .setInputFiles([
        { name: "photo.gif", mimeType: "image/gif", buffer: TINY_GIF },
        { name: "letter.gif", mimeType: "image/gif", buffer: Buffer.from("Dear Ada") },
      ]);
    await dialog().getByLabel("Or its address").fill("http://127.0.0.1/photo.png");
    await dialog().getByRole("button", { name: "Upload" }).click();
    const files = dialog().getByRole("list", { name: "Images to upload" });
    await files.getByRole("listitem").filter({ hasText: "photo.gif" }).getByText("uploaded").waitFor();
    await files.getByRole("listitem").filter({ hasText: "letter.gif" }).getByRole("alert").waitFor();
    await files.getByRole("listitem").filter({ hasText: "127.0.0.1" }).getByRole("alert").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await dialog().getByRole("button", { name: "Close" }).last().click();
    await readUntil(drawn, (shown) => shown.length === 1 && shown.every(Boolean));
    assert.equal((await call("GET", "/images/v1")).images.length, 1);
  });

  test("a private image is shown by a signed address once the account has a key, and deleted after a question", async () => {
    await open("/images/keys");
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog().getByLabel("Name").fill("shop");
    await dialog().getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Show shop" }).click();
    const [{ value }] = (await call("GET", "/images/v1/keys")).keys;
    await dialog().getByText(value).waitFor();
    await page.keyboard.press("Escape");
    await open("/images");
    await page.getByRole("button", { name: "photo.gif" }).click();
    await dialog().getByRole("switch").click();
    await page.getByText("signed", { exact: true }).waitFor();
    const address = await readUntil(
      async () => (await dialog().locator("img").getAttribute("src")) ?? "",
      (src) => src.includes("&sig="),
    );
    assert.equal((await fetch(new URL(address, server.ready.api))).status, 200);
    assert.equal((await fetch(new URL(new URL(address, server.ready.api).pathname, server.ready.api))).status, 403);
    assert.deepEqual(await graveViolations(page), []);
    await dialog().getByRole("button", { name: "Delete", exact: true }).click();
    await dialog().getByRole("button", { name: "Delete the image" }).click();
    await page.getByRole("heading", { name: "Upload the first image" }).waitFor();
    assert.deepEqual((await call("GET", "/images/v1")).images, []);
  });

  test("a variant is added, changed and deleted", async () => {
    await open("/images/variants");
    await page.getByRole("button", { name: "Add a variant" }).click();
    await dialog().getByLabel("Name").fill("not a name");
    await dialog().getByRole("button", { name: "Add the variant" }).click();
    await dialog()
      .getByText(/letters and digits|pattern|must/i)
      .last()
      .waitFor();
    await dialog().getByLabel("Name").fill("thumb");
    await dialog().getByLabel("Fit").selectOption("cover");
    await dialog().getByRole("button", { name: "Add the variant" }).click();
    await page.getByRole("button", { name: "Change thumb" }).click();
    await dialog().getByLabel("Width").fill("64");
    await dialog().getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "64 × 240" }).waitFor();
    assert.deepEqual((await call("GET", "/images/v1/variants/thumb")).variant.options, {
      ...{ fit: "cover", width: 64, height: 240, metadata: "none" },
    });
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Delete thumb" }).click();
    await dialog().getByRole("button", { name: "Delete the variant" }).click();
    await page.getByRole("button", { name: "Change thumb" }).waitFor({ state: "detached" });
  });

  test("an Access application is added, changed without losing what the form does not show, and deleted", async () => {
    await page.getByRole("link", { name: "Access applications" }).click();
    await page.getByText("These are only records").waitFor();
    await page.getByRole("button", { name: "Add an application" }).click();
    await dialog().getByLabel("Name").fill("Admin");
    await dialog().getByLabel("Addresses").fill("app.example.com/admin\napi.example.com");
    await dialog().getByRole("button", { name: "Add the application" }).click();
    await page.getByRole("cell", { name: "app.example.com/admin, api.example.com" }).waitFor();
    const [{ id, ...app }] = await call("GET", "/access/apps");
    const { aud: _aud, policies: _policies, created_at: _created, updated_at: _updated, ...fields } = app;
    await call("PUT", `/access/apps/${id}`, { ...fields, custom_deny_message: "Ask Ada", tags: ["staff"] });
    await open("/access");
    await page.getByRole("button", { name: "Change Admin" }).click();
    await dialog().getByLabel("Addresses").fill("new.example.com");
    await dialog().getByLabel("Session").fill("soon");
    await dialog().getByRole("button", { name: "Save" }).click();
    await readUntil(
      () => dialog().getByLabel("Session").getAttribute("aria-invalid"),
      (invalid) => invalid === "true",
    );
    await dialog().getByLabel("Session").fill("30m");
    await dialog().getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "new.example.com" }).waitFor();
    const saved = await call("GET", `/access/apps/${id}`);
    assert.deepEqual(
      [saved.custom_deny_message, saved.tags, saved.session_duration, saved.destinations],
      ["Ask Ada", ["staff"], "30m", [{ type: "public", uri: "new.example.com" }]],
    );
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Delete Admin" }).click();
    await dialog().getByRole("button", { name: "Delete the application" }).click();
    await page.getByRole("heading", { name: "No application yet" }).waitFor();
  });

  test("the account gets another name", async () => {
    await open("/account/settings");
    await page.getByLabel("Name of the account").fill("The weavers");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByText("The account has its new name.").waitFor();
    assert.equal((await call("GET", "")).name, "The weavers");
    assert.deepEqual(await graveViolations(page), []);
    assert.deepEqual(browser.faults, []);
  });
});
