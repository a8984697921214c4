import { request } from "node:http";
import { get, ZONE } from "./lively-account.ts";
import type { Selvedge } from "./selvedge.ts";

const PAGE = `http://www.${ZONE}/checkout`;
/** Directive and refused URL of each report, as a browser sends them. */
const REPORTS = [
  ["script-src-elem", "https://cdn.pay.example/v3/checkout-widget.min.js?merchant=4111"],
  ["script-src-elem", "https://metrics.example/collect.js"],
  ["script-src-elem", `http://www.${ZONE}/assets/shop.js`],
  ["connect-src", "https://api.pay.example/v3/sessions"],
  ["connect-src", "https://metrics.example/beacon"],
] as const;

/** Visits of browsers that report what the pages load. The zone must have Page Shield on. */
export async function reportPages({ ready }: Selvedge): Promise<void> {
  await get(ready.http, "/basket");
  for (const [directive, blocked] of REPORTS) {
    const report = { "document-uri": PAGE, "blocked-uri": blocked, "effective-directive": directive, "violated-directive": directive };
    const status = await post(ready.http, JSON.stringify({ "csp-report": report }));
    if (status !== 204) throw new Error(`a report was answered with ${status}`);
  }
}

const post = (http: string, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { host: `www.${ZONE}`, "content-type": "application/csp-report" };
    const sent = request(new URL("/cdn-cgi/script_monitor/report", http), { method: "POST", agent: false, headers }, (res) => {
      res.resume().on("end", () => resolve(res.statusCode ?? 0));
    });
    sent.on("error", reject).end(body);
  });
