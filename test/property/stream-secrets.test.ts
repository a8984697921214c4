import assert from "node:assert/strict";
import { test } from "node:test";
import type { GatewayLogEntry, GatewayLogSink } from "#events/logs/entry.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { encodeAmazonMessage } from "#wire/http/amazon-event-stream.ts";
import { gatewayFront, postJson, TEST_CHAT, testProvider } from "../support/gateway-front.ts";
import { fc } from "../support/property.ts";

/** How a provider says a text piece by piece, and what a reader of the kept bytes makes of it. */
interface Dialect {
  readonly contentType: string;
  readonly write: (pieces: readonly string[]) => Buffer;
  /** All that is said, read out of the bytes again. */
  readonly read: (bytes: Buffer) => string;
}

const SSE = "text/event-stream";
const events = (texts: readonly string[], end = "\n"): Buffer => Buffer.from(texts.map((text) => `data: ${text}${end}${end}`).join(""));
/** Values under the name, of all events. */
const under =
  (name: string) =>
  (bytes: Buffer): string =>
    Array.from(bytes.toString("latin1").matchAll(new RegExp(`"${name}": ?"((?:[^"\\\\]|\\\\.)*)"`, "g")), ([, text = ""]) => text).join("");
const said = (name: string, event: (text: string, i: number) => object, end?: string): Dialect => ({
  contentType: SSE,
  write: (pieces) =>
    events(
      pieces.map((piece, i) => JSON.stringify(event(piece, i))),
      end,
    ),
  read: under(name),
});
const amazon = (type: string, payload: object): Buffer =>
  encodeAmazonMessage(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    Buffer.from(JSON.stringify(payload)),
  );
const CHAT = (content: string, index = 0): object => ({ choices: [{ index, delta: { content }, finish_reason: null }] });

const DIALECTS: Readonly<Record<string, Dialect>> = {
  "chat completions": said("content", (text) => CHAT(text)),
  "chat completions, lines ended by CR and LF": said("content", (text) => CHAT(text), "\r\n"),
  "chat completions, lines ended by CR": said("content", (text) => CHAT(text), "\r"),
  "calls of tools": said("arguments", (text) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: text } }] } }],
  })),
  reasoning: said("reasoning_content", (text) => ({ choices: [{ index: 0, delta: { reasoning_content: text } }] })),
  messages: said("text", (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  "messages, input of tools": said("partial_json", (text) => ({
    ...{ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: text } },
  })),
  "messages, thinking": said("thinking", (thinking) => ({ index: 0, delta: { type: "thinking_delta", thinking } })),
  responses: said("delta", (delta) => ({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta })),
  completions: said("text", (text) => ({ choices: [{ text, index: 0 }] })),
  "older completions": said("completion", (completion) => ({ type: "completion", completion })),
  "Workers AI": said("response", (response) => ({ response, p: "abc" })),
  Cohere: said("text", (text) => ({ type: "content-delta", index: 0, delta: { message: { content: { text } } } })),
  Gemini: said("text", (text) => ({ candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }] })),
  "Gemini as an array": {
    contentType: "application/json; charset=UTF-8",
    write: (pieces) =>
      Buffer.from(
        `[${pieces.map((text) => JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] }, null, 2)).join("\n,\r\n")}\n]`,
      ),
    read: under("text"),
  },
  "lines of JSON": {
    contentType: "application/x-ndjson",
    write: (pieces) => Buffer.from(pieces.map((content) => `${JSON.stringify({ message: { content } })}\n`).join("")),
    read: under("content"),
  },
  "plain text in events": {
    contentType: SSE,
    write: (pieces) => Buffer.from(pieces.map((piece) => `event: output\ndata: ${piece}\n\n`).join("")),
    read: (bytes) => Array.from(bytes.toString("latin1").matchAll(/^data: (.*)$/gm), ([, text = ""]) => text).join(""),
  },
  Converse: {
    contentType: "application/vnd.amazon.eventstream",
    write: (pieces) => Buffer.concat(pieces.map((text) => amazon("contentBlockDelta", { contentBlockIndex: 0, delta: { text }, p: "ab" }))),
    read: under("text"),
  },
  "Amazon's streams of other dialects": {
    contentType: "application/vnd.amazon.eventstream",
    write: (pieces) =>
      Buffer.concat(
        pieces.map((text) =>
          amazon("chunk", { bytes: Buffer.from(JSON.stringify({ type: "content_block_delta", delta: { text } })).toString("base64") }),
        ),
      ),
    read: (bytes) =>
      Array.from(bytes.toString("latin1").matchAll(/"bytes":"([^"]*)"/g), ([, text = ""]) =>
        under("text")(Buffer.from(text, "base64")),
      ).join(""),
  },
};

const KEY = "my-own-provider-key-0123456789";
const KNOWN = DETECTORS.flatMap((row) => (row.category === "secrets" && row.context === undefined ? row.hits.slice(0, 1) : []))
  .filter((hit) => /^[\w.-]{16,}$/.test(hit))
  .slice(0, 12);

test("a secret split anywhere over the events of a stream is masked in the stored log", async (t) => {
  let answer: { readonly contentType: string; readonly bytes: Buffer };
  const provider = await testProvider(t, (res) => res.writeHead(200, { "content-type": answer.contentType }).end(answer.bytes));
  const kept: GatewayLogEntry[] = [];
  const { base } = await gatewayFront(t, {
    providers: { openai: provider.url },
    deps: {
      logs: {
        append: (entry, watcher) => {
          kept.push(entry);
          if (watcher !== undefined) setImmediate(() => watcher.onKept());
        },
      } as Partial<GatewayLogSink> as GatewayLogSink,
    },
  });
  const secret = fc.constantFrom(KEY, ...KNOWN);
  const cuts = fc.array(fc.nat(), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(DIALECTS)),
      secret,
      cuts,
      fc.nat(3),
      fc.nat(3),
      async (name, value, at, before, after) => {
        const { contentType, write, read } = DIALECTS[name]!;
        const places = [...new Set(at.map((place) => 1 + (place % (value.length - 1))))].sort((a, b) => a - b);
        const split = [0, ...places].map((place, i) => value.slice(place, places[i] ?? value.length));
        const words = (count: number): string[] => Array.from({ length: count }, (_, i) => ` word${i} `);
        const bytes = write([...words(before), ...split, ...words(after)]);
        assert.ok(read(bytes).includes(value), `${name} says it`);
        answer = { contentType, bytes };
        const reply = await postJson(`${base}/gw/openai/x`, TEST_CHAT, { authorization: `Bearer ${KEY}` });
        assert.ok(Buffer.from(await reply.arrayBuffer()).equals(bytes), "the client gets it as it is");
        const written = Buffer.concat(kept.splice(0).flatMap(({ response }) => [...response]));
        assert.equal(written.length, bytes.length);
        const told = read(written);
        assert.ok(!told.includes(value), `${name}: ${JSON.stringify(split)} is kept as ${told.slice(0, 200)}`);
        // Nor the most of it.
        assert.ok(!told.includes(value.slice(4)) && !told.includes(value.slice(0, -4)), `${name}: ${told.slice(0, 200)}`);
        // Words around it stay, but where whole messages are in another writing.
        if (!name.startsWith("Amazon"))
          assert.ok(words(before).every((word) => told.includes(word)) && words(after).every((word) => told.includes(word)));
      },
    ),
    {
      numRuns: 300,
      examples: Object.keys(DIALECTS).map((name) => [name, KEY, [10], 0, 1] as [string, string, number[], number, number]),
      endOnFailure: true,
    },
  );
});
