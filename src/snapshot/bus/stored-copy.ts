import type { KeyObject } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import type { Op } from "#snapshot/entries.ts";
import type { Position } from "#snapshot/feed.ts";
import { COPIES, FULL_BUCKET, type FullName } from "./bus-message.ts";
import { unpackCopy } from "./copy-lines.ts";
import { checkedPieces, type CopyLabel } from "./copy-pieces.ts";

interface StoredCopy {
  readonly nuid: string;
  readonly chunks: number;
  readonly metadata?: Partial<CopyLabel>;
}

/** Opens a full copy that a signed heartbeat names. `get`: one message of a stream, or null. */
export async function openStoredCopy(
  get: (stream: string, which: object) => Promise<Msg | null>,
  full: FullName,
  at: Position,
  key: KeyObject,
): Promise<AsyncIterable<readonly Op[]>> {
  const stream = COPIES;
  const meta = await get(stream, { last_by_subj: `$O.${FULL_BUCKET}.M.${encodedName(full.name)}` });
  if (meta === null) throw new Error(`the full copy ${full.name} is not in the object store`);
  const { nuid, chunks, metadata } = meta.json<StoredCopy>();
  async function* stored(): AsyncGenerator<Uint8Array> {
    for (let [i, seq] = [0, 1]; i < chunks; i++) {
      const message = await get(stream, { seq, next_by_subj: `$O.${FULL_BUCKET}.C.${nuid}` });
      if (message === null) throw new Error("the full copy was replaced while it was read");
      seq = Number(message.headers?.get("Nats-Sequence")) + 1;
      yield message.data;
    }
  }
  return unpackCopy(full.pieces === undefined ? stored() : checkedPieces(stored(), metadata, full.pieces), at, key);
}

/** As the object store writes names into subjects. */
const encodedName = (name: string): string => Buffer.from(name).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
