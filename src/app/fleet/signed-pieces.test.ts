import assert from "node:assert/strict";
import { createUser } from "@nats-io/nkeys";
import { systemClock } from "#kernel/clock.ts";
import { createNodes } from "#control/nodes/nodes.ts";
import { nkeyPrivateKey } from "#wire/nats/nkey-objects.ts";
import { storeTest } from "../../../test/support/store.ts";
import { decodePiece, encodePiece, type Piece } from "./event-pieces.ts";
import { createPieceSenders, signedPiece } from "./signed-pieces.ts";

const PIECE: Piece = {
  ...{ source: "rows", epoch: "e", from: { segment: 1, at: 0 }, to: { segment: 1, at: 9 }, index: 0, pieces: 1 },
  bytes: Buffer.from("rows"),
};

storeTest("control takes events in a node's name only with the signature of the node's key", async ({ store }) => {
  const nodes = createNodes({ store, clock: systemClock });
  const join = async (name: string, signs: boolean) => {
    const user = createUser();
    await nodes.join((await nodes.create(name, ["edge"], 60_000)).token, user.getPublicKey(), signs);
    return nkeyPrivateKey(Buffer.from(user.getSeed()).toString());
  };
  const [fra, ams, old] = [await join("fra", true), await join("ams", true), await join("old", false)];
  await nodes.create("waiting", ["edge"], 60_000);
  const senders = createPieceSenders(store);
  /** As it arrives over the bus. */
  const said = (name: string, piece: Piece) => senders.refusal(name, decodePiece(encodePiece(piece))!);

  const signed = signedPiece("fra", PIECE, fra);
  assert.equal(await said("fra", signed), null);
  const forged: readonly Piece[] = [
    ...[{ epoch: "f" }, { source: "logs" as const }, { from: { segment: 0, at: 0 } }, { to: { segment: 2, at: 9 } }].map((other) => ({
      ...signed,
      ...other,
    })),
    ...[{ pieces: 2 }, { pieces: 2, index: 1 }, { bytes: Buffer.from("Rows") }, { signature: "" }, { signature: "x".repeat(400) }].map(
      (other) => ({
        ...signed,
        ...other,
      }),
    ),
    signedPiece("fra", PIECE, ams),
    signedPiece("ams", PIECE, fra),
  ];
  for (const piece of forged)
    assert.equal(await said("fra", piece), "the signature is not the node's", JSON.stringify({ ...piece, bytes: "" }));
  assert.equal(await said("ams", signed), "the signature is not the node's");
  assert.match((await said("fra", PIECE)) ?? "", /no signature/);
  assert.match((await said("ams", PIECE)) ?? "", /no signature/, "it has joined with a program that signs");
  for (const name of ["nobody", "waiting"]) assert.equal(await said(name, signedPiece(name, PIECE, fra)), "control knows no such node");

  // A node of the former release, until it is of this one.
  assert.equal(await said("old", PIECE), null);
  assert.equal(await said("old", signedPiece("old", PIECE, fra)), "the signature is not the node's");
  assert.equal(await said("old", PIECE), null);
  assert.equal(await said("old", signedPiece("old", PIECE, old)), null);
  assert.match((await said("old", PIECE)) ?? "", /no signature/);
  assert.match((await createPieceSenders(store).refusal("old", PIECE)) ?? "", /no signature/, "after a restart too");
});
