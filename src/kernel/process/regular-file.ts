import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";

/** More than the authorities that a system trusts have. */
const BYTES_MAX = 4 * 1024 * 1024;

/**
 * The bytes of a file that the operator names, which a running server reads again. Throws an Error for one that is larger, and for a
 * pipe or a device, which could hold the thread or never end. The null device is an empty file, as operators use it.
 */
export function readRegularFile(path: string, bytesMax = BYTES_MAX): Buffer {
  if (path === devNull) return Buffer.alloc(0);
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new Error(`${path} is not a regular file`);
    if (status.size > bytesMax) throw new Error(`${path} has ${status.size} bytes, more than ${bytesMax}`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
