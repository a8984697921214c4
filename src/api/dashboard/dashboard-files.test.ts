import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type ApiServer, startApi } from "../../../test/support/api-server.ts";

describe("the dashboard's files", () => {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-pages-"));
  let server: ApiServer;
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { accept: "text/html", ...headers } });
  before(async () => {
    mkdirSync(join(folder, "assets"));
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>page</title>");
    writeFileSync(join(folder, "assets/page-abc.js"), "export const long = 1;\n".repeat(100));
    writeFileSync(join(folder, "manifest.json"), "{}");
    writeFileSync(join(folder, "..", `${folder.split("/").at(-1)}.secret.js`), "secret");
    server = await startApi({ dashboard: folder });
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
    rmSync(`${folder}.secret.js`);
  });

  test("every page URL returns the page, with a strict content security policy, and is revalidated each time", async () => {
    for (const path of ["/", "/zones/shop.example/dns/records?type=A", "/index.html"]) {
      const answer = await get(path);
      assert.match(await answer.text(), /<title>page/);
      const policy = answer.headers.get("content-security-policy") ?? "";
      assert.match(policy, /^default-src 'none'; script-src 'self'/);
      assert.ok(policy.includes("require-trusted-types-for 'script'") && !/unsafe|nonce|data:|\*/.test(policy), policy);
      assert.equal(answer.headers.get("cache-control"), "no-cache");
      const again = await get(path, { "if-none-match": answer.headers.get("etag") ?? "" });
      assert.deepEqual([again.status, await again.text()], [304, ""]);
    }
  });

  test("files named by their content are cached forever and compressed", async () => {
    for (const encoding of ["br", "gzip"]) {
      const answer = await get("/assets/page-abc.js", { accept: "*/*", "accept-encoding": encoding });
      assert.deepEqual(
        [answer.headers.get("cache-control"), answer.headers.get("content-encoding")],
        ["public, max-age=31536000, immutable", encoding],
      );
      assert.match(await answer.text(), /^export/);
    }
  });

  test("API clients get an envelope, and nothing outside the folder is served", async () => {
    const code = async (answer: Response): Promise<unknown> => ((await answer.json()) as { errors: { code: number }[] }).errors[0]?.code;
    assert.equal(await code(await get("/nothing", { accept: "application/json" })), 7000);
    assert.equal(await code(await get("/client/v4/nothing")), 7000);
    assert.equal(await code(await get("/assets/nothing.js")), 7000);
    assert.equal(await code(await get("/manifest.json", { accept: "*/*" })), 7000);
    const name = `${folder.split("/").at(-1)}.secret.js`;
    for (const path of [`/..%2f${name}`, `/%2e%2e/${name}`, `/assets/..%2f..%2f${name}`])
      assert.equal(await code(await get(path, { accept: "*/*" })), 7000, path);
    assert.equal((await fetch(`http://127.0.0.1:${server.port}/`, { method: "POST", headers: { accept: "text/html" } })).status, 404);
  });
});
