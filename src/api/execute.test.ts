import assert from "node:assert/strict";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { test } from "node:test";
import type { Control } from "#control/control.ts";
import { createExecutor, type Execution } from "./execute.ts";
import type { Edition, Route } from "./route.ts";

test("a client that leaves before the first part of a stream frees what the stream holds, once", async () => {
  let [read, freed] = [0, 0];
  const body: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => body,
    next: async () => (read++, { done: false, value: "part" }),
    return: async () => (freed++, { done: true, value: undefined }),
  };
  const handler = async () => ({ type: "text/event-stream", body });
  const route = {
    method: "GET",
    path: "/stream",
    id: "stream",
    paging: "raw",
    media_type: "text/event-stream",
    handler,
  } as unknown as Route;
  const execute = createExecutor(route, {} as Control, async () => ({ behind: [] }), {} as Edition);
  const execution = {
    call: { rev: null },
    resolved: {},
    params: {},
    query: {},
    body: undefined,
    dated: null,
    stillAllowed: async () => true,
  };
  const left = (await execute(execution as unknown as Execution)).body as Readable;
  left.destroy();
  await once(left, "close");
  assert.deepEqual([read, freed], [0, 1]);
});
