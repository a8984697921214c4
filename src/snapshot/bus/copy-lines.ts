import { createHash, type KeyObject, sign, verify } from "node:crypto";
import { Readable } from "node:stream";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import type { Op } from "#snapshot/entries.ts";
import type { Position, SnapshotPages } from "#snapshot/feed.ts";
import { RefusedMessage } from "./bus-message.ts";

// A full copy on the bus: zstd of a line for each op, and a last line that names the position and signs the sum of the others.

const OPS_A_PAGE = 1_000;
/** Size limit of one decompressed line in bytes: far above the largest entry. */
const LINE_BYTES_MAX = 64 << 20;

const LINE_END = 0x0a;

interface End extends Position {
  readonly sha256: string;
  readonly sig: string;
}

const signedEnd = ({ history, rev, sha256 }: Omit<End, "sig">): Buffer => Buffer.from(`copy ${history} ${rev} ${sha256}`);

export function packCopy(at: Position, pages: SnapshotPages, key: KeyObject): Readable {
  const sum = createHash("sha256");
  async function* lines(): AsyncGenerator<string> {
    for await (const page of pages) {
      const text = page.map((op) => `${JSON.stringify(op)}\n`).join("");
      sum.update(text);
      if (text !== "") yield text;
    }
    const end = { history: at.history, rev: at.rev, sha256: sum.digest("hex") };
    yield `${JSON.stringify({ end: { ...end, sig: sign(null, signedEnd(end), key).toString("base64url") } })}\n`;
  }
  const packing = createZstdCompress();
  const text = Readable.from(lines());
  text.on("error", (error) => packing.destroy(error));
  return text.pipe(packing);
}

/** Pages as they arrive, never all in memory; they count only if it does not throw RefusedMessage at the end. */
export async function* unpackCopy(pieces: AsyncIterable<Uint8Array>, expected: Position, key: KeyObject): AsyncGenerator<readonly Op[]> {
  const packed = Readable.from(pieces);
  const unpacking = createZstdDecompress();
  packed.on("error", (error) => unpacking.destroy(error));
  const sum = createHash("sha256");
  let page: Op[] = [];
  let end: End | null = null;
  for await (const line of linesOf(packed.pipe(unpacking))) {
    if (end !== null) throw new RefusedMessage("the full copy has more lines after its end");
    if (line.startsWith('{"end":')) {
      end = (JSON.parse(line) as { end: End }).end;
      continue;
    }
    sum.update(`${line}\n`);
    page.push(JSON.parse(line) as Op);
    if (page.length < OPS_A_PAGE) continue;
    yield page;
    page = [];
  }
  if (end === null) throw new RefusedMessage("the full copy is cut off");
  const isExpected = end.history === expected.history && end.rev === expected.rev && end.sha256 === sum.digest("hex");
  if (!isExpected || !verify(null, signedEnd(end), key, Buffer.from(end.sig, "base64url")))
    throw new RefusedMessage("the full copy is not the one that control signed");
  yield page;
}

/** Lines without their line ends. Refuses a line that is too long before it has been read completely. */
async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]).toString();
      [begun, length, from] = [[], 0, end + 1];
    }
    begun.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > LINE_BYTES_MAX) throw new RefusedMessage("the full copy has a line that is too long");
  }
  if (length > 0) throw new RefusedMessage("the full copy is cut off");
}
