import { parseCookies } from "#wire/http/cookies.ts";
import type { RequestView } from "#rules/views.ts";
import { type FieldChange, fieldChange } from "#rules/actions/field-change.ts";
import type { CacheKeyRule, CustomKey } from "#edge/exchange/cache-decision.ts";
import { type DeviceType, deviceType } from "#edge/exchange/device-type.ts";

/** The effect of a custom cache key on a request. */
export interface CustomKeyParts {
  /** Part of the key besides the URL. JSON, so that no value can imitate the boundary between two values. */
  readonly apart: string;
  /** The visitor's device type, if it is part of the key; else empty. */
  readonly device: DeviceType | "";
  /** Changes to the request for the origin, so that it sees only those parts that are in the key. */
  readonly changes: readonly FieldChange[];
}

const NOTHING: CustomKeyParts = { apart: "", device: "", changes: [] };

export function customKeyParts(exchange: RequestView, rule: CacheKeyRule | undefined): CustomKeyParts {
  if (rule === undefined) return NOTHING;
  const { custom_key: { header, cookie, user } = {}, cache_by_device_type: byDevice } = rule;
  const parts: unknown[] = [];
  const changes: FieldChange[] = [];
  if (header !== undefined) parts.push(["header", headerParts(exchange, header)]);
  if (header?.exclude_origin === true) changes.push(fieldChange("Origin", "remove"));
  if (cookie !== undefined) parts.push(["cookie", cookieParts(exchange, cookie)]);
  const device = byDevice === true || user?.device_type === true ? deviceType(exchange.user_agent) : "";
  if (device !== "") parts.push(["device", device]);
  if (user?.geo === true) parts.push(["country", exchange.place?.country ?? ""]);
  if (user?.lang === true) {
    const language = firstLanguage(exchange);
    parts.push(["language", language]);
    changes.push(fieldChange("Accept-Language", language === "" ? "remove" : "set", language));
  }
  return { apart: parts.length === 0 ? "" : JSON.stringify(parts), device, changes };
}

function headerParts(
  exchange: RequestView,
  { include = [], check_presence: present = [], contains = {} }: NonNullable<CustomKey["header"]>,
) {
  return [
    include.map((name) => exchange.headers(name.toLowerCase())),
    present.map((name) => exchange.headers(name.toLowerCase()).length > 0),
    Object.entries(contains).map(([name, texts]) =>
      exchange.headers(name.toLowerCase()).filter((value) => texts.some((text) => value.includes(text))),
    ),
  ];
}

function cookieParts(exchange: RequestView, { include = [], check_presence: present = [] }: NonNullable<CustomKey["cookie"]>) {
  const cookies = parseCookies(exchange.headers("cookie"));
  return [include.map((name) => cookies.get(name) ?? []), present.map((name) => cookies.has(name))];
}

/** The first language of Accept-Language, without its region (RFC 9110 §12.5.4). */
function firstLanguage(exchange: RequestView): string {
  const [line = ""] = exchange.headers("accept-language");
  return /^\s*([A-Za-z]{1,8})(?=[-,;\s]|$)/.exec(line)?.[1]?.toLowerCase() ?? "";
}
