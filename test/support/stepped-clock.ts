// Loaded before a program (`node --import`): every thread of it reads a time of day that the file `TEST_CLOCK_FILE` moves by milliseconds.

import { readFileSync } from "node:fs";

const path = String(process.env["TEST_CLOCK_FILE"]);
const LOOK_EVERY_MS = 50;
const { now } = Date;
const { timeOrigin } = performance;
let [shiftMs, lookedMs] = [0, -Infinity];

function shift(): number {
  if (performance.now() - lookedMs > LOOK_EVERY_MS) {
    lookedMs = performance.now();
    shiftMs = Number(readFileSync(path, "utf8"));
  }
  return shiftMs;
}

Date.now = () => now() + shift();
Object.defineProperty(performance, "timeOrigin", { get: () => timeOrigin + shift() });
