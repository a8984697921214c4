/**
 * Node's `http` without what it loads for others: an `import` reads every export at once, and that of `WebSocket` brings
 * in the whole of `fetch`, some 5 MB and a tenth of a second in every thread.
 */
export const { STATUS_CODES, createServer, request } = process.getBuiltinModule("node:http");
