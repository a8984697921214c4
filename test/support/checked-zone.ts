import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A record in wire format: owner and RDATA in hexadecimal. */
export interface WireRecord {
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: string;
}

/**
 * BIND's reading of a zone file, from its raw form, without our own parser. `out` is a path that may be written. Throws
 * with BIND's message if it refuses the file.
 */
export async function checkedZone(origin: string, path: string, out: string): Promise<readonly WireRecord[]> {
  const args = ["-q", "-i", "none", "-k", "ignore", "-n", "ignore", "-D", "-F", "raw", "-o", out, origin, path];
  try {
    await run("named-checkzone", args, { timeout: 60_000 });
  } catch (error) {
    const { stdout = "" } = await run("named-checkzone", args.slice(1), { timeout: 60_000 }).catch((again: { stdout?: string }) => again);
    throw new Error(`named-checkzone refuses ${path}: ${stdout}`, { cause: error });
  }
  return rawRecords(await readFile(out));
}

const HEADER_BYTES = 24;

/** The second version of BIND's raw format: a header, then record sets, each with its length. */
function rawRecords(raw: Buffer): readonly WireRecord[] {
  const records: WireRecord[] = [];
  for (let set = HEADER_BYTES; set < raw.length; set += raw.readUInt32BE(set)) {
    const [type, ttl, count] = [raw.readUInt16BE(set + 6), raw.readUInt32BE(set + 10), raw.readUInt32BE(set + 14)];
    const ownerEnd = set + 20 + raw.readUInt16BE(set + 18);
    const owner = raw.toString("hex", set + 20, ownerEnd);
    for (let i = 0, at = ownerEnd; i < count; i++) {
      const end = at + 2 + raw.readUInt16BE(at);
      records.push({ owner, type, ttl, rdata: raw.toString("hex", at + 2, end) });
      at = end;
    }
  }
  return records;
}
