/** More cookies than any browser sends to one site. */
const COOKIES_MAX = 500;

/** The values of each cookie by name, in order (RFC 6265 §4.2.1); bytes are unchanged. */
export function parseCookies(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const cookies = new Map<string, string[]>();
  for (const pair of lines.flatMap((line) => line.split(";", COOKIES_MAX)).slice(0, COOKIES_MAX)) {
    const equals = pair.indexOf("=");
    if (equals < 0) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    const known = cookies.get(name);
    if (known === undefined) cookies.set(name, [value]);
    else known.push(value);
  }
  return cookies;
}
