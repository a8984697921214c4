import type { ClientDeadlineLimits } from "#wire/connections/http/client-deadlines.ts";
import type { SessionLimits } from "#wire/http2/session.ts";
import type { WindowLimits } from "#wire/http2/window-budget.ts";
import type { GatewayLimits } from "#gateway/config.ts";
import { IDLE_SECONDS } from "./response-writer.ts";

/** A slow provider delays the client that sends to it, so a body has a time limit for all of it and no minimum rate. */
export const deadlinesOf = ({ requestTimeoutMs, idleTimeoutMs }: GatewayLimits): ClientDeadlineLimits => ({
  headTimeoutMs: 10_000,
  idleTimeoutMs: IDLE_SECONDS * 1000,
  progressWindowMs: idleTimeoutMs,
  progressBytesMin: 4096,
  bodyWindowMs: requestTimeoutMs,
  bodyBytesMin: 0,
  bodyTimeoutMs: requestTimeoutMs,
  // Sockets of upgraded connections are handed over (`realtime/`).
  tunnelIdleTimeoutMs: Infinity,
  lingerMs: 2_000,
});

/** Bytes that the streams of one connection may send before they are read are bounded as at the edge. */
export const HTTP2_LIMITS: SessionLimits = {
  streamsMax: 200,
  windowBytes: 65_536,
  windowBytesMax: 8_388_608,
  headBytesMax: 65_536,
  fieldsMax: 512,
  resetsMax: 400,
  resetsPerSecond: 50,
  allowsWebSockets: false,
};

export const HTTP2_WINDOWS: WindowLimits = { connectionBytesMax: 16_777_216, addressBytesMax: 33_554_432, bytesMax: 134_217_728 };
