import assert from "node:assert/strict";
import { PlatformError } from "#kernel/errors/errors.ts";

/** A check for `assert.rejects` and `assert.throws`: an error with this code and, if given, this source and message. */
export const failing =
  (code: number, source?: string, message?: RegExp) =>
  (error: unknown): true => {
    assert.ok(error instanceof PlatformError, String(error));
    assert.equal(error.code, code, error.message);
    if (source !== undefined) assert.equal(error.source, source, error.message);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  };
