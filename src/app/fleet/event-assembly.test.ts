import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createEventAssembly, type EventAssembly } from "./event-assembly.ts";
import { PIECE_BYTES, type Piece } from "./event-pieces.ts";

const PLACE = { segment: 0, at: 0 };
const piece = (index: number, pieces: number, bytes = PIECE_BYTES, source: Piece["source"] = "rows"): Piece => ({
  ...{ source, epoch: "e", from: PLACE, to: PLACE, index, pieces },
  bytes: new Uint8Array(bytes),
});
/** The length of a whole batch, or the answer as text: a failing comparison of buffers takes gigabytes. */
const said = (answer: ReturnType<EventAssembly["add"]>): string => ("bytes" in answer ? `${answer.bytes.length}` : JSON.stringify(answer));

test("a node that never ends its batches keeps the events of no other node out, and what it left is forgotten", () => {
  const clock = fixedClock(0);
  const assembly = createEventAssembly({ clock, bytesMax: 16 * PIECE_BYTES });
  const send = (node: string, pieces: number, source?: Piece["source"]): string =>
    Array.from({ length: pieces }, (_, index) => said(assembly.add(node, piece(index, pieces, PIECE_BYTES, source)))).at(-1) ?? "";
  for (const source of ["rows", "logs"] as const)
    for (let index = 0; index < 4; index++) assembly.add("stolen", piece(index, 64, PIECE_BYTES, source));
  assert.equal(send("other", 2), `${2 * PIECE_BYTES}`);

  for (let n = 0; n < 20; n++) assembly.add(`removed ${n}`, piece(0, 64));
  assert.match(send("other", 1), /too many batches/);
  clock.advance(121_000);
  assert.equal(send("other", 4), `${4 * PIECE_BYTES}`);
});

test("a batch arrives in order, whole, and in pieces of a limited size", () => {
  const assembly = createEventAssembly({ clock: fixedClock(0) });
  assert.equal(said(assembly.add("a", piece(1, 2))), '{"next":0}');
  assert.equal(said(assembly.add("a", piece(0, 2))), '{"next":1}');
  assert.match(said(assembly.add("a", piece(0, 1, PIECE_BYTES + 1))), /at most 524288 bytes/);
  assert.equal(said(assembly.add("b", piece(1, 2))), '{"next":0}');
  assert.equal(said(assembly.add("a", piece(1, 2, 3))), `${PIECE_BYTES + 3}`);
});
