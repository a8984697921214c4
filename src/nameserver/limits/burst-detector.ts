/**
 * Whether datagrams arrive so fast that waiting for larger batches pays. Called with the number of datagrams received and
 * the time on a monotonic scale.
 */
export type FloodGauge = (datagrams: number, nowMs: number) => boolean;

/** So many datagrams within the time start a flood. */
const BEGIN_DATAGRAMS = 80;
const BEGIN_MS = 4;
/** A flood ends if fewer than this arrive in the time, which is longer than short pauses of a sender. */
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
