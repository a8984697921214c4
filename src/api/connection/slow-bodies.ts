import type { IncomingMessage } from "node:http";
import type { Clock } from "#kernel/clock.ts";
import { answerBrokenRequest } from "./broken-request.ts";

/**
 * Time that a client may take to send a body: `firstMs`, plus one second for every `bytesPerSecondMin` received bytes. So
 * a large body on a slow line is accepted, and one that stops or trickles is ended.
 */
export interface BodyPace {
  readonly firstMs: number;
  readonly bytesPerSecondMin: number;
}

/** The speed of a slow 2G line. */
export const BODY_PACE: BodyPace = { firstMs: 30_000, bytesPerSecondMin: 2_000 };

interface Upload {
  readonly request: IncomingMessage;
  readonly startedMs: number;
  /** Bytes of its connection when the request began. */
  readonly bytesBefore: number;
}

export interface SlowBodies {
  /** Must be called for each request. */
  watch(request: IncomingMessage): void;
  /** Ends requests that are too slow by now; must be called every few seconds. */
  sweep(): void;
}

/** Ends requests whose bodies arrive more slowly than `pace` allows, with 408 if no answer was sent yet. */
export function createSlowBodies(clock: Pick<Clock, "monotonicMs">, pace: BodyPace = BODY_PACE): SlowBodies {
  const uploads = new Map<IncomingMessage, Upload>();
  return {
    watch: (request) => {
      const { "content-length": length, "transfer-encoding": coding } = request.headers;
      if ((length === undefined || length === "0") && coding === undefined) return;
      uploads.set(request, { request, startedMs: clock.monotonicMs(), bytesBefore: request.socket.bytesRead });
      const forget = (): void => void uploads.delete(request);
      request.once("end", forget).once("close", forget);
    },
    sweep: () => {
      const nowMs = clock.monotonicMs();
      for (const { request, startedMs, bytesBefore } of uploads.values()) {
        const { socket } = request;
        const allowedMs = pace.firstMs + ((socket.bytesRead - bytesBefore) / pace.bytesPerSecondMin) * 1_000;
        if (nowMs - startedMs <= allowedMs) continue;
        uploads.delete(request);
        answerBrokenRequest(Object.assign(new Error("the body arrives too slowly"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
      }
    },
  };
}
