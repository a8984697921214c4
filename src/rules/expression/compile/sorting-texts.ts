import type { Work } from "#kernel/process/slices.ts";

/** Sorts texts in steps: runs of some, and then merges of these. */
export function* sortingTexts(texts: readonly string[]): Work<readonly string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += RUN) {
    runs.push(texts.slice(at, at + RUN).sort());
    yield RUN;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merging(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

const RUN = 1_000;

function* merging(a: readonly string[], b: readonly string[]): Work<string[]> {
  const merged: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const [left, right] = [a[i], b[j]];
    const isLeft = right === undefined || (left !== undefined && left <= right);
    merged.push((isLeft ? left : right) ?? "");
    if (isLeft) i += 1;
    else j += 1;
    if (merged.length % RUN === 0) yield RUN / 10;
  }
  return merged;
}
