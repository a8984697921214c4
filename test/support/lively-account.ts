import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";
import { apiCaller, succeed } from "./api.ts";
import { buildMmdb } from "./mmdb.ts";
import type { Selvedge } from "./selvedge.ts";

/** Markup in every field that visitors and providers can fill. */
export const CANARY = "<img src=x onerror=alert(1)>";
export const ZONE = "shop.example";
export const GATEWAY = "support";
const MANAGED = "efb7b8c949ac4650a09736fc376e9aee";
const CHATS = [
  { team: "search", model: "gpt-4o", says: "Which shoes are for rain?" },
  { team: "search", model: "gpt-4o", says: "A gift below 50 euros" },
  { team: "support", model: "gpt-4o-mini", says: "Where is my parcel?" },
  { team: "support", model: "gpt-4o", says: `Hello, I am ${CANARY}` },
] as const;
/** Addresses of visitors, each in a different country. */
const VISITORS = { "127.0.0.2": "DE", "127.0.0.3": "FR", "127.0.0.4": "BR", "127.0.0.5": "US" } as const;

/** Servers behind the account's sites and gateways: they keep running during a restart of the server. */
export interface Surroundings {
  readonly args: readonly string[];
  /** A GeoIP database with the visitors' countries. */
  readonly places: Buffer;
  close(): Promise<void>;
  readonly originPort: number;
}

export async function startSurroundings(): Promise<Surroundings> {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  mock.onMessage(/./, { content: `Of course. ${CANARY}`, usage: { prompt_tokens: 412, completion_tokens: 96, total_tokens: 508 } });
  await mock.start();
  const origin = createServer((req, res) => {
    const status = req.url?.startsWith("/broken") === true ? 502 : req.url?.startsWith("/gone") === true ? 404 : 200;
    const cached = req.url?.startsWith("/assets/") === true ? { "cache-control": "public, max-age=600" } : {};
    const cookie = req.url?.startsWith("/basket") === true ? { "set-cookie": "basket=3; HttpOnly; SameSite=Lax" } : {};
    req
      .resume()
      .on("end", () => res.writeHead(status, { "content-type": "text/html", ...cached, ...cookie }).end("<h1>shop</h1>".repeat(40)));
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const places = buildMmdb(Object.fromEntries(Object.entries(VISITORS).map(([ip, code]) => [`${ip}/32`, { country: { iso_code: code } }])));
  return {
    args: ["--provider", `openai=${mock.url}/v1`],
    places,
    originPort: (origin.address() as AddressInfo).port,
    close: async () => {
      await mock.stop();
      await closed(origin);
    },
  };
}

const closed = (server: Server): Promise<void> => {
  server.closeAllConnections();
  return new Promise((resolve) => void server.close(() => resolve()));
};

/** A zone with records and rules, a gateway and its token. */
export async function fillAccount({ ready }: Selvedge, token: string, originPort: number): Promise<{ readonly zoneId: string }> {
  const call = apiCaller(ready, token);
  const { id: zoneId } = await succeed(call("POST", "/zones", { account: { id: ready.account_id }, name: ZONE }));
  const base = `/zones/${zoneId}`;
  await succeed(
    call("POST", `${base}/dns_records/batch`, {
      posts: [
        { type: "A", name: "www", content: "127.0.0.1", proxied: true },
        { type: "A", name: "@", content: "127.0.0.1", proxied: true },
        { type: "A", name: "api", content: "192.0.2.10", ttl: 300, comment: "the old machine" },
        { type: "MX", name: "@", content: `mail.${ZONE}`, priority: 10 },
        { type: "A", name: "mail", content: "192.0.2.25" },
        { type: "TXT", name: "canary", content: `"${CANARY}"`, comment: CANARY },
        { type: "CNAME", name: "shop", content: `www.${ZONE}`, proxied: true },
      ],
    }),
  );
  const entry = (phase: string): string => `${base}/rulesets/phases/${phase}/entrypoint`;
  await succeed(
    call("PUT", entry("http_request_origin"), {
      rules: [{ action: "route", expression: "true", action_parameters: { origin: { port: originPort } } }],
    }),
  );
  const admin = { action: "block", expression: 'http.request.uri.path contains "/admin"', description: "Admin from outside the office" };
  await succeed(call("PUT", entry("http_request_firewall_custom"), { rules: [admin] }));
  const managed = { action: "execute", action_parameters: { id: MANAGED }, expression: "true" };
  await succeed(call("PUT", entry("http_request_firewall_managed"), { rules: [managed] }));
  await succeed(
    call("POST", `/accounts/${ready.account_id}/ai-gateway/gateways`, {
      ...{ id: GATEWAY, cache_invalidate_on_update: true, cache_ttl: 0, collect_logs: true, authentication: false },
      ...{ rate_limiting_interval: null, rate_limiting_limit: null },
    }),
  );
  await succeed(call("POST", `${base}/custom_hostnames`, { hostname: "app.customer.example", ssl: { method: "txt", type: "dv" } }));
  return { zoneId };
}

/** Visits of people, attacks, and a program that requests /admin; `rounds` of all. */
export async function visitSite({ ready }: Selvedge, rounds = 1): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const ips = Object.keys(VISITORS);
    const visit = (path: string, at: number, agent?: string): Promise<number> =>
      get(ready.http, path, ips[(at + round) % ips.length] ?? "127.0.0.2", agent);
    for (const [at, path] of ["/", "/", "/assets/a.css", "/assets/a.css", "/assets/a.css", "/shoes", "/gone", "/broken"].entries())
      await visit(path, at);
    const attacks = [
      await visit("/admin/login", 1),
      await visit(`/search?q=${encodeURIComponent("1' union select password from users--")}`, 2),
      await visit(`/search?q=${encodeURIComponent(`<script>alert(1)</script>${CANARY}`)}`, 3, CANARY),
      await visit(`/admin/${encodeURIComponent(CANARY)}`, 2, CANARY),
    ];
    if (attacks.some((status) => status !== 403)) throw new Error(`attacks were answered with ${attacks.join(", ")}`);
  }
}

/** One visit of the zone's site; its status. */
export const get = (http: string, path: string, localAddress = "127.0.0.2", agent = "Mozilla/5.0 (X11; Linux x86_64)"): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { host: `www.${ZONE}`, accept: "*/*", "user-agent": agent };
    const sent = request(new URL(path, http), { agent: false, localAddress, headers }, (res) => {
      res.resume().on("end", () => resolve(res.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });

/** One request to a model by each team, one of which contains sensitive data. */
export async function chat({ ready }: Selvedge, rounds = 1): Promise<void> {
  for (let round = 0; round < rounds; round++)
    for (const { team, model, says } of CHATS) {
      const res = await fetch(`${ready.gateway}/v1/${ready.account_id}/${GATEWAY}/openai/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: "Bearer test",
          "svc-aig-metadata": JSON.stringify({ team, user: CANARY }),
        },
        body: JSON.stringify({ model, messages: [{ role: "user", content: says }] }),
        signal: AbortSignal.timeout(60_000),
      });
      await res.arrayBuffer();
    }
}
