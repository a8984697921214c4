import { createHmac } from "node:crypto";
import type { Detector } from "./detector.ts";
import { render, renderBuffer } from "./rendered.ts";
import { withoutSpelled } from "#rules/detectors/checks/separators.ts";

/** Identifies values for a zone's allow-list without revealing them: 32 hexadecimal characters. */
export type ValueHash = (zoneId: string, detector: Detector, text: string) => string;

/** Purpose for which the key of value hashes is derived from the sealing key (kernel/crypto/seal.ts). */
export const VALUE_HASH_PURPOSE = "sensitive-data";

/**
 * HMAC-SHA-256 under a key per zone, which cannot be derived without the installation's key: otherwise short numbers
 * could be found by trying them all. A number has the same hash in any grouping, and a secret with any escapes.
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

/** `&lt;` in passport zones, whose sign is dropped anyway. */
const NAMED_ENTITY = /&[a-z]{2,6};/gi;

/** A key has one form, whether JSON, a page or an address escapes its signs or not, and wherever its lines end. */
function shownText(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  const room = renderBuffer(bytes.length);
  return room.bytes.toString("latin1", 0, render(bytes, 0, bytes.length, room)).replace(/\\[nrt]|\s/g, "");
}

/** The ends of a value, with stars between them; only stars for a short one. */
export function maskedSample(text: string): string {
  const characters = Array.from(text);
  const { length } = characters;
  const shown = length >= 12 ? 4 : length >= 8 ? 2 : 0;
  const tail = length >= 12 ? 4 : 0;
  const stars = "*".repeat(Math.min(SAMPLE_STARS_MAX, length - shown - tail));
  return characters.slice(0, shown).join("") + stars + characters.slice(length - tail).join("");
}

const SAMPLE_STARS_MAX = 16;
