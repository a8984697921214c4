import { createHash, createHmac } from "node:crypto";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface AwsRequest {
  readonly method: string;
  readonly host: string;
  /** Path and query as they are sent. */
  readonly target: string;
  /** Fields that are signed besides `host` and those that signing adds; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** SHA-256 of the body, hexadecimal, for a body that is not in memory; default: that of `body`. */
  readonly digest?: string;
  readonly region: string;
  readonly service: string;
  readonly atMs: number;
}

/** The fields that sign a request: `authorization`, `x-amz-date` and, with a session, its token (AWS Signature Version 4). */
export function signAws(request: AwsRequest, { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials): Record<string, string> {
  const { method, host, target, body, region, service, atMs } = request;
  const time = `${new Date(atMs).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
  const date = time.slice(0, 8);
  const added = { "x-amz-date": time, ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }) };
  const signed = Object.entries({ ...request.headers, host, ...added }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const [path = "/", query = ""] = splitAt(target, "?");
  const canonical = [
    method,
    service === "s3" ? path : canonicalPath(path),
    canonicalQuery(query),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}`),
    "",
    names,
    request.digest ?? createHash("sha256").update(body).digest("hex"),
  ].join("\n");
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = [date, region, service, "aws4_request"].reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  const signature = hmac(key, text).toString("hex");
  return { ...added, authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}` };
}

const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Encodes each segment once more, as every service except S3 requires. */
const canonicalPath = (path: string): string => path.split("/").map(encoded).join("/") || "/";

function canonicalQuery(query: string): string {
  if (query === "") return "";
  const pairs = query.split("&").map((pair) => splitAt(pair, "=").map((part = "") => encoded(decoded(part))));
  return pairs
    .map(([name = "", value = ""]) => `${name}=${value}`)
    .toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    .join("&");
}

/** RFC 3986 §2.3: escapes all characters except unreserved ones. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function splitAt(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
