import type { Clock } from "#kernel/clock.ts";
import type { NodeBatch } from "#events/rows/node-batch.ts";
import { PIECE_BYTES, type Piece, type PieceAnswer } from "./event-pieces.ts";

/** Puts the chunks of nodes' batches together. */
export interface EventAssembly {
  /** The whole batch with its last chunk; else the answer to the node. */
  add(node: string, piece: Piece): NodeBatch | PieceAnswer;
  clear(): void;
}

export interface EventAssemblyDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Of all nodes together. */
  readonly bytesMax?: number;
}

/** Chunks of a batch that has not arrived completely. */
interface Assembly {
  readonly key: string;
  readonly parts: Uint8Array[];
  /** When its last chunk came. */
  atMs: number;
}

const BYTES_MAX = 256 * 1024 * 1024;
/** A node on a slow line sends a chunk in less; others never send the next one. */
const IDLE_MS = 120_000;

export function createEventAssembly({ clock, bytesMax = BYTES_MAX }: EventAssemblyDeps): EventAssembly {
  /** By node, then by source. */
  const nodes = new Map<string, Map<string, Assembly>>();
  let waitingBytes = 0;

  const bytesOf = ({ parts }: Assembly): number => parts.reduce((sum, part) => sum + part.length, 0);
  const forget = (node: string, source: string): void => {
    const sources = nodes.get(node);
    const assembly = sources?.get(source);
    if (sources === undefined || assembly === undefined) return;
    waitingBytes -= bytesOf(assembly);
    sources.delete(source);
    if (sources.size === 0) nodes.delete(node);
  };
  const forgetIdle = (nowMs: number): void => {
    for (const [node, sources] of nodes) for (const [source, { atMs }] of sources) if (nowMs - atMs > IDLE_MS) forget(node, source);
  };
  /** A node may hold as much as it leaves free, so that one that never ends its batches does not keep out the others. */
  const hasRoom = (node: string, bytes: number): boolean => {
    const own = [...(nodes.get(node)?.values() ?? [])].reduce((sum, assembly) => sum + bytesOf(assembly), 0);
    return own + bytes <= bytesMax - waitingBytes - bytes;
  };

  return {
    add: (node, piece) => {
      const { source, epoch, from, to, index, pieces, bytes } = piece;
      const nowMs = clock.monotonicMs();
      if (bytes.length > PIECE_BYTES) return { error: `a piece has at most ${PIECE_BYTES} bytes` };
      const key = JSON.stringify([epoch, from, to, pieces]);
      if (index === 0) {
        forgetIdle(nowMs);
        forget(node, source);
        const sources = nodes.get(node) ?? new Map<string, Assembly>();
        nodes.set(node, sources.set(source, { key, parts: [], atMs: nowMs }));
      }
      const assembly = nodes.get(node)?.get(source);
      if (assembly?.key !== key || assembly.parts.length !== index) return { next: 0 };
      if (!hasRoom(node, bytes.length)) {
        forget(node, source);
        return { error: "control has too many batches at once" };
      }
      // A copy: the client's buffer is of many messages.
      assembly.parts.push(Buffer.from(bytes));
      assembly.atMs = nowMs;
      waitingBytes += bytes.length;
      if (index + 1 < pieces) return { next: index + 1 };
      forget(node, source);
      return { ...{ node, source, epoch, from, to }, bytes: Buffer.concat(assembly.parts) };
    },
    clear: () => {
      nodes.clear();
      waitingBytes = 0;
    },
  };
}
