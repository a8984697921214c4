import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { httpOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { startApi } from "../support/api-server.ts";
import { eventually, settled } from "../support/eventually.ts";
import { GATEWAY_ACCOUNT, gatewayFront, TEST_CHAT, testProvider } from "../support/gateway-front.ts";
import { type KeptAnswer, type KeptClient, keptClient } from "../support/kept-client.ts";
import { fc } from "../support/property.ts";

/** Nothing of a request may be left in its connection for the next one: any row of requests is answered as each alone. */

/** A client's actions on a connection until it has its answers. */
type Kind = (client: KeptClient) => Promise<readonly (KeptAnswer | undefined)[]>;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const LARGE = JSON.stringify({ ...TEST_CHAT, user: "0123456789".repeat(150_000) });
const SMALL = JSON.stringify(TEST_CHAT);
const LARGE_ANSWER = "x".repeat(300_000);

const head = (line: string, fields = ""): string => `${line} HTTP/1.1\r\nhost: www.example.com\r\n${fields}\r\n`;
const JSON_FIELDS = "content-type: application/json\r\nauthorization: Bearer provider-key\r\n";
const lengthOf = (body: string): string => `content-length: ${Buffer.byteLength(body)}\r\n`;
const chunks = (body: string, size: number): string[] =>
  Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.slice(i * size, (i + 1) * size)).map(
    (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
  );
const asks =
  (bytes: string, answers = 1, isHead = false): Kind =>
  async (client) => {
    client.send(bytes);
    const all: (KeptAnswer | undefined)[] = [];
    for (let i = 0; i < answers; i++) all.push(await client.next(isHead));
    return all;
  };

interface Places {
  /** Paths for a small or a large body, a refused request, one refused by the other side, and one with a large answer. */
  readonly at: string;
  readonly nowhere: string;
  readonly failing: string;
  readonly largeAnswer: string;
}
const CHATS = { fields: JSON_FIELDS, small: SMALL, large: LARGE };

const kindsOf = (
  { at, nowhere, failing, largeAnswer }: Places,
  { fields, small, large }: typeof CHATS = CHATS,
): Readonly<Record<string, Kind>> => {
  const post = (path: string, body: string): string => head(`POST ${path}`, `${fields}${lengthOf(body)}`) + body;
  return {
    small: asks(post(at, small)),
    large: asks(post(at, large)),
    "large, its answer too": asks(post(largeAnswer, large)),
    "in chunks": asks(
      `${head(`POST ${at}`, `${fields}transfer-encoding: chunked\r\n`)}${chunks(small, 10).join("")}0\r\nx-trailer: 1\r\n\r\n`,
    ),
    "large, in chunks, piece by piece": async (client) => {
      client.send(head(`POST ${at}`, `${fields}transfer-encoding: chunked\r\n`));
      for (const chunk of chunks(large, 200_000)) {
        client.send(chunk);
        await turn();
      }
      client.send("0\r\n\r\n");
      return [await client.next()];
    },
    "a large answer": asks(post(largeAnswer, small)),
    "waits for leave": async (client) => {
      client.send(head(`POST ${at}`, `${fields}expect: 100-continue\r\ncontent-length: ${large.length}\r\n`));
      const first = await client.next();
      client.send(large);
      return [first, await client.next()];
    },
    "two ahead": asks(post(at, small) + post(at, small), 2),
    "a large one and one ahead": asks(post(at, large) + post(at, small), 2),
    refused: asks(post(nowhere, small)),
    "refused, large": asks(post(nowhere, large)),
    failing: asks(post(failing, small)),
    "failing, large": asks(post(failing, large)),
    head: asks(head(`HEAD ${at}`), 1, true),
    "an upgrade that is refused": asks(head(`GET ${at}`, "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n")),
    "an upgrade that is refused, and one ahead": asks(head(`GET ${at}`, "connection: upgrade\r\nupgrade: h2c\r\n") + post(at, small), 2),
    "an old client": asks(`POST ${at} HTTP/1.0\r\nhost: www.example.com\r\n${fields}content-length: 2\r\n\r\n{}`),
    "no request": asks("nonsense\r\n\r\n"),
    "leaves amid its body": async (client) => {
      client.send(head(`POST ${at}`, `${fields}content-length: ${large.length}\r\n`) + large.slice(0, 1_200_000));
      await turn();
      client.socket.destroy();
      return [];
    },
  };
};

/**
 * Sends all requests on one connection for as long as the other side keeps it, each also on a separate connection, and
 * compares.
 */
async function sameAsAlone(
  t: TestContext,
  port: number,
  kinds: Readonly<Record<string, Kind>>,
  rows: () => Promise<unknown[]>,
  numRuns = 25,
): Promise<void> {
  const alone = new Map<string, { readonly answers: readonly unknown[]; readonly rows: readonly unknown[] }>();
  for (const [name, ask] of Object.entries(kinds)) {
    const client = keptClient(port);
    const answers = await ask(client);
    client.socket.destroy();
    alone.set(name, { answers, rows: await rows() });
  }
  // Bytes sent ahead belong to the second request.
  const { answers, rows: told } = alone.get("small")!;
  assert.deepEqual(alone.get("two ahead"), { answers: [...answers, ...answers], rows: [...told, ...told] });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(kinds)), { minLength: 2, maxLength: 7 }), async (names) => {
      let client = keptClient(port);
      t.after(() => client.socket.destroy());
      for (const [i, name] of names.entries()) {
        const answers = await kinds[name]!(client);
        const is = { answers, rows: await rows() };
        assert.deepEqual(is, alone.get(name), `${name}, request ${i + 1} of ${names.join("; ")}`);
        const isLast = answers.length === 0 || answers.some((answer) => answer === undefined || answer.fields["connection"] === "close");
        // Answers that end with their connection.
        if (!isLast && !client.isClosed()) continue;
        client.socket.destroy();
        client = keptClient(port);
      }
      client.socket.destroy();
    }),
    { numRuns, endOnFailure: true },
  );
}

for (const [way, socketCalls] of [
  ["our own loop", await loadSocketCalls()],
  ["Node.js", null],
] as const) {
  if (way === "our own loop" && socketCalls === null) continue;

  test(`the gateway over ${way}: requests on one connection get the same responses as each alone`, async (t) => {
    const provider = await testProvider(t, (res, { url, body }) => {
      if (url === "/failing") return void res.writeHead(400, { "content-type": "application/json" }).end('{"error":"no"}');
      const text = url === "/large" ? LARGE_ANSWER : `${body.length}`;
      res.writeHead(200, { "content-type": "application/json" }).end(
        JSON.stringify({
          choices: [{ index: 0, message: { role: "assistant", content: text } }],
          usage: { prompt_tokens: 3, completion_tokens: 4 },
        }),
      );
    });
    const { port, rows, metric } = await gatewayFront(t, { providers: { openai: provider.url }, deps: { socketCalls } });
    const gateway = `/v1/${GATEWAY_ACCOUNT}/gw`;
    const kinds = kindsOf({
      at: `${gateway}/openai/chat`,
      nowhere: `${gateway}/nobody/chat`,
      failing: `${gateway}/openai/failing`,
      largeAnswer: `${gateway}/openai/large`,
    });
    await sameAsAlone(t, port, kinds, async () => {
      await eventually(() => metric("selvedge_gateway_active_requests") === 0);
      // Of those who left, how far they had come depends on the machine.
      const told = rows.splice(0).filter(({ status_code }) => status_code !== 499);
      return told.map(({ id: _id, event_id: _event, at_ms: _at, duration_ms: _took, first_byte_ms: _first, ...row }) => row);
    });
    assert.deepEqual([metric("selvedge_gateway_buffered_request_bytes"), metric("selvedge_gateway_buffered_log_bytes")], [0, 0]);
  });

  test(`the edge over ${way}: requests on one connection get the same responses as each alone`, async (t) => {
    const origin = await httpOrigin((req, res) => {
      if (req.url === "/failing") return void res.writeHead(500, { "content-length": 2, connection: "close" }).end("no");
      let bytes = 0;
      req.on("data", (chunk: Buffer) => (bytes += chunk.length));
      req.on("end", () => res.end(req.url === "/large" ? LARGE_ANSWER : String(bytes)));
    });
    t.after(() => origin.close());
    const edge = await startEdge(siteOps(origin.port), { socketCalls });
    t.after(() => edge.close());
    const kinds = kindsOf({ at: "/chat", nowhere: "/%00", failing: "/failing", largeAnswer: "/large" });
    // When its answer overtakes the body depends on the machine.
    const { "failing, large": _overtaken, ...certain } = kinds;
    await sameAsAlone(t, edge.http, certain, async () => {
      await settled(20);
      // How much of a body had come when it was refused, or when its client left, depends on the machine.
      const told = edge.requests.splice(0).filter(({ status }) => status !== 499);
      return told.map(({ status, method, bytes_in, bytes_out, path }) => ({
        ...{ status, method, bytes_out, path },
        bytes_in: status === 200 || bytes_in < 1000 ? bytes_in : "many",
      }));
    });
    assert.deepEqual(edge.errors, []);
  });
}

test("the management API: requests on one connection get the same responses as each alone", async (t) => {
  const server = await startApi({
    failureLimit: { requests: 1_000_000, periodSeconds: 1 },
    rateLimit: { requests: 1_000_000, periodSeconds: 1 },
  });
  t.after(() => server.close());
  const at = "/client/v4/graphql";
  const query = "{ __schema { types { name fields { name description } } } }";
  const fields = `content-type: application/json\r\nauthorization: Bearer ${server.token}\r\n`;
  const small = JSON.stringify({ query: "{ __typename }" });
  const large = JSON.stringify({ query: "{ __typename }", variables: { x: "0123456789".repeat(150_000) } });
  const kinds = kindsOf({ at, nowhere: "/client/v4/nowhere", failing: "/client/v4/zones", largeAnswer: at }, { fields, small, large });
  const nobody = "content-type: application/json\r\nauthorization: Bearer nobody\r\n";
  const own: Readonly<Record<string, Kind>> = {
    ...kinds,
    "a large answer": asks(head(`POST ${at}`, `${fields}${lengthOf(JSON.stringify({ query }))}`) + JSON.stringify({ query })),
    "nobody's": asks(head(`POST ${at}`, `${nobody}${lengthOf(small)}`) + small),
    "nobody's, large": asks(head(`POST ${at}`, `${nobody}${lengthOf(large)}`) + large),
    "too large": asks(head(`POST ${at}`, `${fields}${lengthOf("x".repeat(6_000_000))}`) + "x".repeat(6_000_000)),
    "too large, in chunks": asks(
      head(`POST ${at}`, `${fields}transfer-encoding: chunked\r\n`) + chunks("x".repeat(6_000_000), 100_000).join("") + "0\r\n\r\n",
    ),
  };
  await sameAsAlone(t, server.port, own, async () => [], 15);
});
