import { Reader, type Response } from "mmdb-lib";
import type { Metric } from "#kernel/process/metrics.ts";
import type { PlaceView } from "#rules/views.ts";

/** Where addresses are, by the operator's databases in MaxMind's format (MaxMind DB File Format Specification 2.0). */
export interface Places {
  /** What is known of an address: `XX` for its country where that is not; undefined without a database. Never throws. */
  of(ip: string): PlaceView | undefined;
  /** Uses these from now on, the first before the others for what several know. */
  use(databases: PlaceDatabases): void;
}

/** Whole files, in memory that threads share. */
export type PlaceDatabases = readonly SharedArrayBuffer[];

/** What a country is called that nothing is known of, as in the field. */
const UNKNOWN_COUNTRY = "XX";

/** Visitors come back; so many of them are remembered, twice. */
const REMEMBERED_MAX = 8192;

/** `failures` counts look-ups that a broken database made fail. */
export function createPlaces(databases: PlaceDatabases, failures: Metric): Places {
  let readers: readonly Reader<Response>[] = [];
  let recent = new Map<string, PlaceView>();
  let older = new Map<string, PlaceView>();

  const remember = (ip: string, place: PlaceView): PlaceView => {
    if (recent.size >= REMEMBERED_MAX) {
      older = recent;
      recent = new Map();
    }
    recent.set(ip, place);
    return place;
  };

  const lookUp = (ip: string): PlaceView => {
    const found: PlaceView[] = [];
    for (const reader of readers) {
      try {
        found.unshift(placeOf(reader.get(ip) as PlaceRecord | null));
      } catch {
        failures.value++;
      }
    }
    const place = Object.assign({}, ...found) as PlaceView;
    return place.country === undefined ? { ...place, country: UNKNOWN_COUNTRY } : place;
  };

  const places: Places = {
    of: (ip) => {
      if (readers.length === 0) return undefined;
      const known = recent.get(ip);
      if (known !== undefined) return known;
      return remember(ip, older.get(ip) ?? lookUp(ip));
    },
    use: (next) => {
      readers = next.map((bytes) => openPlaceDatabase(Buffer.from(bytes)));
      recent = new Map();
      older = new Map();
    },
  };
  places.use(databases);
  return places;
}

/** Throws for bytes that are no such database, a half of one included: what says how to read it stands at the end. */
export function openPlaceDatabase(bytes: Buffer): Reader<Response> {
  const reader = new Reader(bytes);
  const { nodeCount, searchTreeSize, ipVersion } = reader.metadata;
  if (nodeCount < 1 || searchTreeSize > bytes.length || (ipVersion !== 4 && ipVersion !== 6)) throw new Error("its tree is broken");
  return reader;
}

/** What the databases of cities, countries and autonomous systems say, as far as anything here asks. */
interface PlaceRecord {
  readonly autonomous_system_number?: unknown;
  readonly city?: Named;
  readonly continent?: { readonly code?: unknown };
  readonly country?: { readonly iso_code?: unknown; readonly is_in_european_union?: unknown };
  readonly location?: {
    readonly latitude?: unknown;
    readonly longitude?: unknown;
    readonly metro_code?: unknown;
    readonly time_zone?: unknown;
  };
  readonly postal?: { readonly code?: unknown };
  readonly subdivisions?: readonly (Named & { readonly iso_code?: unknown })[];
  readonly traits?: { readonly autonomous_system_number?: unknown };
}

interface Named {
  readonly names?: { readonly en?: unknown };
}

function placeOf(record: PlaceRecord | null): PlaceView {
  if (record === null || typeof record !== "object") return {};
  const country = text(record.country?.iso_code);
  const [first, second] = Array.isArray(record.subdivisions) ? record.subdivisions : [];
  const subdivision = (code: string | undefined): string | undefined =>
    code === undefined || country === undefined ? undefined : `${country}-${code}`;
  return present({
    country,
    continent: text(record.continent?.code),
    // Of a country that is not in it, databases say nothing.
    is_in_european_union: country === undefined ? undefined : record.country?.is_in_european_union === true,
    city: text(record.city?.names?.en),
    region: text(first?.names?.en),
    region_code: text(first?.iso_code),
    subdivision_1: subdivision(text(first?.iso_code)),
    subdivision_2: subdivision(text(second?.iso_code)),
    postal_code: text(record.postal?.code),
    metro_code: text(record.location?.metro_code),
    timezone: text(record.location?.time_zone),
    latitude: text(record.location?.latitude),
    longitude: text(record.location?.longitude),
    asn: whole(record.autonomous_system_number ?? record.traits?.autonomous_system_number),
  });
}

/** Expressions have one char for each byte. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? Buffer.from(value).toString("latin1") : undefined;
}

const whole = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);

const present = (fields: { readonly [K in keyof PlaceView]: PlaceView[K] | undefined }): PlaceView =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
