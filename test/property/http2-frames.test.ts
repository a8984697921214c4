import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fc } from "../support/property.ts";
import { type CountingOrigin, startCountingOrigin } from "../support/counting-origin.ts";
import { block, type Field, frame, FRAME, type FrameClient, frameClient, GET, POST } from "../support/http2-frames.ts";
import { fetchOver, type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";

let origin: CountingOrigin;
let edge: SecureEdge;

before(async () => {
  origin = await startCountingOrigin();
  edge = await startSecureEdge(origin.port);
});
after(async () => {
  await edge.close();
  origin.close();
});

const text = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 20 });
const name = fc.constantFrom("x-a", "host", "cookie", "content-length", "transfer-encoding", "te", "expect", "range", "trailer", ":path");
const field: fc.Arbitrary<Field> = fc.tuple(
  fc.oneof(name, text),
  fc.oneof(text, fc.constantFrom("1", "5", "trailers", "100-continue", "/a")),
);
const headers = fc.tuple(fc.constantFrom(GET, POST), fc.array(field, { maxLength: 4 }), fc.boolean()).map(([pseudo, more, isWhole]) => {
  const whole = block([...pseudo, ...more]);
  return isWhole ? whole : whole.subarray(0, Math.ceil(whole.length / 2));
});
const payload = fc.oneof(
  headers,
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.alloc(4, 0xff)),
);
const anyFrame = fc
  .tuple(
    fc.oneof(fc.constantFrom(...Object.values(FRAME)), fc.integer({ min: 0, max: 255 })),
    fc.integer({ min: 0, max: 255 }),
    fc.integer({ min: 0, max: 9 }),
    payload,
  )
  .map(([type, flags, stream, body]) => frame(type, flags & ~0x28, stream, body));
const likelyField = fc.constantFrom<Field>(["x-a", "1"], ["cookie", "a=1"], ["content-length", "5"], ["te", "trailers"], ["x-b", "\xe9"]);
/** A request that is whole more often than not, so that what follows meets streams that are open. */
const likelyRequest = fc
  .tuple(fc.constantFrom(1, 3, 5, 7), fc.constantFrom(0x4, 0x5), fc.constantFrom(GET, POST), fc.array(likelyField, { maxLength: 2 }))
  .map(([stream, flags, pseudo, more]) => frame(FRAME.HEADERS, flags, stream, block([...pseudo, ...more])));
const likelyData = fc
  .tuple(fc.constantFrom(1, 3, 5, 7), fc.constantFrom(0, 1), fc.constantFrom("", "hello", "GET /evil HTTP/1.1\r\n\r\n"))
  .map(([stream, flags, body]) => frame(FRAME.DATA, flags, stream, body));

test("with any frames origins get only complete requests, and other clients are served", async () => {
  const session = edge.session();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 3, arbitrary: likelyRequest }, likelyData, anyFrame), { minLength: 1, maxLength: 8 }),
      async (frames) => {
        const client: FrameClient = await frameClient(edge.https, edge.rootPem);
        client.send(...frames);
        assert.equal((await fetchOver(session, {})).status, 200);
        client.socket.destroy();
        assert.deepEqual(edge.errors, []);
        assert.deepEqual(origin.faults, []);
        assert.ok(origin.requests.every(({ target, headers: seen }) => target === "/" && seen["host"]?.join() === "www.example.com"));
        origin.reset();
      },
    ),
    { numRuns: 300 },
  );
});
