import { parentPort } from "node:worker_threads";
import { begins, RULES, startHeartbeat } from "#kernel/process/heartbeat.ts";

/** A thread that blocks from the first message until the shared number in it is 1. */
parentPort?.on("message", (until: Int32Array) => {
  begins(RULES, "ruleset-7");
  while (Atomics.wait(until, 0, 0) !== "not-equal");
});
parentPort?.postMessage(startHeartbeat());
