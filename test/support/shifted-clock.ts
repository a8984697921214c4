// Loaded before a program (`node --import`): every thread of it reads another time of day, `TEST_CLOCK_SHIFT_MS` from the machine's.

const shiftMs = Number(process.env["TEST_CLOCK_SHIFT_MS"]);
const { now } = Date;
const { timeOrigin } = performance;
Date.now = () => now() + shiftMs;
Object.defineProperty(performance, "timeOrigin", { get: () => timeOrigin + shiftMs });
