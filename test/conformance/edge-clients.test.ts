import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { mkdtemp, writeFile } from "node:fs/promises";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";
import { BINARY, serveWebSocket, TEXT } from "../support/websocket-server.ts";

const run = promisify(execFile);
const HOST = "www.example.com";
const FILE = Buffer.alloc(100_000, "0123456789");

let origin: Server;
let edge: SecureEdge;
let directory: string;
/** Result of the page in the browser. */
let report: (found: unknown) => void = () => undefined;
/** Names of the fields with which a WebSocket was asked for. */
let upgradeFields: readonly string[] = [];

before(async () => {
  origin = createServer(answer);
  origin.on("upgrade", (req, socket, rest) => {
    upgradeFields = req.rawHeaders.filter((_, i) => i % 2 === 0);
    serveWebSocket(socket as Socket, `sec-websocket-key: ${req.headers["sec-websocket-key"]}`, rest, (peer, { opcode, payload }) => {
      if (opcode === TEXT || opcode === BINARY) peer.send(opcode, payload);
    });
  });
  await new Promise<void>((done) => origin.listen(0, "127.0.0.1", done));
  edge = await startSecureEdge((origin.address() as AddressInfo).port);
  directory = await mkdtemp(join(tmpdir(), "selvedge-clients-"));
  await writeFile(join(directory, "ca.pem"), edge.rootPem);
  await writeFile(join(directory, "file"), Buffer.alloc(3_000_000, "0123456789"));
});
after(async () => {
  await edge.close();
  origin.closeAllConnections();
  origin.close();
  await removeDirectory(directory);
});

const SCRIPTS = 30;

/** Loads its parts, sends a body, opens a WebSocket, and tells what came of it. */
const PAGE = `<!doctype html><title>page</title>
<script>let loaded = 0;</script>
${Array.from({ length: SCRIPTS }, (_, i) => `<script src="/part-${i}.js"></script>`).join("\n")}
<script>
(async () => {
  const posted = await (await fetch("/hash", { method: "POST", body: "x".repeat(300000) })).text();
  const socket = new WebSocket(location.origin.replace("http", "ws") + "/socket");
  const echoed = await new Promise((resolve) => {
    socket.onopen = () => socket.send("over the edge");
    socket.onmessage = (event) => resolve(event.data);
    socket.onerror = () => resolve("error");
  });
  const protocols = [...new Set(performance.getEntriesByType("resource").map((entry) => entry.nextHopProtocol))];
  await fetch("/report", { method: "POST", body: JSON.stringify({ loaded, posted, echoed, protocols }) });
})();
</script>`;

function answer(req: IncomingMessage, res: ServerResponse): void {
  const path = (req.url ?? "").split("?")[0]!;
  if (path === "/file") return void sendFile(req, res);
  if (path === "/page") return void res.setHeader("content-type", "text/html").end(PAGE);
  if (path.startsWith("/part-")) return void res.setHeader("content-type", "text/javascript").end("loaded++;");
  const pieces: Buffer[] = [];
  req.on("data", (piece: Buffer) => pieces.push(piece));
  req.on("end", () => {
    const body = Buffer.concat(pieces);
    if (path === "/report") report(JSON.parse(body.toString()));
    res.end(createHash("sha256").update(body).digest("hex"));
  });
}

function sendFile(req: IncomingMessage, res: ServerResponse): void {
  const range = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? "");
  if (range === null) return void res.writeHead(200, { "accept-ranges": "bytes", "content-length": FILE.length }).end(FILE);
  const [from, to] = [Number(range[1]), Number(range[2])];
  res.writeHead(206, { "content-range": `bytes ${from}-${to}/${FILE.length}`, "content-length": to - from + 1 });
  res.end(FILE.subarray(from, to + 1));
}

async function curl(...args: string[]): Promise<string> {
  const { stdout } = await run(
    "curl",
    ["-sS", "--max-time", "120", "--cacert", join(directory, "ca.pem"), "--resolve", `${HOST}:${edge.https}:127.0.0.1`, ...args],
    { maxBuffer: 10_000_000 },
  );
  return stdout;
}
const url = (path: string) => `https://${HOST}:${edge.https}${path}`;

const skipCurl = toolOrSkip("curl");

test("curl reuses one connection over HTTP/1.1 and HTTP/2, and opens one per request over HTTP/1.0", { skip: skipCurl }, async () => {
  const each = ["-o", "/dev/null", url("/file")];
  for (const [version, connects] of [
    ["--http1.1", "1000"],
    ["--http2", "1000"],
    ["--http1.0", "1111"],
  ] as const) {
    assert.equal(await curl(version, "-w", "%{num_connects}", ...each, ...each, ...each, ...each), connects, version);
  }
});

test("curl gets ranges and HEAD, and uploads with Expect: 100-continue", { skip: skipCurl }, async () => {
  const uploaded = createHash("sha256").update(Buffer.alloc(3_000_000, "0123456789")).digest("hex");
  for (const version of ["--http1.0", "--http1.1", "--http2"]) {
    assert.equal(await curl(version, "-r", "5-14", url("/file")), "5678901234");
    assert.match(await curl(version, "-I", url("/file")), /content-length: 100000\r\n/i);
    assert.equal(await curl(version, "-T", join(directory, "file"), url("/hash")), uploaded, version);
  }
  assert.equal(await curl("--http1.1", "-H", "Expect: 100-continue", "-T", join(directory, "file"), url("/hash")), uploaded);
  assert.equal(await curl("--http1.1", "-H", "Transfer-Encoding: chunked", "-T", join(directory, "file"), url("/hash")), uploaded);
});

test("openssl s_client gets two responses to two pipelined requests", { skip: toolOrSkip("openssl") }, async () => {
  const args = ["s_client", "-quiet", "-ign_eof", "-verify_return_error", "-verify_quiet", "-CAfile", join(directory, "ca.pem")];
  const child = spawn("openssl", [...args, "-servername", HOST, "-connect", `127.0.0.1:${edge.https}`], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), 60_000);
  child.stdin.write(
    `GET /part-1.js HTTP/1.1\r\nHost: ${HOST}\r\n\r\nGET /part-2.js HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`,
  );
  let text = "";
  for await (const bytes of child.stdout) text += String(bytes);
  clearTimeout(limit);
  child.kill("SIGKILL");
  assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
});

const BROWSER_LIMIT_MS = 300_000;

test(
  "Chromium loads a page with thirty parts, a POST and a WebSocket over HTTP/2 and verifies the certificate",
  { skip: toolOrSkip("chromium"), timeout: BROWSER_LIMIT_MS },
  async (t) => {
    const flags = [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      `--user-data-dir=${join(directory, "profile")}`,
      `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
      `--ignore-certificate-errors-spki-list=${await keyHash()}`,
    ];
    const found = new Promise((resolve) => (report = resolve));
    const browser = spawn("chromium", [...flags, url("/page")], { stdio: "ignore", detached: true });
    // The browser is many processes in a separate process group.
    t.after(() => browser.pid !== undefined && process.kill(-browser.pid, "SIGKILL"));
    assert.deepEqual(await found, {
      loaded: SCRIPTS,
      posted: createHash("sha256").update("x".repeat(300_000)).digest("hex"),
      echoed: "over the edge",
      protocols: ["h2"],
    });
    // Over HTTP/2 all names are in lower case; over a connection of HTTP/1.1 the browser writes this one otherwise.
    assert.ok(upgradeFields.includes("sec-websocket-key"), "the WebSocket came in a stream of the page's connection");
    assert.deepEqual(edge.errors, []);
  },
);

/** Of the site's public key: the one certificate that the browser takes although it does not know the authority. */
function keyHash(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: edge.https, host: "127.0.0.1", servername: HOST, ca: edge.rootPem }, () => {
      const { publicKey } = new X509Certificate(socket.getPeerCertificate().raw);
      socket.destroy();
      resolve(
        createHash("sha256")
          .update(publicKey.export({ type: "spki", format: "der" }))
          .digest("base64"),
      );
    });
    socket.on("error", reject);
  });
}
