import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { connect as connectTls } from "node:tls";
import { eventually } from "../../../test/support/eventually.ts";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { fixedClock, type FixedClock, systemClock } from "#kernel/clock.ts";
import { type GatewayConfig, GATEWAY_LIMITS } from "#gateway/config.ts";
import type { AnswerSink } from "./response-writer.ts";
import type { BodyReceiver, ClientRequest } from "./client-request.ts";
import { createFront, type Front } from "./listener.ts";

interface Stage {
  readonly front: Front;
  readonly port: number;
  readonly clock: FixedClock;
  /** Method, target and body of each request; `gone` if the client left before its end. */
  readonly seen: string[];
  readonly errors: unknown[];
}

type Handler = (req: ClientRequest, answer: AnswerSink, body: string) => void;

/** Answers with the request. */
const echo: Handler = (req, answer, body) => {
  const text = Buffer.from(`${req.method} ${req.target} ${body}`);
  answer.begin(200, ["content-type", "text/plain", "content-length", String(text.length)]);
  answer.end(text);
};

type OnRequest = (req: ClientRequest, answer: AnswerSink) => void;

async function stage(t: TestContext, handler: Handler = echo, tls?: GatewayConfig["tls"], onRequest?: OnRequest): Promise<Stage> {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const seen: string[] = [];
  const errors: unknown[] = [];
  const front = createFront({
    clock,
    loop: null,
    places: null,
    config: {
      host: "127.0.0.1",
      port: 0,
      limits: GATEWAY_LIMITS,
      ...(tls === undefined ? {} : { tls }),
    },
    onRequest:
      onRequest ??
      ((req, answer) => {
        let body = "";
        req.take({
          onData: (bytes) => void (body += bytes.toString("latin1")),
          onEnd: () => {
            seen.push(`${req.method} ${req.target} ${body}`);
            handler(req, answer, body);
          },
          onGone: () => seen.push("gone"),
        });
      }),
    onUpgrade: (_req, socket, first) => void socket.end(`upgraded ${first.toString("latin1")}`),
    report: (error) => void errors.push(error),
    refuse: (answer) => {
      answer.begin(400, ["content-length", "3"], true);
      answer.end(Buffer.from("bad"));
    },
  });
  const { port } = await front.listen();
  t.after(() => front.close(0));
  return { front, port, clock, seen, errors };
}

/** A client that sends arbitrary bytes. */
function client(port: number): {
  readonly socket: Socket;
  text: () => string;
  until: (pattern: RegExp) => Promise<string>;
  closed: Promise<string>;
} {
  let text = "";
  const socket = connect(port, "127.0.0.1");
  let look = (): void => undefined;
  socket.setEncoding("latin1").on("data", (more: string) => {
    text += more;
    look();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => {
      look = () => void (pattern.test(text) && resolve(text));
      look();
    });
  return { socket, text: () => text, until, closed };
}

/** The answer to these bytes, until the other side closes. */
async function told(port: number, bytes: string): Promise<string> {
  const { socket, closed } = client(port);
  socket.write(bytes, "latin1");
  return closed;
}

const END = "GET /end HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

test("requests on one connection are answered in order, also if pipelined, and in any chunks", async (t) => {
  const { port, seen } = await stage(t);
  const bytes =
    "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc\r\nPOST /b HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\ndef\r\n2;x=y\r\ngh\r\n0\r\nx-t: 1\r\n\r\n" +
    `GET /c HTTP/1.1\r\nhost: a\r\n\r\n${END}`;
  const whole = await told(port, bytes);
  assert.deepEqual(seen, ["POST /a abc", "POST /b defgh", "GET /c ", "GET /end "]);
  assert.equal(whole.match(/HTTP\/1\.1 200 OK\r\n/g)?.length, 4);
  assert.equal(whole.match(/connection: keep-alive\r\nkeep-alive: timeout=65\r\n/g)?.length, 3);
  assert.match(whole, /date: Thu, 01 Jan 2026 00:00:00 GMT\r\nconnection: close\r\n\r\nGET \/end $/);
  const { socket, closed } = client(port);
  for (const byte of bytes) {
    socket.write(byte, "latin1");
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(await closed, whole);
});

/** Frames of a client of HTTP/2 that asks for `/` again and again (RFC 9113 §6). */
function http2Requests(count: number): Buffer {
  const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const fields = Buffer.concat([Buffer.of(0x82, 0x86, 0x84, 0x41, 1), Buffer.from("x")]);
  const requests = Array.from({ length: count }, (_, i) => frame(1, 5, 2 * i + 1, fields));
  return Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, Buffer.alloc(0)), ...requests]);
}

/** A client sends these bytes at once, and another one a request as soon as the first of them has been read. */
const isAnsweredSoon =
  (flood: Buffer) =>
  async (t: TestContext): Promise<void> => {
    const other: Socket[] = [];
    const { port, seen } = await stage(t, (req, answer, body) => {
      // Sent once the first of the flood has come, on a connection that is open.
      if (seen.length === 1) other[0]?.write("GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
      echo(req, answer, body);
    });
    const [quiet, hasty] = [client(port), client(port)];
    other.push(quiet.socket);
    await once(quiet.socket, "connect");
    hasty.socket.write(flood);
    await eventually(() => seen.length === 4001);
    const at = seen.findIndex((text) => text.includes("/other"));
    assert.ok(at < 500, `after ${at} requests of the flood`);
  };

test(
  "a request waits for few of those that another client has sent ahead",
  isAnsweredSoon(Buffer.from("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n".repeat(4000))),
);

test("a request waits for few of those that another client of HTTP/2 has sent ahead", isAnsweredSoon(http2Requests(4000)));

test("ambiguous requests are refused and not forwarded", async (t) => {
  const { port, seen } = await stage(t);
  const head = (lines: string): string => `POST / HTTP/1.1\r\nhost: a\r\n${lines}\r\n`;
  const refused = [
    head("content-length: 1\r\ntransfer-encoding: chunked\r\n"),
    head("content-length: 1\r\ncontent-length: 2\r\n"),
    head("content-length: +1\r\n"),
    head("transfer-encoding: gzip, chunked\r\n"),
    head("host: b\r\n"),
    head("x-a : 1\r\n"),
    head("x-a: 1\r\n folded\r\n"),
    head("expect: nothing\r\n"),
    "POST / HTTP/1.1\nhost: a\n\n",
    "POST / HTTP/2.0\r\nhost: a\r\n\r\n",
    `GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
    head(`x-a: ${"a".repeat(40_000)}\r\n`),
    "\x16\x03\x01\x02\x00\x01\x00\x01",
  ];
  for (const bytes of refused) assert.match(await told(port, bytes), /^HTTP\/1\.1 400 .*bad$/s, bytes.slice(0, 80));
  assert.deepEqual(seen, []);
  // A body that becomes invalid after its request was accepted.
  assert.match(await told(port, `${head("transfer-encoding: chunked\r\n")}zz\r\n`), /^HTTP\/1\.1 400 .*bad$/s);
  assert.deepEqual(seen, ["gone"]);
});

test("a client that sends Expect gets 100 Continue when its body is wanted", async (t) => {
  const { port } = await stage(t);
  const { socket, until, closed } = client(port);
  socket.write("POST /a HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: 2\r\n\r\n");
  assert.equal(await until(/\r\n\r\n/), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.write("ok");
  assert.match(await closed, /POST \/a ok$/);
});

test("responses without a length are chunked, end with the connection for HTTP/1.0, and have no body for HEAD, 204 and 304", async (t) => {
  const { port } = await stage(t, (req, answer) => {
    const [, status = "", withLength] = req.target.split("/");
    answer.begin(Number(status), withLength === undefined ? [] : ["content-length", "5", "x-bad", "a\r\nb: c"]);
    answer.write(Buffer.from("hel"));
    answer.end(Buffer.from("lo"));
  });
  const ask = (line: string): Promise<string> => told(port, `${line}\r\nhost: a\r\nconnection: close\r\n\r\n`);
  assert.match(await ask("GET /200 HTTP/1.1"), /transfer-encoding: chunked\r\n.*\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n$/s);
  assert.match(
    await ask("GET /200/5 HTTP/1.1"),
    /^HTTP\/1\.1 200 OK\r\ncontent-length: 5\r\ndate: [^\n]*\nconnection: close\r\n\r\nhello$/,
  );
  assert.match(await ask("GET /200 HTTP/1.0"), /^(?!.*transfer-encoding).*\r\n\r\nhello$/s);
  assert.match(await ask("HEAD /200/5 HTTP/1.1"), /content-length: 5\r\n.*\r\n\r\n$/s);
  assert.match(await ask("GET /204/5 HTTP/1.1"), /^(?!.*(?:content-length|transfer-encoding)).*\r\n\r\n$/s);
});

test("a request that has its response gets no more body, and the next request's body is unaffected", async (t) => {
  const requests: ClientRequest[] = [];
  const taken: string[] = [];
  const receiver = (name: string): BodyReceiver => ({
    onData: (bytes) => taken.push(`${name} ${bytes.toString()}`),
    onEnd: () => taken.push(`${name} end`),
    onGone: () => taken.push(`${name} gone`),
  });
  const { port } = await stage(t, echo, undefined, (req, answer) => {
    requests.push(req);
    if (req.target === "/second") {
      // The first request is late: its provider has only now asked for the body.
      requests[0]?.take(receiver("first"));
      requests[0]?.pause();
      req.take(receiver("second"));
    }
    answer.begin(200, ["content-length", "0"]);
    if (req.target === "/first") answer.end();
    else setTimeout(() => answer.end(), 50);
  });
  const text = await told(
    port,
    `POST /first HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabcPOST /second HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 3\r\n\r\ndef`,
  );
  assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  assert.deepEqual(taken, ["first gone", "second def", "second end"]);
});

test("chunks flushed in one tick arrive together, before the response ends, and on their own connection", async (t) => {
  const answers = new Map<string, AnswerSink>();
  const { port } = await stage(t, (req, answer) => void answers.set(req.target, answer));
  const clients = ["/a", "/b"].map((target) => ({ target, ...client(port) }));
  for (const { socket, target } of clients) socket.write(`GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  while (answers.size < 2) await new Promise((resolve) => setImmediate(resolve));
  for (const round of [1, 2, 3]) {
    for (const [target, answer] of answers) {
      if (round === 1) answer.begin(200, []);
      for (const part of ["x", "y"]) {
        answer.write(Buffer.from(`${target}${round}${part}`));
        answer.flush();
      }
    }
    for (const { target, until } of clients) await until(new RegExp(`4\r\n${target}${round}x\r\n4\r\n${target}${round}y\r\n$`));
  }
  for (const [target, answer] of answers) {
    answer.write(Buffer.from("last"));
    answer.flush();
    if (target === "/a") answer.end();
    else answer.cut(Buffer.from("why"));
  }
  const [whole = "", cut = ""] = await Promise.all(clients.map(({ closed }) => closed));
  assert.match(whole, /4\r\nlast\r\n0\r\n\r\n$/);
  assert.match(cut, /4\r\nlast\r\n3\r\nwhy\r\n$/);
});

test("a truncated response never looks complete", async (t) => {
  const { port } = await stage(t, (_req, answer) => {
    answer.begin(200, []);
    answer.write(Buffer.from("begun"));
    answer.cut(Buffer.from("why"));
  });
  const { socket, closed } = client(port);
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const text = await closed;
  assert.match(text, /5\r\nbegun\r\n/);
  assert.ok(!text.includes("0\r\n\r\n"));
  const old = client(port);
  const reset = new Promise<string>((resolve) => old.socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "")));
  old.socket.write("GET / HTTP/1.0\r\n\r\n");
  assert.equal(await reset, "ECONNRESET");
});

test("the gateway notices once that a client disconnected before or during its response", async (t) => {
  let gone = 0;
  const answers: AnswerSink[] = [];
  const { port } = await stage(t, (req, answer) => {
    answer.watcher = { clientGone: () => void gone++, clientDrained: () => undefined };
    answers.push(answer);
    if (req.target === "/amid") answer.begin(200, []);
    answer.flush();
  });
  for (const target of ["/before", "/amid"]) {
    const { socket } = client(port);
    socket.write(`GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`);
    while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    while (answers[0]?.isGone !== true) await new Promise((resolve) => setImmediate(resolve));
    answers.pop();
  }
  assert.equal(gone, 2);
});

test("silent clients and incomplete requests time out", async (t) => {
  const { port, clock } = await stage(t);
  const FIRST = "GET /first HTTP/1.1\r\nhost: a\r\n\r\n";
  /** The answer to these bytes while the clock advances again and again. */
  const toldIn = async (ms: number, bytes: string): Promise<string> => {
    const { socket, until, closed } = client(port);
    socket.write(bytes);
    if (bytes !== "") await until(/GET \/first/);
    const passing = setInterval(() => clock.advance(ms), 50);
    return closed.finally(() => clearInterval(passing));
  };
  assert.equal(await toldIn(11_000, ""), "");
  assert.match(await toldIn(11_000, `${FIRST}GET / HTTP/1.1\r\n`), /GET \/first HTTP\/1\.1 400 /);
  assert.match(await toldIn(66_000, FIRST), /GET \/first $/);
  assert.match(await toldIn(301_000, `${FIRST}POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n1`), /GET \/first HTTP\/1\.1 400 /);
});

test("closing ends idle connections at once, and others with their response", async (t) => {
  const waiting: AnswerSink[] = [];
  const { front, port } = await stage(t, (req, answer) => {
    if (req.target === "/idle") echo(req, answer, "");
    else waiting.push(answer);
  });
  const [idle, busy] = [client(port), client(port)];
  idle.socket.write("GET /idle HTTP/1.1\r\nhost: a\r\n\r\n");
  busy.socket.write("GET /busy HTTP/1.1\r\nhost: a\r\n\r\n");
  await idle.until(/GET \/idle/);
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const closing = front.close(60_000);
  await idle.closed;
  waiting[0]?.begin(200, ["content-length", "2"]);
  waiting[0]?.end(Buffer.from("ok"));
  assert.match(await busy.closed, /connection: close\r\n\r\nok$/);
  await closing;
});

test("a WebSocket handler gets the socket with the bytes after the head, and other upgrades are ignored", async (t) => {
  const { port } = await stage(t);
  const upgrade = (protocol: string): string =>
    `GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade${protocol === "h2c" ? ", close" : ""}\r\nupgrade: ${protocol}\r\n\r\n`;
  assert.equal(await told(port, `${upgrade("WebSocket")}first`), "upgraded first");
  assert.match(await told(port, upgrade("h2c")), /^HTTP\/1\.1 200 OK.*GET \/ws $/s);
});

test("requests over TLS get the same responses", async (t) => {
  const { chain, privateKey } = await createLocalCa({ root: await createRoot(systemClock), clock: systemClock }).issue(["gateway.test"]);
  const { port } = await stage(t, echo, { certificate: chain, key: privateKey });
  const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
  let text = "";
  socket.setEncoding("latin1").on("data", (more: string) => (text += more));
  socket.write(`GET /a HTTP/1.1\r\nhost: a\r\n\r\n${END}`);
  await new Promise((resolve) => socket.once("close", resolve));
  assert.equal(socket.alpnProtocol, "http/1.1");
  assert.match(text, /GET \/a HTTP\/1\.1 200 OK.*GET \/end $/s);
});
