import assert from "node:assert/strict";
import { type ClientRequest, request } from "node:http";
import { type TestContext, test } from "node:test";
import { httpOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import { eventually, settled } from "../support/eventually.ts";
import { answerChat, GATEWAY_ACCOUNT, gatewayFront, gatewayOp, TEST_CHAT, testProvider } from "../support/gateway-front.ts";

// Bodies that a plane must hold share memory. Clients that announce large bodies and do not finish them must not use up
// all of it: not from one address, and not for one account.

const ATTACKER = "127.0.0.2";
const OTHERS = ["127.0.0.3", "127.0.0.4", "127.0.0.5"];

interface Sent {
  readonly port: number;
  readonly from: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const post = ({ port, from, path = "/", headers = {} }: Sent): ClientRequest =>
  request({ host: "127.0.0.1", port, path, method: "POST", localAddress: from, agent: false, headers });

const statusOf = (sent: ClientRequest): Promise<number> =>
  new Promise((resolve, reject) => {
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
  });

/** Sends the beginning of a body, and gives the status of an early response, or 0. */
function unfinished(t: TestContext, to: Sent, start: string): { status: number } {
  const seen = { status: 0 };
  const sent = post({ ...to, headers: { ...to.headers, "content-length": String(start.length + 1) } });
  sent.on("response", (response) => {
    seen.status = response.statusCode ?? 0;
    response.resume();
  });
  sent.on("error", () => undefined);
  sent.write(start);
  t.after(() => sent.destroy());
  return seen;
}

/** Fills the memory from one address, then from others, with ever smaller bodies, until also the smallest is refused. */
async function fill(t: TestContext, to: (from: string) => Sent): Promise<void> {
  for (const length of [60_000, 8_000, 1_500]) {
    for (const from of [ATTACKER, ...OTHERS]) {
      const sent = Array.from({ length: 20 }, () => unfinished(t, to(from), "x".repeat(length)));
      await eventually(() => sent.some(({ status }) => status === 503));
      await settled(50);
    }
  }
}

const whole = (to: Sent, body: string): Promise<number> => {
  const sent = post({ ...to, headers: { ...to.headers, "content-length": String(body.length) } });
  sent.end(body);
  return statusOf(sent);
};

test("unfinished bodies at the edge leave memory for other accounts' visitors", async (t) => {
  const origin = await httpOrigin((req, res) => void req.resume().on("end", () => res.end("ok")));
  const rules = (id: string) =>
    rulesetOp(`rules-${id}`, "zone", id, "http_request_firewall_custom", [
      { action: "block", expression: 'http.request.body.raw contains "attack"' },
    ]);
  const edge = await startEdge(
    [
      ...[...siteOps(origin.port), rules("zone")],
      ...[zoneOp("theirs", "other.example", { account_id: "other" }), recordOp("b", "theirs", "www.other.example", "A", "127.0.0.1")],
      rulesetOp("port", "zone", "theirs", "http_request_origin", [
        { action: "route", expression: "true", action_parameters: { origin: { port: origin.port } } },
      ]),
      rules("theirs"),
    ],
    {},
    { ruleBodyMemoryBytesMax: 1_000_000, ruleBodyBytesMax: 65_536 },
  );
  t.after(() => {
    origin.close();
    return edge.close();
  });
  const to = (host: string, from: string): Sent => ({ port: edge.http, from, headers: { host } });
  await fill(t, (from) => to("www.example.com", from));
  assert.equal(await whole(to("www.other.example", "127.0.0.9"), "a good body".repeat(1000)), 200);
  assert.equal(await whole(to("www.other.example", "127.0.0.9"), "an attack"), 403);
});

test("unfinished bodies at the gateway leave memory for other accounts' clients", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const other = "b".repeat(32);
  const cached = { cache: { ttl_seconds: 60 } };
  const theirs = { kind: "gateway", id: `${other}/gw`, value: { ...gatewayOp("gw", cached).value, account_id: other } } as ReturnType<
    typeof gatewayOp
  >;
  const { port } = await gatewayFront(t, {
    ops: [gatewayOp("gw", cached), theirs],
    providers: { openai: provider.url },
    limits: { requestMemoryBytesMax: 1_000_000 },
  });
  const to = (account: string, from: string): Sent => ({
    ...{ port, from, path: `/v1/${account}/gw/openai/chat/completions` },
    headers: { "content-type": "application/json", authorization: "Bearer provider-key" },
  });
  await fill(t, (from) => to(GATEWAY_ACCOUNT, from));
  const body = JSON.stringify({ ...TEST_CHAT, padding: "y".repeat(20_000) });
  assert.equal(await whole(to(other, "127.0.0.9"), body), 200);
});
