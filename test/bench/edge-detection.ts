import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { succeed } from "../support/api.ts";
import type { Benchmark, Contender } from "./benchmark.ts";
import { SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { visit } from "./http-load.ts";

const OTHER_ZONE = "unscanned.example";
/** Few connections, so that latency is not the length of the queue. */
const CONNECTIONS = 8;
const SENTENCE = "The edge of a cloth that finishes itself is called a selvedge, and keeps it from fraying. ";
const PAGE = SENTENCE.repeat(12).slice(0, 1024);

/** Detects sensitive data on every page of one zone, beside a zone of the same server without detection. */
export const edgeDetection: Benchmark = {
  name: "edge-detection",
  unit: "proxied requests of 1 KB per CPU second, those of detection included",
  better: "higher",
  tools: ["wrk", "nginx", "openssl"],
  prepare: async ({ directory, seconds }) => {
    const site = await startEdgeSite(directory, { origin: `location / { return 200 "${PAGE}"; }`, peers: [] });
    const other = await site.createZone(OTHER_ZONE);
    const record = { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 };
    await succeed(site.call("POST", `/zones/${other}/dns_records`, record));
    const rules = [{ action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } }];
    await succeed(site.call("PUT", `/zones/${site.zoneId}/rulesets/phases/http_response_firewall_managed/entrypoint`, { rules }));
    const proxy = { pid: site.selvedge.pid, threads: "edge", url: new URL("/page", site.selvedge.ready.http) };
    const contender = (name: string, host: string): Contender => ({
      name,
      run: () => visit(proxy, { host, connections: CONNECTIONS, seconds }),
    });
    return { ours: contender("with it", SITE_HOST), peers: [contender("without", `www.${OTHER_ZONE}`)], close: site.close };
  },
};
