import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ROUTES } from "#api/routes/table.ts";
import { ERROR_CODES } from "#kernel/errors/error-codes.ts";
import { type ApiServer, startApi } from "../../../test/support/api-server.ts";

const ROOT = join(import.meta.dirname, "../../../docs");

describe("the documentation at /docs", () => {
  let server: ApiServer;
  let origin: string;
  before(async () => {
    server = await startApi({ docs: ROOT });
    origin = `http://127.0.0.1:${server.port}`;
  });
  after(() => server.close());
  const page = async (path: string): Promise<string> => {
    const answer = await fetch(`${origin}${path}`);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'none'; style-src 'self';/);
    return answer.text();
  };
  const linksOf = (html: string): readonly string[] =>
    [...html.matchAll(/href="(?<href>[^"]+)"/g)].map(({ groups }) => groups?.["href"] ?? "");

  test("every link of every page leads to an existing page and heading", async () => {
    const pages = new Map<string, string>();
    const wanted = ["/docs"];
    const links: [string, string][] = [];
    for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
      if (pages.has(path)) continue;
      const html = await page(path);
      pages.set(path, html);
      for (const link of linksOf(html).filter((href) => /^(?:\/docs|#)/.test(href))) {
        const [target = "", anchor] = link.split("#");
        if (anchor !== undefined) links.push([target === "" ? path : target, anchor]);
        if (target !== "") wanted.push(target);
      }
    }
    const guides = readdirSync(join(ROOT, "guides")).length;
    const codes = new Set(Object.values(ERROR_CODES).map(({ code }) => code)).size;
    assert.ok(pages.size > guides + codes, `${pages.size} pages`);
    const dead = links.filter(([path, anchor]) => !pages.get(path)?.includes(`id="${anchor}"`));
    assert.deepEqual(dead, []);
  });

  test("each route is on its subject's page, and a search for its path finds that page first", async () => {
    const index = await page("/docs/reference/api");
    const subjects = linksOf(index).filter((href) => href.startsWith("/docs/reference/api/") && !href.includes("#"));
    const all = (await Promise.all([...new Set(subjects)].map(page))).join("\n");
    for (const { id } of ROUTES) assert.ok(all.includes(`<a id="${id}"></a>`), id);
    const found = await page("/docs/search?q=custom_hostnames%2Ffallback_origin+PUT");
    assert.match(found, /<ol class="hits"><li><a href="\/docs\/reference\/api\/custom-hostnames#/);
  });

  test("a search result shows its query as text, and is limited in length", async () => {
    const words = encodeURIComponent('"><script>alert(1)</script>');
    const html = await page(`/docs/search?q=${words}`);
    assert.doesNotMatch(html, /<script/);
    assert.match(html, /value="&quot;&gt;&lt;script&gt;/);
    assert.match(await page("/docs/search?q="), /No page contains all of these words/);
    assert.match(await page("/docs/search?q=a&q=b"), /No page contains all of these words/);
    await page(`/docs/search?q=${"a+".repeat(5_000)}`);
  });

  test("an error names its page, and nothing outside the documents is served", async () => {
    for (const path of ["/docs/nothing", "/docs/..%2fpackage.json", "/docs/adr/0001", "/docs/status"]) {
      const answer = await fetch(`${origin}${path}`);
      assert.equal(answer.status, 404, path);
      const { errors } = (await answer.json()) as { errors: { code: number; documentation_url: string }[] };
      assert.deepEqual([errors[0]?.code, errors[0]?.documentation_url], [7000, `${origin}/docs/errors/7000`]);
      assert.match(await (await fetch(errors[0]!.documentation_url)).text(), /Error 7000/);
    }
  });
});

test("a server with a hidden OpenAPI document serves no documentation", async (t) => {
  const server = await startApi({ docs: ROOT, hasOpenApi: () => false });
  t.after(() => server.close());
  const answer = await fetch(`http://127.0.0.1:${server.port}/docs`);
  const { errors } = (await answer.json()) as { errors: object[] };
  assert.deepEqual([answer.status, errors], [404, [{ code: 7000, message: "No route for that URI" }]]);
});
