import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:http2";
import { after, before, test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { fetchOver, type SecureEdge, startSecureEdge } from "../../test/support/secure-edge.ts";
import { exchangeRaw, rawClient, rawOrigin, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../../test/support/eventually.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: SecureEdge;
/** The last body that the origin received, by path: one of a client that has left may arrive during another test. */
const arrived = new Map<string, string>();
const receivedAt = (path: string): string => arrived.get(path) ?? "";

const LIMIT = 4096;

/** Answers with the received body once its end, or its stand-in here, has come. */
before(async () => {
  origin = await rawOrigin((socket) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      arrived.set(text.split(" ", 2)[1] ?? "", text);
      const head = text.indexOf("\r\n\r\n") + 4;
      if (head < 4) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      const isWhole = /\r\ntransfer-encoding: chunked/i.test(text.slice(0, head))
        ? /\r\n0\r\n(?:[^\r]+\r\n)*\r\n$/.test(text)
        : text.length >= head + length;
      if (!isWhole) return;
      const body = text.slice(head);
      text = "";
      const answer = `${body.length} ${createHash("md5").update(body, "latin1").digest("hex")} ${body.slice(0, 200)}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`, "latin1");
    });
    socket.on("end", () => socket.end());
  });
  edge = await startSecureEdge(origin.port, {
    ruleBodyBytesMax: LIMIT,
    ruleBodyMemoryBytesMax: 400_000,
    bodyWindowMs: 1_500,
    bodyBytesMin: 100,
  });
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

type Rules = Parameters<typeof rulesetOp>[4];
const CUSTOM = "http_request_firewall_custom";

async function withRules(rules: Rules, work: () => Promise<void>, phase = CUSTOM): Promise<void> {
  edge.replica.apply([rulesetOp("z", "zone", "zone", phase, rules)]);
  try {
    await work();
  } finally {
    edge.replica.apply([{ kind: "ruleset", id: "z", value: null }]);
  }
}

const blocking = (expression: string, work: () => Promise<void>): Promise<void> => withRules([{ action: "block", expression }], work);

const post = (body: string, fields = "", path = "/"): string =>
  `POST ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`;

const statusOf = (answer: string): number => Number(answer.slice(9, 12));
const heldBytes = (): number => edge.metrics.samples().find(({ name }) => name === "selvedge_edge_request_buffer_bytes")?.value ?? -1;

test("without rules that read bodies, the edge forwards a body as it arrives", async () => {
  await blocking('http.request.uri.path eq "/never"', async () => {
    const client = rawClient(edge.http);
    client.send("POST /begun HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nContent-Length: 4\r\n\r\nab");
    await eventually(() => receivedAt("/begun") !== "");
    assert.equal(heldBytes(), 0);
    client.send("cd");
    assert.match(await client.closed(), /\b4 [0-9a-f]{32} abcd$/);
  });
});

test("a rule that reads the body decides before the origin gets the request", async () => {
  await blocking('http.request.body.raw contains "attack"', async () => {
    assert.equal(statusOf(await exchangeRaw(edge.http, post("an attack", "", "/decides"))), 403);
    assert.equal(receivedAt("/decides"), "");
    assert.match(await exchangeRaw(edge.http, post("harmless")), /^HTTP\/1\.1 200 OK[^]* harmless$/);
    // Requests without a body have an empty one.
    assert.equal(statusOf(await exchangeRaw(edge.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n")), 200);
    assert.equal(heldBytes(), 0);
  });
});

test("chunks and trailers reach the origin as the client sent them, and connections stay open", async () => {
  await blocking('http.request.body.raw contains "attack" and http.request.body.size eq 9', async () => {
    const head = "POST /trailers HTTP/1.1\r\nHost: www.example.com\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n";
    const client = rawClient(edge.http);
    client.send(
      `${head}\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx-sum: 1\r\n\r\n${head}Connection: close\r\n\r\n3\r\nan \r\n6\r\nattack\r\n0\r\n\r\n`,
    );
    const answers = await client.closed();
    assert.match(answers, /^HTTP\/1\.1 200 OK[^]*HTTP\/1\.1 403 Access denied/);
    assert.match(receivedAt("/trailers"), /abcde\r\n0\r\nx-sum: 1\r\n\r\n$|3\r\nabc\r\n2\r\nde\r\n0\r\nx-sum: 1\r\n\r\n$/);
  });
});

test("no trailer reaches the origin past rules against attacks, which have decided by then", async () => {
  const rules: Rules = [{ action: "block", expression: 'http.request.body.raw contains "attack"' }];
  const send = async (path: string): Promise<string> => {
    const head = `POST ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n`;
    await exchangeRaw(edge.http, `${head}3\r\nabc\r\n0\r\nx-sum: \${jndi:ldap://e/a}\r\n\r\n`);
    return receivedAt(path);
  };
  await withRules(rules, async () => assert.match(await send("/judged"), /abc\r\n0\r\n\r\n$/), "http_request_firewall_managed");
  assert.match(await send("/not-judged"), /abc\r\n0\r\nx-sum: \$\{jndi/);
});

test("a body in chunks of one byte reaches the origin unchanged and in few chunks, in both versions of HTTP", async () => {
  const body = Buffer.alloc(20_000, "0123456789abcdef").toString();
  const large = "x".repeat(3000);
  const head = "POST /pieces HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  const chunks = body.replace(/./g, (byte) => `1\r\n${byte}\r\n`);
  await exchangeRaw(edge.http, `${head}${chunks}bb8\r\n${large}\r\n1\r\ny\r\n0\r\n\r\n`);
  const received = (path: string): { chunks: number; payload: string } => {
    const text = receivedAt(path);
    const parts = text.slice(text.indexOf("\r\n\r\n") + 4).split("\r\n");
    return { chunks: parts.length / 2, payload: parts.filter((_, index) => index % 2 === 1).join("") };
  };
  assert.ok(received("/pieces").payload === body + large + "y");
  assert.ok(received("/pieces").chunks < 1000, String(received("/pieces").chunks));
  await new Promise<void>((resolve, reject) => {
    const session = connect(`https://www.example.com:${edge.https}`, {
      rejectUnauthorized: false,
      lookup: (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
    });
    session.on("error", reject);
    const stream = session.request({ ":method": "POST", ":path": "/frames" });
    for (let at = 0; at < 5000; at++) stream.write(body.slice(at, at + 1));
    stream.end();
    stream.resume().on("close", () => session.close(resolve));
  });
  assert.ok(received("/frames").payload === body.slice(0, 5000));
  assert.ok(received("/frames").chunks < 1000, String(received("/frames").chunks));
});

test("a body longer than rules inspect is forwarded completely, and rules see that it is truncated", async () => {
  const body = Buffer.alloc(300_000, "0123456789abcdef").toString();
  const hash = createHash("md5").update(body).digest("hex");
  const rules: Rules = [
    { action: "block", expression: "not http.request.body.truncated" },
    { action: "block", expression: `http.request.body.size ne ${body.length} and http.request.uri.path ne "/chunked"` },
    { action: "block", expression: `len(http.request.body.raw) ne ${LIMIT}` },
  ];
  await withRules(rules, async () => {
    assert.match(await exchangeRaw(edge.http, post(body)), new RegExp(`\r\n\r\n${body.length} ${hash} `));
    const chunks = body.replace(/[^]{10000}/g, (chunk) => `2710\r\n${chunk}\r\n`);
    const head = "POST /chunked HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert.match(await exchangeRaw(edge.http, `${head}${chunks}0\r\n\r\n`), /^HTTP\/1\.1 200 OK/);
    const text = receivedAt("/chunked");
    const whole = text.slice(text.indexOf("\r\n\r\n") + 4).replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, "");
    assert.equal(createHash("md5").update(whole.trimEnd()).digest("hex"), hash);
    assert.equal(statusOf(await exchangeRaw(edge.http, post("x".repeat(LIMIT)))), 403, "what fits exactly is not truncated");
    assert.equal(heldBytes(), 0);
  });
});

test("a client with Expect: 100-continue gets one 100 Continue from the edge, and the origin gets no Expect field", async () => {
  await blocking('http.request.body.raw contains "attack"', async () => {
    for (const [body, status] of [
      ["harmless", 200],
      ["an attack", 403],
    ] as const) {
      const client = rawClient(edge.http);
      client.send(post(body, "Expect: 100-continue\r\n", "/expects").slice(0, -body.length));
      await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
      client.send(body);
      const answer = await client.closed();
      assert.equal(answer.match(/ 100 Continue/g)?.length, 1);
      assert.match(answer, new RegExp(`\r\n\r\nHTTP/1\\.1 ${status} `));
    }
    assert.match(receivedAt("/expects"), /^POST \/expects /);
    assert.doesNotMatch(receivedAt("/expects"), /expect:/i);
  });
});

test("rules read forms, multipart bodies and JSON of requests", async () => {
  const form = "Content-Type: application/x-www-form-urlencoded\r\n";
  const parts = "Content-Type: multipart/form-data; boundary=xx\r\n";
  const upload =
    '--xx\r\nContent-Disposition: form-data; name="f"; filename="a.php"\r\nContent-Type: image/png\r\n\r\n<?php\r\n--xx\r\nContent-Disposition: form-data; name="t"\r\n\r\ntext\r\n--xx--\r\n';
  const cases: readonly (readonly [expression: string, body: string, fields: string, status: number])[] = [
    ['any(http.request.body.form["role"][*] eq "admin")', "user=a&role=admin", form, 403],
    ['any(http.request.body.form["role"][*] eq "admin")', "user=a&role=user", form, 200],
    ['any(http.request.body.form["role"][*] eq "admin")', "user=a&role=admin", "", 200],
    ['any(http.request.body.form.names[*] eq "role")', "user=a&role=admin", form, 403],
    ['any(url_decode(http.request.body.form.values[*])[*] contains "<s")', "a=%3Cs", form, 403],
    ['any(http.request.body.multipart.filenames[*][*] contains ".php")', upload, parts, 403],
    ['any(http.request.body.multipart["t"][*] eq "text")', upload, parts, 403],
    ['any(http.request.body.multipart.content_types[*][*] eq "image/gif")', upload, parts, 200],
    ['any(http.request.body.multipart.values[*] contains "<?php")', upload, parts, 403],
    ['http.request.body.mime eq "application/pdf"', "%PDF-1.7", "", 403],
    ['lookup_json_string(http.request.body.raw, "user", "role") eq "admin"', '{"user":{"role":"admin"}}', "", 403],
    ['lookup_json_integer(http.request.body.raw, "a", 1) gt 5', '{"a":[1,6]}', "", 403],
    ['lookup_json_integer(http.request.body.raw, "a", 1) gt 5', '{"a":[1,5]}', "", 200],
  ];
  for (const [expression, body, fields, status] of cases)
    await blocking(expression, async () =>
      assert.equal(statusOf(await exchangeRaw(edge.http, post(body, fields))), status, `${expression} ${body}`),
    );
});

test("phases before the first one that reads bodies run without waiting for the body, and can answer", async () => {
  edge.replica.apply([
    rulesetOp("first", "zone", "zone", "http_request_dynamic_redirect", [
      {
        action: "redirect",
        expression: 'http.request.uri.path eq "/old"',
        action_parameters: { from_value: { target_url: { value: "/new" } } },
      },
    ]),
  ]);
  await blocking('http.request.body.raw contains "attack"', async () => {
    const answer = await exchangeRaw(edge.http, "POST /old HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 100\r\n\r\n");
    assert.equal(statusOf(answer), 302);
  });
  edge.replica.apply([{ kind: "ruleset", id: "first", value: null }]);
});

test("custom rulesets and rate limits wait for the body, until no rule reads it", async () => {
  const custom = rulesetOp("custom", "account", "account", CUSTOM, [{ action: "block", expression: 'http.request.body.raw eq "x"' }]);
  assert.equal(custom.kind, "ruleset");
  if (custom.kind !== "ruleset" || custom.value === null) return;
  const entry = rulesetOp("root", "account", "account", CUSTOM, [
    { action: "execute", expression: "true", action_parameters: { id: "custom" } },
  ]);
  edge.replica.apply([entry]);
  assert.equal(statusOf(await exchangeRaw(edge.http, post("x"))), 200);
  edge.replica.apply([{ ...custom, value: { ...custom.value, kind: "custom" } }]);
  assert.equal(statusOf(await exchangeRaw(edge.http, post("x"))), 403);
  edge.replica.apply([
    { kind: "ruleset", id: "custom", value: null },
    { kind: "ruleset", id: "root", value: null },
  ]);
  const limit: Rules = [
    {
      action: "block",
      expression: "true",
      ratelimit: { characteristics: ['lookup_json_string(http.request.body.raw, "user")'], period: 60, requests_per_period: 1 },
    },
  ];
  await withRules(
    limit,
    async () => {
      const statuses: number[] = [];
      for (const user of ["a", "b", "a"]) statuses.push(statusOf(await exchangeRaw(edge.http, post(`{"user":"${user}"}`))));
      assert.deepEqual(statuses, [200, 200, 429]);
    },
    "http_ratelimit",
  );
});

test("response rules can read the request's body", async () => {
  const rules: Rules = [
    {
      action: "rewrite",
      expression: 'http.request.body.raw contains "mark"',
      action_parameters: { headers: { "x-marked": { operation: "set", expression: "substring(http.request.body.raw, 0, 6)" } } },
    },
  ];
  await withRules(
    rules,
    async () => {
      assert.match(await exchangeRaw(edge.http, post("a mark!")), /\r\nx-marked: a mark\r\n/i);
      assert.doesNotMatch(await exchangeRaw(edge.http, post("nothing")), /x-marked/i);
      await eventually(() => heldBytes() === 0);
    },
    "http_response_headers_transform",
  );
});

test("the edge releases the buffer of a body that stalls or whose client disconnects", async () => {
  await blocking('http.request.body.raw contains "attack"', async () => {
    const slow = rawClient(edge.http);
    slow.send("POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 1000\r\n\r\nab");
    const gone = rawClient(edge.http);
    gone.send("POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 1000\r\n\r\nab");
    await eventually(() => heldBytes() > 0);
    gone.socket.destroy();
    assert.equal(statusOf(await slow.closed()), 408);
    await eventually(() => heldBytes() === 0);
  });
});

test("waiting bodies stay within the memory limit, and an announced length alone takes no memory", async () => {
  await blocking('http.request.body.raw contains "attack"', async () => {
    const begin = (bytes: number) => {
      const client = rawClient(edge.http);
      client.send(`POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: ${LIMIT}\r\n\r\n${"x".repeat(bytes)}`);
      return client;
    };
    const few = Array.from({ length: 50 }, () => begin(1));
    await eventually(() => heldBytes() > 0);
    assert.ok(heldBytes() <= 50 * 2048);
    for (const { socket } of few) socket.destroy();
    await eventually(() => heldBytes() === 0);
    const many = Array.from({ length: 120 }, () => begin(LIMIT - 1));
    await eventually(() => many.some((client) => client.received() !== ""));
    assert.match(many.find((client) => client.received() !== "")?.received() ?? "", /^HTTP\/1\.1 503 /);
    assert.ok(heldBytes() <= 400_000);
    for (const { socket } of many) socket.destroy();
    await eventually(() => heldBytes() === 0);
    assert.equal(statusOf(await exchangeRaw(edge.http, post("harmless"))), 200);
  });
});

test("over HTTP/2 the edge buffers bodies, forwards them complete, refuses them and gives up", async () => {
  const big = Buffer.alloc(500_000, "0123456789abcdef").toString();
  const hash = createHash("md5").update(big).digest("hex");
  await blocking('http.request.body.raw contains "attack"', async () => {
    const session = edge.session();
    const send = (body: string, more: Record<string, string> = {}) =>
      fetchOver(session, { ":path": "/", ":method": "POST", ...more }, body);
    assert.equal((await send("an attack")).status, 403);
    assert.equal((await send("an attack", { "content-length": "9" })).status, 403);
    assert.match((await send("harmless", { "content-length": "8" })).body, /^8 .* harmless$/);
    assert.match((await send(big, { "content-length": String(big.length) })).body, new RegExp(`^${big.length} ${hash} `));
    assert.equal((await send(`an attack${big}`)).status, 403);
    const stream = session.request({ ":path": "/", ":method": "POST" });
    stream.on("error", () => undefined);
    stream.write("begun");
    await eventually(() => heldBytes() > 0);
    stream.close(8);
    await eventually(() => heldBytes() === 0);
  });
});

test("property: however a body is cut into chunks and packets, rules see its beginning and the origin gets all of it", async () => {
  const cut = fc.record({
    bytes: fc.nat(3 * LIMIT),
    chunks: fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 5 }),
    packets: fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 }),
    isChunked: fc.boolean(),
    isAttack: fc.boolean(),
  });
  let tries = 0;
  await blocking('starts_with(http.request.body.raw, "attack")', async () => {
    await fc.assert(
      fc.asyncProperty(cut, async ({ bytes, chunks, packets, isChunked, isAttack }) => {
        const body = (isAttack ? "attack" : "") + Buffer.alloc(bytes, "0123456789abcdef").toString();
        let sent = "";
        for (let at = 0, i = 0; isChunked && at < body.length; i++) {
          const chunk = body.slice(at, at + chunks[i % chunks.length]!);
          sent += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
          at += chunk.length;
        }
        const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
        const path = `/cut/${tries++}`;
        const message = `POST ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n${framing}\r\n\r\n${isChunked ? `${sent}0\r\n\r\n` : body}`;
        const client = rawClient(edge.http);
        for (let at = 0, i = 0; at < message.length; i++) {
          const packet = message.slice(at, at + packets[i % packets.length]!);
          client.send(packet);
          at += packet.length;
          if (i % 3 === 0) await new Promise((done) => setImmediate(done));
        }
        const answer = await client.closed();
        assert.equal(statusOf(answer), isAttack ? 403 : 200);
        if (isAttack) return assert.equal(receivedAt(path), "");
        const text = receivedAt(path);
        const passed = text.slice(text.indexOf("\r\n\r\n") + 4);
        const whole = isChunked ? passed.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, "").trimEnd() : passed;
        assert.equal(createHash("md5").update(whole).digest("hex"), createHash("md5").update(body).digest("hex"));
      }),
      { numRuns: 60 },
    );
    await eventually(() => heldBytes() === 0);
  });
});
