import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { httpOrigin, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { answerOf, fetchOver, type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";
import { toolOrSkip } from "../support/tools.ts";

const run = promisify(execFile);
const LARGE = Buffer.alloc(1_000_000, "0123456789");
let origin: TestOrigin;
let edge: SecureEdge;
let directory: string;
const file = (name: string): string => join(directory, name);

before(async () => {
  origin = await httpOrigin((req, res) => {
    if (req.url === "/hints") res.writeEarlyHints({ link: "</a.css>; rel=preload" });
    if (req.url === "/large") return void res.end(LARGE);
    if (req.method === "POST" || req.method === "PUT") return void req.pipe(res);
    res.end("hello");
  });
  edge = await startSecureEdge(origin.port);
  directory = await mkdtemp(join(tmpdir(), "selvedge-http2-"));
  await writeFile(file("ca.pem"), edge.rootPem);
  await writeFile(file("large"), LARGE);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
  await rm(directory, { recursive: true });
});

const curl = async (path: string, ...more: readonly string[]): Promise<string> => {
  const name = `www.example.com:${edge.https}`;
  const common = ["-sS", "--http2", "--max-time", "120", "--cacert", file("ca.pem"), "--resolve", `${name}:127.0.0.1`];
  return (await run("curl", [...common, ...more, `https://${name}${path}`], { maxBuffer: 8_000_000 })).stdout;
};

test("curl sends and receives bodies", { skip: toolOrSkip("curl") }, async () => {
  assert.equal(await curl("/", "-w", " %{http_version}"), "hello 2");
  assert.ok((await curl("/large")) === LARGE.toString());
  for (const flags of [["--data-binary"], ["-X", "PUT", "-H", "Expect: 100-continue", "--data-binary"]])
    assert.ok((await curl("/", ...flags, `@${file("large")}`)) === LARGE.toString());
  await curl("/up", "-T", file("large"), "-o", file("back"));
  assert.ok((await readFile(file("back"))).equals(LARGE));
  assert.match(await curl("/", "-I"), /^HTTP\/2 200 \r\n/);
  assert.equal(await curl("/", "--http1.1", "-w", " %{http_version}"), "hello 1.1");
  // Several requests on one connection.
  const url = `https://www.example.com:${edge.https}/large`;
  assert.ok((await curl("/large", "--parallel", url, url)).length === 3 * LARGE.length);
});

test("nghttp gets early hints, and h2load loses no request", { skip: toolOrSkip("nghttp") }, async () => {
  const url = `https://127.0.0.1:${edge.https}/hints`;
  const { stdout } = await run("nghttp", ["-v", "--no-verify-peer", "-H", ":authority: www.example.com", url]);
  assert.match(stdout, /:status: 103\s[^]*:status: 200\s[^]*hello/);
  const load = ["-n", "2000", "-c", "4", "-m", "100", "-t", "1", `--connect-to=127.0.0.1:${edge.https}`];
  const report = (await run("h2load", [...load, "https://www.example.com/", "https://www.example.com/hints"])).stdout;
  assert.match(report, /2000 succeeded, 0 failed, 0 errored/);
  const posted = (await run("h2load", [...load.slice(2), "-n", "60", "-d", file("large"), "https://www.example.com/"])).stdout;
  assert.match(posted, /60 succeeded, 0 failed, 0 errored/);
});

test("100 streams in parallel with bodies of all kinds, some of which the client resets", async () => {
  const session = edge.session();
  const before = edge.requests.length;
  const answers = Array.from({ length: 100 }, async (_, i) => {
    const kind = i % 5;
    if (kind === 0) return assert.equal((await fetchOver(session, {})).body, "hello");
    if (kind === 1) return assert.ok((await fetchOver(session, { ":path": "/large" })).body === LARGE.toString());
    const body = LARGE.subarray(0, i * 1000);
    if (kind === 2) return assert.ok((await fetchOver(session, { ":method": "POST" }, body)).body === body.toString());
    if (kind === 3)
      return assert.ok((await fetchOver(session, { ":method": "PUT", "content-length": body.length }, body)).body === body.toString());
    const stream = session.request({ ":authority": "www.example.com", ":path": "/large" });
    stream.once("data", () => stream.close(8));
    assert.equal((await answerOf(stream)).code, 8);
  });
  await Promise.all(answers);
  await eventually(() => edge.requests.length === before + 100);
});
