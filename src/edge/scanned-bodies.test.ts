import assert from "node:assert/strict";
import { Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request, type RequestListener } from "node:http";
import { Agent as SecureAgent, createServer as createHttpsServer, request as requestSecurely } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { eventually } from "../../test/support/eventually.ts";
import { fc } from "../../test/support/property.ts";
import { fetchOver, startSecureEdge } from "../../test/support/secure-edge.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import { httpOrigin, routeOp, TLS_WAYS } from "#edge/testing/edge.ts";

/** The way in which an origin answers. */
interface Plan {
  readonly framing: "length" | "chunked" | "close";
  /** Lengths of its writes. */
  readonly pieces: readonly number[];
  /** Waits for the next turn after the head and between two pieces. */
  readonly waits: boolean;
  readonly type: string;
  /** The announced coding; the body is plain text all the same. */
  readonly coding: string;
  readonly isKept: boolean;
  /** The path has an extension that is cached. */
  readonly isFile: boolean;
}

interface Visit {
  readonly plan: number;
  readonly protocol: "http" | "https" | "h2";
  readonly takesGzip: boolean;
}

const plans = fc.array(
  fc.record<Plan>({
    framing: fc.constantFrom("length", "chunked", "close"),
    pieces: fc.array(fc.oneof(fc.nat(300), fc.nat(40_000), fc.nat(140_000)), { maxLength: 4 }),
    waits: fc.boolean(),
    type: fc.constantFrom("text/plain", "text/html; charset=utf-8"),
    coding: fc.constantFrom("", "", "br"),
    isKept: fc.boolean(),
    isFile: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);
const visits = fc.array(fc.record<Visit>({ plan: fc.nat(), protocol: fc.constantFrom("http", "https", "h2"), takesGzip: fc.boolean() }), {
  minLength: 1,
  maxLength: 24,
});

/** Text that no other body contains, and that never repeats. */
const bodyOf = (path: string, { pieces }: Plan): string => {
  const length = pieces.reduce((sum, piece) => sum + piece, 0);
  let text = "";
  for (let n = 0; text.length < length; n++) text += `${path}:${n} `;
  return text.slice(0, length);
};

const asked = new Map<string, Plan>();
const answer: RequestListener = (req, res) => {
  const path = req.url ?? "";
  const plan = asked.get(path);
  if (plan === undefined) return void res.writeHead(404).end();
  const body = bodyOf(path, plan);
  res.setHeader("content-type", plan.type);
  if (plan.coding !== "") res.setHeader("content-encoding", plan.coding);
  res.setHeader("cache-control", plan.isKept ? "max-age=600" : "no-store");
  if (plan.framing === "length") res.setHeader("content-length", body.length);
  if (plan.framing === "close") res.useChunkedEncodingByDefault = false;
  let at = 0;
  const write = (index: number): void => {
    for (let next = index; next < plan.pieces.length; next++) {
      const length = plan.pieces[next] ?? 0;
      if (length > 0) res.write(body.slice(at, (at += length)), "latin1");
      if (plan.waits) return void setImmediate(() => write(next + 1));
    }
    res.end();
  };
  if (plan.waits) res.flushHeaders();
  if (plan.waits) setImmediate(() => write(0));
  else write(0);
};

const root = await createRoot(systemClock);
const issued = await createLocalCa({ root, clock: systemClock }).issue(["www.example.com"]);

async function httpsOrigin(): Promise<{ readonly port: number; close(): void }> {
  const server = createHttpsServer({ cert: issued.chain, key: issued.privateKey }, answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

function bodyOfAnswer(sent: ClientRequest): Promise<readonly [string, IncomingHttpHeaders]> {
  return new Promise((resolve, reject) => {
    sent.on("response", (res: IncomingMessage) => {
      let body = "";
      res.setEncoding("latin1").on("data", (piece: string) => (body += piece));
      res.on("end", () => resolve([body, res.headers]));
      res.on("error", reject);
    });
    sent.on("error", reject).end();
  });
}

const decoded = (body: string, coding: unknown): string =>
  coding === "gzip" ? gunzipSync(Buffer.from(body, "latin1")).toString("latin1") : body;

for (const [way, socketCalls] of TLS_WAYS) {
  for (const secureOrigin of [false, true]) {
    describe(`${way}, an origin ${secureOrigin ? "with" : "without"} TLS`, () => {
      test("SPEC 8: the detector scans each response that a client gets once, whole and with its own head", async () => {
        const origin = secureOrigin ? await httpsOrigin() : await httpOrigin(answer);
        const edge = await startSecureEdge(origin.port, {}, { socketCalls });
        edge.replica.apply([
          zoneOp("zone", "example.com", { edge: { ssl: secureOrigin ? "full" : "flexible" } }),
          recordOp("www", "zone", "www.example.com", "A", "127.0.0.1"),
          routeOp(origin.port),
          rulesetOp("sdd", "zone", "zone", "http_response_firewall_managed", [
            {
              action: "execute",
              expression: 'http.response.code eq 200 and any(http.response.headers["content-type"][*] contains "text/")',
              action_parameters: { id: SENSITIVE_DATA_RULESET_ID },
            },
          ]),
          // The detector must know a coding that the visitor is not told.
          rulesetOp("hide", "zone", "zone", "http_response_headers_transform", [
            {
              action: "rewrite",
              expression: 'http.request.uri.path contains "/1-"',
              action_parameters: { headers: { "content-encoding": { operation: "remove" } } },
            },
          ]),
        ]);
        const pool = { keepAlive: true, maxSockets: 3 };
        const agents = { plain: new Agent(pool), secure: new SecureAgent(pool) };
        let run = 0;
        await fc.assert(
          fc.asyncProperty(plans, visits, async (answers, asks) => {
            run++;
            const pathOf = (index: number): string => `/${run}/${index}-.${answers[index]?.isFile === true ? "css" : "html"}`;
            for (const [index, plan] of answers.entries()) asked.set(pathOf(index), plan);
            edge.scanned.length = 0;
            const session = edge.session();
            const got = await Promise.all(
              asks.map(async ({ plan, protocol, takesGzip }) => {
                const path = pathOf(plan % answers.length);
                const headers = takesGzip ? { "accept-encoding": "gzip" } : {};
                if (protocol !== "h2") {
                  const options = { path, host: "127.0.0.1", headers: { ...headers, host: "www.example.com" } };
                  // The edge uses TLS to origins only if the visitor does.
                  const sent =
                    protocol === "http" && !secureOrigin
                      ? request({ ...options, agent: agents.plain, port: edge.http })
                      : requestSecurely({
                          ...options,
                          agent: agents.secure,
                          port: edge.https,
                          servername: "www.example.com",
                          ca: edge.rootPem,
                        });
                  const [body, fields] = await bodyOfAnswer(sent);
                  return { path, body: decoded(body, fields["content-encoding"]) };
                }
                const { body, headers: fields } = await fetchOver(session, { ":path": path, ...headers });
                return { path, body: decoded(body, fields["content-encoding"]) };
              }),
            );
            session.destroy();
            // A response with an empty body has nothing to scan.
            const scanned = () => edge.scanned.filter(({ body }) => body !== "");
            const filled = got.filter(({ body }) => body !== "");
            await eventually(() => scanned().length >= filled.length && edge.scanned.every(({ ended }) => ended));
            const order = (one: { readonly path: string }, other: { readonly path: string }): number => one.path.localeCompare(other.path);
            assert.deepEqual(
              scanned()
                .map(({ subject, body }) => ({ path: subject.path, type: subject.content_type, coding: subject.content_encoding, body }))
                .sort(order),
              filled
                .map(({ path, body }) => {
                  const { type = "", coding = "" } = asked.get(path) ?? {};
                  return { path, type: type.split(";")[0], coding, body };
                })
                .sort(order),
            );
            for (const { path, body } of got) assert.equal(body, bodyOf(path, asked.get(path)!));
          }),
          { numRuns: 12, endOnFailure: true },
        );
        for (const agent of Object.values(agents)) agent.destroy();
        assert.deepEqual(edge.errors, []);
        await edge.close();
        origin.close();
      });
    });
  }
}
