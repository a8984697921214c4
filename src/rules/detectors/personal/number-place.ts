import { luhn } from "#rules/detectors/checks/checks.ts";
import type { SurroundingText } from "#rules/detectors/engine/value-place.ts";

/** Last words of the names of identifiers and technical numbers: `tweet_id`, `idStr`, `expiresTs`. */
const WORDS_OF_IDENTIFIERS: ReadonlySet<string> = new Set(
  "id ids identifier identifiers idstr guid uuid uid uids pk rowid snowflake sku gtin upc imei imsi iccid ts timestamp nanos micros nonce seq sequence offset cursor seed checksum fingerprint".split(
    " ",
  ),
);
/** Things that have numbers: `order`, `order_no` and `orderid` name one of theirs. */
const THINGS: ReadonlySet<string> = new Set(
  "order tweet message msg status post comment user member author owner guild channel thread conversation chat group page photo media video event session request trace span transaction txn invoice receipt refund shipment parcel tracking waybill ticket case batch lot serial item product article part job task run build campaign ad device node row record object asset file parent root next prev since max min ref reference correlation".split(
    " ",
  ),
);
const WORDS_FOR_NUMBER = ["ids", "id", "numbers", "number", "num", "no", "nr", "code", "ref", "key", "string", "str"];
/** A name with one of these words can be a card's. */
const NAMES_A_CARD = /card|kart|cart[ea]|tarjeta|^(?:pan|cc|ccn|cvv|debit|credit)$/;

/** The name of a value of JSON, alone or first in an array. */
// linear: at most 256 bytes (value-place.ts)
const KEY_BEFORE = /([A-Za-z][\w.-]{0,63})\\?["']\s{0,3}:\s{0,8}\[?\s{0,32}\\?["']?$/;
/** The name of a value of a script's object or of YAML. `user:4716…` is text with a colon. */
// linear: at most 256 bytes (value-place.ts)
const PLAIN_KEY_BEFORE = /(?:[{,]\s{0,32}([A-Za-z]\w{0,63}):|(?:^|\n)[ \t-]{0,32}([A-Za-z][\w.-]{0,63}): ) {0,8}\[? {0,8}["']?$/;
/**
 * The name of an attribute or of an element. The parameter of a query is not among them: rows keep addresses, so a card
 * there is masked whatever its name is.
 */
// linear: at most 256 bytes (value-place.ts)
const MARKUP_BEFORE = /(?:[\s"']([A-Za-z][\w.:-]{0,63})=["']|<([A-Za-z][\w.:-]{0,63})(?: [^<>]{0,64})?>\s{0,8})$/;
const NUMBER_BEFORE = /(?:^|[^\d.])(\d{13,19})\\?["']?\s{0,8},\s{0,32}\\?["']?$/;
const NUMBER_BEHIND = /^\\?["']?\s{0,8},\s{0,32}\\?["']?(\d{13,19})(?![\d.])/;

/**
 * Whether a number in one piece is an identifier, of which one in ten has a card's check digit: its key says so, or the
 * number beside it in a list, equally long, has not the check digit that all cards have.
 */
export function isIdentifier(value: string, { before, behind }: SurroundingText): boolean {
  if (!/^\d+$/.test(value)) return false;
  const name = nameBefore(before);
  if (name !== null) return namesIdentifier(name);
  return [NUMBER_BEFORE.exec(before)?.[1], NUMBER_BEHIND.exec(behind)?.[1]].some((other) => other?.length === value.length && !luhn(other));
}

function nameBefore(before: string): string | null {
  const [, first, second] = KEY_BEFORE.exec(before) ?? PLAIN_KEY_BEFORE.exec(before) ?? MARKUP_BEFORE.exec(before) ?? [];
  return first ?? second ?? null;
}

function namesIdentifier(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
  if (words.some((word) => NAMES_A_CARD.test(word))) return false;
  while (words.length > 1 && WORDS_FOR_NUMBER.includes(words.at(-1) ?? "") && !WORDS_OF_IDENTIFIERS.has(words.at(-1) ?? "")) words.pop();
  const last = words.at(-1) ?? "";
  return WORDS_OF_IDENTIFIERS.has(last) || ["", ...WORDS_FOR_NUMBER].some((ending) => last.endsWith(ending) && isThing(last, ending));
}

const isThing = (word: string, ending: string): boolean => {
  const thing = word.slice(0, word.length - ending.length);
  return THINGS.has(thing) || (thing.endsWith("s") && THINGS.has(thing.slice(0, -1)));
};
