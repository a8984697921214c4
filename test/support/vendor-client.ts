import assert from "node:assert/strict";
import Cloudflare from "cloudflare";

/** Every item of every page. */
export async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

/** A check for `assert.rejects` with the vendor's client, which throws the first error of an envelope. */
export const failing =
  (status: number, code: number, pointer?: string) =>
  (error: unknown): true => {
    assert.ok(error instanceof Cloudflare.APIError, String(error));
    const [item] = error.errors as { readonly code: number; readonly source?: { readonly pointer?: string } }[];
    assert.deepEqual([error.status, item?.code], [status, code]);
    if (pointer !== undefined) assert.equal(item?.source?.pointer, pointer);
    return true;
  };
