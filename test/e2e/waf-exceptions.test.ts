import assert from "node:assert/strict";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { ExceptionDraft } from "#model/rulesets/exception.ts";
import type { SecurityEvent } from "#model/events/security-event.ts";
import { readUntil } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const OWN = "efb7b8c949ac4650a09736fc376e9aee";
const OWASP = "4814384a9e5d4991b9815dcfc25d2f1f";
const SUM = "6179ae15870a4bb7b2d480d4843b323c";

/** An argument that rules are wrong about, from the event of the block to the request that passes. */
for (const { title, crs, skip } of [
  { title: "rules of the program's own", crs: "none", skip: false },
  { title: "the Core Rule Set", crs: "/usr/share/modsecurity-crs", skip: toolOrSkip("modsecurity-crs") },
])
  describe(`WAF exceptions drafted from events, with ${title}`, { skip }, () => {
    let selvedge: Selvedge;
    let origin: Server;
    let zone = "";

    const call = async <T>(path: string, body?: object, method = body === undefined ? "GET" : "POST"): Promise<T> => {
      const headers = { authorization: `Bearer ${selvedge.ready.token}`, "content-type": "application/json" };
      const url = `${selvedge.ready.api}${path}`;
      const res = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      const answer = (await res.json()) as { success: boolean; result: T };
      assert.ok(answer.success, JSON.stringify(answer));
      return answer.result;
    };

    before(async () => {
      origin = createServer((req, res) => void req.resume().on("end", () => res.end("ok")));
      await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
      selvedge = await startSelvedge({ env: { SELVEDGE_WAF_CRS_DIRECTORY: crs } });
      zone = (await call<{ id: string }>("/zones", { account: { id: selvedge.ready.account_id }, name: "waf.test" })).id;
      await call(`/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
      const { port } = origin.address() as AddressInfo;
      const route = [{ action: "route", expression: "true", action_parameters: { origin: { port } } }];
      await call(`/zones/${zone}/rulesets/phases/http_request_origin/entrypoint`, { rules: route }, "PUT");
    });

    after(async () => {
      await selvedge?.stop();
      origin?.close();
    });

    const post = (path: string, form: Readonly<Record<string, string>>): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { host: "www.waf.test", accept: "*/*", "user-agent": "test", "content-type": "application/x-www-form-urlencoded" };
        const req = request(new URL(path, selvedge.ready.http), { method: "POST", agent: false, headers }, (res) => {
          res.resume().on("end", () => resolve(res.statusCode ?? 0));
        });
        req.on("error", reject);
        req.end(new URLSearchParams(form).toString());
      });

    for (const [ruleset, overrides] of [
      [OWN, undefined],
      [OWASP, { rules: [{ id: SUM, score_threshold: 5 }] }],
    ] as const)
      test(`the draft allows only the blocked request (${ruleset === OWN ? "blocked by a rule" : "blocked by a score"})`, async () => {
        const deployment = { action: "execute", action_parameters: { id: ruleset, overrides }, expression: "true" };
        const place = `/zones/${zone}/rulesets/phases/http_request_firewall_managed/entrypoint`;
        await call(place, { rules: [deployment] }, "PUT");
        const attack = "1' union select password from users--";
        const path = `/${ruleset}`;
        assert.equal(await post(path, { comment: attack, page: "2" }), 403);
        const [event] = (await readUntil(
          () => call<SecurityEvent[]>(`/zones/${zone}/security/events?path=${path}`),
          ({ length }) => length > 0,
        )) as [SecurityEvent];
        assert.equal(event.ruleset_id, ruleset);
        assert.ok(event.matches.length > 0, "the event names what was found");
        assert.ok(event.matches.every(({ part, matched_data }) => part !== undefined && matched_data === undefined));
        assert.ok(event.matches.some(({ part, name }) => /^(?:ARGS|http\.request\.body\.form)$/.test(part!) && name === "comment"));
        if (ruleset === OWASP) assert.ok(event.matches.reduce((sum, { score = 0 }) => sum + score, 0) >= 5);
        const { phase, ruleset_id, rule } = await call<ExceptionDraft>(`/zones/${zone}/rulesets/exceptions/from_event`, {
          event_id: event.id,
        });
        assert.equal(phase, "http_request_firewall_managed");
        await call(`/zones/${zone}/rulesets/${ruleset_id}/rules`, rule);
        assert.equal(await post(path, { comment: attack, page: "2" }), 200);
        assert.equal(await post(path, { page: attack }), 403, "the attack in another argument");
        assert.equal(await post(path, { comment: "<script>alert(document.cookie)</script>" }), 403, "another attack in the argument");
        assert.equal(await post("/other", { comment: attack }), 403, "the attack on another path");
      });

    test("a path that is masked in the event is matched by the text around the masked part", async () => {
      const attack = "1' union select password from users--";
      const place = `/zones/${zone}/rulesets/phases/http_request_firewall_managed/entrypoint`;
      await call(place, { rules: [{ action: "execute", action_parameters: { id: OWN }, expression: "true" }] }, "PUT");
      const draftFor = async (path: string, known: string): Promise<ExceptionDraft> => {
        assert.equal(await post(path, { comment: attack }), 403);
        const [event] = (await readUntil(
          () => call<SecurityEvent[]>(`/zones/${zone}/security/events?path=${encodeURIComponent(known)}`),
          ({ length }) => length > 0,
        )) as [SecurityEvent];
        assert.match(event.path, /\[masked\]/);
        return call<ExceptionDraft>(`/zones/${zone}/rulesets/exceptions/from_event`, { event_id: event.id });
      };
      const { ruleset_id, rule } = await draftFor("/pay/4111111111111111/done", "/pay/[masked]/done");
      await call(`/zones/${zone}/rulesets/${ruleset_id}/rules`, rule);
      assert.equal(await post("/pay/4111111111111111/done", { comment: attack }), 200);
      assert.equal(await post("/pay/4111111111111111/other", { comment: attack }), 403);
      assert.equal(await post("/other/4111111111111111/done", { comment: attack }), 403);
      await assert.rejects(draftFor("/4111111111111111", "/[masked]"), /Write the exception yourself/);
    });
  });
