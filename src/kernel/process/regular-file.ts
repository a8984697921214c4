import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { devNull } from "node:os";

/** More than the authorities that a system trusts have. */
const BYTES_MAX = 4 * 1024 * 1024;

/**
 * The bytes of a file that the operator names, which a running server reads again. Throws an Error for one that is larger, and for a
 * pipe or a device, which could hold the thread or never end. The null device is an empty file, as operators use it.
 */
export function readRegularFile(path: string, bytesMax = BYTES_MAX): Buffer {
  if (path === devNull) return Buffer.alloc(0);
  const { fd, status } = openRegularFile(path);
  try {
    if (status.size > bytesMax) throw new Error(`${path} has ${status.size} bytes, more than ${bytesMax}`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Opens such a file, which the caller closes, for reading. Throws an Error, at once also for a pipe, whose other end may never come. */
export function openRegularFile(path: string): { readonly fd: number; readonly status: Stats } {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const status = fstatSync(fd);
  if (status.isFile()) return { fd, status };
  closeSync(fd);
  throw new Error(`${path} is not a regular file`);
}
