import { test } from "node:test";
import assert from "node:assert/strict";
import { DETECTORS } from "#rules/detectors/table.ts";
import { createSecretMask, credentialsOf } from "./secret-mask.ts";

const mask = createSecretMask();
const masked = (text: string, secrets: readonly string[] = []): string =>
  Buffer.concat([...mask.mask([Buffer.from(text)], secrets)]).toString();

test("what has no secret is given back as it is", () => {
  const parts = [
    Buffer.from('{"model":"gpt-4o-mini","messages":[{"role":"user","content":"The key to token economy: max_tokens"}],'),
    Buffer.from('"max_tokens":10,"n":1}'),
  ];
  assert.equal(mask.mask(parts, ["sk-else"]), parts);
});

test("every kind of key that the detectors know is masked, in place and over the ends of parts", () => {
  for (const detector of DETECTORS.filter(({ category, context }) => category === "secrets" && context === undefined))
    for (const hit of detector.hits) {
      const body = JSON.stringify({ messages: [{ role: "user", content: `it is ${hit} as agreed` }] });
      const parts = [Buffer.from(body.slice(0, 60)), Buffer.from(body.slice(60))];
      const result = mask.mask(parts, []);
      assert.deepEqual(
        result.map((part) => part.length),
        parts.map((part) => part.length),
      );
      assert.ok(!Buffer.concat([...result]).includes(JSON.stringify(hit).slice(1, -1)), detector.id);
    }
});

test("fields named after what they hold lose their values, whatever these look like", () => {
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

test("credentials of the request are masked wherever they come back", () => {
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
