import { createHmac } from "node:crypto";
import type { Detector } from "./detector.ts";
import { render, renderBuffer } from "./rendered.ts";
import { withoutSpelled } from "#rules/detectors/checks/separators.ts";

/** Tells values apart for a zone's allow-list without saying what they are: 32 hexadecimal characters. */
export type ValueHash = (zoneId: string, detector: Detector, text: string) => string;

/** What the key of value hashes is derived from the sealing key for (kernel/crypto/seal.ts). */
export const VALUE_HASH_PURPOSE = "sensitive-data";

/**
 * HMAC-SHA-256 under a key of each zone, which nobody has without the installation's own: short numbers could be found out by
 * trying them all. A number is the same however it is grouped, a secret however its signs are escaped.
 */
export function createValueHash(key: Uint8Array): ValueHash {
  return (zoneId, detector, text) => {
    const zoneKey = createHmac("sha256", key).update(zoneId).digest();
    return createHmac("sha256", zoneKey).update(valueOf(detector, text), "latin1").digest("hex").slice(0, HASH_CHARACTERS);
  };
}

const HASH_CHARACTERS = 32;

function valueOf(detector: Detector, text: string): string {
  if (detector.category === "custom") return text;
  if (detector.category === "secrets") return shownText(text);
  return withoutSpelled(text)
    .replace(NAMED_ENTITY, "")
    .replace(/[^A-Za-z0-9@]/g, "")
    .toUpperCase();
}

/** `&lt;` in zones of passports: a sign that is dropped anyway. */
const NAMED_ENTITY = /&[a-z]{2,6};/gi;

/** A key is the same whether JSON, a page or an address writes its signs plainly or as escapes, and wherever its lines end. */
function shownText(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  const room = renderBuffer(bytes.length);
  return room.bytes.toString("latin1", 0, render(bytes, 0, bytes.length, room)).replace(/\\[nrt]|\s/g, "");
}

/** The ends of a value, the rest as stars; of a short one nothing. */
export function maskedSample(text: string): string {
  const characters = Array.from(text);
  const { length } = characters;
  const shown = length >= 12 ? 4 : length >= 8 ? 2 : 0;
  const tail = length >= 12 ? 4 : 0;
  const stars = "*".repeat(Math.min(SAMPLE_STARS_MAX, length - shown - tail));
  return characters.slice(0, shown).join("") + stars + characters.slice(length - tail).join("");
}

const SAMPLE_STARS_MAX = 16;
