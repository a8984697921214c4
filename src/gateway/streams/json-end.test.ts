import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { gatewayFront, gatewayOp, postJson, TEST_CHAT, testProvider } from "../../../test/support/gateway-front.ts";
import { JsonEdges } from "./json-end.ts";

test("a JSON text is complete at its last brace or bracket, and truncated before it", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.object(), fc.array(fc.jsonValue())),
      fc.array(fc.nat(500), { maxLength: 4 }),
      fc.nat(500),
      (value, places, at) => {
        const text = `\r\n ${JSON.stringify(value, undefined, 1)} \n`;
        const seen = (bytes: Buffer): boolean => {
          const edges = new JsonEdges();
          const ends = [...places.map((place) => place % bytes.length), bytes.length].sort((a, b) => a - b);
          ends.forEach((end, i) => edges.see(bytes.subarray(ends[i - 1] ?? 0, end)));
          return edges.isCut;
        };
        assert.equal(seen(Buffer.from(text)), false);
        const part = text.slice(0, at % text.trimEnd().length);
        // A part that ends with the same byte as the whole cannot be distinguished from it.
        const isAlike = part.trimEnd().at(-1) === text.trimEnd().at(-1);
        assert.equal(seen(Buffer.from(`${part} `)), part.trim() !== "" && !isAlike);
      },
    ),
  );
});

test("a response without a length whose JSON is truncated is cut, unsuccessful and not cached", async (t) => {
  const parts = ['[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}', '\n,{"candidates":[{"finishReason":"STOP"}]}]'];
  const provider = await testProvider(t, (res, _seen, number) => {
    res.writeHead(200, { "content-type": "application/json" });
    res.write(parts[0]);
    res.end(number === 0 ? undefined : parts[1]);
  });
  const { base, rows } = await gatewayFront(t, {
    ops: [gatewayOp("gw", { cache: { ttl_seconds: 60 } })],
    providers: { "google-ai-studio": provider.url },
  });
  const url = `${base}/gw/google-ai-studio/v1beta/models/gemini-2.5-flash:streamGenerateContent`;
  const ask = async (): Promise<string> => (await postJson(url, TEST_CHAT)).text();
  await assert.rejects(ask());
  assert.equal(await ask(), parts.join(""));
  assert.equal(await ask(), parts.join(""));
  assert.deepEqual(
    rows.map(({ success, cached }) => [success, cached]),
    [
      [false, false],
      [true, false],
      [true, true],
    ],
  );
});
