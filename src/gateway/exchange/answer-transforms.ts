import type { AnswerHead, AnswerTransform, MakeTransform } from "#gateway/request/plan.ts";

/** The transforms that a response passes through, in their order, and its head after them. */
export interface Transformed {
  /** Undefined if no transform is interested: the response passes as it comes. */
  readonly transforms: readonly AnswerTransform[] | undefined;
  readonly head: AnswerHead;
}

/** Creates the transforms of a response. Throws a `RefusalError` if one of them refuses it. */
export function transformsFor(head: AnswerHead, makers: readonly MakeTransform[]): Transformed {
  const transforms: AnswerTransform[] = [];
  let current = head;
  for (const make of makers) {
    const transform = make(current);
    if (transform === undefined) continue;
    transforms.push(transform);
    current = transform.head(current);
  }
  if (transforms.length === 0) return { transforms: undefined, head };
  // The length is known only at the end.
  const { "content-length": _length, ...headers } = current.headers;
  return { transforms, head: { status: current.status, headers } };
}

/** A chunk after all transforms; undefined or empty if nothing is to be sent for it yet. */
export function transformed(transforms: readonly AnswerTransform[], bytes: Buffer): Buffer | undefined {
  let current: Buffer | undefined = bytes;
  for (const transform of transforms) {
    if (current === undefined || current.length === 0) return undefined;
    current = transform.chunk(current);
  }
  return current;
}

/** The remaining output of each transform, passed through those after it. */
export function transformedEnd(transforms: readonly AnswerTransform[]): Buffer | undefined {
  let left: Buffer | undefined;
  for (const transform of transforms) {
    const passed: Buffer | undefined = left === undefined || left.length === 0 ? undefined : transform.chunk(left);
    const own = transform.end();
    left = passed === undefined ? own : own === undefined ? passed : Buffer.concat([passed, own]);
  }
  return left;
}
