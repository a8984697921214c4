const { copy } = Buffer.prototype;

/**
 * Copies `from[start, end)` to `to`, where there has to be room for it, at the same speed whether threads share the memory or not: `set`
 * of a typed array takes shared memory word by word, ten times as slowly, and so does `copy` of a Buffer if it is asked for all of one.
 */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  const last = end - 1;
  if (last < start) return;
  copy.call(from, to, at, start, last);
  to[at + last - start] = from[last] as number;
}
