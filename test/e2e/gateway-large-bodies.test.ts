import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { ChatOpenAI } from "@langchain/openai";
import { generateText } from "ai";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { EventEmitter } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { AddressInfo, LookupFunction } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import OpenAI from "openai";
import { Agent, fetch as undiciFetch } from "undici";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const HOST = "ai.large-bodies.example";
/** More than the gateway reads whole, so that it passes on as it comes. */
const LARGE = `hello ${"0123456789abcdef".repeat(80_000)}`;
const CHAT = { model: "gpt-4o-mini", messages: [{ role: "user" as const, content: LARGE }] };
const SETTINGS = {
  authentication: false,
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
const LIMIT_MS = 60_000;

/** Answers by path, in the shape of each provider, with the bytes of the body that came. */
const answerTo = (url: string, text: string): object => {
  if (url.includes("generateContent")) return { candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }] };
  if (url.includes("messages"))
    return {
      ...{ id: "m", type: "message", role: "assistant", model: "claude", content: [{ type: "text", text }] },
      ...{ stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    };
  const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }];
  return { id: "c", object: "chat.completion", created: 1, model: "gpt-4o-mini", choices };
};

/** One after the other over one connection, with every client whose requests reach gateways. */
describe("several large bodies over one connection", () => {
  let selvedge: Selvedge;
  const provider = createServer((req, res) => {
    let bytes = 0;
    req.on("data", (chunk: Buffer) => (bytes += chunk.length));
    req.on("end", () => {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify(answerTo(req.url ?? "", `${bytes > LARGE.length ? "large" : "small"}`)));
    });
  });
  const ca = (): string => readFileSync(join(selvedge.dataDir, "ca.pem"), "utf8");
  const ways = [
    ["the gateway", () => selvedge.ready.gateway.replace("127.0.0.1", HOST)],
    ["the edge", () => `https://${HOST}:${new URL(selvedge.ready.https).port}`],
  ] as const;

  before(async () => {
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const providers = ["openai", "anthropic", "google-ai-studio"].flatMap((name) => ["--provider", `${name}=${url}`]);
    selvedge = await startSelvedge({ args: providers });
    const { token, account_id } = selvedge.ready;
    const call = (path: string, body: object) => api(selvedge, token ?? "", "POST", path, body);
    const gateways = `/accounts/${account_id}/ai-gateway/gateways`;
    assert.equal((await call(gateways, { id: "open", ...SETTINGS })).status, 200);
    const zone = (await call("/zones", { name: "large-bodies.example", account: { id: account_id } })).body.result;
    assert.equal((await call(`${gateways}/open/custom-domains`, { domain: HOST, zone_id: zone.id })).status, 200);
  });
  after(async () => {
    await selvedge?.stop();
    provider.closeAllConnections();
    provider.close();
  });

  type Asked = () => Promise<string | null | undefined>;
  /** Clients that ask through `fetch`. */
  const fetching: readonly (readonly [name: string, (base: string, fetch: typeof globalThis.fetch) => Asked])[] = [
    [
      "undici",
      (base, fetch) => async () => {
        const answer = await fetch(`${base}/openai/chat/completions`, { method: "POST", body: JSON.stringify(CHAT) });
        return ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;
      },
    ],
    [
      "openai",
      (base, fetch) => {
        const client = new OpenAI({ baseURL: `${base}/openai`, apiKey: "k", maxRetries: 0, fetch });
        return async () => (await client.chat.completions.create(CHAT)).choices[0]?.message.content;
      },
    ],
    [
      "@anthropic-ai/sdk",
      (base, fetch) => {
        const client = new Anthropic({ baseURL: `${base}/anthropic`, apiKey: "k", maxRetries: 0, fetch });
        return async () => {
          const [part] = (await client.messages.create({ ...CHAT, model: "claude-haiku-4-5", max_tokens: 10 })).content;
          return part?.type === "text" ? part.text : null;
        };
      },
    ],
    [
      "@google/genai",
      (base, fetch) => {
        const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: `${base}/google-ai-studio` } });
        return async () => {
          // It takes no function of ours.
          const { fetch: before } = globalThis;
          globalThis.fetch = fetch;
          try {
            return (await client.models.generateContent({ model: "gemini-2.5-flash", contents: LARGE })).text;
          } finally {
            globalThis.fetch = before;
          }
        };
      },
    ],
    [
      "@ai-sdk/openai",
      (base, fetch) => {
        const model = createOpenAI({ baseURL: `${base}/openai`, apiKey: "k", fetch }).chat("gpt-4o-mini");
        return async () => (await generateText({ model, prompt: LARGE, maxRetries: 0 })).text;
      },
    ],
    [
      "@ai-sdk/anthropic",
      (base, fetch) => {
        const model = createAnthropic({ baseURL: `${base}/anthropic/v1`, apiKey: "k", fetch })("claude-haiku-4-5");
        return async () => (await generateText({ model, prompt: LARGE, maxRetries: 0 })).text;
      },
    ],
    [
      "@langchain/openai",
      (base, fetch) => {
        const configuration = { baseURL: `${base}/openai`, fetch };
        const client = new ChatOpenAI({ model: "gpt-4o-mini", apiKey: "k", maxRetries: 0, configuration });
        return async () => String((await client.invoke(LARGE)).content);
      },
    ],
  ];

  for (const [way, baseOf] of ways) {
    for (const [name, clientOf] of fetching)
      test(`${name} through ${way}`, async () => {
        const agent = new Agent({ connections: 1, pipelining: 1, connect: { ca: ca(), lookup: toLoopback } });
        let connected = 0;
        (agent as unknown as EventEmitter).on("connect", () => connected++);
        const fetch = ((input: string | URL | Request, init: RequestInit = {}) => {
          const url = input instanceof Request ? input.url : input;
          return undiciFetch(url, { ...init, dispatcher: agent, signal: AbortSignal.timeout(LIMIT_MS) } as Parameters<
            typeof undiciFetch
          >[1]);
        }) as typeof globalThis.fetch;
        const ask = clientOf(baseOf(), fetch);
        for (let i = 0; i < 3; i++) assert.equal(await ask(), "large", `request ${i + 1}`);
        assert.equal(connected, 1);
        await agent.close();
      });

    test(`node:http through ${way}`, async () => {
      const base = new URL(baseOf());
      const isSecure = base.protocol === "https:";
      const options = { keepAlive: true, maxSockets: 1, ca: ca(), lookup: toLoopback };
      const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
      const ask = (): Promise<{ readonly text: string; readonly isReused: boolean }> =>
        new Promise((resolve, reject) => {
          const req = (isSecure ? httpsRequest : httpRequest)(`${base.origin}/openai/chat/completions`, {
            ...{ agent, method: "POST", timeout: LIMIT_MS },
          });
          req.on("error", reject).on("timeout", () => req.destroy(new Error("nobody answers")));
          req.on("response", (res) => {
            let text = "";
            res.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
            res.on("end", () => resolve({ text, isReused: req.reusedSocket }));
          });
          req.end(JSON.stringify(CHAT));
        });
      for (let i = 0; i < 3; i++) {
        const { text, isReused } = await ask();
        assert.match(text, /"content":"large"/);
        assert.equal(isReused, i > 0);
      }
      agent.destroy();
    });

    test(`curl through ${way}`, { skip: toolOrSkip("curl") }, async () => {
      const base = new URL(baseOf());
      const file = join(selvedge.dataDir, "large.json");
      writeFileSync(file, JSON.stringify(CHAT));
      const one = [`${base.origin}/openai/chat/completions`, "--http1.1", "-sS", "-m", "60", "--data-binary", `@${file}`];
      const shared = ["--resolve", `${HOST}:${base.port}:127.0.0.1`, "--cacert", join(selvedge.dataDir, "ca.pem")];
      const all = [one, one, one].flatMap((args, i) => [...(i > 0 ? ["--next"] : []), ...args, ...shared, "-w", " %{num_connects}\n"]);
      const { stdout } = await promisify(execFile)("curl", all);
      const lines = stdout.trim().split("\n");
      assert.deepEqual(
        lines.map((line) => [line.includes('"content":"large"'), line.at(-1)]),
        [
          [true, "1"],
          [true, "0"],
          [true, "0"],
        ],
      );
    });
  }
});

const toLoopback: LookupFunction = (_host, { all }, answer) =>
  all === true ? answer(null, [{ address: "127.0.0.1", family: 4 }]) : answer(null, "127.0.0.1", 4);
