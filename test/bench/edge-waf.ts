import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SCORES } from "#rules/managed/request-rulesets.ts";
import { succeed } from "../support/api.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { NGINX, type PeerSpec, SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { measure, type VisitedProxy } from "./http-load.ts";
import { runTool } from "./program.ts";
import { jsonDocument, longForm } from "./rules-managed.ts";

const CONNECTIONS = 16;
const CRS = "/usr/share/modsecurity-crs";
const RULES_ZONE = "rules.example";
const RULES_HOST = `www.${RULES_ZONE}`;

/** As ModSecurity's recommended configuration and Debian's, at the first level of paranoia, without an audit log. */
const MODSECURITY_RULES = `
SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyNoFilesLimit 131072
SecResponseBodyAccess Off
SecAuditEngine Off
SecRule REQUEST_HEADERS:Content-Type "^application/json" "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
Include /etc/modsecurity/crs/crs-setup.conf
Include ${CRS}/rules/*.conf
`;

/** Bodies stay in memory. */
const BODIES = "client_body_buffer_size 512k; client_max_body_size 1m;";

const BROWSER = {
  "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
  Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "Accept-Language": "en-GB,en;q=0.7",
  Referer: "https://www.example.com/search?q=lamps&page=2",
  Cookie: "session=0123456789abcdef0123456789abcdef; theme=dark; consent=a%3A1%2Cb%3A0",
};

/** A request of the load; no two in a row are equal, because the last one's values are remembered. */
interface Sent {
  readonly target: string;
  readonly type?: string;
  readonly body?: string;
}

/** CPU time that the Core Rule Set adds to one request, through our edge and through nginx with ModSecurity: the difference to the same proxy without rules. */
const row = (name: string, ratio: number, requests: readonly Sent[]): Benchmark => ({
  name,
  unit: "µs of CPU that the Core Rule Set adds to a request",
  better: "lower",
  targetRatio: { peer: "nginx", ratio },
  tools: ["wrk", "nginx", "openssl", "modsecurity-crs", "nginx with ModSecurity"],
  prepare: async ({ directory, seconds }) => {
    const rulesFile = join(directory, "modsecurity.conf");
    await writeFile(rulesFile, MODSECURITY_RULES);
    const guarded: PeerSpec = {
      name: "nginx with rules",
      main: "load_module /usr/lib/nginx/modules/ngx_http_modsecurity_module.so;",
      server: `${BODIES} modsecurity on; modsecurity_rules_file ${rulesFile};`,
    };
    const site = await startEdgeSite(directory, {
      // A load script with a mistake would send other requests.
      origin: `location / { ${BODIES} if ($uri !~ ^/shop) { return 404; } return 200 "fine"; }`,
      peers: [{ ...NGINX, server: BODIES }, guarded],
      args: ["--waf-crs-directory", CRS],
    });
    const zone = await site.createZone(RULES_ZONE);
    await succeed(site.call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
    // By default all levels run.
    const overrides = { categories: [2, 3, 4].map((level) => ({ category: `paranoia-level-${level}`, enabled: false })) };
    const rules = [{ action: "execute", expression: "true", action_parameters: { id: SCORES.id, overrides } }];
    await succeed(site.call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_managed/entrypoint`, { rules }));
    const script = join(directory, "requests.lua");
    await writeFile(script, luaOf(requests));
    const ours: VisitedProxy = { pid: site.selvedge.pid, url: new URL("/page", site.selvedge.ready.http) };
    const [plain, withRules] = site.proxies.map(({ pid, http }): VisitedProxy => ({ pid, url: http }));
    const load = (proxy: VisitedProxy, host: string): Promise<Measurement> => microsOf(proxy, host, script, seconds);
    const contender = (title: string, without: () => Promise<Measurement>, guardedLoad: () => Promise<Measurement>): Contender => ({
      name: title,
      run: async () => {
        const bare = await without();
        const full = await guardedLoad();
        return { value: full.value - bare.value, also: { without_us: bare.value, with_us: full.value, ...full.also } };
      },
    });
    return {
      ours: contender(
        "selvedge",
        () => load(ours, SITE_HOST),
        () => load(ours, RULES_HOST),
      ),
      peers: [
        contender(
          "nginx",
          () => load(plain!, SITE_HOST),
          () => load(withRules!, SITE_HOST),
        ),
      ],
      close: site.close,
    };
  },
});

/** CPU time of a request in microseconds. */
async function microsOf(proxy: VisitedProxy, host: string, script: string, seconds: number): Promise<Measurement> {
  const { value, also } = await measure(proxy, async () => {
    const load = ["-t", "1", "-c", String(CONNECTIONS), "-d", `${seconds}s`, "--timeout", "30s", "-s", script, "-H", `Host: ${host}`];
    const report = await runTool("wrk", [...load, proxy.url.href]);
    if (/Non-2xx|Socket errors/.test(report)) throw new Error(`not every request succeeded:\n${report}`);
    return { requests: Number(/(\d+) requests in/.exec(report)?.[1] ?? Number.NaN), also: {} };
  });
  return { value: 1e6 / value, also: also ?? {} };
}

/** Sends the requests in turn. */
function luaOf(requests: readonly Sent[]): string {
  const text = (value: string): string => `[==[${value}]==]`;
  const rows = requests.map(({ target, type, body }) => {
    const fields = Object.entries({ ...BROWSER, ...(type === undefined ? {} : { "Content-Type": type }) });
    const table = fields.map(([name, value]) => `[${JSON.stringify(name)}] = ${text(value)}`).join(", ");
    return `{ ${text(body === undefined ? "GET" : "POST")}, ${text(target)}, { ${table} }, ${body === undefined ? "nil" : text(body)} }`;
  });
  return `local rows = {\n${rows.join(",\n")}\n}
local made, at = {}, 0
init = function()
  for i, row in ipairs(rows) do
    row[3]["Host"] = wrk.headers["Host"]
    made[i] = wrk.format(row[1], row[2], row[3], row[4])
  end
end
request = function()
  at = at % #made + 1
  return made[at]
end
`;
}

const times = <T>(count: number, make: (i: number) => T): readonly T[] => Array.from({ length: count }, (_, i) => make(i));

export const edgeWafGet = row(
  "edge-waf-get",
  1 / 8,
  times(64, (i) => ({ target: `/shop/item/${i}/brass-lamp?page=${i}&sort=-date&q=a+lamp+for+O%27Brien&utm_source=mail` })),
);
export const edgeWafJson = row(
  "edge-waf-json",
  1 / 8,
  times(16, (i) => ({ target: "/shop", type: "application/json", body: jsonDocument(i) })),
);
export const edgeWafForm = row(
  "edge-waf-form",
  1 / 4,
  times(4, (i) => ({ target: "/shop", type: "application/x-www-form-urlencoded", body: longForm(i) })),
);
