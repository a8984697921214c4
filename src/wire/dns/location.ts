import { RdataError, WireError } from "./errors.ts";
import type { FieldCodec } from "./field-codecs.ts";

/** A location in the units of the wire format (RFC 1876 §2). */
interface Location {
  /** Thousandths of a second of arc; north and east of the reference lines are positive. */
  readonly latitude: number;
  readonly longitude: number;
  /** Centimetres above 100 km below the WGS 84 ellipsoid. */
  readonly altitude: number;
  /**
   * Diameter of the enclosing sphere and the two precisions: the high half byte is a digit, the low one a power of ten,
   * in centimetres.
   */
  readonly size: number;
  readonly horizontal: number;
  readonly vertical: number;
}

const EQUATOR = 2 ** 31;
const BASE_CENTIMETRES = 10_000_000;
const DEGREE = 3_600_000;
const LATITUDE_MAX = 90 * DEGREE;
const LONGITUDE_MAX = 180 * DEGREE;
const METRES_MIN = -100_000;
const METRES_MAX = 42_849_672.95;
const EXTENT_METRES_MAX = 90_000_000;
const RDATA_BYTES = 16;

/** Defaults of RFC 1876 §3: a size of one metre, precisions of ten kilometres and ten metres. */
const DEFAULT_METRES = { size: 1, precision_horz: 10_000, precision_vert: 10 } as const;

/** A whole LOC record, which has twelve members in `data` (contract.md §3). */
export const location: FieldCodec<Location> = {
  greedy: true,
  spread: true,
  read: (reader) => {
    const rdata = reader.take(RDATA_BYTES);
    const [version, size = 0, horizontal = 0, vertical = 0] = rdata;
    const value: Location = {
      size,
      horizontal,
      vertical,
      latitude: rdata.readUInt32BE(4) - EQUATOR,
      longitude: rdata.readUInt32BE(8) - EQUATOR,
      altitude: rdata.readUInt32BE(12),
    };
    const far = Math.abs(value.latitude) > LATITUDE_MAX || Math.abs(value.longitude) > LONGITUDE_MAX;
    // RFC 1876 §2: the format of other versions is unknown.
    if (version !== 0 || far || ![size, horizontal, vertical].every(isExtent)) throw new WireError("bad_rdata");
    return value;
  },
  bytes: (value) => {
    const rdata = Buffer.of(0, value.size, value.horizontal, value.vertical, ...new Uint8Array(12));
    [value.latitude + EQUATOR, value.longitude + EQUATOR, value.altitude].forEach((word, i) => rdata.writeUInt32BE(word, 4 + i * 4));
    return rdata;
  },
  parse: (tokens) => {
    const words = tokens.map(({ raw }) => raw);
    const latitude = takeAngle(words, "lat");
    const longitude = takeAngle(words, "long");
    const [altitude, size, horizontal, vertical] = words;
    if (altitude === undefined) throw new RdataError("must have an altitude after its coordinates");
    if (words.length > 4) throw new RdataError("is followed by more text than the type has");
    return {
      latitude,
      longitude,
      altitude: altitudeOf(metresOf(altitude)),
      size: extentOf("size", size === undefined ? DEFAULT_METRES.size : metresOf(size)),
      horizontal: extentOf("precision_horz", horizontal === undefined ? DEFAULT_METRES.precision_horz : metresOf(horizontal)),
      vertical: extentOf("precision_vert", vertical === undefined ? DEFAULT_METRES.precision_vert : metresOf(vertical)),
    };
  },
  format: (value) => {
    const metres = [value.altitude - BASE_CENTIMETRES, ...[value.size, value.horizontal, value.vertical].map(centimetres)];
    const angles = [textOf(value.latitude, "NS"), textOf(value.longitude, "EW")];
    return [...angles, ...metres.map((length) => `${(length / 100).toFixed(2)}m`)].join(" ");
  },
  fromData: (value) => {
    const members = value as Readonly<Record<string, unknown>>;
    const number = (key: string, otherwise?: number): number => {
      const given = members[key] ?? otherwise;
      const read = typeof given === "string" && /^-?\d{1,9}(?:\.\d{1,6})?$/.test(given) ? Number(given) : given;
      if (typeof read !== "number" || !Number.isFinite(read)) throw new RdataError(`has no number in ${key}`, key);
      return read;
    };
    const angle = (name: "lat" | "long"): number =>
      angleOf(name, number(`${name}_degrees`), number(`${name}_minutes`, 0), number(`${name}_seconds`, 0), members[`${name}_direction`]);
    return {
      latitude: angle("lat"),
      longitude: angle("long"),
      altitude: altitudeOf(number("altitude", 0)),
      size: extentOf("size", number("size", DEFAULT_METRES.size)),
      horizontal: extentOf("precision_horz", number("precision_horz", DEFAULT_METRES.precision_horz)),
      vertical: extentOf("precision_vert", number("precision_vert", DEFAULT_METRES.precision_vert)),
    };
  },
  toData: (value) => ({
    ...angleData("lat", value.latitude, "NS"),
    ...angleData("long", value.longitude, "EW"),
    altitude: (value.altitude - BASE_CENTIMETRES) / 100,
    size: centimetres(value.size) / 100,
    precision_horz: centimetres(value.horizontal) / 100,
    precision_vert: centimetres(value.vertical) / 100,
  }),
};

const DIRECTIONS = { lat: { plus: "N", minus: "S", degrees: 90 }, long: { plus: "E", minus: "W", degrees: 180 } } as const;

function angleOf(name: "lat" | "long", degrees: number, minutes: number, seconds: number, direction: unknown): number {
  const { plus, minus, degrees: most } = DIRECTIONS[name];
  const whole = (value: number, max: number): boolean => Number.isInteger(value) && value >= 0 && value <= max;
  if (!whole(degrees, most)) throw new RdataError(`must have ${name}_degrees from 0 to ${most}`, `${name}_degrees`);
  if (!whole(minutes, 59)) throw new RdataError(`must have ${name}_minutes from 0 to 59`, `${name}_minutes`);
  if (!(seconds >= 0 && seconds < 60)) throw new RdataError(`must have ${name}_seconds from 0 to 59.999`, `${name}_seconds`);
  if (direction !== plus && direction !== minus)
    throw new RdataError(`must have ${plus} or ${minus} as ${name}_direction`, `${name}_direction`);
  const value = degrees * DEGREE + minutes * 60_000 + Math.min(59_999, Math.round(seconds * 1000));
  if (value > most * DEGREE) throw new RdataError(`must have at most ${most} degrees of ${name}itude`, `${name}_degrees`);
  return direction === plus ? value : -value || 0;
}

/** Parses `d [m [s]] direction` and removes it from the words. */
function takeAngle(words: string[], name: "lat" | "long"): number {
  const end = words.slice(0, 4).findIndex((word) => /^[NSEW]$/i.test(word));
  const numbers = end < 1 ? [] : words.splice(0, end + 1);
  const direction = numbers.pop()?.toUpperCase();
  if (!numbers.every((word) => /^\d{1,3}(?:\.\d{1,3})?$/.test(word))) throw new RdataError(`must have numbers before ${direction ?? ""}`);
  const [degrees = Number.NaN, minutes = 0, seconds = 0] = numbers.map(Number);
  return angleOf(name, degrees, minutes, seconds, direction);
}

function textOf(value: number, [plus, minus]: string): string {
  const { degrees, minutes, seconds } = parts(value);
  return `${degrees} ${minutes} ${seconds.toFixed(3)} ${value < 0 ? minus : plus}`;
}

function angleData(name: string, value: number, [plus, minus]: string): Readonly<Record<string, number | string | undefined>> {
  const { degrees, minutes, seconds } = parts(value);
  return {
    [`${name}_degrees`]: degrees,
    [`${name}_minutes`]: minutes,
    [`${name}_seconds`]: seconds,
    [`${name}_direction`]: value < 0 ? minus : plus,
  };
}

function parts(value: number): { degrees: number; minutes: number; seconds: number } {
  const size = Math.abs(value);
  return { degrees: Math.floor(size / DEGREE), minutes: Math.floor((size % DEGREE) / 60_000), seconds: (size % 60_000) / 1000 };
}

function metresOf(word: string): number {
  if (!/^-?\d{1,8}(?:\.\d{1,2})?m?$/i.test(word))
    throw new RdataError(`has ${JSON.stringify(word.slice(0, 16))}, which is no length in metres`);
  return Number(word.replace(/m$/i, ""));
}

function altitudeOf(metres: number): number {
  if (!(metres >= METRES_MIN && metres <= METRES_MAX))
    throw new RdataError(`must have an altitude from ${METRES_MIN} to ${METRES_MAX} metres`, "altitude");
  return Math.round(metres * 100) + BASE_CENTIMETRES;
}

/** The wire format keeps one significant digit. */
function extentOf(key: string, metres: number): number {
  if (!(metres >= 0 && metres <= EXTENT_METRES_MAX)) throw new RdataError(`must have a ${key} from 0 to ${EXTENT_METRES_MAX} metres`, key);
  let digits = Math.round(metres * 100);
  let power = 0;
  for (; digits > 9; power += 1) digits = Math.floor(digits / 10);
  return digits === 0 ? 0 : (digits << 4) | power;
}

const centimetres = (extent: number): number => (extent >> 4) * 10 ** (extent & 15);

const isExtent = (extent: number): boolean => extent === 0 || (extent >> 4 >= 1 && extent >> 4 <= 9 && (extent & 15) <= 9);
