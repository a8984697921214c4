import { connect } from "node:net";
import { succeed } from "../support/api.ts";
import type { BenchServer } from "./bench-server.ts";
import type { Place } from "./pump.ts";

const BODY_BYTES = 128 * 1024;
/** A field and a target have at most 16 KB. */
const FIELD_BYTES = 15_000;
const TARGET_BYTES = 15_000;
/** A record has at most 4,096 bytes of wire format, and each byte of the text takes at most two. */
const RECORD_BYTES = 2_000;
/** A member has at most 65,536 characters. */
const CERTIFICATE_BYTES = 60_000;
const TIMEOUT_MS = 10_000;

/** The next answer of the origin and the provider, which are one server. */
export interface NextAnswer {
  readonly type?: string;
  readonly vary?: string;
  readonly body?: string;
}

const RULES = [
  'any(http.request.headers.values[*] contains "zz") or http.request.uri.query contains "zz" or any(http.request.cookies.values[*] eq "zz")'.replace(
    "cookies.values",
    "headers.names",
  ),
  'http.request.uri.path matches "^(a|b)*z$" or http.request.uri wildcard "*a*b*c" or http.request.body.raw contains "zz"',
];

/** Requests to the edge and the gateway, answers of origins and providers, and bodies of the management API. */
export async function httpPlaces(bench: BenchServer, answerWith: (next: NextAnswer) => void): Promise<readonly Place[]> {
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
  const edge = (target: string, fields = "", body = "", method = "GET"): Promise<number> =>
    exchange(edgePort, `${method} ${target} HTTP/1.1\r\nHost: www.pump.example\r\nConnection: close\r\n${fields}\r\n`, body);
  const post = (type: string, body: string): Promise<number> =>
    edge("/", `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body, "latin1")}\r\n`, body, "POST");
  const chat = (content: string): Promise<number> => {
    const body = JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content }] });
    const head = `POST /v1/${account}/pump/openai/chat/completions HTTP/1.1\r\nHost: ${gatewayUrl.host}\r\nConnection: close\r\n`;
    const fields = `Content-Type: application/json\r\nAuthorization: Bearer k\r\nContent-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n`;
    return exchange(Number(gatewayUrl.port), head + fields, body);
  };
  let paths = 0;
  const fromOrigin = async (next: NextAnswer): Promise<number> => {
    answerWith({ type: "text/html", vary: "", body: "", ...next });
    return edge(`/${paths++}.html`);
  };
  const fromProvider = async (type: string, body: string): Promise<number> => {
    answerWith({ type, vary: "", body });
    return chat("hello");
  };
  const api = async (method: string, path: string, body: object): Promise<number> => (await call(method, path, body)).status;
  const record = (type: string, content: string) => api("POST", `/zones/${zone}/dns_records`, { type, name: "t", content, ttl: 300 });
  const ruled = await bench.createZone("rules-pump.example");
  const rule = (expression: string) =>
    api("PUT", `/zones/${ruled}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules: [{ action: "log", expression }] });
  const importFile = async (text: string): Promise<number> => {
    const form = new FormData();
    form.append("file", new Blob([`$ORIGIN pump.example.\n${text}\n`]));
    const url = new URL(`${selvedge.ready.api}/zones/${zone}/dns_records/import`);
    const answer = await fetch(url, { method: "POST", body: form, headers: { authorization: `Bearer ${selvedge.ready.token ?? ""}` } });
    await answer.text();
    return answer.status;
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
    { name: "record", bytes: RECORD_BYTES, send: (text) => record("TXT", `${text}x`) },
    { name: "record_refused", bytes: BODY_BYTES, send: (text) => record("TXT", `${text}x`) },
    { name: "rule", bytes: 4000, send: (text) => rule(`http.request.uri.path matches "a${text}"`) },
    { name: "zone_file", bytes: BODY_BYTES, send: (text) => importFile(`@ 300 IN TXT ${text}`) },
    { name: "zone_lines", bytes: BODY_BYTES, send: (text) => importFile(linesOf(text)) },
    {
      name: "certificate",
      bytes: CERTIFICATE_BYTES,
      send: (text) =>
        api("POST", `/zones/${zone}/custom_certificates`, {
          certificate: `-----BEGIN CERTIFICATE-----\n${text}`,
          private_key: `-----BEGIN PRIVATE KEY-----\n${text}`,
        }),
    },
  ];
}

/** Records of a zone file that contain the text in parts. */
const linesOf = (text: string): string =>
  Array.from(
    { length: Math.ceil(text.length / RECORD_BYTES) },
    (_, i) => `h${i} 300 IN TXT ${text.slice(i * RECORD_BYTES, (i + 1) * RECORD_BYTES)}`,
  ).join("\n");

/** Sends a request unchanged, and waits until the connection ends. Returns the status of the response, or 0 without one. */
function exchange(port: number, head: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true }, () => socket.write(Buffer.from(head + body, "latin1")));
    let status = 0;
    socket.once("data", (bytes: Buffer) => (status = Number(/^HTTP\/1\.1 (\d{3})/.exec(bytes.toString("latin1", 0, 12))?.[1] ?? 0)));
    socket.setTimeout(TIMEOUT_MS, () => reject(new Error(`no answer within ${TIMEOUT_MS} ms to ${head.slice(0, 80)}`)));
    socket.resume();
    // A request that is refused before all of it has arrived may end with a reset.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(status));
  });
}
