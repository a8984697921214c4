import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page, Request } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, startBrowser, textsOutside, type TestBrowser } from "../support/browser.ts";
import { readUntil } from "../support/eventually.ts";
import { chat, fillAccount, GATEWAY, get, startSurroundings, type Surroundings, visitSite, ZONE } from "../support/lively-account.ts";
import { reportPages } from "../support/page-reports.ts";
import { TINY_GIF } from "../support/planted-images.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyzABCD";
const PICTURES = process.env["SELVEDGE_PICTURES"];
const LONG = "a-name-that-is-as-long-as-people-make-them-when-nothing-stops-them";
const ROUTER = new URL("../../dashboard/src/router.tsx", import.meta.url);
/** Requests that are answered while the page writes nothing: reads, and writes that only compute. */
const COMPUTES = /\/graphql|\/expressions|\/matches|\/trace|\/scan|\/dns_query|dry_run=true/;
const ALL_LOOKS = [
  { width: 1280, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
] as const;
/** A scheme moves nothing, so each width has one, unless somebody looks at pictures. */
const LOOKS = ALL_LOOKS.filter((_, at) => PICTURES !== undefined || at === 0 || at === 3);

const BUTTONS = "main button:visible:not([disabled])";

/** Each page of the router and each dialog that its buttons open, in an account where every list has rows. */
describe("all pages of the dashboard fit", { skip: chrome === undefined && "chromium is not installed" }, () => {
  let around: Surroundings;
  let dataDir: string;
  let server: Selvedge;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  /** Of each route's parameters after the part before it. */
  let values: Readonly<Record<string, string>>;
  const running = new Set<Request>();
  const call = (method: string, path: string, body?: object) => succeed(apiCaller(server.ready, TOKEN)(method, path, body));

  before(async () => {
    around = await startSurroundings();
    dataDir = await mkdtemp(join(tmpdir(), "selvedge-sweep-"));
    await writeFile(join(dataDir, "places.mmdb"), around.places);
    const env = { SELVEDGE_BOOTSTRAP_TOKEN: TOKEN, SELVEDGE_EDGE_GEOIP_DATABASES: join(dataDir, "places.mmdb") };
    server = await startSelvedge({ dataDir, args: around.args, env });
    const { zoneId } = await fillAccount(server, TOKEN, around.originPort);
    await readUntil(
      () => get(server.ready.http, "/"),
      (status) => status === 200,
    );
    await call("PUT", `/zones/${zoneId}/page_shield`, { enabled: true });
    await visitSite(server, 2);
    await chat(server);
    values = await fillFurther(zoneId);
    browser = await startBrowser(() => new URL(server.ready.api).origin);
    context = await browser.context({ timezoneId: "UTC" });
    await signIn();
    page = await context.newPage();
    page.on("request", (request) => void (/\/tail\b|\.woff2$/.test(request.url()) || running.add(request)));
    page.on("requestfinished", (request) => void running.delete(request));
    page.on("requestfailed", (request) => void running.delete(request));
    await page.route("**/client/v4/**", (route) => {
      const request = route.request();
      if (request.method() === "GET" || COMPUTES.test(request.url())) return route.continue();
      const errors = [{ code: 1000, message: "This test writes nothing." }];
      return route.fulfill({ status: 400, json: { success: false, errors, messages: [], result: null } });
    });
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await around?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function signIn(): Promise<void> {
    const { api } = server.ready;
    const signedIn = await fetch(`${api}/user/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: "{}",
    });
    const [name = "", value = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=") ?? [];
    await context.addCookies([{ name, value, url: new URL(api).origin, httpOnly: true, sameSite: "Strict" }]);
  }

  /** Objects of the pages that an account with visitors leaves empty, each with a long name. */
  async function fillFurther(zoneId: string): Promise<Readonly<Record<string, string>>> {
    const account = `/accounts/${server.ready.account_id}`;
    const lists = await call("POST", `${account}/rules/lists`, { name: "offices", kind: "ip", description: LONG });
    await call("POST", `${account}/rules/lists/${lists.id}/items`, [{ ip: "2001:db8:1111:2222::/64", comment: LONG }]);
    const tunnel = await call("POST", `${account}/cfd_tunnel`, { name: LONG, config_src: "cloudflare" });
    await call("PUT", `${account}/cfd_tunnel/${tunnel.id}/configurations`, {
      config: {
        ingress: [{ hostname: `${LONG.slice(0, 60)}.${ZONE}`, service: `http://${LONG}.internal:8080` }, { service: "http_status:404" }],
      },
    });
    const image = new FormData();
    image.set("file", new File([TINY_GIF], `${LONG}.gif`));
    const headers = { authorization: `Bearer ${TOKEN}` };
    assert.equal((await fetch(`${server.ready.api}${account}/images/v1`, { method: "POST", headers, body: image })).status, 200);
    await call("POST", `${account}/images/v1/variants`, {
      id: "thumbnail",
      options: { fit: "pad", width: 4, height: 4, metadata: "none" },
    });
    const [role] = await call("GET", `${account}/roles`);
    await call("POST", `${account}/members`, { email: `${LONG.slice(0, 60)}@example.com`, roles: [role.id] });
    await call("POST", `${account}/firewall/access_rules/rules`, {
      mode: "block",
      configuration: { target: "ip", value: "192.0.2.30" },
      notes: LONG,
    });
    await call("POST", `/zones/${zoneId}/firewall/access_rules/rules`, {
      ...{ mode: "managed_challenge", configuration: { target: "ip_range", value: "2001:db8:1111::/48" }, notes: LONG },
    });
    await call("POST", `/zones/${zoneId}/firewall/lockdowns`, {
      ...{ urls: [`www.${ZONE}/${LONG}/*`], configurations: [{ target: "ip6", value: "2001:db8:1111:2222:3333:4444:5555:6666" }] },
      description: LONG,
    });
    await call("POST", `/zones/${zoneId}/firewall/ua_rules`, {
      ...{ configuration: { target: "ua", value: `BadBot/1.0 (+https://${LONG}.example)` }, mode: "block", description: LONG },
    });
    await call("POST", `${account}/access/apps`, { name: LONG, domain: `www.${ZONE}/${LONG}`, type: "self_hosted" });
    await call("POST", `/zones/${zoneId}/page_shield/policies`, {
      ...{ action: "log", description: LONG, enabled: true, expression: "true", value: `script-src 'self' ${LONG}.example` },
    });
    await call("POST", `/zones/${zoneId}/dns_records`, { type: "TXT", name: LONG.slice(0, 60), content: `"${LONG}"`, comment: LONG });
    await reportPages(server);
    const events = await readUntil(
      () => call("GET", `/zones/${zoneId}/security/events`),
      ({ length }: any[]) => length >= 8,
    );
    await readUntil(
      () => call("GET", `/zones/${zoneId}/page_shield/scripts`),
      ({ length }: { length: number }) => length > 0,
    );
    await readUntil(
      () => call("GET", `${account}/ai-gateway/gateways/${GATEWAY}/logs`),
      ({ length }: { length: number }) => length > 0,
    );
    const [request] = await call("GET", `/zones/${zoneId}/logs/requests`);
    const [hostname] = await call("GET", `/zones/${zoneId}/custom_hostnames`);
    const event = events.find(({ path }: any) => path.startsWith("/search")) ?? events[0];
    return {
      ...{ "zones/": ZONE, "gateways/": GATEWAY, "events/": `${event.id}?at=${event.occurred_at}`, "requests/": request.ray_id },
      ...{ "managed/": "efb7b8c949ac4650a09736fc376e9aee", "page-shield/": "policies", "hostnames/": hostname.hostname },
      ...{ "tunnels/": tunnel.id, "lists/": lists.id },
    };
  }

  const routes = async (): Promise<readonly string[]> =>
    Array.from((await readFile(ROUTER, "utf8")).matchAll(/page\("([^"]+)"/g), ([, path = ""]) =>
      path.replace(/([\w-]+\/)\$\w+/g, (_, before: string) => {
        const value = values[before];
        assert.ok(value, `${path} needs a value after ${before}`);
        return before + value;
      }),
    );
  /** Until the page asks for nothing more and shows it. */
  const settle = async (): Promise<void> => {
    for (let isQuiet = false; !isQuiet;) {
      await page.locator("h1").first().waitFor({ state: "attached" });
      await page.getByLabel("Loading", { exact: true }).first().waitFor({ state: "detached" });
      await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))");
      isQuiet = running.size === 0;
      if (!isQuiet) await Promise.race([...running].map((request) => request.response().then((answer) => answer?.finished())));
    }
  };
  /** Buttons that may open a dialog, by place and name: of those that show data, one of each kind. */
  const buttonsOf = async (): Promise<readonly (readonly [number, string])[]> => {
    const all = await page
      .locator(BUTTONS)
      .evaluateAll((found) =>
        found.map((one: any) => ({ name: (one.ariaLabel ?? one.textContent) as string, kind: one.className as string })),
      );
    const kinds = all.map(({ name, kind }) => (kind.includes("mantine-") ? name : kind));
    return all.flatMap(({ name }, at) =>
      kinds.indexOf(kinds[at] ?? "") === at && !/^(?:Copy|Move) /.test(name) ? [[at, name] as const] : [],
    );
  };
  const faults: string[] = [];
  let dialogs = 0;
  const look = async (name: string, looks: typeof LOOKS = LOOKS): Promise<void> => {
    for (const { width, colorScheme } of looks) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 800 });
      await page.emulateMedia({ colorScheme });
      await settle();
      const seen = await textsOutside(page);
      faults.push(...seen.map((fault) => `${name}, ${width}, ${colorScheme}: ${fault}`));
      if (PICTURES)
        await page.screenshot({ path: `${PICTURES}/${name.replaceAll(/[^\w-]+/g, "_").slice(0, 90)}-${width}-${colorScheme}.png` });
    }
  };

  test("each page and each of its dialogs, wide and on a phone, light and dark", async () => {
    for (const path of await routes()) {
      if (!path.startsWith(process.env["SELVEDGE_SWEEP"] ?? "/")) continue;
      const open = async (): Promise<void> => {
        await page.goto(new URL(path, server.ready.api).href);
        await settle();
      };
      await open();
      await look(path);
      const url = page.url();
      const dialog = page.getByRole("dialog");
      for (const [at, name] of await buttonsOf()) {
        const button = page.locator(BUTTONS).nth(at);
        if (page.url() !== url || (await dialog.count()) > 0 || (await button.count()) === 0) await open();
        if ((await button.count()) === 0) continue;
        await button.click({ force: true });
        await settle();
        if ((await dialog.count()) === 0) continue;
        dialogs += 1;
        await look(`${path} ${name}`, PICTURES ? LOOKS : LOOKS.slice(-1));
        await page.keyboard.press("Escape");
      }
    }
    assert.ok(dialogs > 20 || process.env["SELVEDGE_SWEEP"] !== undefined, `only ${dialogs} dialogs were seen`);
    assert.deepEqual(faults, []);
  });
});
