import { closeSync } from "node:fs";
import type { Server } from "node:net";

/** One bit per descriptor, up to Linux's default limit (fs.nr_open, proc_sys_fs(5)); higher ones are not recorded. */
const DESCRIPTORS_MAX = 2 ** 20;

/**
 * Descriptors that this thread opened without Node.js, which closes only its own when a thread ends. Shared, so that the
 * parent can close them after a crash: a listening socket that nobody accepts from would still receive its share of
 * connections.
 */
export const OWN_DESCRIPTORS = new Int32Array(new SharedArrayBuffer(DESCRIPTORS_MAX / 8));

/** Records `fd`, the result of the call that opened it; ignores negative values. */
export function opened(fd: number): number {
  if (fd >= 0 && fd < DESCRIPTORS_MAX) OWN_DESCRIPTORS[fd >> 5]! |= 1 << (fd & 31);
  return fd;
}

/** Call before closing `fd` or giving it to Node.js: afterwards, another thread may get its number. */
export function releaseFd(fd: number): void {
  if (fd >= 0 && fd < DESCRIPTORS_MAX) OWN_DESCRIPTORS[fd >> 5]! &= ~(1 << (fd & 31));
}

/** The descriptor of a listening server of Node.js, which has no public property for it; undefined if it has none. */
export function descriptorOf(server: Server): number | undefined {
  const { _handle: handle } = server as Server & { readonly _handle?: { readonly fd?: number } | null };
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined;
}

/** Closes the descriptors that an ended thread left open. Returns their number. */
export function closeOpenDescriptors(descriptors: Int32Array): number {
  let count = 0;
  for (let word = 0; word < descriptors.length; word++) {
    for (let bits = descriptors[word]!; bits !== 0; bits &= bits - 1, count++) {
      try {
        closeSync(word * 32 + 31 - Math.clz32(bits & -bits));
      } catch {
        // The thread closed it just before it ended.
      }
    }
    descriptors[word] = 0;
  }
  return count;
}
