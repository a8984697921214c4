import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type ServerResponse } from "node:http";
import { describe, test, type TestContext } from "node:test";
import { gatewayFront, type GatewayFront, postJson, TEST_CHAT, testProvider } from "../support/gateway-front.ts";
import { eventually } from "../support/eventually.ts";

const HEAD = { "content-type": "text/event-stream" };
const delta = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
const anthropic = (type: string, more: object = {}): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const STREAM = { ...TEST_CHAT, stream: true };

/** The part of a stream that a client received, and whether its connection was broken off. */
async function received(res: Response): Promise<{ readonly text: string; readonly isBroken: boolean }> {
  let text = "";
  try {
    for await (const chunk of res.body ?? []) text += Buffer.from(chunk).toString();
    return { text, isBroken: false };
  } catch {
    return { text, isBroken: true };
  }
}

type Answer = (res: ServerResponse) => void;

async function front(t: TestContext, answer: Answer): Promise<GatewayFront & { readonly gateway: string }> {
  const { url } = await testProvider(t, answer);
  const made = await gatewayFront(t, { providers: { openai: `${url}/v1`, anthropic: `${url}/v1`, "google-ai-studio": url } });
  return { ...made, gateway: `${made.base}/gw` };
}

/** Ways in which a provider leaves in the middle of an answer. */
const WAYS: readonly (readonly [string, Answer])[] = [
  ["resets the connection", (res) => setTimeout(() => res.socket?.resetAndDestroy(), 20)],
  ["cuts the chunked body", (res) => setTimeout(() => res.destroy(), 20)],
  ["ends the body without a last event", (res) => res.end()],
  ["ends the body in the middle of an event", (res) => res.end('data: {"cho')],
];

/** The address for clients, the beginning of its stream, and the form of an error. */
const DIALECTS: readonly (readonly [string, object, string, RegExp])[] = [
  ["openai/chat/completions", STREAM, delta("Hi"), /\ndata: \{"error":\{"message":"[Tt]he provider/],
  ["compat/chat/completions", { ...STREAM, model: "openai/gpt-4o" }, delta("Hi"), /\ndata: \{"error":\{"message":"[Tt]he provider/],
  [
    "compat/chat/completions",
    { ...STREAM, model: "anthropic/claude" },
    anthropic("message_start", { message: { usage: { input_tokens: 3 } } }) +
      anthropic("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }) +
      anthropic("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }),
    /\ndata: \{"error":\{"message":"[Tt]he provider/,
  ],
  ["anthropic/v1/messages", STREAM, anthropic("message_start"), /\nevent: error\ndata: \{"type":"error","error":\{"type":"api_error"/],
  ["openai/responses", { model: "m", input: "x", stream: true }, anthropic("response.created"), /\nevent: error\ndata: \{"type":"error"/],
  [
    "google-ai-studio/v1beta/models/gemini:streamGenerateContent?alt=sse",
    { contents: [] },
    'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}\r\n\r\n',
    /\ndata: \{"error":\{"code":502/,
  ],
];

for (const [path, body, beginning, told] of DIALECTS)
  describe(`a provider fails during ${path} (${(body as any).model ?? ""})`, () => {
    for (const [name, leave] of WAYS)
      test(`the provider ${name}: the client gets an error event and a broken connection, and the row says so`, async (t) => {
        const { gateway, rows } = await front(t, (res) => {
          res.writeHead(200, HEAD);
          res.write(beginning);
          leave(res);
        });
        const { text, isBroken } = await received(await postJson(`${gateway}/${path}`, body));
        assert.match(text, told);
        assert.equal(isBroken, true);
        assert.doesNotMatch(text, /"finish_reason":"|\[DONE\]|message_stop|response\.completed|finishReason/);
        await eventually(() => rows.length === 1);
        assert.deepEqual([rows[0]?.status_code, rows[0]?.success], [200, false]);
      });
  });

describe("invalid streams", () => {
  test("an endless event is limited in size and never looks complete", async (t) => {
    const { gateway, rows } = await front(t, (res) => {
      res.writeHead(200, HEAD);
      res.write("data: ");
      const piece = Buffer.alloc(1024 * 1024, "x");
      const more = (): void => {
        while (!res.destroyed && res.write(piece));
      };
      res.on("drain", more);
      more();
    });
    const res = await postJson(`${gateway}/compat/chat/completions`, { ...STREAM, model: "anthropic/claude" });
    assert.equal(res.status, 502);
    assert.equal(((await res.json()) as any).error[0].code, 2911);
    await eventually(() => rows.length === 1);
    assert.equal(rows[0]?.success, false);
  });

  test("events that are not JSON, or of another dialect, give an error", async (t) => {
    for (const nonsense of ["data: {]\n\n", "data: [DONE]\n\n", "<html>", "\u0000\u0001"]) {
      const { gateway } = await front(t, (res) => res.writeHead(200, HEAD).end(nonsense));
      const res = await postJson(`${gateway}/compat/chat/completions`, { ...STREAM, model: "anthropic/claude" });
      assert.equal(res.status, 502, nonsense);
    }
  });

  test("an invalid response gives an error", async (t) => {
    for (const body of ["<html>busy</html>", "{}", "null", '{"type":"message"}']) {
      const { gateway } = await front(t, (res) => res.writeHead(200, { "content-type": "application/json" }).end(body));
      const res = await postJson(`${gateway}/compat/chat/completions`, { ...TEST_CHAT, model: "anthropic/claude" });
      assert.deepEqual([res.status, ((await res.json()) as any).error[0].code], [502, 2911]);
    }
  });
});

describe("slow clients and providers", () => {
  test("a client that disconnects ends the provider's request", async (t) => {
    let left: Promise<unknown[]> | undefined;
    const { gateway, rows } = await front(t, (res) => {
      left = once(res, "close");
      res.writeHead(200, HEAD);
      res.write(delta("Hi"));
    });
    const abort = new AbortController();
    const url = new URL(`${gateway}/openai/chat/completions`);
    const req = request(url, { method: "POST", headers: { "content-type": "application/json" }, signal: abort.signal });
    req.on("error", () => undefined);
    req.end(JSON.stringify(STREAM));
    const [res] = await once(req, "response");
    res.on("error", () => undefined);
    await once(res, "data");
    abort.abort();
    await left;
    await eventually(() => rows.length === 1);
    assert.equal(rows[0]?.success, false);
  });

  test("usage of a stream whose client disconnects is estimated from the part sent, and marked as estimated", async (t) => {
    const said = "The quick brown fox jumps over the lazy dog. ";
    for (const [path, model, beginning] of [
      ["openai/chat/completions", "gpt-4o", delta(said).repeat(10)],
      [
        "compat/chat/completions",
        "anthropic/claude-haiku-4-5",
        anthropic("message_start", { message: { usage: { input_tokens: 3, output_tokens: 1 } } }) +
          anthropic("content_block_delta", { index: 0, delta: { type: "text_delta", text: said } }).repeat(10),
      ],
    ] as const) {
      const { gateway, rows } = await front(t, (res) => {
        res.writeHead(200, HEAD);
        res.write(beginning);
      });
      const abort = new AbortController();
      const res = await fetch(`${gateway}/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...STREAM, model }),
        signal: abort.signal,
      });
      const reader = res.body?.pipeThrough(new TextDecoderStream()).getReader();
      // A single write of the provider may arrive in parts on a busy machine.
      for (let text = ""; text.split("lazy dog").length <= 10;) text += (await reader?.read())?.value ?? assert.fail("the stream ended");
      abort.abort();
      await eventually(() => rows.length === 1);
      const { tokens_in, tokens_out, estimated, cost } = rows[0]!;
      assert.equal(estimated, true);
      assert.ok(tokens_in !== null && tokens_in > 0 && tokens_in < 20, `${tokens_in}`);
      assert.ok(tokens_out !== null && tokens_out > 80 && tokens_out < 130, `${tokens_out}`);
      assert.ok(cost !== null && cost > 0);
    }
  });

  for (const path of ["openai/chat/completions", "compat/chat/completions"])
    test(`${path}: a client that stops reading slows the provider down, with bounded memory`, async (t) => {
      const isTranslated = path.startsWith("compat");
      const event = isTranslated
        ? anthropic("content_block_delta", { index: 0, delta: { type: "text_delta", text: "x".repeat(8000) } })
        : delta("x".repeat(8000));
      let written = 0;
      const total = 8000;
      const { gateway } = await front(t, (res) => {
        res.writeHead(200, HEAD);
        const more = (): void => {
          while (written < total && !res.destroyed) if ((written++, !res.write(event))) return;
          if (written === total) res.end(isTranslated ? anthropic("message_stop") : delta("", "stop"));
        };
        res.on("drain", more);
        more();
      });
      const req = request(`${gateway}/${path}`, { method: "POST", headers: { "content-type": "application/json" } });
      req.end(JSON.stringify({ ...STREAM, model: isTranslated ? "anthropic/claude" : "gpt-4o" }));
      const [res] = await once(req, "response");
      let last = -1;
      while (written !== last) {
        last = written;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      assert.ok(written * event.length < 32 * 1024 * 1024, `${written} of ${total} events were taken from the provider`);
      let bytes = 0;
      for await (const chunk of res) bytes += chunk.length;
      assert.ok(bytes > total * 8000, "the rest comes when the client reads again");
      assert.equal(res.complete, true);
    });

  test("a response that a provider sends byte by byte arrives complete", async (t) => {
    const stream = delta("slow") + delta("", "stop") + "data: [DONE]\n\n";
    const { gateway, rows } = await front(t, (res) => {
      res.writeHead(200, HEAD);
      let at = 0;
      const next = (): void => {
        if (at === stream.length) return void res.end();
        res.write(stream[at++]);
        setImmediate(next);
      };
      next();
    });
    const { text, isBroken } = await received(await postJson(`${gateway}/openai/chat/completions`, STREAM));
    assert.deepEqual([text, isBroken], [stream, false]);
    await eventually(() => rows.length === 1);
    assert.equal(rows[0]?.success, true);
  });
});
