import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { chromium } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const HOST = "www.shield.test";

async function serve(t: TestContext, listener: RequestListener): Promise<number> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test(
  "a browser's reports become lists of scripts, connections and cookies, and a policy stops a foreign script",
  { skip: toolOrSkip("chromium"), timeout: 300_000 },
  async (t) => {
    const elsewhere = await serve(t, (req, res) => {
      const isScript = req.url?.startsWith("/lib.js") === true;
      res.setHeader("access-control-allow-origin", "*").setHeader("content-type", isScript ? "text/javascript" : "application/json");
      res.end(isScript ? "document.title = 'ran'" : "{}");
    });
    const foreign = `http://127.0.0.1:${elsewhere}`;
    const origin = await serve(t, (_, res) => {
      res.setHeader("content-type", "text/html").setHeader("set-cookie", "visit=secret-value; HttpOnly; SameSite=Strict");
      res.end(`<title>quiet</title><script src="${foreign}/lib.js?v=1"></script><script>fetch("${foreign}/api")</script>`);
    });
    const selvedge = await startSelvedge({ args: ["--notifications-webhook-allow", "127.0.0.1"] });
    t.after(() => selvedge.stop());
    const call = apiCaller(selvedge.ready, selvedge.ready.token ?? "");
    const { id } = await succeed(call("POST", "/zones", { account: { id: selvedge.ready.account_id }, name: "shield.test" }));
    const zone = `/zones/${id}`;
    await succeed(call("POST", `${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
    const route = { action: "route", expression: "true", action_parameters: { origin: { port: origin } } };
    await succeed(call("PUT", `${zone}/rulesets/phases/http_request_origin/entrypoint`, { rules: [route] }));
    await succeed(call("PUT", `${zone}/page_shield`, { enabled: true, use_connection_url_path: true }));

    const browser = await chromium.launch({
      executablePath: chrome ?? "",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", `--host-resolver-rules=MAP ${HOST} 127.0.0.1`],
    });
    t.after(() => browser.close());
    const page = await browser.newPage();
    const url = `http://${HOST}:${new URL(selvedge.ready.http).port}/basket?card=4111`;
    await page.goto(url);
    await eventually(async () => (await page.title()) === "ran");
    const list = (kind: string): Promise<any[]> => succeed(call("GET", `${zone}/page_shield/${kind}`));
    await eventually(async () => (await list("scripts")).length === 1 && (await list("connections")).length === 1);
    const [script] = await list("scripts");
    const shown = `http://${HOST}:${new URL(url).port}/basket`;
    assert.deepEqual([script.url, script.host, script.page_urls], [`${foreign}/lib.js`, "127.0.0.1", [shown]]);
    assert.equal((await list("connections"))[0].url, `${foreign}/api`);
    const [cookie] = await list("cookies");
    assert.deepEqual(
      [cookie.name, cookie.host, cookie.http_only_attribute, cookie.secure_attribute, cookie.same_site_attribute],
      ["visit", HOST, true, false, "strict"],
    );
    assert.ok(!JSON.stringify(await list("cookies")).includes("secret-value"));

    const policy = {
      description: "own scripts only",
      action: "allow",
      expression: "true",
      enabled: true,
      value: "script-src 'self' 'unsafe-inline'",
    };
    const { id: policyId } = await succeed(call("POST", `${zone}/page_shield/policies`, policy));
    await page.goto(url);
    assert.equal(await page.title(), "quiet", "the browser refused the script");
    await eventually(async () => {
      const events = await succeed(call("GET", `${zone}/security/events?rule_id=${policyId}`));
      return events.some((event: any) => event.action === "log" && event.matches[0].name === foreign);
    });
  },
);
