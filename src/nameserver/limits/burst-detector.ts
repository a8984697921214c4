/** Tells whether datagrams come so fast that it pays to let some gather: to be told how many were taken, and when on a scale that never jumps. */
export type FloodGauge = (datagrams: number, nowMs: number) => boolean;

/** So many within the time begin one. */
const BEGIN_DATAGRAMS = 80;
const BEGIN_MS = 4;
/** It is over when there were fewer in this time, which is long enough for a pause of whoever sends them. */
const END_DATAGRAMS = 80;
const END_MS = 8;

export function createFloodGauge(): FloodGauge {
  let isFlood = false;
  let windowStartMs = 0;
  let taken = 0;
  return (datagrams, nowMs) => {
    const elapsedMs = nowMs - windowStartMs;
    if (elapsedMs >= (isFlood ? END_MS : BEGIN_MS)) {
      isFlood &&= taken >= END_DATAGRAMS;
      windowStartMs = nowMs;
      taken = 0;
    }
    taken += datagrams;
    isFlood ||= taken >= BEGIN_DATAGRAMS;
    return isFlood;
  };
}
