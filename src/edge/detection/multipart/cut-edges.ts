import { type BodyCut, isCutAtEnd, isCutAtStart } from "#edge/detection/body-cut.ts";
import type { Transcoder } from "#edge/detection/transcoder.ts";

/** How much is left out at most at a cut: few numbers and keys are longer. */
const EDGE_BYTES = 64;
const [LINE_FEED, RETURN] = [0x0a, 0x0d];

/** None of these stands within a number or a key. */
const ENDS = new Set(Array.from("\"'<>{}()[],\r\n\t|", (char) => char.charCodeAt(0)));

/** Leaves out what goes through the ends of a part that was cut out of something longer; `end` does not end `to`. */
export function withoutCutEdges(cut: BodyCut, to: Transcoder): Transcoder {
  let before = isCutAtStart(cut) ? EDGE_BYTES : 0;
  const isEndCut = isCutAtEnd(cut);
  let held: Buffer = Buffer.alloc(0);
  return {
    write: (bytes) => {
      let at = 0;
      for (; before > 0 && at < bytes.length; at++) before = ENDS.has(bytes[at] as number) ? 0 : before - 1;
      if (!isEndCut) return to.write(bytes.subarray(at));
      const all = Buffer.concat([held, bytes.subarray(at)]);
      const whole = Math.max(0, all.length - EDGE_BYTES);
      to.write(all.subarray(0, whole));
      held = all.subarray(whole);
    },
    end: () => {
      // The last line's end belongs to the delimiter that follows.
      let end = held.length;
      if (held[end - 1] === LINE_FEED) end--;
      if (held[end - 1] === RETURN) end--;
      const last = held.subarray(0, end).findLastIndex((byte) => ENDS.has(byte));
      to.write(held.subarray(0, last + 1));
    },
  };
}
