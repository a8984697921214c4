import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { OddRequest } from "./odd-bodies.cases.ts";

const CRLF = "\r\n";
const FORM = "application/x-www-form-urlencoded";

interface HonestPart {
  readonly head: string;
  readonly value: string;
}

const DISPOSITION = "Content-Disposition: form-data; ";
const field = (name: string, value: string): HonestPart => ({ head: `${DISPOSITION}name="${name}"`, value });
const file = (filename: string, type: string, value: string): HonestPart => ({
  head: `${DISPOSITION}name="file"; filename="${filename}"${type === "" ? "" : `${CRLF}Content-Type: ${type}`}`,
  value,
});

const sent = (
  name: string,
  boundary: string,
  parts: readonly HonestPart[],
  type = `multipart/form-data; boundary=${boundary}`,
): OddRequest => ({
  name,
  types: [type],
  body: `${parts.map(({ head, value }) => `--${boundary}${CRLF}${head}${CRLF}${CRLF}${value}${CRLF}`).join("")}--${boundary}--${CRLF}`,
});

const CHROMIUM = "----WebKitFormBoundary7MA4YWxkTrZu0gW";
const CURL = "------------------------d74496d66958873e";

const body = (name: string, type: string, text: string): OddRequest => ({ name, body: text, ...(type === "" ? {} : { types: [type] }) });

/** Requests of harmless programs, as captured or as their sources write them. */
export const HONEST_REQUESTS: readonly OddRequest[] = [
  sent("Chromium: fields, a file, one that was not chosen", CHROMIUM, [
    field("text", "hello"),
    field("na%22me\xc3\xa9", "quotes are escaped by percent"),
    field("lines%0D%0A", "and line breaks"),
    field("_charset_", "UTF-8"),
    file("photo \xc3\xa9.png", "image/png", "\x89PNG\r\n\x1a\n\0\0"),
    file("", "application/octet-stream", ""),
  ]),
  sent("Chromium: a backslash is sent as it is", CHROMIUM, [field(String.raw`a\b`, "1"), file("x.txt", "text/plain", "1")]),
  sent("undici: no filename, octet-stream; an empty name", "----formdata-undici-049412345678", [
    { head: `${DISPOSITION}name="blob"${CRLF}Content-Type: application/octet-stream`, value: "\0\x01" },
    field("", "1"),
  ]),
  sent("curl", CURL, [field("a", "1"), file("a.txt", "text/plain", "hello")]),
  sent("curl: a transfer encoding", CURL, [
    { head: `${DISPOSITION}name="a"${CRLF}Content-Transfer-Encoding: base64`, value: "aGVsbG8=" },
    { head: `${DISPOSITION}name="b"${CRLF}Content-Transfer-Encoding: quoted-printable`, value: "h=C3=A9llo" },
  ]),
  sent("curl: several files in one field", CURL, [
    {
      head: `${DISPOSITION}name="f"${CRLF}Content-Type: multipart/mixed; boundary=inner`,
      value: `--inner${CRLF}Content-Disposition: attachment; filename="a"${CRLF}Content-Type: text/plain${CRLF}${CRLF}1${CRLF}--inner${CRLF}Content-Disposition: attachment; filename="b"${CRLF}${CRLF}2${CRLF}--inner--${CRLF}`,
    },
  ]),
  sent("requests", "9f2a4e0b1c3d4e5f9f2a4e0b1c3d4e5f", [field("a", "1"), file("x.bin", "", "\0\x01"), file("", "", "")]),
  sent("Go: escaped quotes and backslashes", "5d0a6b7f3c2e1d4a5b6c7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f9a0", [
    field(String.raw`a\"b`, "1"),
    field(String.raw`a\\b`, "1"),
    { head: `${DISPOSITION}name=j${CRLF}Content-Type: application/json`, value: '{"a":1}' },
  ]),
  sent("Apache HttpClient", "xYzZY", [
    {
      head: `${DISPOSITION}name="a"${CRLF}Content-Type: text/plain; charset=ISO-8859-1${CRLF}Content-Transfer-Encoding: 8bit`,
      value: "caf\xe9",
    },
    {
      head: `${DISPOSITION}name="f"; filename="a.bin"${CRLF}Content-Type: application/octet-stream${CRLF}Content-Transfer-Encoding: binary`,
      value: "\0\x01\x02",
    },
  ]),
  sent("aiohttp", "d0c7e4a2f1b34c5d8e9f", [
    { head: `Content-Type: text/plain; charset=utf-8${CRLF}Content-Disposition: form-data; name="a"`, value: "1" },
    { head: `Content-Type: text/plain${CRLF}Content-Disposition: form-data; name="f"; filename="%C3%A9.txt"`, value: "1" },
  ]),
  sent(
    "aiohttp: mixed",
    "d0c7e4a2f1b34c5d8e9f",
    [{ head: `Content-Type: application/json${CRLF}Content-Length: 7`, value: '{"a":1}' }],
    "multipart/mixed; boundary=d0c7e4a2f1b34c5d8e9f",
  ),
  sent(
    ".NET: a boundary in quotes, filename*",
    "1c2f7c3e-4a5b-4c6d-8e9f-0a1b2c3d4e5f",
    [
      { head: `Content-Type: text/plain; charset=utf-8${CRLF}Content-Disposition: form-data; name=a`, value: "1" },
      { head: `Content-Disposition: form-data; name=file; filename=a.txt; filename*=utf-8''a.txt`, value: "1" },
    ],
    'multipart/form-data; boundary="1c2f7c3e-4a5b-4c6d-8e9f-0a1b2c3d4e5f"',
  ),
  sent(
    "a related upload",
    "rel",
    [
      { head: `Content-Type: application/json; charset=UTF-8`, value: '{"name":"a"}' },
      { head: `Content-Type: image/png`, value: "\x89PNG" },
    ],
    'multipart/related; boundary=rel; type="application/json"',
  ),
  sent("a value that nearly is a delimiter", CHROMIUM, [field("a", "--\r\n----WebKit\r\n-- ")]),

  body("a form", FORM, "a=1&b=two+words&c=%C3%A9&o%5Bx%5D=1&a[]=1&a[]=2"),
  body("fetch: a form with its charset", `${FORM};charset=UTF-8`, "a=1&_charset_=UTF-8"),
  body("a type with a semicolon behind", `${FORM};`, "a=1"),
  body("a form in a character set of one byte", `${FORM}; charset=windows-1251`, "a=%E9"),
  body("curl -d", FORM, 'a="x y"&b={1}&c=100%'),
  body("curl -d with JSON", FORM, '{"a":"b & c = d","e":[1,2]}'),
  body("sendBeacon", "text/plain;charset=UTF-8", '{"a":1}'),
  body("a form as text/plain", "text/plain", "q=a=b\r\n"),
  body("fetch with a Blob", "", "hello there; how are you?"),
  body("a string without a type", "", "a=1"),
  body("an upload by PUT", "application/octet-stream", "\0\x01\x02"),
  body("a text upload by PUT", "application/octet-stream", "some text"),

  body("JSON", "application/json", '{"a":[1,2.5e3,true,null,"\xc3\xa9\\n\\u00e9"],"b":{"a":{}}}'),
  body("JSON with its charset", "application/json; charset=utf-8", "[]"),
  body("JSON, pretty", "application/json", '{\r\n\t"a" : 1 ,\r\n\t"b" : [ ]\r\n}\r\n'),
  body("JSON that is a text", "application/json", '"a text"'),
  body("JSON of an API", "application/vnd.api+json", '{"data":{"id":"1"}}'),
  body("lines of JSON", "application/x-ndjson", '{"index":{"_id":1}}\n{"a":1}\n{"index":{"_id":2}}\n{"a":1}\n'),
  body("a sequence of JSON", "application/json-seq", '\x1e{"a":1}\n\x1e{"a":1}\n'),
  body("Sentry's envelope", "application/x-sentry-envelope", '{"event_id":"a"}\n{"type":"event","length":2}\n{}\n'),
  body("GraphQL", "application/json", '{"query":"query { me { name } }","variables":{"a":"b"}}'),
  body("a report of a browser", "application/csp-report", '{"csp-report":{"document-uri":"https://www.example.com/"}}'),

  body(
    "SOAP",
    "text/xml; charset=utf-8",
    '<?xml version="1.0" encoding="utf-8"?>\n<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>it\'s &lt;fine&gt;</s:Body></s:Envelope>',
  ),
  body("XML-RPC", "text/xml", "<?xml version='1.0'?><methodCall><methodName>a.b</methodName><params/></methodCall>\n"),
  body("WebDAV", "application/xml", '<?xml version="1.0" encoding="UTF-8"?><D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>'),
  body(
    "a picture in XML",
    "image/svg+xml",
    '<svg xmlns="http://www.w3.org/2000/svg"><!-- it\'s drawn --><style><![CDATA[a>b{}]]></style></svg>',
  ),

  { name: "aiohttp: gzip", types: [FORM], codings: ["gzip"], body: gzipSync("a=1&b=2").toString("latin1") },
  { name: "an SDK: gzip", types: ["application/json"], codings: ["gzip"], body: gzipSync('{"a":1}').toString("latin1") },
  {
    name: "OpenTelemetry: zstd",
    types: ["application/x-protobuf"],
    codings: ["zstd"],
    body: zstdCompressSync("\n\x05hello").toString("latin1"),
  },
  { name: "deflate", types: ["application/json"], codings: ["deflate"], body: deflateSync("[1]").toString("latin1") },
  { name: "identity", types: ["application/json"], codings: ["identity"], body: "[1]" },
  {
    name: "a long log that compresses well",
    types: ["application/json"],
    codings: ["gzip"],
    body: gzipSync(
      JSON.stringify(Array.from({ length: 4000 }, (_, i) => ({ level: "info", at: i * 1009, text: `GET /item/${i % 7}` }))),
    ).toString("latin1"),
  },
  {
    name: "git",
    types: ["application/x-git-upload-pack-request"],
    codings: ["gzip"],
    body: gzipSync("0032want 0a53e9ddeaddad63ad106860237bbf53411d11a7\n").toString("latin1"),
  },
];
