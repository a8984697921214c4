import assert from "node:assert/strict";
import { test } from "node:test";
import { CLASS, FLAG, TYPE } from "./codes.ts";
import { WireError } from "./errors.ts";
import { minTtl } from "./min-ttl.ts";
import { encodeMessage } from "./message.ts";
import { parseAbsoluteName } from "./name.ts";

const name = parseAbsoluteName("www.example.com");
const question = { name, type: TYPE.A, class: CLASS.IN };
const record = (ttl: number) => ({ ...question, ttl, rdata: Buffer.of(192, 0, 2, 1) });
const response = (answers: readonly number[], authorities: readonly number[], additionals: readonly number[]): Buffer =>
  encodeMessage({
    id: 1,
    flags: FLAG.QR,
    questions: [question],
    answers: answers.map(record),
    authorities: authorities.map(record),
    additionals: additionals.map(record),
  })!;

test("the smallest TTL of the answers counts, or without answers that of the authority section", () => {
  assert.equal(minTtl(response([300, 60, 86_400], [5], [1])), 60);
  assert.equal(minTtl(response([], [1800, 900], [1])), 900);
  assert.equal(minTtl(response([], [], [7])), 0);
});

test("invalid messages are refused", () => {
  const whole = response([300], [], []);
  for (let length = 0; length < whole.length; length++) assert.throws(() => minTtl(whole.subarray(0, length)), WireError);
});
