import type { RequestListener, Server, ServerOptions } from "node:http";
import { limitRequestsAhead } from "./requests-ahead.ts";

const http = process.getBuiltinModule("node:http");

/**
 * Node's `http` without `WebSocket`: an `import` evaluates all exports, and that one loads all of `fetch`, about 5 MB
 * and a tenth of a second per thread.
 */
export const { Agent, STATUS_CODES, request } = http;

/** A server that reads few requests ahead. */
export function createServer(options: ServerOptions, listener: RequestListener): Server {
  const server = http.createServer(options, listener);
  limitRequestsAhead(server);
  return server;
}
