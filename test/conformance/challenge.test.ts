import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { httpOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const run = promisify(execFile);
const HOST = "www.example.com";
const LIMIT_MS = 300_000;

test(
  "a browser passes a challenge, and curl does not",
  { skip: toolOrSkip("chromium") || toolOrSkip("curl"), timeout: LIMIT_MS },
  async (t) => {
    let arrived: (target: string) => void = () => undefined;
    const asked: string[] = [];
    const origin = await httpOrigin((req, res) => {
      asked.push(String(req.url));
      // Browsers also request a site's icon, at any time.
      if (req.url !== "/favicon.ico") arrived(String(req.url));
      res.setHeader("content-type", "text/html");
      res.end("<title>the site</title>");
    });
    const edge = await startEdge([
      ...siteOps(origin.port),
      rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", [{ action: "js_challenge", expression: "true" }]),
    ]);
    const directory = await mkdtemp(join(tmpdir(), "selvedge-challenge-"));
    let browser: ChildProcess | null = null;
    t.after(async () => {
      // The browser is many processes in a separate process group.
      if (browser?.pid !== undefined) process.kill(-browser.pid, "SIGKILL");
      await edge.close();
      origin.close();
      await removeDirectory(directory);
    });
    const resolve = ["--resolve", `${HOST}:${edge.http}:127.0.0.1`];
    const url = `http://${HOST}:${edge.http}/shop?item=7`;
    const jar = join(directory, "jar");
    const { stdout } = await run("curl", ["-s", "-L", "-c", jar, "-b", jar, "-w", "%{http_code}", ...resolve, url], { timeout: 60_000 });
    assert.match(stdout, /403$/);
    assert.deepEqual(asked, []);
    const target = new Promise<string>((done) => (arrived = done));
    browser = spawn(
      "chromium",
      [
        ...["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking"],
        ...[`--user-data-dir=${join(directory, "profile")}`, `--host-resolver-rules=MAP ${HOST} 127.0.0.1`, url],
      ],
      { stdio: "ignore", detached: true },
    );
    assert.equal(await target, "/shop?item=7");
    assert.deepEqual(edge.errors, []);
  },
);
