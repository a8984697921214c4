/** Splits the items into arrays of `size`, in order. */
export function* chunksOf<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let piece: T[] = [];
  for (const item of items) {
    if (piece.push(item) < size) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
