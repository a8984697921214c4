import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { runInNewContext } from "node:vm";
import { fixedClock } from "#kernel/clock.ts";
import { fieldChange } from "#rules/actions/field-change.ts";
import { Exchange } from "#edge/exchange/exchange.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import { challengePage } from "./challenge-page.ts";
import { createClearance } from "./clearance.ts";

let origin: TestOrigin;
let edge: TestEdge;
let asked: string[] = [];

before(async () => {
  origin = await httpOrigin((req, res) => {
    asked.push(String(req.url));
    res.end("the site");
  });
  edge = await startEdge([
    ...siteOps(origin.port),
    rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", [
      { action: "managed_challenge", expression: 'starts_with(http.request.uri.path, "/guarded")' },
      { action: "block", expression: 'http.request.uri.path eq "/guarded/never"' },
    ]),
  ]);
});
after(async () => {
  await edge.close();
  origin.close();
});

const get = (target: string, fields = ""): Promise<string> =>
  exchangeRaw(edge.http, `GET ${target} HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: test\r\nConnection: close\r\n${fields}\r\n`);

/** Tries numbers, as a browser does. */
function solve(task: string): number {
  for (let answer = 0; ; answer++) if (createHash("sha256").update(`${task}:${answer}`).digest().readUInt16BE() === 0) return answer;
}

const taskOf = (page: string): string => /\}\)\("([^"]+)",16,/.exec(page)?.[1] ?? "";
const answerAddress = (to: string, task: string, answer: number): string =>
  `/cdn-cgi/challenge?to=${encodeURIComponent(to)}&task=${encodeURIComponent(task)}&answer=${answer}`;

test("a visitor who solves the challenge is redirected to the requested URL and not challenged again", async () => {
  asked = [];
  const page = await get("/guarded?a=1&b=2");
  assert.match(page, /^HTTP\/1\.1 403 /);
  assert.match(page, /svc-mitigated: challenge\r\n/);
  assert.match(page, /Cache-Control: no-store\r\n/);
  assert.deepEqual(asked, []);
  const task = taskOf(page);
  const passed = await get(answerAddress("/guarded?a=1&b=2", task, solve(task)));
  assert.match(passed, /^HTTP\/1\.1 303 /);
  assert.match(passed, /Location: \/guarded\?a=1&b=2\r\n/);
  const cookie = /Set-Cookie: (svc_clearance=[^;]+); Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax\r\n/.exec(passed)?.[1];
  assert.ok(cookie);
  assert.match(await get("/guarded?a=1&b=2", `Cookie: theme=dark; ${cookie}\r\n`), /^HTTP\/1\.1 200 [^]*the site$/);
  assert.deepEqual(asked, ["/guarded?a=1&b=2"]);
  // Rules after the passed one still apply.
  assert.match(await get("/guarded/never", `Cookie: ${cookie}\r\n`), /^HTTP\/1\.1 403 [^]*Access denied/);
  // A cookie of another browser, and a changed one.
  for (const [agent, value] of [
    ["other", cookie],
    ["test", `${cookie.slice(0, -2)}xx`],
  ] as const) {
    const request = `GET /guarded HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: ${agent}\r\nConnection: close\r\nCookie: ${value}\r\n\r\n`;
    assert.match(await exchangeRaw(edge.http, request), /svc-mitigated: challenge/);
  }
  const events = edge.security.map(({ action, path }) => [action, path]);
  assert.ok(events.some(([action, path]) => action === "managed_challenge" && path === "/guarded"));
});

test("a wrong answer leads to a new challenge, and a challenge never redirects to another host", async () => {
  const task = taskOf(await get("/guarded"));
  const answer = solve(task);
  for (const address of [
    answerAddress("/guarded", task, answer + 1),
    answerAddress("/guarded", `${task.slice(0, -1)}_`, answer),
    "/cdn-cgi/challenge",
    `/cdn-cgi/challenge?task=${"x".repeat(4000)}&answer=1e3`,
  ])
    assert.match(await get(address), /^HTTP\/1\.1 403 [^]*svc-mitigated: challenge/, address);
  for (const to of ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nSet-Cookie: x=1", "javascript:alert(1)", ""])
    assert.match(await get(answerAddress(to, task, answer)), /^HTTP\/1\.1 303 [^]*Location: \/\r\n/, to);
});

test("API clients get the challenge as JSON, and the HTML page escapes the URL in its script", async () => {
  assert.match(await get("/guarded", "Accept: application/json\r\n"), /^HTTP\/1\.1 403 [^]*"code":1040/);
  const page = await get("/guarded?</script><script>alert(1)</script>");
  assert.doesNotMatch(page, /<script>alert/);
});

test("the script of the challenge page finds a valid answer", () => {
  const script =
    /<script>([^]*)<\/script>/.exec(challengePage("task.of.a.length.that.takes.two.blocks.of.the.hash.to.be.read", "/x", "ray"))?.[1] ?? "";
  const turns: (() => void)[] = [];
  let went = "";
  runInNewContext(script, {
    location: { replace: (address: string) => void (went = address) },
    setTimeout: (turn: () => void) => void turns.push(turn),
    encodeURIComponent,
  });
  for (let turn = turns.shift(); turn !== undefined && went === ""; turn = turns.shift()) turn();
  const answer = new URLSearchParams(went.split("?")[1]);
  assert.equal(answer.get("to"), "/x");
  assert.equal(
    createHash("sha256")
      .update(`${answer.get("task")}:${answer.get("answer")}`)
      .digest()
      .readUInt16BE(),
    0,
  );
});

test("challenges and clearances expire", () => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const clearance = createClearance({ keys: () => [new Uint8Array(32)], clock, vendorPrefix: "svc" });
  const visitor = new Exchange("0123456789abcdef", 0, 0, { clientIp: "192.0.2.1", scheme: "https", serverPort: 443, tls: null });
  const task = clearance.task(visitor);
  const answer = String(solve(task));
  assert.match(clearance.redeem(visitor, task, answer) ?? "", /; Secure$/);
  clock.advance(300_001);
  assert.equal(clearance.redeem(visitor, task, answer), null);
});

test("a clearance counts while its key is one of the edge's, and no longer", () => {
  const [former, used, next] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
  let keys = [former!, used!];
  const clearance = createClearance({ keys: () => keys, clock: fixedClock("2026-01-01T00:00:00Z"), vendorPrefix: "svc" });
  const visitorWith = (cookie: string): Exchange => {
    const visitor = new Exchange("0123456789abcdef", 0, 0, { clientIp: "192.0.2.1", scheme: "http", serverPort: 80, tls: null });
    if (cookie !== "") visitor.editRequest([fieldChange("Cookie", "set", cookie)]);
    return visitor;
  };
  const task = clearance.task(visitorWith(""));
  const cookie = (clearance.redeem(visitorWith(""), task, String(solve(task))) ?? "").split(";")[0] ?? "";
  keys = [used!, next!, former!];
  assert.equal(clearance.has(visitorWith(cookie)), true);
  keys = [next!, used!];
  assert.equal(clearance.has(visitorWith(cookie)), false);
});

test("neither a clearance nor a solved task counts in another zone, at another address or in another browser", () => {
  const clearance = createClearance({ keys: () => [new Uint8Array(32)], clock: fixedClock("2026-01-01T00:00:00Z"), vendorPrefix: "svc" });
  const visitorOf = ([zone, clientIp, agent]: readonly [string, string, string], cookie = ""): Exchange => {
    const visitor = new Exchange("0123456789abcdef", 0, 0, { clientIp, scheme: "http", serverPort: 80, tls: null });
    Object.assign(visitor, { zone: { entry: { id: zone } } });
    visitor.user_agent = agent;
    if (cookie !== "") visitor.editRequest([fieldChange("Cookie", "set", cookie)]);
    return visitor;
  };
  const own = ["zone-a", "192.0.2.1", "one"] as const;
  const task = clearance.task(visitorOf(own));
  const answer = String(solve(task));
  const cookie = (clearance.redeem(visitorOf(own), task, answer) ?? "").split(";")[0] ?? "";
  assert.equal(clearance.has(visitorOf(own, cookie)), true);
  const others = [
    ["zone-b", "192.0.2.1", "one"],
    ["zone-a", "192.0.2.2", "one"],
    ["zone-a", "192.0.2.1", "two"],
    ["", "192.0.2.1", "one"],
  ] as const;
  for (const other of others) {
    assert.equal(clearance.has(visitorOf(other, cookie)), false);
    assert.equal(clearance.redeem(visitorOf(other), task, answer), null);
  }
  // Facts that the query carries may have line ends, between which the signed parts are.
  const [facts, sum] = [task.slice(0, task.lastIndexOf(".")), task.slice(task.lastIndexOf("."))];
  const shifted = `${facts}\nzone-a${sum}`;
  const shiftedAnswer = String(solve(shifted));
  for (const other of [...others, own]) assert.equal(clearance.redeem(visitorOf(other), shifted, shiftedAnswer), null);
  // A solved task is no cookie.
  assert.equal(clearance.has(visitorOf(own, `svc_clearance=${task}`)), false);
});

test("SPEC 9, 2024-03-31: with privacy_pass a passed challenge counts at other addresses of the same browser", () => {
  const clearance = createClearance({ keys: () => [new Uint8Array(32)], clock: fixedClock("2026-01-01T00:00:00Z"), vendorPrefix: "svc" });
  const visitorAt = (clientIp: string, privacy_pass: boolean, agent = "one", cookie = ""): Exchange => {
    const visitor = new Exchange("0123456789abcdef", 0, 0, { clientIp, scheme: "http", serverPort: 80, tls: null });
    visitor.settings = { ...visitor.settings, privacy_pass };
    visitor.user_agent = agent;
    if (cookie !== "") visitor.editRequest([fieldChange("Cookie", "set", cookie)]);
    return visitor;
  };
  for (const isOn of [true, false]) {
    const visitor = visitorAt("192.0.2.1", isOn);
    const task = clearance.task(visitor);
    const cookie = (clearance.redeem(visitor, task, String(solve(task))) ?? "").split(";")[0] ?? "";
    assert.equal(clearance.has(visitorAt("192.0.2.1", isOn, "one", cookie)), true);
    assert.equal(clearance.has(visitorAt("198.51.100.7", isOn, "one", cookie)), isOn);
    assert.equal(clearance.has(visitorAt("198.51.100.7", isOn, "two", cookie)), false, "another browser");
    assert.equal(clearance.has(visitorAt("192.0.2.1", !isOn, "one", cookie)), false, "the setting has changed");
  }
});
