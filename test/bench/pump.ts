import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { succeed } from "../support/api.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";

const BODY_BYTES = 128 * 1024;
/** A head has at most 32 KB, its target 16 KB. */
const FIELD_BYTES = 30_000;
const TARGET_BYTES = 15_000;
const TIMEOUT_MS = 10_000;
const GOAL_MS = 50;
/** What is slow once is asked again: the machine may have been. */
const TRIES = 4;

/** Repeated, each of them has led some reader somewhere to look at the same bytes again and again. */
const PIECES: readonly string[] = [
  ..." a0/.:;,=&?#%+-_\\\"'()[]{}<>|@$*!~^`",
  ...[
    "\t",
    "\u00e9",
    "\u00a0",
    '\\"',
    '""',
    "; ",
    ", ",
    "a=",
    "a&",
    "a=1&",
    "%2",
    "%41",
    "../",
    "//",
    "{aa,",
    '{"a":',
    "[{",
    "<a ",
    "--",
    "\\u00",
  ],
];

/** Where a text is put: how long it may be, and how it is sent. A refusal is an answer too. */
interface Place {
  readonly name: string;
  readonly bytes: number;
  /** Bytes of it that would end the place. */
  readonly not?: RegExp;
  send(text: string): Promise<unknown>;
}

/**
 * 55 kinds of repeated pieces in every place of what others send, one after the other, to one running server: the longest time that
 * one holds a thread, of a few tries, for each place in milliseconds. A round is some 1,000 requests, half a minute.
 */
export const pump: Benchmark = {
  name: "pump",
  unit: "ms for the worst of 55 repeated pieces in 18 places, at 128 KB or as much as is taken",
  better: "lower",
  target: GOAL_MS,
  rounds: 1,
  tools: [],
  prepare: async () => {
    let answer = { type: "text/html", vary: "", body: "" };
    const upstream = createServer((req, res) => {
      req.resume();
      req.on("end", () => {
        res.writeHead(200, {
          "Content-Type": answer.type,
          "Cache-Control": "max-age=60",
          Vary: "Accept-Encoding, Priority",
          "X-Long": answer.vary,
        });
        res.end(Buffer.from(answer.body, "latin1"));
      });
    });
    const port = await listening(upstream);
    const bench = await startBenchServer(["--edge-origin-port", String(port), "--provider", `openai=http://127.0.0.1:${port}/v1`]);
    const places = await placesOf(bench, (next) => void (answer = { ...answer, ...next }));
    return {
      ours: { name: "selvedge", run: () => worst(places, bench.selvedge.ready.pid) },
      close: async () => {
        await bench.selvedge.stop();
        upstream.close();
      },
    };
  },
};

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { readonly port: number }).port;
}

async function worst(places: readonly Place[], pid: number): Promise<Measurement> {
  const also: Record<string, number> = {};
  for (const { name, bytes, not, send } of places) {
    let placeMs = 0;
    for (const piece of PIECES) {
      if (not?.test(piece) === true) continue;
      const text = piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
      let ms = Infinity;
      for (let tries = 0; tries < TRIES && ms > Math.min(GOAL_MS, placeMs); tries++) ms = Math.min(ms, await heldMs(pid, () => send(text)));
      if (ms > GOAL_MS) console.log(`  ${name}: ${ms.toFixed(0)} ms with ${JSON.stringify(piece)}`);
      placeMs = Math.max(placeMs, ms);
    }
    also[`${name}_ms`] = placeMs;
  }
  return { value: Math.max(...Object.values(also)), also };
}

/** How long the busiest thread ran meanwhile: so long it answers nobody else. What else the machine does is not counted. */
async function heldMs(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = threadsNs(pid);
  await work();
  return Math.max(...Array.from(threadsNs(pid), ([thread, ns]) => ns - (before.get(thread) ?? ns))) / 1e6;
}

/** Time on a processor, by thread (proc(5), schedstat). */
function threadsNs(pid: number): ReadonlyMap<string, number> {
  const directory = `/proc/${pid}/task`;
  return new Map(
    readdirSync(directory).map((thread) => [thread, Number(readFileSync(`${directory}/${thread}/schedstat`, "latin1").split(" ", 1)[0])]),
  );
}

const RULES = [
  'any(http.request.headers.values[*] contains "zz") or http.request.uri.query contains "zz" or any(http.request.cookies.values[*] eq "zz")'.replace(
    "cookies.values",
    "headers.names",
  ),
  'http.request.uri.path matches "^(a|b)*z$" or http.request.uri wildcard "*a*b*c" or http.request.body.raw contains "zz"',
];

async function placesOf(
  bench: BenchServer,
  answerWith: (next: { type?: string; vary?: string; body?: string }) => void,
): Promise<readonly Place[]> {
  const { call, selvedge } = bench;
  const { account_id: account, gateway, http } = selvedge.ready;
  const zone = await bench.createZone("pump.example");
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
  const rules = RULES.map((expression) => ({ action: "block", expression }));
  await succeed(call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules }));
  const settings = { rate_limiting_interval: null, rate_limiting_limit: null, cache_ttl: null, cache_invalidate_on_update: false };
  await succeed(call("POST", `/accounts/${account}/ai-gateway/gateways`, { id: "pump", collect_logs: true, ...settings }));
  const edgePort = Number(new URL(http).port);
  const gatewayUrl = new URL(gateway ?? "");
  const edge = (target: string, fields = "", body = "", method = "GET"): Promise<void> =>
    exchange(edgePort, `${method} ${target} HTTP/1.1\r\nHost: www.pump.example\r\nConnection: close\r\n${fields}\r\n`, body);
  const post = (type: string, body: string): Promise<void> =>
    edge("/", `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body, "latin1")}\r\n`, body, "POST");
  const chat = (content: string): Promise<void> => {
    const body = JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content }] });
    const head = `POST /v1/${account}/pump/openai/chat/completions HTTP/1.1\r\nHost: ${gatewayUrl.host}\r\nConnection: close\r\n`;
    const fields = `Content-Type: application/json\r\nAuthorization: Bearer k\r\nContent-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n`;
    return exchange(Number(gatewayUrl.port), head + fields, body);
  };
  let paths = 0;
  const fromOrigin = async (next: { type?: string; vary?: string; body?: string }): Promise<void> => {
    answerWith({ type: "text/html", vary: "", body: "", ...next });
    await edge(`/${paths++}.html`);
  };
  const fromProvider = async (type: string, body: string): Promise<void> => {
    answerWith({ type, vary: "", body });
    await chat("hello");
  };
  const record = (type: string, content: string) => call("POST", `/zones/${zone}/dns_records`, { type, name: "t", content, ttl: 300 });
  const rule = (expression: string) =>
    call("POST", `/zones/${zone}/rulesets`, {
      name: "x",
      kind: "zone",
      phase: "http_request_firewall_custom",
      rules: [{ action: "log", expression }],
    });
  const importFile = (text: string): Promise<Response> => {
    const form = new FormData();
    form.append("file", new Blob([`$ORIGIN pump.example.\n@ 300 IN TXT ${text}\n`]));
    const { api, token = "" } = selvedge.ready;
    return fetch(new URL(`${api}/zones/${zone}/dns_records/import`), {
      method: "POST",
      body: form,
      headers: { authorization: `Bearer ${token}` },
    });
  };
  return [
    { name: "path", bytes: TARGET_BYTES, not: /[ \t#]|[^ -~]/, send: (text) => edge(`/a${text}`) },
    { name: "query", bytes: TARGET_BYTES, not: /[ \t#]|[^ -~]/, send: (text) => edge(`/?${text}`) },
    { name: "field_name", bytes: FIELD_BYTES, send: (text) => edge("/", `a${text}: b\r\n`) },
    { name: "field_value", bytes: FIELD_BYTES, send: (text) => edge("/", `Priority: a${text}x\r\n`) },
    { name: "accept_encoding", bytes: FIELD_BYTES, send: (text) => edge("/0.html", `Accept-Encoding: ;${text}x\r\n`) },
    { name: "cookie", bytes: FIELD_BYTES, send: (text) => edge("/", `Cookie: a=${text}x\r\n`) },
    { name: "form", bytes: BODY_BYTES, send: (text) => post("application/x-www-form-urlencoded", text) },
    {
      name: "multipart",
      bytes: BODY_BYTES,
      send: (text) =>
        post("multipart/form-data; boundary=b", `--b\r\nContent-Disposition: form-data; name="${text}"\r\n\r\n${text}\r\n--b--`),
    },
    { name: "json", bytes: BODY_BYTES, send: (text) => post("application/json", `{"a":${text}`) },
    { name: "origin_field", bytes: TARGET_BYTES, not: /[^ -~]/, send: (text) => fromOrigin({ vary: `a${text}x` }) },
    { name: "origin_body", bytes: BODY_BYTES, send: (text) => fromOrigin({ body: text }) },
    { name: "chat", bytes: BODY_BYTES, send: (text) => chat(`my secret ${text}`) },
    { name: "provider_json", bytes: BODY_BYTES, send: (text) => fromProvider("application/json", `{"usage":{${text}`) },
    { name: "provider_events", bytes: BODY_BYTES, send: (text) => fromProvider("text/event-stream", `data: {"usage":{${text}\n\n`) },
    { name: "record", bytes: TARGET_BYTES, send: (text) => record("TXT", `${text}x`) },
    { name: "rule", bytes: 4000, send: (text) => rule(`http.request.uri.path matches "a${text}"`) },
    { name: "zone_file", bytes: BODY_BYTES, send: importFile },
    {
      name: "certificate",
      bytes: BODY_BYTES,
      send: (text) =>
        call("POST", `/zones/${zone}/custom_certificates`, {
          certificate: `-----BEGIN CERTIFICATE-----\n${text}`,
          private_key: `-----BEGIN PRIVATE KEY-----\n${text}`,
        }),
    },
  ];
}

/** Sends a request as it stands, and waits until the connection ends. */
function exchange(port: number, head: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true }, () => socket.write(Buffer.from(head + body, "latin1")));
    socket.setTimeout(TIMEOUT_MS, () => reject(new Error(`no answer within ${TIMEOUT_MS} ms to ${head.slice(0, 80)}`)));
    socket.resume();
    // What is refused before it has come whole may end with a reset.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve());
  });
}
