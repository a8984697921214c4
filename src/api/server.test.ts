import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { IMAGE_UPLOAD_LIMIT } from "./images/image-uploads.ts";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { newId, newTokenSecret } from "#kernel/crypto/ids.ts";
import { insertToken } from "#store/access/tokens.ts";
import { oldestUser } from "#store/access/users.ts";
import { type Answer, type ApiServer, type Asking, ask, OWNER_EMAIL, OWNER_KEY, startApi } from "../../test/support/api-server.ts";

let server: ApiServer;
let zone: string;

before(async () => {
  server = await startApi();
  zone = (await ask(server, "POST", "/zones", { body: { name: "example.com", account: { id: server.account_id } } })).body.result.id;
});
after(() => server.close());

/** Sends raw bytes and returns the received ones until the connection ends. */
function talk(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    socket.on("close", () => resolve(answer)).on("error", reject);
    socket.setTimeout(60_000, () => socket.destroy(new Error("no answer")));
  });
}

test("SPEC 2.1: the envelope has its members in order, on success and on failure", async () => {
  const list = await ask(server, "GET", `/zones/${zone}/dns_records`);
  assert.deepEqual(Object.keys(list.body), ["result", "success", "errors", "messages", "result_info"]);
  assert.deepEqual(list.body.result_info, { page: 1, per_page: 100, count: 0, total_count: 0, total_pages: 0 });
  const one = await ask(server, "GET", `/zones/${zone}`);
  assert.deepEqual(Object.keys(one.body), ["result", "success", "errors", "messages"]);
  const failure = await ask(server, "GET", "/nowhere");
  assert.deepEqual(failure.body, {
    result: null,
    success: false,
    errors: [{ code: 7000, message: "No route for that URI" }],
    messages: [],
  });
  assert.equal(failure.status, 404);
});

test("a path with other methods says which", async () => {
  const answer = await ask(server, "PUT", "/zones", { body: {} });
  assert.deepEqual(
    [answer.status, answer.body.errors],
    [404, [{ code: 7000, message: "No route for that URI with PUT; it has GET, POST." }]],
  );
});

test("a page past the end is empty and not an error", async () => {
  const answer = await ask(server, "GET", "/zones?page=7&per_page=10");
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body.result, []);
  assert.deepEqual(answer.body.result_info, { page: 7, per_page: 10, count: 0, total_count: 1, total_pages: 1 });
});

test("every response has the API date, a request ID and the vendor's headers", async () => {
  for (const path of ["/zones", "/nowhere", "/zones/x", "/openapi.json"]) {
    const { headers } = await ask(server, "GET", path);
    assert.match(headers.get("api-version") ?? "", /^\d{4}-\d{2}-\d{2}$/, path);
    assert.match(headers.get("svc-ray") ?? "", /^[0-9a-f]{16}$/, path);
    assert.match(headers.get("cache-control") ?? "", /no-store/, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    assert.equal(headers.get("x-frame-options"), "SAMEORIGIN", path);
    assert.equal(headers.get("strict-transport-security"), null, "RFC 6797: not over plain HTTP");
    assert.match(headers.get("content-type") ?? "", /^application\/json/, path);
  }
});

test("input variants of real clients are tolerated", async () => {
  assert.equal((await ask(server, "GET", "/zones/?name=example.com")).body.result.length, 1);
  assert.equal((await fetch(`${server.url}//zones`, { headers: { authorization: `Bearer ${server.token}` } })).status, 200);
  const create = (headers: Record<string, string>, raw: string) => ask(server, "POST", `/zones/${zone}/dns_records`, { headers, raw });
  const record = (name: string): string => JSON.stringify({ type: "A", name, content: "192.0.2.1", ttl: 1, extra: { k: "v" }, data: null });
  const first = await create({ "content-type": "application/json; charset=utf-8" }, record("a"));
  assert.equal(first.status, 200, first.text);
  assert.equal((await create({ "content-type": "Application/JSON" }, `\ufeff${record("b")}`)).status, 200);
  const gone = await ask(server, "DELETE", `/zones/${zone}/dns_records/${first.body.result.id}`, { raw: "{}" });
  assert.equal(gone.status, 200, gone.text);
  assert.deepEqual(gone.body.result, { id: first.body.result.id });
  const verified = await talk(
    `GET /client/v4/user/tokens/verify HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
  );
  assert.match(verified, /^HTTP\/1\.1 200 /);
  const old = await talk(`GET /client/v4/zones HTTP/1.0\r\nauthorization: Bearer ${server.token}\r\n\r\n`);
  assert.match(old, /^HTTP\/1\.1 200 /);
  assert.match(old, /"success":true/);
  const empty = await ask(server, "PUT", `/user/tokens/${"0".repeat(32)}/value`, { headers: { "content-type": "application/json" } });
  assert.equal(empty.status, 404, "an empty body with a JSON type is no body");
});

test("SPEC 5.2: both forms of credentials work, and wrong ones get a reason", async () => {
  const byKey = await ask(server, "GET", "/user", { token: null, headers: { "x-auth-email": OWNER_EMAIL, "x-auth-key": OWNER_KEY } });
  assert.equal(byKey.body.result.email, OWNER_EMAIL);
  const codes = async (token: string | null, headers: Record<string, string> = {}): Promise<unknown> => {
    const { status, body } = await ask(server, "GET", "/user", { token, headers });
    return [status, body.errors[0].code, body.errors[0].error_chain?.[0]?.code];
  };
  assert.deepEqual(await codes(null), [400, 9106, undefined]);
  assert.deepEqual(await codes("Z".repeat(40)), [403, 9109, undefined]);
  assert.deepEqual(await codes("bad token"), [400, 6003, 6111]);
  assert.deepEqual(await codes(null, { "x-auth-email": OWNER_EMAIL, "x-auth-key": "f".repeat(37) }), [403, 9103, undefined]);
  assert.deepEqual(await codes(null, { "x-auth-email": OWNER_EMAIL }), [400, 6003, 6101]);
});

test("a malformed identifier gives another error than an unknown path", async () => {
  const { status, body } = await ask(server, "GET", "/zones/not-an-id/dns_records");
  assert.equal(status, 404);
  assert.deepEqual(
    body.errors.map(({ code }: { code: number }) => code),
    [7003, 7000],
  );
  assert.match(body.errors[0].message, /\/client\/v4\/zones\/not-an-id\/dns_records/);
});

test("bytes that are not a request get the envelope", async () => {
  for (const [bytes, status, code] of [
    ["NONSENSE\r\n\r\n", 400, 10401],
    [`GET /client/v4/zones HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(40_000)}\r\n\r\n`, 431, 10431],
    ["POST /client/v4/zones HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 400, 10401],
  ] as const) {
    const answer = await talk(bytes);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(JSON.parse(answer.slice(answer.indexOf("{"))).errors[0].code, code);
  }
});

test("bodies have limits of size, depth and type", async () => {
  const small = await startApi({ bodyBytesMax: 1000 });
  try {
    const post = (raw: string, headers = {}) => ask(small, "POST", "/zones", { raw, headers });
    assert.deepEqual(
      [(await post(`"${"x".repeat(2000)}"`)).status, (await post(`"${"x".repeat(2000)}"`)).body.errors[0].code],
      [413, 10413],
    );
    assert.equal((await post("[".repeat(70) + "]".repeat(70))).body.errors[0].code, 6007);
    assert.equal((await post("{")).body.errors[0].code, 6007);
    assert.deepEqual((await post("name=x", { "content-type": "application/x-www-form-urlencoded" })).body.errors[0].error_chain, [
      { code: 6105, message: "Invalid Content-Type header, valid values are application/json" },
    ]);
    assert.equal((await ask(small, "GET", "/zones")).status, 200, "the server lives on");
  } finally {
    await small.close();
  }
});

test("no credential and no body reaches the log", async () => {
  const canary = "CANARY9f3b7c";
  await ask(server, "POST", `/zones/${zone}/dns_records?search=${canary}`, { body: { type: "A", name: canary, content: canary } });
  await ask(server, "POST", `/zones/${zone}/dns_records`, { raw: `{"${canary}` });
  await ask(server, "GET", "/zones", { token: `${canary}${"x".repeat(30)}` });
  await ask(server, "GET", "/zones", {
    token: null,
    headers: { "x-auth-email": `${canary}@example.com`, "x-auth-key": `${canary}${"x".repeat(30)}` },
  });
  const created = await ask(server, "POST", "/user/tokens", {
    body: {
      name: canary,
      policies: [
        {
          effect: "allow",
          resources: { "com.cloudflare.api.account.*": "*" },
          permission_groups: [{ id: "c8fed203ed3043cba015a93ad1616f1f" }],
        },
      ],
    },
  });
  assert.equal(created.status, 200, created.text);
  const log = server.logged.join("\n");
  assert.ok(log.includes("POST /user/tokens"), "requests are logged");
  for (const secret of [canary, server.token, created.body.result.value, OWNER_KEY])
    assert.ok(!log.toUpperCase().includes(secret.toUpperCase()));
});

test("a token works at its first use, however many others were tried from its address", async () => {
  const limited = await startApi({ failureLimit: { requests: 2, periodSeconds: 300 } });
  try {
    const verify = async (token: string): Promise<number> => (await ask(limited, "GET", "/user/tokens/verify", { token })).status;
    const created = await ask(limited, "POST", "/user/tokens", {
      body: {
        name: "never used",
        policies: [
          {
            effect: "allow",
            permission_groups: [{ id: (await ask(limited, "GET", "/user/tokens/permission_groups?name=Zone%20Read")).body.result[0].id }],
            resources: { [`com.cloudflare.api.account.zone.*`]: "*" },
          },
        ],
      },
    });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    const wrong = [];
    for (const end of ["a", "b", "c", "d"]) wrong.push(await verify("x".repeat(40) + end));
    assert.deepEqual(wrong, [403, 403, 429, 429]);
    assert.equal(await verify(created.body.result.value), 200);
    assert.equal(await verify("shortone"), 429);
  } finally {
    await limited.close();
  }
});

test("guesses that arrive together are limited as those in a row are, and right credentials use up nothing", async (t) => {
  const limited = await startApi({ failureLimit: { requests: 2, periodSeconds: 300 } });
  t.after(() => limited.close());
  const verify = async (token: string): Promise<number> => (await ask(limited, "GET", "/user/tokens/verify", { token })).status;
  for (let at = 0; at < 5; at++) assert.equal(await verify(limited.token), 200);
  const statuses = await Promise.all(Array.from({ length: 30 }, (_, at) => verify(`shorter-${at + 10}`)));
  assert.equal(statuses.filter((status) => status === 403).length, 2);
  assert.equal(statuses.filter((status) => status === 429).length, 28);
});

test("the tokens of a user have a limit together, which more tokens do not raise", async (t) => {
  const limited = await startApi({ rateLimit: { requests: 2, periodSeconds: 300 }, clock: fixedClock("2026-01-01T00:00:00Z") });
  t.after(() => limited.close());
  const owner = await oldestUser(limited.store.read);
  const secrets = Array.from({ length: 12 }, () => newTokenSecret());
  await limited.store.write(async ({ db }) => {
    for (const secret of secrets)
      await insertToken(db, {
        ...{ id: newId(), user_id: owner?.id ?? "", account_id: null, name: "one of many", hash: hashSecret(secret), status: "active" },
        ...{ policies: "[]", condition: null, not_before: null, expires_on: null, bootstrap: 0, api_date: null },
        ...{ issued_on: "2026-01-01T00:00:00Z", modified_on: "2026-01-01T00:00:00Z" },
      });
  });
  const statuses: number[] = [];
  for (const token of secrets)
    for (let i = 0; i < 2; i++) statuses.push((await ask(limited, "GET", "/user/tokens/verify", { token })).status);
  assert.deepEqual(statuses, [...Array<number>(20).fill(200), ...Array<number>(4).fill(429)]);
});

test("requests per token are limited, with both forms of headers, and so are failed logins per address", async () => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const limited = await startApi({
    clock,
    rateLimit: { requests: 3, periodSeconds: 300 },
    failureLimit: { requests: 2, periodSeconds: 300 },
  });
  try {
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await ask(limited, "GET", "/user/tokens/verify"));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429],
    );
    assert.deepEqual(
      answers.map(({ headers }) => headers.get("x-ratelimit-remaining")),
      ["2", "1", "0", "0"],
    );
    const refused = answers[3];
    assert.equal(refused?.headers.get("retry-after"), "300");
    assert.match(refused?.body.errors[0].message, /^More than 3 requests per 300 seconds reached\./);
    clock.advance(300_000);
    assert.equal((await ask(limited, "GET", "/user/tokens/verify")).status, 200);
    const guesses = [];
    for (let i = 0; i < 3; i++) guesses.push((await ask(limited, "GET", "/user/tokens/verify", { token: `guess${i}guess` })).status);
    assert.deepEqual(guesses, [403, 403, 429]);
    assert.equal((await ask(limited, "GET", "/user/tokens/verify")).status, 200, "who was good before is not locked out by others");
    const asOwner = (key: string) =>
      ask(limited, "GET", "/user", { token: null, headers: { "x-auth-email": OWNER_EMAIL, "x-auth-key": key } });
    assert.equal((await asOwner(OWNER_KEY)).status, 200, "wrong tokens say nothing about keys");
    const wrongKeys = [];
    for (let i = 0; i < 3; i++) wrongKeys.push((await asOwner(`${i}`.repeat(OWNER_KEY.length))).status);
    assert.deepEqual(wrongKeys, [403, 403, 429]);
    assert.equal((await asOwner(OWNER_KEY)).status, 200, "a key that was good before is not locked out either");
    clock.advance(300_000);
    assert.equal((await ask(limited, "GET", "/user/tokens/verify", { token: "guess9guess" })).status, 403);
  } finally {
    await limited.close();
  }
});

test("responses over TLS send Strict-Transport-Security", async () => {
  const root = await createRoot(systemClock);
  const issued = await createLocalCa({ root, clock: systemClock }).issue(["localhost"]);
  const secure = await startApi({ tls: { certificate: issued.chain, key: issued.privateKey } });
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(
        {
          host: "127.0.0.1",
          servername: "localhost",
          port: secure.port,
          path: "/client/v4/zones",
          ca: root.certificate,
          headers: { authorization: `Bearer ${secure.token}` },
        },
        resolve,
      ).on("error", reject);
    });
    answer.resume();
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers["strict-transport-security"], "max-age=31536000");
  } finally {
    await secure.close();
  }
});

test("RFC 7240: a change waits for planes as long as the client wishes", async () => {
  const waits: (number | undefined)[] = [];
  const slow = await startApi({
    settled: async (_rev, waitMs) => {
      waits.push(waitMs);
      return { behind: [] };
    },
  });
  try {
    const call = (name: string, prefer?: string): Promise<Response> =>
      fetch(`${slow.url}/zones`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${slow.token}`,
          "content-type": "application/json",
          ...(prefer === undefined ? {} : { prefer }),
        },
        body: JSON.stringify({ name, account: { id: slow.account_id } }),
      });
    assert.equal((await call("one.example", "wait=3")).headers.get("preference-applied"), "wait=3");
    assert.equal((await call("two.example")).headers.get("preference-applied"), null);
    assert.deepEqual(waits, [3_000, undefined]);
  } finally {
    await slow.close();
  }
});

test("planes that lag behind give a message, not an error", async () => {
  const revs: number[] = [];
  const slow = await startApi({
    settled: async (rev) => {
      revs.push(rev);
      return { behind: ["edge-1"] };
    },
  });
  try {
    const answer = await ask(slow, "POST", "/zones", { body: { name: "example.com", account: { id: slow.account_id } } });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body.messages, [{ code: 10001, message: "The change is stored but not yet visible in: edge-1." }]);
    assert.deepEqual((await ask(slow, "GET", "/zones")).body.messages, []);
    assert.equal(revs.length, 1);
  } finally {
    await slow.close();
  }
});

test("the OpenAPI document is served without credentials", async () => {
  const { body } = await ask(server, "GET", "/openapi.json", { token: null });
  assert.equal(body.openapi, "3.1.0");
  const operation = body.paths["/zones/{zone_id}/dns_records"].post;
  assert.equal(operation.operationId, "dns-records-create");
  assert.ok(operation.requestBody.content["application/json"].schema.properties.name);
  assert.ok(operation["x-deprecations"].length > 0);
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
  assert.ok(references.length > 0);
  for (const path of references)
    assert.ok(
      path.split("/").reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], body),
      path,
    );
  const rows = await ask(server, "GET", "/deprecations", { token: null });
  assert.ok(rows.body.result.some(({ id }: { id: string }) => id === "dns-record-locked"));
  assert.equal((await ask(server, "GET", "/deprecations/dns-record-locked", { token: null })).body.result.date, "2024-07-14");
  assert.equal((await ask(server, "GET", "/deprecations/none", { token: null })).status, 404);
});

const limited = (requests: number): NonNullable<Parameters<typeof startApi>[0]> => ({
  limits: { dns_import: { bodyBytesMax: 2000, rateLimit: { requests, periodSeconds: 60 } }, image_upload: IMAGE_UPLOAD_LIMIT },
});
const imported = async (own: ApiServer, asking: Asking): Promise<Answer> => {
  const [zone] = (await ask(own, "GET", "/zones")).body.result;
  return ask(own, "POST", `/zones/${zone.id}/dns_records/import`, asking);
};
const withZone = async (requests: number, work: (own: ApiServer) => Promise<void>): Promise<void> => {
  const own = await startApi(limited(requests));
  try {
    await ask(own, "POST", "/zones", { body: { name: "import.example", account: { id: own.account_id } } });
    await work(own);
  } finally {
    await own.close();
  }
};

test("forms: a file is accepted with and without a name, and an invalid or too large form gets a reason", () =>
  withZone(0, async (own) => {
    const file = new File(["a 300 A 192.0.2.1\n"], "zone.txt", { type: "text/plain" });
    assert.deepEqual((await imported(own, { form: { file, proxied: "False" } })).body.result, { recs_added: 1, total_records_parsed: 1 });
    const again = await imported(own, { form: { file: "a 300 A 192.0.2.1\nb 300 A 192.0.2.2" } });
    assert.deepEqual(again.body.result, { recs_added: 1, total_records_parsed: 2 });
    const json = await imported(own, { body: { file: "a A 192.0.2.1" } });
    assert.deepEqual([json.status, json.body.errors[0].error_chain[0].code], [400, 6105]);
    for (const [asking, status, code] of [
      [{ form: { proxied: "true" } }, 400, 10400],
      [{ form: { file: "a A 192.0.2.1", proxied: "perhaps" } }, 400, 10400],
      [{ form: { file: "" } }, 400, 10400],
      [{}, 400, 10400],
      [{ raw: "--x", headers: { "content-type": "multipart/form-data; boundary=x" } }, 400, 10400],
      [{ form: { file: ";".repeat(2001) } }, 413, 10413],
      [{ form: { file: ";".repeat(20_000) } }, 413, 10413],
      [{ form: { file: "$INCLUDE x" } }, 400, 9310],
    ] as const) {
      const answer = await imported(own, asking);
      assert.deepEqual([answer.status, answer.body.errors[0].code], [status, code], JSON.stringify(asking).slice(0, 80));
    }
    assert.equal((await imported(own, { form: { file: ";".repeat(2000) } })).status, 200);
    for (const type of [
      "A",
      "json",
      "/",
      "application/",
      "text/plain json",
      "\u00e9/x",
      "application/json;;",
      ";",
      "application/json\u00e9",
    ]) {
      const odd = await ask(own, "POST", "/zones", { raw: "{", headers: { "content-type": type } });
      assert.ok(odd.status < 500 && odd.body.errors.length > 0, `${type}: ${odd.status}`);
    }
    const form = await ask(own, "POST", "/zones", { form: { name: "x" } });
    assert.deepEqual([form.status, form.body.errors[0].error_chain[0].code], [400, 6105]);
  }));

test("forms: a route with its own limit is counted separately, and an export is text without an envelope", () =>
  withZone(2, async (own) => {
    const form = { file: "a 300 A 192.0.2.1\n" };
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await imported(own, { form })).status);
    assert.deepEqual(statuses, [200, 200, 429]);
    const refused = await imported(own, { form });
    assert.match(refused.body.errors[0].message, /^More than 2 requests per 60 seconds reached/);
    assert.ok(Number(refused.headers.get("retry-after")) <= 60);
    const [zone] = (await ask(own, "GET", "/zones")).body.result;
    const file = await ask(own, "GET", `/zones/${zone.id}/dns_records/export`);
    assert.deepEqual([file.status, file.headers.get("content-type")], [200, "text/plain; charset=utf-8"]);
    assert.match(file.text, /^a\.import\.example\.\t300\tIN\tA\t192\.0\.2\.1$/m);
    assert.deepEqual((await ask(own, "GET", `/zones/${"0".repeat(32)}/dns_records/export`)).body.success, false);
  }));
