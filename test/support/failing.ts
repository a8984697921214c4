import assert from "node:assert/strict";
import { PlatformError } from "#kernel/errors/errors.ts";

/** What `assert.rejects` and `assert.throws` expect: an error with this code and, where they are given, this source and message. */
export const failing =
  (code: number, source?: string, message?: RegExp) =>
  (error: unknown): true => {
    assert.ok(error instanceof PlatformError, String(error));
    assert.equal(error.code, code, error.message);
    if (source !== undefined) assert.equal(error.source, source, error.message);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  };
