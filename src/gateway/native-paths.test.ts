import assert from "node:assert/strict";
import { test } from "node:test";
import { gatewayFront, testProvider } from "../../test/support/gateway-front.ts";
import { createUpstreams, requestAddressOf, PROVIDERS } from "#gateway/providers/providers.ts";

const BEARER = { authorization: "Bearer provider-key" };

/**
 * Requests of each provider's own clients (from their references) with their credentials: the path below the provider's
 * name at the gateway, and the URL at the provider.
 */
const NATIVE: Readonly<Record<string, readonly (readonly [path: string, url: string, credential: Readonly<Record<string, string>>])[]>> = {
  openai: [
    ["/chat/completions", "https://api.openai.com/v1/chat/completions", BEARER],
    ["/v1/responses", "https://api.openai.com/v1/responses", BEARER],
  ],
  anthropic: [
    ["/v1/messages", "https://api.anthropic.com/v1/messages", { "x-api-key": "provider-key", "anthropic-version": "2023-06-01" }],
  ],
  "google-ai-studio": [
    [
      "/v1beta/models/gemini-2.5-flash:generateContent",
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
      { "x-goog-api-key": "provider-key" },
    ],
  ],
  "google-vertex-ai": [
    [
      "/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent",
      "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent",
      BEARER,
    ],
    [
      "/v1/publishers/google/models/gemini-2.5-flash:generateContent",
      "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
      { "x-goog-api-key": "provider-key" },
    ],
  ],
  "azure-openai": [
    [
      "/acme/gpt-4o/chat/completions?api-version=2024-10-21",
      "https://acme.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
      { "api-key": "provider-key" },
    ],
    [
      "/acme/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
      "https://acme.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
      { "api-key": "provider-key" },
    ],
    ["/acme/openai/v1/chat/completions", "https://acme.openai.azure.com/openai/v1/chat/completions", { "api-key": "provider-key" }],
    ["/acme/v1/responses", "https://acme.openai.azure.com/openai/v1/responses", { "api-key": "provider-key" }],
    ["/acme/models", "https://acme.openai.azure.com/openai/models", { "api-key": "provider-key" }],
    ["/acme/openai/models", "https://acme.openai.azure.com/openai/models", { "api-key": "provider-key" }],
    ...["/acme", "/acme/openai"].map(
      (base) =>
        [
          `${base}/deployments/gpt-4o/chat/completions`,
          "https://acme.openai.azure.com/openai/deployments/gpt-4o/chat/completions",
          { "api-key": "provider-key" },
        ] as const,
    ),
    ...["/acme/mine", "/acme/deployments/mine", "/acme/openai/deployments/mine"].map(
      (base) =>
        [
          `${base}/deployments/gpt-4o/chat/completions`,
          "https://acme.openai.azure.com/openai/deployments/mine/chat/completions",
          { "api-key": "provider-key" },
        ] as const,
    ),
  ],
  "aws-bedrock": [
    [
      "/bedrock-runtime/eu-west-1/model/m/converse",
      "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse",
      {
        authorization: "AWS4-HMAC-SHA256 Credential=a/20260101/eu-west-1/bedrock/aws4_request, Signature=b",
        "x-amz-date": "20260101T000000Z",
      },
    ],
  ],
  mistral: [["/v1/chat/completions", "https://api.mistral.ai/v1/chat/completions", BEARER]],
  groq: [
    ["/chat/completions", "https://api.groq.com/openai/v1/chat/completions", BEARER],
    ["/openai/v1/chat/completions", "https://api.groq.com/openai/v1/chat/completions", BEARER],
  ],
  cohere: [
    ["/v2/chat", "https://api.cohere.com/v2/chat", BEARER],
    ["/v2/v2/chat", "https://api.cohere.com/v2/chat", BEARER],
  ],
  deepseek: [["/chat/completions", "https://api.deepseek.com/chat/completions", BEARER]],
  "perplexity-ai": [["/chat/completions", "https://api.perplexity.ai/chat/completions", BEARER]],
  openrouter: [
    ["/v1/chat/completions", "https://openrouter.ai/api/v1/chat/completions", BEARER],
    ["/api/v1/chat/completions", "https://openrouter.ai/api/v1/chat/completions", BEARER],
  ],
  grok: [["/v1/chat/completions", "https://api.x.ai/v1/chat/completions", BEARER]],
  xai: [["/v1/chat/completions", "https://api.x.ai/v1/chat/completions", BEARER]],
  cerebras: [["/v1/chat/completions", "https://api.cerebras.ai/v1/chat/completions", BEARER]],
  fireworks: [
    ["/chat/completions", "https://api.fireworks.ai/inference/v1/chat/completions", BEARER],
    ["/inference/v1/chat/completions", "https://api.fireworks.ai/inference/v1/chat/completions", BEARER],
  ],
  baseten: [["/v1/chat/completions", "https://inference.baseten.co/v1/chat/completions", BEARER]],
  parallel: [["/v1/tasks/runs", "https://api.parallel.ai/v1/tasks/runs", { "x-api-key": "provider-key" }]],
  huggingface: [
    ["/v1/chat/completions", "https://router.huggingface.co/v1/chat/completions", BEARER],
    ["/chat/completions", "https://router.huggingface.co/v1/chat/completions", BEARER],
    ["/bigcode/starcoder", "https://router.huggingface.co/hf-inference/models/bigcode/starcoder", BEARER],
    ["/models/bigcode/starcoder", "https://router.huggingface.co/hf-inference/models/bigcode/starcoder", BEARER],
    ["/hf-inference/models/bigcode/starcoder", "https://router.huggingface.co/hf-inference/models/bigcode/starcoder", BEARER],
    ["/together/v1/chat/completions", "https://router.huggingface.co/together/v1/chat/completions", BEARER],
  ],
  replicate: [["/predictions", "https://api.replicate.com/v1/predictions", BEARER]],
  fal: [["/fal-ai/flux/dev", "https://fal.run/fal-ai/flux/dev", { authorization: "Key provider-key" }]],
  ideogram: [["/v1/ideogram-v3/generate", "https://api.ideogram.ai/v1/ideogram-v3/generate", { "api-key": "provider-key" }]],
  cartesia: [["/tts/bytes", "https://api.cartesia.ai/tts/bytes", { "x-api-key": "provider-key", "cartesia-version": "2024-06-10" }]],
  deepgram: [["/v1/listen?model=nova-3", "https://api.deepgram.com/v1/listen?model=nova-3", { authorization: "Token provider-key" }]],
  elevenlabs: [["/v1/text-to-speech/voice", "https://api.elevenlabs.io/v1/text-to-speech/voice", { "xi-api-key": "provider-key" }]],
};

const BODY = { model: "m", messages: [{ role: "user", content: "hello" }] };

test("every provider in the table is called at the URLs of its own clients", () => {
  assert.deepEqual(Object.keys(NATIVE).toSorted(), [...PROVIDERS.keys()].toSorted());
  const upstreams = createUpstreams({});
  for (const [name, asked] of Object.entries(NATIVE))
    for (const [path, url] of asked) {
      const [rest = "", query] = path.split("?");
      const upstream = upstreams.find("", name);
      const place = upstream && requestAddressOf(upstream, rest);
      assert.equal(place && `${place.origin}${place.path}${query === undefined ? "" : `?${query}`}`, url);
    }
});

test("a path that repeats part of the provider's base path is not doubled", () => {
  const upstreams = createUpstreams({});
  for (const [name, { baseAddress, place }] of PROVIDERS) {
    const { origin, pathname } = new URL(baseAddress);
    if (place !== undefined || pathname === "/") continue;
    const segments = pathname.split("/").slice(1);
    const version = `/${segments.at(-1)}`;
    for (const prefix of [pathname, version, "", version + version, pathname + pathname, version + pathname, pathname + version]) {
      const upstream = upstreams.find("", name);
      const found = upstream && requestAddressOf(upstream, `${prefix}/chat/completions`);
      assert.equal(found && found.origin + found.path, `${origin}${pathname}/chat/completions`, name);
    }
  }
});

test("a path without a target is refused with the expected form", async (t) => {
  const { base, rows } = await gatewayFront(t);
  for (const [path, form] of [
    ["azure-openai/gpt-4o", "/{resource}/{deployment}/…"],
    ["aws-bedrock/model/m/converse", "/bedrock-runtime/{region}/…"],
    ["google-vertex-ai/v1/models/m:generateContent", "/v1/projects/{project}/locations/{region}/…"],
    ["compat/completions", "/chat/completions"],
    ["openai/a%2f../x", "/v1/{account_id}/{gateway_id}/{provider}/…"],
  ] as const) {
    const answer = await fetch(`${base}/gw/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    const { error } = (await answer.json()) as { error: [{ code: number; message: string }] };
    assert.deepEqual([answer.status, error[0].code], [400, 2900]);
    assert.ok(error[0].message.includes(form), error[0].message);
  }
  assert.equal(rows.length, 0);
});

test("each provider gets its own credential and no gateway field, by its own path and as a universal step", async (t) => {
  const provider = await testProvider(t, (res) => res.writeHead(200, { "content-type": "application/json" }).end('{"text":"Hi"}'));
  const providers = Object.fromEntries(
    Array.from(PROVIDERS.values(), ({ name, baseAddress }) => [name, provider.url + new URL(baseAddress).pathname.replace(/\/$/, "")]),
  );
  const { base, rows } = await gatewayFront(t, { providers });
  const ask = async (address: string, headers: Readonly<Record<string, string>>, body: unknown): Promise<void> => {
    const own = { "content-type": "application/json", "cf-aig-metadata": '{"a":1}' };
    const answer = await fetch(address, { method: "POST", headers: { ...own, ...headers }, body: JSON.stringify(body) });
    assert.deepEqual([answer.status, await answer.text()], [200, '{"text":"Hi"}'], address);
  };
  for (const [name, asked] of Object.entries(NATIVE))
    for (const [path, url, credential] of asked)
      for (const isStep of [false, true]) {
        if (isStep) await ask(`${base}/gw`, {}, [{ provider: name, endpoint: path.slice(1), headers: credential, query: BODY }]);
        else await ask(`${base}/gw/${name}${path}`, credential, BODY);
        const seen = provider.seen.at(-1);
        const { pathname, search } = new URL(url);
        assert.equal(seen?.url, pathname + search, `${name}${isStep ? ", as a step" : ""}`);
        assert.deepEqual(JSON.parse(seen.body), BODY);
        const fields = Object.fromEntries(
          Object.entries(seen.headers).filter(
            ([field]) => Object.hasOwn(credential, field) || /key|auth|token|^(?:cf|svc|x-amz)-/.test(field),
          ),
        );
        assert.deepEqual(fields, credential, name);
        assert.equal(rows.at(-1)?.provider, name);
      }
});
