import { gunzipSync } from "node:zlib";

/** A file of an archive. */
export interface ArchivedFile {
  readonly path: string;
  readonly content: Buffer;
}

const BYTES_MAX = 256 << 20;
const FILES_MAX = 20_000;
const BLOCK = 512;

/** The plain files of a `.tar.gz`, as POSIX (ustar, pax) and GNU tar write it. Throws if it is not such an archive. */
export function readTarGz(bytes: Buffer): readonly ArchivedFile[] {
  const tar = gunzipSync(bytes, { maxOutputLength: BYTES_MAX });
  const files: ArchivedFile[] = [];
  let longName = "";
  for (let at = 0; at + BLOCK <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = Number.parseInt(textOf(header, 124, 12), 8);
    if (textOf(header, 257, 5) !== "ustar" || Number.isNaN(size) || at + BLOCK + size > tar.length) throw new Error("not a tar archive");
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    const type = String.fromCharCode(header[156]!);
    if (type === "L") longName = textOf(content, 0, content.length);
    else if (type === "x") longName = paxPath(content.toString("utf8"));
    else {
      const prefix = textOf(header, 345, 155);
      const path = longName || (prefix === "" ? textOf(header, 0, 100) : `${prefix}/${textOf(header, 0, 100)}`);
      longName = "";
      if (type === "0" || type === "\0") files.push({ path, content });
      if (files.length > FILES_MAX) throw new Error(`more than ${FILES_MAX} files in the archive`);
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** The path of the next file in a pax header; empty without one. */
const paxPath = (header: string): string => {
  const line = header.split("\n").find((record) => record.includes(" path=")) ?? "";
  return line.slice(line.indexOf("=") + 1);
};

/** Up to a null byte. */
function textOf(bytes: Buffer, from: number, length: number): string {
  const text = bytes.toString("latin1", from, from + length);
  const end = text.indexOf("\0");
  return (end === -1 ? text : text.slice(0, end)).trim();
}
