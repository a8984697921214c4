import { closeSync } from "node:fs";

/** A bit for each descriptor that a process on Linux may have by default (fs.nr_open, proc_sys_fs(5)); beyond it none is kept. */
const DESCRIPTORS_MAX = 2 ** 20;

/**
 * The descriptors that this thread has opened past Node.js, which closes its own ones when a thread ends. Shared, so that
 * whoever started the thread can close what it leaves: a port that nobody accepts at keeps its share of the connections.
 */
export const OWN_DESCRIPTORS = new Int32Array(new SharedArrayBuffer(DESCRIPTORS_MAX / 8));

/** Says what `fd` is, as the call that opened it returned it: below zero it is no descriptor. */
export function opened(fd: number): number {
  if (fd >= 0 && fd < DESCRIPTORS_MAX) OWN_DESCRIPTORS[fd >> 5]! |= 1 << (fd & 31);
  return fd;
}

/** Before it is closed or Node's: afterwards its number may be another thread's. */
export function letGo(fd: number): void {
  if (fd >= 0 && fd < DESCRIPTORS_MAX) OWN_DESCRIPTORS[fd >> 5]! &= ~(1 << (fd & 31));
}

/** Closes what a thread has left that is no more. Returns how many there were. */
export function closeLeft(descriptors: Int32Array): number {
  let count = 0;
  for (let word = 0; word < descriptors.length; word++) {
    for (let bits = descriptors[word]!; bits !== 0; bits &= bits - 1, count++) {
      try {
        closeSync(word * 32 + 31 - Math.clz32(bits & -bits));
      } catch {
        // It was closed in the thread's last moment.
      }
    }
    descriptors[word] = 0;
  }
  return count;
}
