/**
 * Node's `http` without `WebSocket`: an `import` evaluates all exports, and that one loads all of `fetch`, about 5 MB
 * and a tenth of a second per thread.
 */
export const { Agent, STATUS_CODES, createServer, request } = process.getBuiltinModule("node:http");
