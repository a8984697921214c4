import type { CookieAttributes } from "#kernel/process/page-sighting.ts";

const NAME_CHARACTERS_MAX = 256;
const ATTRIBUTE_CHARACTERS_MAX = 1024;

/** The name and attributes of a Set-Cookie field (RFC 6265 §5.2), without the value; null for a cookie without a name. */
export function readSetCookie(field: string): { readonly name: string; readonly attributes: CookieAttributes } | null {
  const [pair = "", ...parts] = field.split(";", 16);
  const equals = pair.indexOf("=");
  const name = pair.slice(0, equals).trim();
  if (equals < 1 || name === "" || name.length > NAME_CHARACTERS_MAX) return null;
  const given = new Map<string, string>();
  for (const part of parts) {
    const at = part.indexOf("=");
    const value = at < 0 ? "" : part.slice(at + 1).trim();
    if (value.length <= ATTRIBUTE_CHARACTERS_MAX) given.set((at < 0 ? part : part.slice(0, at)).trim().toLowerCase(), value);
  }
  const expires = Date.parse(given.get("expires") ?? "");
  const maxAge = given.get("max-age") ?? "";
  const sameSite = given.get("samesite")?.toLowerCase();
  return {
    name,
    attributes: {
      ...optional("domain", given.get("domain")?.toLowerCase().replace(/^\./, "")),
      ...optional("path", given.get("path")),
      ...(Number.isNaN(expires) ? {} : { expires: new Date(expires).toISOString() }),
      ...(/^-?\d{1,15}$/.test(maxAge) ? { max_age: Number(maxAge) } : {}),
      secure: given.has("secure"),
      http_only: given.has("httponly"),
      ...(sameSite === "lax" || sameSite === "strict" || sameSite === "none" ? { same_site: sameSite } : {}),
    },
  };
}

const optional = <K extends string>(name: K, value: string | undefined): { readonly [P in K]?: string } =>
  (value === undefined || value === "" ? {} : { [name]: value }) as { readonly [P in K]?: string };
