/** A call, as a log has it. */
export interface LoggedCall {
  readonly method: string;
  /** Below the base of the API, with the query. */
  readonly target: string;
  readonly body: unknown;
  readonly token: string;
}

const BASE_PATH = "/client/v4";

/**
 * The call of an entry: `method`, `path` or `url`, `body` and `token`, or the `request` of an HTTP Archive. Null if it is
 * not a call of the management API.
 */
export function loggedCall(entry: unknown): LoggedCall | null {
  if (!isObject(entry)) return null;
  const call = isObject(entry["request"]) ? entry["request"] : entry;
  const { method, path, url } = call;
  const written = typeof path === "string" ? path : url;
  if (typeof method !== "string" || typeof written !== "string") return null;
  const target = targetOf(written);
  if (target === null) return null;
  const { postData, token } = call;
  const body = call["body"] ?? (isObject(postData) ? postData["text"] : undefined);
  return { method: method.toUpperCase(), target, body: contentOf(body), token: typeof token === "string" ? token : "" };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** An address of another server is a call only below the base of the API. */
function targetOf(written: string): string | null {
  const [, afterHost] = /^https?:\/\/[^/?#]*(\/.*)?$/i.exec(written) ?? [];
  const isAddress = /^https?:/i.test(written);
  const given = (isAddress ? (afterHost ?? "/") : written).split("#", 1)[0] ?? "";
  const base = given.indexOf(`${BASE_PATH}/`);
  const mark = given.indexOf("?");
  const isBelow = base !== -1 && (mark === -1 || base < mark);
  if (isAddress && !isBelow) return null;
  return isBelow ? given.slice(base + BASE_PATH.length) : given;
}

/** A recorder of HTTP writes a body as text. */
function contentOf(body: unknown): unknown {
  if (typeof body !== "string") return body;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
