import assert from "node:assert/strict";
import { test } from "node:test";
import { serverFrame } from "#wire/web-socket/frames.ts";
import { fc } from "../../../test/support/property.ts";
import { SessionUsage } from "./session-usage.ts";

const done = (input: number, output: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: "response.done",
      response: { usage: { input_tokens: input, output_tokens: output, total_tokens: input + output } },
    }),
  );

/** A message in fragments; all but the last without the FIN bit (RFC 6455 §5.4). */
function inParts(message: Buffer, parts: number, between: readonly Buffer[]): Buffer {
  const size = Math.ceil(message.length / parts);
  const frames = Array.from({ length: parts }, (_, i) => {
    const frame = serverFrame(i === 0 ? "text" : "continuation", message.subarray(i * size, (i + 1) * size));
    if (i < parts - 1) frame[0]! &= 0x7f;
    return frame;
  });
  return Buffer.concat([frames[0]!, ...between, ...frames.slice(1)]);
}

test("a response's usage is counted however its message is fragmented, with any control frames in between", () => {
  const control = fc.tuple(fc.constantFrom("ping", "pong"), fc.uint8Array({ maxLength: 125 }));
  const answer = fc.tuple(fc.nat({ max: 999 }), fc.nat({ max: 999 }), fc.integer({ min: 1, max: 5 }), fc.array(control, { maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 4 }), fc.integer({ min: 1, max: 60 }), (answers, size) => {
      const bytes = Buffer.concat(
        answers.flatMap(([input, output, parts, controls]) => [
          serverFrame("text", Buffer.from('{"type":"response.delta"}')),
          inParts(
            done(input, output),
            parts,
            controls.map(([opcode, payload]) => serverFrame(opcode as "ping", Buffer.from(payload))),
          ),
          serverFrame("binary", Buffer.alloc(70)),
        ]),
      );
      const session = new SessionUsage();
      for (let at = 0; at < bytes.length; at += size) session.push(bytes.subarray(at, at + size));
      const sum = (place: 0 | 1): number => answers.reduce((all, one) => all + one[place], 0);
      assert.deepEqual([session.usage.tokensIn ?? 0, session.usage.tokensOut ?? 0], [sum(0), sum(1)]);
      assert.ok(session.isBetween);
    }),
    { numRuns: 300 },
  );
});
