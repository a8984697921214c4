import { test } from "node:test";
import assert from "node:assert/strict";
import { fc } from "../../../test/support/property.ts";
import { isModelProvider } from "#kernel/model-providers.ts";
import type { ReportedUsage } from "#gateway/usage/usage-formats.ts";
import { PROVIDERS, createUpstreams, requestAddressOf, upstreamPath } from "./providers.ts";
import { parseRequestPath } from "#gateway/request/request-path.ts";

const openai = (base: string) => {
  const upstream = createUpstreams({ openai: base }).find("", "openai");
  assert.ok(upstream);
  return upstream;
};

test("both path forms give the same URL, whatever version the base URL has", () => {
  for (const [base, rest, expected] of [
    ["https://api.openai.com/v1", "/chat/completions", "/v1/chat/completions"],
    ["https://api.openai.com/v1", "/v1/chat/completions", "/v1/chat/completions"],
    ["http://127.0.0.1:1/proxy/v1/", "/v1/models", "/proxy/v1/models"],
    ["http://127.0.0.1:1", "/chat/completions", "/chat/completions"],
    ["http://127.0.0.1:1", "/v1/chat/completions", "/v1/chat/completions"],
    ["http://127.0.0.1:1", "", "/"],
  ] as const) {
    assert.equal(upstreamPath(openai(base), rest), expected, `${base} + ${rest}`);
  }
});

test("control knows the same providers by name", () => {
  for (const name of PROVIDERS.keys()) assert.ok(isModelProvider(name), name);
  assert.equal(PROVIDERS.size, 25, "a new row belongs into kernel/model-providers.ts too");
  for (const name of ["opanai", "compat", "", "custom-"]) assert.equal(isModelProvider(name), false, name);
});

test("unknown providers and URLs with other schemes are refused at the start", () => {
  assert.throws(() => createUpstreams({ opanai: "http://127.0.0.1" }), /unknown provider: opanai \(known: openai/);
  assert.throws(() => createUpstreams({ openai: "file:///etc/passwd" }), /not a valid base URL for openai/);
});

test("usage is read under both names, and only from integers", () => {
  const read = PROVIDERS.get("openai")?.usage.read;
  const counts = (told: ReportedUsage): readonly unknown[] => {
    const usage = read?.(told);
    return [usage?.tokensIn, usage?.tokensOut, usage?.tokensCacheRead, usage?.tokensReasoning];
  };
  assert.deepEqual(counts({ prompt_tokens: 3, completion_tokens: 5 }), [3, 5, null, null]);
  assert.deepEqual(counts({ input_tokens: 7, output_tokens: 0 }), [7, 0, null, null]);
  assert.deepEqual(counts({ prompt_tokens: "3", completion_tokens: -1 }), [null, null, null, null]);
  assert.equal(read?.({ prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } }).tokensCacheRead, 4);
  assert.equal(read?.({ completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 6 } }).tokensReasoning, 6);
});

test("a gateway path is split without decoding", () => {
  assert.deepEqual(parseRequestPath("/v1/acc/gw/openai/chat/completions?a=%2F"), {
    accountId: "acc",
    gatewayId: "gw",
    provider: "openai",
    rest: "/chat/completions",
    query: "?a=%2F",
  });
  assert.equal(parseRequestPath("/v1/acc/gw/openai")?.rest, "");
  assert.equal(parseRequestPath("/v1/acc/gw/openai/models/gpt-4.1")?.rest, "/models/gpt-4.1");
  assert.equal(parseRequestPath("/v1/acc/gw/openai/files/a%20b")?.rest, "/files/a%20b");
});

test("paths that could leave the provider's base path are refused", () => {
  for (const rest of ["/..", "/../admin", "/a/../../b", "/%2e%2e/admin", "/.%2E/x", "/./x", "/a%2f../b", "/..%2fb", "/a\\..\\b", "/x#y"]) {
    assert.equal(parseRequestPath(`/v1/acc/gw/openai${rest}`), undefined, rest);
  }
  for (const target of [
    "",
    "/",
    "*",
    "/v1/",
    "/v1/acc",
    "/v2/acc/gw/openai/x",
    "http://host/v1/acc/gw/openai/x",
    `/v1/acc/gw/openai/${"a".repeat(9000)}`,
  ]) {
    assert.equal(parseRequestPath(target), undefined, target.slice(0, 40));
  }
});

test("every accepted path stays below the base path when a server resolves dot segments", () => {
  const segment = fc.constantFrom("..", ".", "%2e", "%2E%2e", "a", "v1", "%2f", "%5c", "..%2f", "b.c", "");
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 6 }), fc.constantFrom("/", "%2f", "\\"), (segments, separator) => {
      const path = parseRequestPath(`/v1/acc/gw/openai/${segments.join(separator)}`);
      if (path === undefined) return;
      const sent = upstreamPath(openai("http://127.0.0.1:1/base/v1"), path.rest);
      const resolved = new URL(decodeURIComponent(sent), "http://127.0.0.1:1").pathname;
      assert.ok(resolved.startsWith("/base/v1"), `${sent} → ${resolved}`);
    }),
  );
});

test("providers with a URL per region or customer are called only there", () => {
  const upstreams = createUpstreams({});
  const at = (name: string, rest: string): string | undefined => {
    const upstream = upstreams.find("", name);
    assert.ok(upstream);
    const place = requestAddressOf(upstream, rest);
    return place && place.origin + place.path;
  };
  for (const [name, rest, expected] of [
    ["azure-openai", "/acme/gpt-4o/chat/completions", "https://acme.openai.azure.com/openai/deployments/gpt-4o/chat/completions"],
    ["azure-openai", "/acme.evil.example/gpt-4o/chat/completions", undefined],
    ["azure-openai", "/acme", undefined],
    ["aws-bedrock", "/bedrock-runtime/eu-west-1/model/m:0/invoke", "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m:0/invoke"],
    ["aws-bedrock", "/s3/eu-west-1/x", undefined],
    ["aws-bedrock", "/bedrock-runtime/evil.example/x", undefined],
    [
      "google-vertex-ai",
      "/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent",
      "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent",
    ],
    [
      "google-vertex-ai",
      "/projects/p/locations/global/publishers/google/models/m:predict",
      "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/m:predict",
    ],
    ["google-vertex-ai", "/v1/projects/p/locations/evil.example/x", undefined],
    ["anthropic", "/v1/messages", "https://api.anthropic.com/v1/messages"],
    ["google-ai-studio", "/v1beta/models/g:generateContent", "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent"],
    ["groq", "/chat/completions", "https://api.groq.com/openai/v1/chat/completions"],
    ["openrouter", "/v1/chat/completions", "https://openrouter.ai/api/v1/chat/completions"],
  ] as const) {
    assert.equal(at(name, rest), expected, `${name} ${rest}`);
  }
  const replaced = createUpstreams({ "azure-openai": "http://127.0.0.1:1/mock" }).find("", "azure-openai");
  assert.ok(replaced);
  assert.deepEqual(requestAddressOf(replaced, "/acme/d/chat/completions"), {
    origin: "http://127.0.0.1:1",
    path: "/mock/openai/deployments/d/chat/completions",
  });
});

test("every provider's base URL is valid and uses TLS", () => {
  for (const { name, baseAddress } of PROVIDERS.values()) assert.match(baseAddress, /^https:\/\/[a-z0-9.-]+(\/[a-z0-9/]+)?$/, name);
});
