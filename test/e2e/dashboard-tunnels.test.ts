import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, describe, test, type TestContext } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

/** A connector, as the command of the page runs it; the edge of the test has no name that resolves. */
async function connect(t: TestContext, command: string, edge: string): Promise<void> {
  const [, ...args] = command.trim().split(" ");
  const child = spawn(process.execPath, ["bin/selvedge.js", ...args, "--edge", edge], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`the connector ended with ${code}`)));
  ended.catch(() => undefined);
  await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
}

describe("tunnels in the dashboard", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  const origin = (): string => new URL(server.ready.api).origin;
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready)(method, path, body));
  const tunnels = (): string => `/accounts/${server.ready.account_id}/cfd_tunnel`;
  const rules = async (): Promise<readonly unknown[]> => {
    const [{ id }] = await call("GET", `${tunnels()}?is_deleted=false`);
    const { config } = await call("GET", `${tunnels()}/${id}/configurations`);
    return config.ingress.map(({ hostname, path, service }: any) => [hostname, path, service]);
  };
  /** Of the present page, in every scheme and width. */
  const look = async (name: string): Promise<void> => {
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1280, 390]) {
        const other = await browser.context({ viewport: { width, height: 800 }, colorScheme, storageState: await context.storageState() });
        const shown = await other.newPage();
        await shown.goto(page.url());
        await shown.getByRole("heading", { level: 1 }).waitFor();
        await shown.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
        assert.deepEqual(await textsOutside(shown), [], `${name} is too wide at ${width}`);
        assert.deepEqual(await graveViolations(shown), [], `${name}, ${colorScheme}, ${width}`);
        if (process.env["SELVEDGE_PICTURES"])
          await shown.screenshot({ path: `${process.env["SELVEDGE_PICTURES"]}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        await other.close();
      }
  };
  before(async () => {
    server = await startSelvedge();
    await call("POST", "/zones", { name: "shop.example", account: { id: server.ready.account_id } });
    browser = await startBrowser(origin);
    context = await browser.context();
    page = await context.newPage();
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

  test("an account without tunnels sees their purpose, and a new tunnel opens with its command", async () => {
    await page.getByRole("link", { name: "Tunnels" }).click();
    await page.getByRole("heading", { name: "Publish a service that nobody can reach yet" }).waitFor();
    await look("tunnels-empty");
    await page.getByRole("button", { name: "Create a tunnel" }).click();
    await page.getByLabel("Name").fill("office");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name: "office", level: 1 }).waitFor();
    await page.getByText("No connector is connected.").waitFor();
    const [tunnel] = await call("GET", tunnels());
    assert.deepEqual([tunnel.name, tunnel.config_src], ["office", "cloudflare"]);
  });

  test("the token is asked for and shown only on demand", async () => {
    const asked: string[] = [];
    page.on("request", (request) => void (request.url().endsWith("/token") && asked.push(request.url())));
    await page.reload();
    await page.getByRole("button", { name: "Show the command" }).waitFor();
    assert.deepEqual(asked, []);
    await page.getByRole("button", { name: "Show the command" }).click();
    await page.getByRole("button", { name: "Copy command" }).waitFor();
    const [{ id }] = await call("GET", tunnels());
    const shown = await page.getByRole("group", { name: "command" }).innerText();
    assert.equal(shown.trim(), `selvedge tunnel run ${await call("GET", `${tunnels()}/${id}/token`)}`);
    assert.deepEqual(await graveViolations(page), []);
    await page.getByRole("button", { name: "Hide the command" }).click();
    await page.getByRole("group", { name: "command" }).waitFor({ state: "detached" });
  });

  test("rules are added with errors next to their field, moved, changed and deleted; the last takes all other requests", async () => {
    const form = page.getByRole("dialog");
    const add = async (host: string, service: string): Promise<void> => {
      await page.getByRole("button", { name: "Add a rule" }).click();
      await form.getByRole("textbox", { name: "Host name" }).fill(host);
      await form.getByRole("textbox", { name: "Service" }).fill(service);
      await form.getByRole("button", { name: "Save the rule" }).click();
    };
    await add("app.shop.example", "127.0.0.1:9000");
    await form.getByText(/is not supported/).waitFor();
    assert.equal(await form.getByRole("textbox", { name: "Service" }).getAttribute("aria-invalid"), "true");
    await form.getByRole("textbox", { name: "Service" }).fill("http://127.0.0.1:9000");
    await form.getByRole("textbox", { name: "Path" }).fill("^/(");
    await form.getByRole("button", { name: "Save the rule" }).click();
    await form.getByText(/not a valid regular expression/).waitFor();
    await form.getByRole("textbox", { name: "Path" }).fill("^/api/");
    await form.getByRole("button", { name: "Save the rule" }).click();
    await form.waitFor({ state: "hidden" });
    await add("", "http://127.0.0.1:9001");
    await form.getByText(/matches every request/).waitFor();
    await form.getByRole("textbox", { name: "Host name" }).fill("*.shop.example");
    await form.getByRole("button", { name: "Save the rule" }).click();
    await form.waitFor({ state: "hidden" });
    const wild = ["*.shop.example", undefined, "http://127.0.0.1:9001"];
    const rest = [undefined, undefined, "http_status:404"];
    assert.deepEqual(await rules(), [["app.shop.example", "^/api/", "http://127.0.0.1:9000"], wild, rest]);
    await page.getByRole("button", { name: "Move rule 2 up" }).click();
    await page.getByRole("row").nth(1).getByText("*.shop.example").waitFor();
    await page.getByRole("button", { name: "Edit rule 2" }).click();
    await form.getByRole("textbox", { name: "Path" }).fill("");
    await form.getByRole("button", { name: "Save the rule" }).click();
    await form.waitFor({ state: "hidden" });
    const app = ["app.shop.example", undefined, "http://127.0.0.1:9000"];
    assert.deepEqual(await rules(), [wild, app, rest]);
    await page.getByRole("button", { name: "Delete rule 1" }).click();
    await form.getByRole("button", { name: "Delete the rule" }).click();
    await form.waitFor({ state: "hidden" });
    assert.deepEqual(await rules(), [app, rest]);
  });

  test("a rule's name is routed to the tunnel by a proxied record in the zone of the name", async () => {
    await page.getByRole("button", { name: "Route app.shop.example here" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill("app.elsewhere.example");
    await form.getByRole("button", { name: "Add the record" }).click();
    await form.getByText("No zone of this account has the name app.elsewhere.example.").waitFor();
    await form.getByRole("textbox", { name: "Name" }).fill("app.shop.example");
    await form.getByRole("button", { name: "Add the record" }).click();
    await form.getByText("app.shop.example leads to this tunnel now.").waitFor();
    await form.getByRole("button", { name: "Done" }).click();
    const [[tunnel], [zone]] = [await call("GET", tunnels()), await call("GET", "/zones?name=shop.example")];
    const [record] = await call("GET", `/zones/${zone.id}/dns_records?name=app.shop.example`);
    assert.deepEqual([record.type, record.content, record.proxied], ["CNAME", `${tunnel.id}.tunnel.internal`, true]);
  });

  test("the command connects, the page shows from where, and the tunnel is deleted after its name is typed", async (t) => {
    await page.getByRole("button", { name: "Show the command" }).click();
    await connect(t, await page.getByRole("group", { name: "command" }).innerText(), new URL(server.ready.https).host);
    await page.getByRole("table", { name: "Connectors" }).getByText("127.0.0.1").waitFor();
    await page.getByText("Connected: requests of its names reach its services.").waitFor();
    await page.getByRole("table", { name: "Connectors" }).getByText("current").waitFor();
    await look("tunnel");
    await page.getByRole("link", { name: "Tunnels" }).click();
    await page.getByRole("row").filter({ hasText: "office" }).getByText("healthy").waitFor();
    await look("tunnels");
    await page.getByRole("link", { name: "office" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByLabel("Type office to go on").fill("office");
    await page.getByRole("button", { name: "Delete the tunnel" }).click();
    await page.getByRole("heading", { name: "Publish a service that nobody can reach yet" }).waitFor();
    assert.deepEqual(browser.faults, []);
  });
});
