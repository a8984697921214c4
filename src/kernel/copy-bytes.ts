const { copy } = Buffer.prototype;

/**
 * Copies `from[start, end)` to `to`, which must have enough space, equally fast for shared and private memory. A typed
 * array's `set` copies shared memory ten times slower, as does `copy` of a whole Buffer.
 */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  const last = end - 1;
  if (last < start) return;
  copy.call(from, to, at, start, last);
  to[at + last - start] = from[last] as number;
}
