import assert from "node:assert/strict";
import { createServer, get as httpGet } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";

const SECLANG = "5ec1a46e0b7d4c21a9f35d80e6b7c2d4";
const OWASP = "4814384a9e5d4991b9815dcfc25d2f1f";
const SENSITIVE_DATA = "e22d83c647c64a3eae91b71b499d988e";
const CORE =
  `SecComponentSignature "OWASP_CRS/1"\n` +
  `SecRule ARGS "@contains attack" "id:942100,phase:2,pass,msg:'x',setvar:tx.inbound_anomaly_score_pl1=+100"\n`;

interface Envelope {
  readonly result: unknown;
  readonly errors: readonly { readonly message: string; readonly source?: { readonly pointer?: string } }[];
}

test("a zone's SecLang rules run with exceptions from the Core Rule Set, events name them, and errors have their place", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "selvedge-seclang-"));
  const origin = createServer((req, res) => {
    if (req.url?.startsWith("/debug") === true) res.setHeader("x-debug-token", "4711");
    if (req.url === "/broken") res.statusCode = 500;
    res.setHeader("content-type", "text/html");
    res.end(req.url === "/dump" ? "<pre>Warning: mysql_connect()" : "origin");
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    origin.close();
    await rm(dir, { recursive: true });
  });
  await mkdir(join(dir, "rules"));
  await writeFile(join(dir, "rules/REQUEST-942-A.conf"), CORE);
  const selvedge = await startSelvedge({ env: { SELVEDGE_WAF_CRS_DIRECTORY: dir } });
  t.after(() => selvedge.stop());
  const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; answer: Envelope }> => {
    const response = await fetch(`${selvedge.ready.api}${path}`, {
      method,
      headers: { authorization: `Bearer ${selvedge.ready.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, answer: (await response.json()) as Envelope };
  };
  const { port } = origin.address() as AddressInfo;
  const zone = async (name: string): Promise<string> => {
    const { id } = (await call("POST", "/zones", { account: { id: selvedge.ready.account_id }, name })).answer.result as { id: string };
    await call("POST", `/zones/${id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
    const rules = [{ action: "route", expression: "true", action_parameters: { origin: { port } } }];
    await call("PUT", `/zones/${id}/rulesets/phases/http_request_origin/entrypoint`, { rules });
    return id;
  };
  const [one, two] = [await zone("one.test"), await zone("two.test")];
  const deploy = (id: string, ...seclang: string[]) =>
    call("PUT", `/zones/${id}/rulesets/phases/http_request_firewall_managed/entrypoint`, {
      rules: [
        ...seclang.map((text) => ({ action: "execute", expression: "true", action_parameters: { id: SECLANG, seclang: text } })),
        { action: "execute", expression: "true", action_parameters: { id: OWASP } },
      ],
    });
  const statusOf = (host: string, path: string, headers: object = {}): Promise<number> =>
    new Promise((resolve, reject) => {
      httpGet(new URL(path, selvedge.ready.http), { agent: false, headers: { ...headers, host } }, (res) => {
        res.resume();
        resolve(res.statusCode ?? 0);
      }).on("error", reject);
    });

  const text = [
    "# The editor of pages sends what looks like an attack.",
    `SecRule REQUEST_URI "@beginsWith /editor" "id:1001,phase:1,pass,nolog,ctl:ruleRemoveTargetById=942100;ARGS:text"`,
    `SecRule ARGS:coupon "@rx ^free\\d+$" "id:1002,phase:2,deny,msg:'A coupon that nobody has issued'"`,
  ].join("\n");
  const saved = await deploy(one, text);
  assert.equal(saved.status, 200, JSON.stringify(saved.answer));
  assert.deepEqual((saved.answer.result as { rules: { action_parameters: object }[] }).rules[0]?.action_parameters, {
    id: SECLANG,
    seclang: text,
    version: "latest",
  });
  assert.equal((await deploy(two)).status, 200);
  assert.deepEqual(
    await Promise.all(
      ["/?coupon=free12", "/?q=attack", "/editor?text=attack", "/editor?q=attack", "/?coupon=ten"].map((path) =>
        statusOf("www.one.test", path),
      ),
    ),
    [403, 403, 200, 403, 200],
  );
  // The other zone has none of it.
  assert.deepEqual(await Promise.all(["/?coupon=free12", "/editor?text=attack"].map((path) => statusOf("www.two.test", path))), [200, 403]);

  const events = async () =>
    (await call("GET", `/zones/${one}/security/events`)).answer.result as {
      rule_id: string;
      ruleset_id: string;
      action: string;
      phase: string;
      rule_description: string;
    }[];
  await eventually(async () => (await events()).some(({ rule_id }) => rule_id === "1002"));
  const event = (await events()).find(({ rule_id }) => rule_id === "1002");
  assert.deepEqual(
    [event?.ruleset_id, event?.action, event?.rule_description],
    [SECLANG, "block", "1002: A coupon that nobody has issued"],
  );

  const refused = await deploy(one, `${text}\nSecRule ARGS "@rx a" "id:1003,phase:2,explode"`);
  assert.equal(refused.status, 400);
  assert.match(refused.answer.errors[0]?.message ?? "", /seclang, line 4, column \d+: unknown action explode/);
  assert.equal(refused.answer.errors[0]?.source?.pointer, "/rules/0/action_parameters/seclang");
  assert.equal(await statusOf("www.one.test", "/?coupon=free12"), 403, "what was there before stays");

  const trace = await call("POST", `/zones/${one}/rulesets/trace`, { url: "http://www.one.test/?coupon=free12" });
  assert.deepEqual((trace.answer.result as { terminated_by: object }).terminated_by, {
    phase: "http_request_firewall_managed",
    ruleset_id: SECLANG,
    rule_id: "1002",
    action: "block",
  });

  // The head of a response, before it is sent.
  const ofResponses = [
    `SecRule REQUEST_HEADERS:X-Admin "@streq yes" "id:2000,phase:1,pass,nolog,setvar:tx.admin=1"`,
    `SecRule RESPONSE_HEADERS:X-Debug-Token "@rx ." "id:2001,phase:3,deny,msg:'A debug token',chain"`,
    `SecRule &TX:ADMIN "@eq 0"`,
    `SecRule RESPONSE_STATUS "@eq 500" "id:2002,phase:3,pass,msg:'A broken page'"`,
    `SecRule RESPONSE_BODY "@contains mysql_connect" "id:2004,phase:4,deny,msg:'A page that tells how it was made'"`,
  ].join("\n");
  const respond = (text: string, phase = "http_response_firewall_managed") =>
    call("PUT", `/zones/${one}/rulesets/phases/${phase}/entrypoint`, {
      rules: [
        { action: "execute", expression: "true", action_parameters: { id: SECLANG, seclang: text } },
        { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA } },
      ],
    });
  const answered = await respond(ofResponses);
  assert.equal(answered.status, 200, JSON.stringify(answered.answer));
  const paths = ["/", "/debug", "/broken", "/dump"];
  assert.deepEqual(await Promise.all(paths.map((path) => statusOf("www.one.test", path))), [200, 403, 500, 403]);
  assert.deepEqual(await Promise.all(paths.map((path) => statusOf("www.two.test", path))), [200, 200, 500, 200]);
  assert.equal(await statusOf("www.one.test", "/debug", { "x-admin": "yes" }), 200);
  await eventually(async () => (await events()).filter(({ rule_id }) => /^200[124]$/.test(rule_id)).length === 3);
  const told = (await events()).filter(({ rule_id }) => rule_id.startsWith("200"));
  assert.deepEqual(told.map(({ rule_id, action, phase }) => [rule_id, action, phase]).toSorted(), [
    ["2001", "block", "http_response_firewall_managed"],
    ["2002", "log", "http_response_firewall_managed"],
    ["2004", "block", "http_response_firewall_managed"],
  ]);
  const late = await respond(`SecRule RESPONSE_BODY "@contains a" "id:2003,phase:5,deny"`);
  assert.match(late.answer.errors[0]?.message ?? "", /rules of phase 5 do not run here; use phase 1, 3 or 4/);

  await deploy(one);
  assert.deepEqual(await Promise.all(["/?coupon=free12", "/editor?text=attack"].map((path) => statusOf("www.one.test", path))), [200, 403]);
});
