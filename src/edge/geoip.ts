import { Reader, type Response } from "mmdb-lib";
import type { Metric } from "#kernel/process/metrics.ts";
import type { GeoView } from "#rules/views.ts";

/** Locations of addresses, from the operator's databases (MaxMind DB File Format Specification 2.0). */
export interface Geoip {
  /** The location of an address, with country `XX` if unknown; undefined without a database. Never throws. */
  of(ip: string): GeoView | undefined;
  /** Replaces the databases. If several know a fact, the first one counts. */
  use(databases: GeoipDatabases): void;
}

/** Whole files, in memory that threads share. */
export type GeoipDatabases = readonly SharedArrayBuffer[];

/** The country of addresses with an unknown one, as at other CDNs. */
const UNKNOWN_COUNTRY = "XX";

/** Each of two generations keeps this many addresses, since visitors come back. */
const REMEMBERED_MAX = 8192;

/** `failures` counts look-ups that failed because a database is broken. */
export function createGeoip(databases: GeoipDatabases, failures: Metric): Geoip {
  let readers: readonly Reader<Response>[] = [];
  let recent = new Map<string, GeoView>();
  let older = new Map<string, GeoView>();

  const remember = (ip: string, place: GeoView): GeoView => {
    if (recent.size >= REMEMBERED_MAX) {
      older = recent;
      recent = new Map();
    }
    recent.set(ip, place);
    return place;
  };

  const lookUp = (ip: string): GeoView => {
    const found: GeoView[] = [];
    for (const reader of readers) {
      try {
        found.unshift(placeOf(reader.get(ip) as PlaceRecord | null));
      } catch {
        failures.value++;
      }
    }
    const place = Object.assign({}, ...found) as GeoView;
    return place.country === undefined ? { ...place, country: UNKNOWN_COUNTRY } : place;
  };

  const places: Geoip = {
    of: (ip) => {
      if (readers.length === 0) return undefined;
      const known = recent.get(ip);
      if (known !== undefined) return known;
      return remember(ip, older.get(ip) ?? lookUp(ip));
    },
    use: (next) => {
      readers = next.map((bytes) => openGeoipDatabase(Buffer.from(bytes)));
      recent = new Map();
      older = new Map();
    },
  };
  places.use(databases);
  return places;
}

/** Throws if the bytes are not a whole database. The metadata stands at the end, so a truncated file fails too. */
export function openGeoipDatabase(bytes: Buffer): Reader<Response> {
  const reader = new Reader(bytes);
  const { nodeCount, searchTreeSize, ipVersion } = reader.metadata;
  if (nodeCount < 1 || searchTreeSize > bytes.length || (ipVersion !== 4 && ipVersion !== 6)) throw new Error("its tree is broken");
  return reader;
}

/** The fields of databases of cities, countries and autonomous systems that are used here. */
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

function placeOf(record: PlaceRecord | null): GeoView {
  if (record === null || typeof record !== "object") return {};
  const country = text(record.country?.iso_code);
  const [first, second] = Array.isArray(record.subdivisions) ? record.subdivisions : [];
  const subdivision = (code: string | undefined): string | undefined =>
    code === undefined || country === undefined ? undefined : `${country}-${code}`;
  return present({
    country,
    continent: text(record.continent?.code),
    // Databases have this field only for countries that are members.
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

/** Expressions have one character per byte. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? Buffer.from(value).toString("latin1") : undefined;
}

const whole = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);

const present = (fields: { readonly [K in keyof GeoView]: GeoView[K] | undefined }): GeoView =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
