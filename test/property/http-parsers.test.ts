import assert from "node:assert/strict";
import { test } from "node:test";
import { mutatedRequests, mutatedResponses, randomPieces } from "../support/http-mutations.ts";
import { nodeRequests, nodeResponse, readRequests, readResponse } from "../support/http-readings.ts";
import { pick, seededRandom } from "../support/random-zone.ts";

/** Bounded to seconds; `npm run bench -- edge-fuzz` goes on for longer, with other seeds. */
const MESSAGES = 2500;

test("the parser reads the same requests from the same bytes, in any chunks", () => {
  const random = seededRandom(20230701);
  for (let i = 0; i < MESSAGES * 2; i++) {
    const bytes = Buffer.from(mutatedRequests(random), "latin1");
    const whole = readRequests([bytes]);
    for (let cuts = 0; cuts < 3; cuts++)
      assert.deepEqual(readRequests(randomPieces(bytes, random)), whole, JSON.stringify(bytes.toString("latin1")));
  }
});

test("a request that node:http accepts too has the same meaning", async () => {
  const random = seededRandom(7);
  let both = 0;
  for (let i = 0; i < MESSAGES; i++) {
    const text = mutatedRequests(random);
    const bytes = Buffer.from(text, "latin1");
    const ours = readRequests([bytes]);
    const theirs = await nodeRequests(bytes);
    const common = Math.min(ours.messages.length, theirs.messages.length);
    both += common;
    assert.deepEqual(ours.messages.slice(0, common), theirs.messages.slice(0, common), JSON.stringify(text));
    if (!ours.isRefused && !theirs.isRefused) assert.deepEqual(ours.begun, theirs.begun, JSON.stringify(text));
  }
  assert.ok(both > MESSAGES / 2, `${both} requests were compared`);
});

test("a response that node:http accepts too has the same meaning", async () => {
  const random = seededRandom(8);
  let both = 0;
  for (let i = 0; i < MESSAGES; i++) {
    const text = mutatedResponses(random);
    const bytes = Buffer.from(text, "latin1");
    const method = pick(random, ["GET", "GET", "HEAD"]);
    const [ours, theirs] = [readResponse(bytes, method), await nodeResponse(bytes, method)];
    if (ours.messages.length === 0 || theirs.messages.length === 0 || theirs.isRefused) continue;
    both++;
    assert.deepEqual(ours.messages[0], theirs.messages[0], JSON.stringify(text));
  }
  assert.ok(both > MESSAGES / 4, `${both} responses were compared`);
});
