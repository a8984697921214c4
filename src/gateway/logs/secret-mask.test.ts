import { test } from "node:test";
import assert from "node:assert/strict";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { finish } from "#kernel/process/slices.ts";
import { createSecretMask, credentialsOf } from "./secret-mask.ts";

const mask = createSecretMask();
const masked = (text: string, secrets: readonly string[] = []): string =>
  Buffer.concat([...finish(mask.mask([Buffer.from(text)], secrets))]).toString();

test("a body without secrets is returned unchanged", () => {
  const parts = [
    Buffer.from('{"model":"gpt-4o-mini","messages":[{"role":"user","content":"The key to token economy: max_tokens"}],'),
    Buffer.from('"max_tokens":10,"n":1}'),
  ];
  assert.equal(finish(mask.mask(parts, ["sk-else"])), parts);
});

test("every kind of key known to the detectors is masked in place, also across chunk boundaries", () => {
  for (const detector of DETECTORS.filter(({ category, context }) => category === "secrets" && context === undefined))
    for (const hit of detector.hits) {
      const body = JSON.stringify({ messages: [{ role: "user", content: `it is ${hit} as agreed` }] });
      const parts = [Buffer.from(body.slice(0, 60)), Buffer.from(body.slice(60))];
      const result = finish(mask.mask(parts, []));
      assert.deepEqual(
        result.map((part) => part.length),
        parts.map((part) => part.length),
      );
      assert.ok(!Buffer.concat([...result]).includes(JSON.stringify(hit).slice(1, -1)), detector.id);
    }
});

test("fields with secret names lose their values, whatever these look like", () => {
  for (const text of [
    '{"api_key":"CANARY-value"}',
    '{"x":{"OPENAI_API_KEY" : "CANARY-value"}}',
    '{"client-secret":"a \\n CANARY-value"}',
    '{"arguments":"{\\"password\\":\\"CANARY-value\\"}"}',
    "grant_type=x&client_secret=CANARY-value&y=1",
    "curl -H 'Authorization: Bearer CANARY-value-x' https://example.com/?api_key=CANARY-value",
    "bearer CANARY-value.and.more",
  ]) {
    const result = masked(text);
    assert.equal(result.length, text.length);
    assert.ok(!result.includes("CANARY"), result);
  }
  assert.deepEqual(JSON.parse(masked('{"api_key":"CANARY-value","model":"m"}')), { api_key: "************", model: "m" });
});

test("credentials of the request are masked wherever they appear again", () => {
  const headers = {
    authorization: "Bearer k-1234567",
    "x-api-key": "plain-key",
    cookie: "a=1; session=cookie-value",
    accept: "text/html",
    "svc-aig-cache-key": "not-secret",
  };
  const secrets = credentialsOf(
    headers,
    ["x-goog-api-key", "goog-key-9", "content-type", "application/json"],
    "/v1?key=query-key&alt=sse-stream",
  );
  assert.deepEqual([...secrets].sort(), ["cookie-value", "goog-key-9", "k-1234567", "plain-key", "query-key"]);
  assert.equal(masked("wrong key: k-1234567 (plain-key), query-key", secrets), "wrong key: ********* (*********), *********");
});

/** A provider's stream that sends the text in these pieces. */
const streamed = (pieces: readonly string[], event: (piece: string, i: number) => object): Buffer =>
  Buffer.from(pieces.map((piece, i) => `data: ${JSON.stringify(event(piece, i))}\n\n`).join("") + "data: [DONE]\n\n");

const DIALECTS: Readonly<Record<string, (piece: string, i: number) => object>> = {
  chat: (content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
  calls: (text) => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: text } }] } }] }),
  messages: (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  responses: (delta) => ({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta }),
  generated: (text) => ({ candidates: [{ content: { parts: [{ text }] } }] }),
};

for (const [name, event] of Object.entries(DIALECTS))
  test(`a secret that a stream of ${name} splits over events is masked in each of them, and other text is not`, () => {
    const secret = "my-own-provider-key-0123456789";
    const found = DETECTORS.find(({ category, context }) => category === "secrets" && context === undefined)?.hits[0] ?? "";
    assert.ok(found.length > 12);
    for (const size of [1, 2, 3, 5, 7, 50]) {
      const text = `Say "${secret}" and \n ${found} ü please. Nothing here: sixteen words.`;
      const pieces = [...text].reduce<string[]>((all, letter, i) => {
        if (i % size === 0) all.push("");
        all[all.length - 1] += letter;
        return all;
      }, []);
      const stream = streamed(pieces, event);
      const [masked = Buffer.alloc(0)] = finish(createSecretMask().mask([stream], [secret]));
      assert.equal(masked.length, stream.length);
      const said = masked
        .toString()
        .split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)) as object);
      const expected = text.replaceAll(secret, "*".repeat(secret.length));
      assert.equal(said.length, pieces.length);
      const joined = said
        .map((one) => /"(?:content|arguments|text|delta)":"((?:[^"\\]|\\.)*)"/.exec(JSON.stringify(one))?.[1] ?? "")
        .join("");
      const plain = JSON.parse(`"${joined}"`) as string;
      assert.ok(!plain.includes(found.slice(4)) && !plain.includes(secret));
      assert.deepEqual([plain.startsWith(expected.slice(0, 40)), plain.endsWith(" ü please. Nothing here: sixteen words.")], [true, true]);
    }
  });

test("chunks of several choices are masked separately", () => {
  const secret = "my-own-provider-key-0123456789";
  const events = [...secret].flatMap((letter) => [
    { choices: [{ index: 0, delta: { content: letter } }] },
    { choices: [{ index: 1, delta: { content: "x" } }] },
  ]);
  const stream = Buffer.from(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""));
  const [masked = stream] = finish(createSecretMask().mask([stream], [secret]));
  assert.equal(masked.toString(), stream.toString().replaceAll(/"index":0,"delta":\{"content":"."/g, '"index":0,"delta":{"content":"*"'));
});

test("a secret in the metadata of all events is masked in each, and one in the text only there", () => {
  const secret = "my-own-provider-key-0123456789";
  const found = DETECTORS.find(({ category, context }) => category === "secrets" && context === undefined)?.hits[0] ?? "";
  const words = ["so ", "it ", "is", found, "isn't ", "it"];
  const event = (frame: string) => (content: string) => ({ id: frame, choices: [{ index: 0, delta: { content } }] });
  const mask = createSecretMask();
  const parts = [Buffer.from('{"stream":true}'), streamed(words, event("chatcmpl-1"))];
  assert.ok(!Buffer.concat([...finish(mask.mask(parts, [secret]))]).includes(found.slice(4)));
  const repeated = streamed(["so ", "it ", "is ", "said"], event(secret));
  const [masked = repeated] = finish(mask.mask([repeated], [secret]));
  assert.equal(masked.toString(), repeated.toString().replaceAll(secret, "*".repeat(secret.length)));
  const plain = [streamed(["so ", "it ", "is ", "said"], event("chatcmpl-1"))];
  assert.equal(finish(mask.mask(plain, [secret])), plain);
});

test("any number of backslashes before a quote is masked correctly, in linear time", () => {
  const depth = "\\".repeat(7);
  assert.equal(masked(`{${depth}"api_key${depth}":${depth}"CANARY${depth}"}`), `{${depth}"api_key${depth}":${depth}"******${depth}"}`);
  assert.equal(masked(String.raw`\\\ \"secret": "CANARY"`), String.raw`\\\ \"secret": "******"`);
  for (const piece of ["\\", '\\"', '"', '"secret', '"secret":"', "secret=", " ", "secret\\", "bearer ", "-----BEGIN PRIVATE KEY-----"])
    assertGrowsLinearly(piece, (length) => {
      const text = `my secret ${piece.repeat(length / piece.length)}`;
      return () => assert.equal(masked(text).length, text.length);
    });
});

test("a long body is masked in steps of limited cost, and secrets across their ends too", () => {
  const secret = "given-secret-0123456789";
  const step = 64 * 1024;
  const shapes: readonly ((value: string) => readonly [text: string, masked: string])[] = [
    () => [secret, "*".repeat(secret.length)],
    (value) => [`"password": "${value}"`, `"password": "${"*".repeat(value.length)}"`],
    (value) => [`api-key: ${value}`, `api-key: ${"*".repeat(value.length)}`],
  ];
  for (const shape of shapes)
    for (const value of ["abcdefghij", "v".repeat(100_000)])
      for (const before of [step - 30, step - 12, step - 1, step, step + 1, 3 * step - 9]) {
        const [text, expected] = shape(value);
        const filler = (length: number): string => "word ".repeat(Math.ceil(length / 5)).slice(0, length);
        const body = Buffer.from(`${filler(before)} ${text} ${filler(step)}`);
        const work = mask.mask([body], [secret]);
        let most = 0;
        let steps = 0;
        for (let piece = work.next(); ; piece = work.next()) {
          if (piece.done === true) {
            assert.equal(Buffer.concat([...piece.value]).toString(), `${filler(before)} ${expected} ${filler(step)}`);
            break;
          }
          most = Math.max(most, piece.value);
          steps += 1;
        }
        assert.ok(steps > 4 && most <= 6_000, `${steps} steps, the longest of ${most}`);
      }
});

test("a value of megabytes is masked, whatever names it", () => {
  const value = "v".repeat(10_000_000);
  for (const [before, after] of [
    ['"secret":"', '"'],
    ["password=", "&"],
    ["x-api-key: ", ";"],
    ["bearer ", " "],
    ["-----BEGIN PRIVATE KEY-----", "-----END"],
  ] as const)
    assert.ok(masked(before + value + after) === before + "*".repeat(value.length) + after, before);
});
