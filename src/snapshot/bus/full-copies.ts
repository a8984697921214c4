import type { KeyObject } from "node:crypto";
import { type JetStreamClient, StorageType } from "@nats-io/jetstream";
import { type ObjectStore, Objm } from "@nats-io/obj";
import type { Position, SnapshotPages } from "#snapshot/feed.ts";
import { FULL_BUCKET, type FullName } from "./bus-message.ts";
import { packCopy } from "./copy-lines.ts";
import { COPY_PIECE_BYTES, copyLabel, hashOf, inPieces, labelledPieces } from "./copy-pieces.ts";

const COPY_TIMEOUT_MS = 60_000;

export const openCopies = (js: JetStreamClient): Promise<ObjectStore> => new Objm(js).create(FULL_BUCKET, { storage: StorageType.File });

/** Those of a history that control has signed, the newest first. */
export async function copiesOf(store: ObjectStore, history: string, publicKey: KeyObject): Promise<readonly FullName[]> {
  const signed: FullName[] = [];
  for (const { name, metadata } of await store.list()) {
    const pieces = name.startsWith(`${history}.`) ? labelledPieces(name, metadata, publicKey) : null;
    if (pieces !== null) signed.push({ name, rev: Number(name.split(".")[1]), pieces });
  }
  return signed.toSorted((a, b) => b.rev - a.rev);
}

export async function putCopy(store: ObjectStore, at: Position, pages: SnapshotPages, key: KeyObject): Promise<FullName> {
  const name = `${at.history}.${at.rev}`;
  const hashes: string[] = [];
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const piece of inPieces(packCopy(at, pages, key))) {
      hashes.push(hashOf(piece));
      yield piece;
    }
  }
  const options = { max_chunk_size: COPY_PIECE_BYTES };
  await store.put({ name, options }, ReadableStream.from(hashed()), { timeout: COPY_TIMEOUT_MS });
  const label = copyLabel(name, hashes, key);
  // The hashes are only known when all pieces are stored.
  await store.update(name, { name, options, metadata: { ...label } });
  return { name, rev: at.rev, pieces: hashOf(label.pieces) };
}

/** Deletes all but these. */
export async function keepCopies(store: ObjectStore, kept: readonly FullName[]): Promise<void> {
  const names = new Set(kept.map(({ name }) => name));
  for (const { name } of await store.list()) if (!names.has(name)) await store.delete(name);
}
