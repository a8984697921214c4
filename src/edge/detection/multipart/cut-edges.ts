import { type BodyCut, isCutAtEnd, isCutAtStart } from "#edge/detection/body-cut.ts";
import type { Transcoder } from "#edge/detection/transcoder.ts";

/** Bytes left out at a cut, at most: few numbers and keys are longer. */
const EDGE_BYTES = 64;
const [LINE_FEED, RETURN, SPACE] = [0x0a, 0x0d, 0x20];

/** Characters that never occur within a number or a key. */
const ENDS = new Set(Array.from("\"'<>{}()[],\r\n\t|", (char) => char.charCodeAt(0)));

/**
 * A separate word of running text: neither a number nor a key continues after it. Groups of numbers are capitals and
 * digits, often with one small letter.
 */
// linear: pumped
const WORD = /^(?=[A-Z]*[a-z])[A-Za-z]{2,}$/;
/** Matches up to the last of such a character and such a word. */
// linear: pumped
const TO_LAST_END = /^.*(?:["'<>{}()[\],\r\n\t|]|(?<= )(?=[A-Z]*[a-z])[A-Za-z]{2,}(?= ))/s;

/** Reads the beginning of a part byte by byte. Returns true where scanning may start. */
function edgeReader(): (byte: number) => boolean {
  let left = EDGE_BYTES;
  // Undefined until the first space: the beginning of a cut word is unknown.
  let word: string | undefined;
  return (byte) => {
    const isBehindWord = byte === SPACE && word !== undefined && WORD.test(word);
    if (byte === SPACE) word = "";
    else if (word !== undefined) word += String.fromCharCode(byte);
    return ENDS.has(byte) || isBehindWord || --left <= 0;
  };
}

/** Leaves out words at the ends where a part was cut from something longer. `end` does not end `to`. */
export function withoutCutEdges(cut: BodyCut, to: Transcoder): Transcoder {
  let isBehindEdge = !isCutAtStart(cut);
  const reachesEnd = edgeReader();
  const isEndCut = isCutAtEnd(cut);
  let held: Buffer = Buffer.alloc(0);
  return {
    write: (bytes) => {
      let at = 0;
      while (!isBehindEdge && at < bytes.length) isBehindEdge = reachesEnd(bytes[at++] as number);
      if (!isEndCut) return to.write(bytes.subarray(at));
      const all = Buffer.concat([held, bytes.subarray(at)]);
      const whole = Math.max(0, all.length - EDGE_BYTES);
      to.write(all.subarray(0, whole));
      held = all.subarray(whole);
    },
    end: () => {
      // The last line's end belongs to the delimiter after it.
      let end = held.length;
      if (held[end - 1] === LINE_FEED) end--;
      if (held[end - 1] === RETURN) end--;
      to.write(held.subarray(0, TO_LAST_END.exec(held.toString("latin1", 0, end))?.[0].length ?? 0));
    },
  };
}
