import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { type ApiServer, ask, startApi } from "../../test/support/api-server.ts";

let server: ApiServer;
before(async () => {
  server = await startApi();
});
after(() => server.close());

/** Sends raw bytes and returns the received ones until the connection ends. */
function talk(bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    socket.on("close", () => resolve(answer)).on("error", reject);
    socket.setTimeout(60_000, () => socket.destroy(new Error("no answer")));
  });
}

const request = (line: string, fields: string, body: string | Uint8Array = ""): Uint8Array =>
  Buffer.concat([Buffer.from(`${line}\r\n${fields}connection: close\r\nauthorization: Bearer ${server.token}\r\n\r\n`), Buffer.from(body)]);

function failureOf(answer: string): { readonly status: number; readonly errors: readonly { code: number; message: string }[] } {
  const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
  assert.deepEqual(Object.keys(body), ["result", "success", "errors", "messages"]);
  assert.equal(body.success, false);
  return { status: Number(answer.slice(9, 12)), errors: body.errors };
}

test("a URL that cannot be decoded gets the envelope and its headers", async () => {
  const answer = await ask(server, "GET", "/zones/%zz");
  assert.equal(answer.status, 404);
  assert.deepEqual(answer.body.errors, [{ code: 7000, message: "No route for that URI" }]);
  assert.match(answer.headers.get("svc-ray") ?? "", /^[0-9a-f]{16}$/);
  assert.match(answer.headers.get("api-version") ?? "", /^\d{4}-\d{2}-\d{2}$/);
});

test("a missing or second Host and an unknown expectation get the envelope", async () => {
  for (const hosts of ["", "host: x\r\nHost: y\r\n", "host: x\r\nhost: x\r\n"]) {
    const failure = failureOf(await talk(request("GET /client/v4/zones HTTP/1.1", hosts)));
    assert.deepEqual(failure, { status: 400, errors: [{ code: 10401, message: "The request needs one Host header." }] });
  }
  const length = "content-length: 2\r\ncontent-type: application/json\r\n";
  const expects = await talk(
    request("POST /client/v4/zones HTTP/1.1", `host: x\r\nexpect: miracles\r\n${length}transfer-encoding: \r\n`, "{}"),
  );
  assert.equal(expects.slice(9, 12), "400", "an empty Transfer-Encoding beside Content-Length is refused first");
  const unknown = await talk(request("POST /client/v4/zones HTTP/1.1", `host: x\r\nexpect: miracles\r\n${length}`, "{}"));
  assert.equal(unknown.slice(9, 12), "417");
  assert.match(unknown, /"code":10401/);
});

test("a client that disconnects while sending its body is not a server error", async () => {
  const before = server.logged.length;
  const client = connect(server.port, "127.0.0.1").resume();
  const fields = "host: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n";
  client.end(request("POST /client/v4/zones HTTP/1.1", fields, "{"));
  await once(client, "close");
  await ask(server, "GET", "/user/tokens/verify");
  assert.doesNotMatch(server.logged.slice(before).join("\n"), /request failed/);
});

test("HEAD returns the same headers as GET, without a body", async () => {
  const [get, head] = [await ask(server, "GET", "/zones"), await ask(server, "HEAD", "/zones")];
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  assert.equal(head.headers.get("content-length"), String(Buffer.byteLength(get.text)));
  assert.equal((await ask(server, "HEAD", "/zones", { token: null })).status, 400);
});

test("a body that is too large to parse, or cannot be stored exactly, is refused", async () => {
  const post = (body: string | Uint8Array, fields = ""): Promise<string> => {
    const head = `host: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${fields}`;
    return talk(request("POST /client/v4/zones HTTP/1.1", head, body));
  };
  const messages = async (body: string | Uint8Array): Promise<unknown> => {
    const { status, errors } = failureOf(await post(body));
    const [error] = errors as readonly {
      readonly code: number;
      readonly message: string;
      readonly source?: { readonly pointer: string };
    }[];
    return [status, error?.code, error?.message, ...(error?.source === undefined ? [] : [error.source.pointer])];
  };
  const notUtf8 = Buffer.concat([Buffer.from('{"name":"a'), Buffer.from([0xff, 0xfe]), Buffer.from('.com"}')]);
  assert.deepEqual(await messages(notUtf8), [400, 6007, "The body is not UTF-8"]);
  const nul = [400, 6007, "A string in the body contains the character U+0000"];
  assert.deepEqual(await messages('{"name":"a\\u0000.com"}'), [...nul, "/name"]);
  assert.deepEqual(await messages('{"account":{"\\u0000":1}}'), [...nul, "/account"]);
  assert.deepEqual(await messages('{"list":["\\ud800x"]}'), [400, 6007, "A string in the body contains an unpaired surrogate", "/list/0"]);
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  assert.deepEqual(await messages(deep), [400, 6007, "The body is nested more than 64 levels deep"]);
  const many = (count: number): string => `{"name":"-","list":[${"1,".repeat(count - 1)}1]}`;
  assert.deepEqual(await messages(many(50_000)), [413, 10413, "The body has more than 50000 values"]);
  assert.equal(failureOf(await post(many(49_000))).status, 400, "nobody knows the list, and it is tolerated as other members are");
  const members = JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`m${index}`, 1])));
  assert.deepEqual(await messages(members), [413, 10413, "An object in the body has more than 10000 members"]);
  // Before the parser sees them, which would refuse these.
  assert.deepEqual(await messages(many(50_000).slice(0, -2)), [413, 10413, "The body has more than 50000 values"]);
  assert.deepEqual(await messages(members.slice(0, -1)), [413, 10413, "An object in the body has more than 10000 members"]);
  const packed = failureOf(await post("\x1f\x8b", "content-encoding: gzip\r\n"));
  assert.equal(packed.errors[0]?.code, 6003);
  assert.match(JSON.stringify(packed), /request bodies are not compressed/);
});

test("bodies of routes that take long lists may have more values than others", async () => {
  const items = (values: number): string => `[${"1,".repeat(values - 2)}1]`;
  for (const [path, valuesMax] of [
    [`/accounts/${server.account_id}/rules/lists/${"0".repeat(32)}/items`, 500_000],
    [`/accounts/${server.account_id}/rulesets`, 100_000],
    [`/accounts/${server.account_id}/tokens`, 50_000],
  ] as const) {
    const refused = async (values: number): Promise<boolean> => {
      const body = items(values);
      const head = `host: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`;
      const { errors } = failureOf(await talk(request(`POST /client/v4${path} HTTP/1.1`, head, body)));
      return errors.some(({ message }) => message === `The body has more than ${valuesMax} values`);
    };
    assert.deepEqual([await refused(valuesMax), await refused(valuesMax + 1)], [false, true], path);
  }
});

test("a client whose body is too large reads the error on a connection that stays open", async () => {
  const size = 20_000_000;
  const head = `POST /client/v4/zones HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\n`;
  const next = request("GET /client/v4/user/tokens/verify HTTP/1.1", "host: x\r\n");
  for (const [framing, body] of [
    [`content-length: ${size}`, Buffer.alloc(size, "x")],
    [
      "transfer-encoding: chunked",
      Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size, "x"), Buffer.from("\r\n0\r\n\r\n")]),
    ],
  ] as const) {
    const answers = await talk(Buffer.concat([Buffer.from(`${head}${framing}\r\n\r\n`), body, next]));
    assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 413", "HTTP/1.1 200"], framing);
  }
});

test("a parameter with U+0000 is refused before it reaches a database", async () => {
  for (const query of ["name=%00", "name=a&account.id=%00"]) {
    const { status, body } = await ask(server, "GET", `/zones?${query}`);
    assert.equal(status, 400, query);
    assert.equal(body.errors[0].code, 10400);
  }
  assert.equal((await ask(server, "GET", "/zones?unknown=%00")).status, 200, "parameters that nobody reads are tolerated");
});
