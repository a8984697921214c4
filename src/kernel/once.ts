/** A function that computes its value at the first call and returns the same value at each later one. */
export function once<T>(compute: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => (found ??= { value: compute() }).value;
}
