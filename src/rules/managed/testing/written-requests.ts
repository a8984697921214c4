import { readFileSync } from "node:fs";
import type { RequestChanges } from "./managed-request.ts";

export const WRITTEN_CLASSES = [
  "commands",
  "crlf",
  "deserialisation",
  "ldap",
  "lfi",
  "log4j",
  "nosql",
  "prototype",
  "scanners",
  "sql",
  "ssrf",
  "ssti",
  "tools",
  "traversal",
  "vulnerabilities",
  "xss",
  "xxe",
] as const;

export interface WrittenRequest {
  readonly line: string;
  readonly place: string;
  readonly request: RequestChanges;
}

const post = (type: string, body: string): RequestChanges => ({
  headers: { "Content-Type": [type] },
  body: Buffer.from(body).toString("latin1"),
});

const FORM = "application/x-www-form-urlencoded";
const escaped = (text: string): string => text.replace(/[<>&\r]/g, (char) => `&#${char.charCodeAt(0)};`);
const part = (text: string): string => `--bnd7Kx\r\nContent-Disposition: form-data; name="q"\r\n\r\n${text}\r\n--bnd7Kx--\r\n`;

/** A line without its own target is sent in each of these. */
const VALUES: Readonly<Record<string, (text: string) => RequestChanges>> = {
  query: (text) => ({ query: `page=2&q=${encodeURIComponent(text)}` }),
  form: (text) => post(FORM, `page=2&q=${encodeURIComponent(text)}`),
  json: (text) => post("application/json", JSON.stringify({ page: 2, q: text })),
  part: (text) => post("multipart/form-data; boundary=bnd7Kx", part(text)),
  xml: (text) => post("application/xml", `<?xml version="1.0"?><find><id>7</id><name>Ada Lovelace</name><q>${escaped(text)}</q></find>`),
};

/** A line that starts with `@place` is sent unchanged in that target. */
const PLACES: Readonly<Record<string, (rest: string) => RequestChanges>> = {
  query: (query) => ({ query }),
  path: (path) => ({ path, query: "" }),
  form: (body) => post(FORM, body),
  json: (body) => post("application/json", body),
  xml: (body) => post("application/xml", body),
  body: (rest) => post(...split(rest)),
  target: targetOf,
  post: (rest) => {
    const [target, sent] = split(rest);
    return { ...targetOf(target), ...post(...split(sent)) };
  },
  upload: fileOf,
  header: (rest) => {
    const [name, value] = split(rest);
    return { headers: { [name]: [Buffer.from(value).toString("latin1")] } };
  },
};

/** The requests of a list, `written-LIST.txt`. U+2400 to U+241F represent the control characters, and a line is one text. */
export function writtenRequests(list: string): readonly WrittenRequest[] {
  const text = readFileSync(new URL(`written-${list}.txt`, import.meta.url), "utf8");
  return text.trimEnd().split("\n").flatMap(requestsOf);
}

function requestsOf(line: string): WrittenRequest[] {
  const text = line.replace(/[␀-␟]/g, (symbol) => String.fromCharCode(symbol.charCodeAt(0) - 0x2400));
  const place = /^@([a-z]+) /.exec(text)?.[1];
  const send = place === undefined ? undefined : PLACES[place];
  if (place !== undefined && send !== undefined) return [{ line, place, request: send(text.slice(place.length + 2)) }];
  return Object.entries(VALUES).map(([name, of]) => ({ line, place: name, request: of(text) }));
}

function split(text: string): [string, string] {
  const space = text.indexOf(" ");
  return [text.slice(0, space), text.slice(space + 1)];
}

/** A path with its query. */
function targetOf(text: string): RequestChanges {
  const [path = "", ...query] = text.split("?");
  return { path, query: query.join("?") };
}

/** A file beside a field: its name, its type and its content with `|` between them. */
function fileOf(text: string): RequestChanges {
  const [, name = "", type = "", content = ""] = /^(.*?)\|([a-z]+\/[-+.\w]+)\|(.*)$/s.exec(text) ?? [];
  const head = `Content-Disposition: form-data; name="file"; filename="${name.replaceAll('"', "%22")}"\r\nContent-Type: ${type}`;
  return post(
    "multipart/form-data; boundary=bnd7Kx",
    part("hello").replace("--bnd7Kx--", `--bnd7Kx\r\n${head}\r\n\r\n${content}\r\n--bnd7Kx--`),
  );
}
