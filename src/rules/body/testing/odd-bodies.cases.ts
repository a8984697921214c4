import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

/** A request in which some program behind the edge finds EVIL. Texts have one char per byte. */
export interface OddRequest {
  readonly name: string;
  readonly query?: string;
  readonly cookies?: readonly string[];
  /** The lines of Content-Type and of Content-Encoding. */
  readonly types?: readonly string[];
  readonly codings?: readonly string[];
  readonly body?: string;
}

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data; boundary=X";
const JSON_TYPE = "application/json";
const CRLF = "\r\n";
const DISPOSITION = "Content-Disposition: form-data; ";

const query = (name: string, text: string): OddRequest => ({ name: `query: ${name}`, query: text });
const cookie = (name: string, ...cookies: readonly string[]): OddRequest => ({ name: `cookie: ${name}`, cookies });
const form = (name: string, body: string, ...types: readonly string[]): OddRequest => ({
  name: `form: ${name}`,
  types: types.length === 0 ? [FORM] : types,
  body,
});
const json = (name: string, body: string, ...types: readonly string[]): OddRequest => ({
  name: `json: ${name}`,
  types: types.length === 0 ? [JSON_TYPE] : types,
  body,
});
const xml = (name: string, body: string): OddRequest => ({ name: `xml: ${name}`, types: ["application/xml"], body });
const multipart = (name: string, body: string, ...types: readonly string[]): OddRequest => ({
  name: `multipart: ${name}`,
  types: types.length === 0 ? [MULTIPART] : types,
  body,
});
const coded = (name: string, coding: string, body: Buffer, type = FORM): OddRequest => ({
  name: `coding: ${name}`,
  types: [type],
  codings: [coding],
  body: body.toString("latin1"),
});

const part = (head: string, value: string, boundary = "X"): string => `--${boundary}${CRLF}${head}${CRLF}${CRLF}${value}${CRLF}`;
const q = (value: string, boundary = "X"): string => part(`${DISPOSITION}name="q"`, value, boundary);
const END = `--X--${CRLF}`;
/** A multipart body with one part, whose head has these lines. */
const head = (name: string, lines: string, value = "EVIL"): OddRequest => multipart(`head: ${name}`, part(lines, value) + END);
const named = (name: string, parameters: string): OddRequest => head(name, DISPOSITION + parameters);

const utf16 = (text: string, order: "le" | "be"): string => {
  const bytes = Buffer.from(text, "utf16le");
  return (order === "le" ? bytes : bytes.swap16()).toString("latin1");
};
/** IBM037 of letters and of the characters in forms and documents. */
const ebcdic = (text: string): string => {
  const table: Readonly<Record<string, number>> = {
    "=": 0x7e,
    "&": 0x50,
    "{": 0xc0,
    "}": 0xd0,
    '"': 0x7f,
    ":": 0x7a,
    "<": 0x4c,
    ">": 0x6e,
  };
  const rows: readonly (readonly [string, number])[] = [
    ["abcdefghi", 0x81],
    ["jklmnopqr", 0x91],
    ["stuvwxyz", 0xa2],
    ["ABCDEFGHI", 0xc1],
    ["JKLMNOPQR", 0xd1],
    ["STUVWXYZ", 0xe2],
    ["0123456789", 0xf0],
    ["/?", 0x61],
  ];
  return Array.from(text, (char) => {
    const row = rows.find(([chars]) => chars.includes(char));
    return String.fromCharCode(char === "?" ? 0x6f : row === undefined ? (table[char] ?? 0x40) : row[1] + row[0].indexOf(char));
  }).join("");
};

const EVIL_FORM = Buffer.from("q=EVIL");
/** A gzip header with a name that is a form to programs that ignore Content-Encoding (RFC 1952 §2.3). */
const namedGzip = (name: string): Buffer => {
  const plain = gzipSync(Buffer.from("q=ok"));
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.from(`${name}\0`), plain.subarray(10)]);
};

/** From the measurements of 23 stacks: some of them read EVIL in each of these, as the field q or as another name or value. */
export const ODD_REQUESTS: readonly OddRequest[] = [
  query("semicolon", "a=1;q=EVIL"),
  query("twice", "q=EVIL&q=ok"),
  query("brackets", "q[]=EVIL"),
  query("brackets with a name", "q[b]=EVIL"),
  query("encoded brackets", "q%5B%5D=EVIL"),
  query("open bracket", "q[=EVIL"),
  query("space before the name", "%20q=EVIL"),
  query("NUL in the name", "q%00x=EVIL"),
  query("two question marks", "?q=EVIL"),
  query("encoded name", "%71=EVIL"),
  query("%u in the name", "%u0071=EVIL"),
  query("%u in the value", "q=%u0045VIL"),
  query("__proto__", "__proto__[q]=EVIL"),
  query("4,000 pairs before", `${"a&".repeat(4000)}q=EVIL`),
  query("only a name", "EVIL"),

  form("semicolon", "a=1;q=EVIL"),
  form("brackets", "q[]=EVIL"),
  form("NUL in the name", "q%00x=EVIL"),
  form("%u", "q=%u0045VIL"),
  form("question mark", "?q=EVIL"),
  form("byte order mark", "\xef\xbb\xbfq=EVIL"),
  form("4,096 pairs before", `${"a&".repeat(4096)}q=EVIL`),
  form("10,000 pairs before", `${"a&".repeat(10_000)}q=EVIL`),
  form("200 KB before", `a=${"x".repeat(200_000)}&q=EVIL`),
  form("a comma and another type", "q=EVIL", `${FORM}, text/plain`),
  form("a tab behind the type", "q=EVIL", `${FORM}\t;charset=utf-8`),
  form("a type in quotes", "q=EVIL", `"${FORM}"`),
  form("two lines of types", "q=EVIL", "text/plain", FORM),
  { name: "form: no type", body: "q=EVIL" },
  form("text/plain", "q=EVIL", "text/plain"),
  form("utf-7", "+AHE-=+AEUAVgBJAEw-", `${FORM}; charset=utf-7`),
  form("utf-16 big endian", utf16("q=EVIL", "be"), `${FORM}; charset=utf-16`),
  form("utf-16le", utf16("q=EVIL", "le"), `${FORM}; charset=utf-16le`),
  form("ibm037", ebcdic("q=EVIL"), `${FORM}; charset=ibm037`),
  form("ibm037 with escapes", "%98=%C5%E5%C9%D3", `${FORM}; charset=ibm037`),
  form("_charset_", "_charset_=utf-16le&q=E%00V%00I%00L%00"),
  form("JSON in a form", '{"q":"EVIL"}'),

  multipart("LF alone", `--X\n${DISPOSITION}name="q"\n\nEVIL\n--X--\n`),
  multipart("LF in the head", `--X${CRLF}${DISPOSITION}name="q"\n\nEVIL${CRLF}${END}`),
  multipart("LF before a delimiter", `--X${CRLF}${DISPOSITION}name="a"${CRLF}${CRLF}1\n${q("EVIL")}${END}`),
  multipart("no closing delimiter", q("EVIL")),
  multipart("words before the first delimiter", `hello${q("EVIL")}${END}`),
  multipart("a line before the first delimiter", `hello${CRLF}${q("EVIL")}${END}`),
  multipart("a part behind the closing delimiter", `${part(`${DISPOSITION}name="a"`, "1")}--X--${CRLF}${CRLF}${q("EVIL")}${END}`),
  multipart("closing delimiter first", `--X--${CRLF}${q("EVIL")}${END}`),
  multipart("blanks behind a delimiter", `--X \t${CRLF}${DISPOSITION}name="q"${CRLF}${CRLF}EVIL${CRLF}${END}`),
  multipart("words behind a delimiter", `--Xjunk${CRLF}${DISPOSITION}name="q"${CRLF}${CRLF}EVIL${CRLF}${END}`),
  multipart("a dash behind a delimiter", `--X-${CRLF}${DISPOSITION}name="q"${CRLF}${CRLF}EVIL${CRLF}${END}`),
  multipart("a longer delimiter in a value", `${q(`ok${CRLF}--XY${CRLF}EVIL`)}${END}`),
  multipart("a part behind a longer delimiter", `${q("ok")}--XY${CRLF}${DISPOSITION}name="q"${CRLF}${CRLF}EVIL${CRLF}${END}`),
  multipart("delimiters in another case", `${q("EVIL", "x")}--x--${CRLF}`),
  multipart("boundary with a blank", `${q("EVIL", "X Y")}--X Y--${CRLF}`, "multipart/form-data; boundary=X Y"),
  multipart("two boundaries, the first", q("EVIL") + END, `${MULTIPART}; boundary=Y`),
  multipart("two boundaries, the second", `${q("EVIL", "Y")}--Y--${CRLF}`, `${MULTIPART}; boundary=Y`),
  multipart("spaces around =", q("EVIL") + END, "multipart/form-data; boundary = X"),
  multipart("no semicolon", q("EVIL") + END, "multipart/form-data boundary=X"),
  multipart("boundary*", q("EVIL") + END, "multipart/form-data; boundary*=utf-8''X"),
  multipart("escaped boundary", `${q("EVIL", "XY")}--XY--${CRLF}`, 'multipart/form-data; boundary="X\\Y"'),
  multipart("boundary with a backslash", `${q("EVIL", "X\\Y")}--X\\Y--${CRLF}`, 'multipart/form-data; boundary="X\\Y"'),
  multipart("open quote", q("EVIL") + END, 'multipart/form-data; boundary="X'),
  multipart("xboundary", q("EVIL") + END, "multipart/form-data; xboundary=Y; boundary=X"),
  multipart("xboundary, its own", `${q("EVIL", "Y")}--Y--${CRLF}`, "multipart/form-data; xboundary=Y; boundary=X"),
  multipart("boundary in quotes of another", `${q("EVIL", "Y")}--Y--${CRLF}`, 'multipart/form-data; a="; boundary=X; b="; boundary=Y'),
  multipart("boundary in quotes of another, that one", q("EVIL") + END, 'multipart/form-data; a="; boundary=X"; boundary=Y'),
  multipart("mixed", q("EVIL") + END, "multipart/mixed; boundary=X"),
  multipart("related", q("EVIL") + END, "multipart/related; boundary=X"),
  multipart("two lines of types", q("EVIL") + END, "text/plain", MULTIPART),
  multipart("JSON sent", '{"q":"EVIL"}'),
  multipart("sent as JSON", q("EVIL") + END, JSON_TYPE),
  { name: "multipart: sent without a type", body: q("EVIL") + END },
  multipart("1,001 parts before", part(`${DISPOSITION}name="a"`, "1").repeat(1001) + q("EVIL") + END),
  multipart(
    "nested",
    part(
      `${DISPOSITION}name="q"${CRLF}Content-Type: multipart/mixed; boundary=Z`,
      `--Z${CRLF}Content-Disposition: file; filename="a"${CRLF}${CRLF}EVIL${CRLF}--Z--`,
    ) + END,
  ),
  multipart("_charset_", part(`${DISPOSITION}name="_charset_"`, "utf-16le") + q(utf16("EVIL", "le")) + END),

  head("folded", `Content-Disposition: form-data;${CRLF} name="q"`),
  head("blank before the colon", `Content-Disposition : form-data; name="q"`),
  head("blank before the name", ` Content-Disposition: form-data; name="q"`),
  named("spaces around =", 'name = "q"'),
  named("name*", "name*=utf-8''q"),
  named("name and name*", `name="a"; name*=utf-8''q`),
  named("single quotes", "name='q'"),
  named("backslash", String.raw`name="\q"`),
  named("name twice", 'name="a"; name="q"'),
  named("open quote", 'name="q'),
  head("no semicolon", 'Content-Disposition: form-data name="q"'),
  named("name in quotes of another", 'x="; name=q"'),
  named("brackets", 'name="q[]"'),
  named("NUL", 'name="q\0x"'),
  named("a file without a type", 'name="q"; filename="x"'),
  named("empty filename", 'name="q"; filename=""'),
  named("filename*", `name="q"; filename*=utf-8''x`),
  named("filename in quotes of another", 'name="q"; x="; filename=y"'),
  named("filename without a value", 'name="q"; filename='),
  named("blank behind filename", 'name="q"; filename ="y"'),
  head("octet-stream without filename", `${DISPOSITION}name="q"${CRLF}Content-Type: application/octet-stream`),
  head("two dispositions", `${DISPOSITION}name="q"${CRLF}${DISPOSITION}name="a"`),
  head("two dispositions, the other way round", `${DISPOSITION}name="a"${CRLF}${DISPOSITION}name="q"`),
  head("no form-data", 'Content-Disposition: name="q"'),
  head("no disposition", "Content-ID: q"),
  head("base64", `${DISPOSITION}name="q"${CRLF}Content-Transfer-Encoding: base64`, "RVZJTA=="),
  head("BASE64", `${DISPOSITION}name="q"${CRLF}Content-Transfer-Encoding: BASE64 `, "RVZJTA=="),
  head("quoted-printable", `${DISPOSITION}name="q"${CRLF}Content-Transfer-Encoding: quoted-printable`, "=45VIL"),
  head("unknown transfer encoding", `${DISPOSITION}name="q"${CRLF}Content-Transfer-Encoding: x-gzip64`, "RVZJTA=="),
  head("utf-16le", `${DISPOSITION}name="q"${CRLF}Content-Type: text/plain; charset=utf-16le`, utf16("EVIL", "le")),
  head("utf-7", `${DISPOSITION}name="q"${CRLF}Content-Type: text/plain; charset=utf-7`, "+AEUAVgBJAEw-"),
  head("ibm037", `${DISPOSITION}name="q"${CRLF}Content-Type: text/plain; charset=ibm037`, ebcdic("EVIL")),
  head("a line that is no field", `junk${CRLF}${DISPOSITION}name="q"`),
  head("many lines", `${"A: b\r\n".repeat(30)}${DISPOSITION}name="q"`),
  head("JSON", `${DISPOSITION}name="q"${CRLF}Content-Type: application/json`, String.raw`{"a":"\u0045VIL"}`),

  json("name twice, the first", '{"q":"EVIL","q":"ok"}'),
  json("name twice, escaped", String.raw`{"q":"ok","\u0071":"EVIL"}`),
  json("byte order mark", '\xef\xbb\xbf{"q":"EVIL"}'),
  json("utf-16le", utf16('{"q":"EVIL"}', "le"), `${JSON_TYPE}; charset=utf-16le`),
  json("utf-16 without a word of it", utf16('{"q":"EVIL"}', "be")),
  json("utf-7", '{"q":"+AEUAVgBJAEw-"}', `${JSON_TYPE}; charset=utf-7`),
  json("ibm037", ebcdic('{"q":"EVIL"}'), `${JSON_TYPE}; charset=ibm037`),
  json("comment", '{/*x*/"q":"EVIL"}'),
  json("comment of a line", '{//x\n"q":"EVIL"}'),
  json("comment within a value", '{"q":"EV/*"IL*/"}'),
  json("NaN", '{"a":NaN,"q":"EVIL"}'),
  json("escape that is none", String.raw`{"q":"EVI\L"}`),
  json("escapes", String.raw`{"q":"\u0045VIL"}`),
  json("words behind", '{"q":"EVIL"}x'),
  json("two documents", '{"a":1}{"q":"EVIL"}'),
  json("no UTF-8", '{"a":"\xff","q":"EVIL"}'),
  json("text/json", '{"q":"EVIL"}', "text/json"),
  json("text/plain", '{"q":"EVIL"}', "text/plain"),
  json("a type of images", '{"q":"EVIL","a":"\0"}', "image/png"),
  json("single quotes", "{'q':'EVIL'}"),
  json("bare name", "{q:EVIL}"),
  json("a text that is a form", '"a=1&q=%45VIL"'),
  json("deep", `${'{"a":'.repeat(600)}"EVIL"${"}".repeat(600)}`),

  xml("CDATA splits", "<r><q>EV<![CDATA[IL]]></q></r>"),
  xml("comment splits", "<r><q>EV<!-- x -->IL</q></r>"),
  xml("instruction splits", "<r><q>EV<?x y?>IL</q></r>"),
  xml("tag splits", "<r><q>EV<b>IL</b></q></r>"),
  xml("default of an attribute", '<!DOCTYPE r [<!ATTLIST q v CDATA "EVIL">]><r><q/></r>'),
  xml("attribute", '<r q="E&#86;IL"/>'),
  xml("references", "<r><q>&#69;V&#x49;L</q></r>"),
  xml("utf-16", `\xff\xfe${utf16("<r><q>EVIL</q></r>", "le")}`),
  xml("ibm037", ebcdic('<?xml version="1.0" encoding="ibm037"?><r><q>EVIL</q></r>')),
  xml("ibm037 declared", '<?xml version="1.0" encoding="ibm037"?><r><q>EVIL</q></r>'),

  coded("gzip", "gzip", gzipSync(EVIL_FORM)),
  coded("GZIP", "GZIP", gzipSync(EVIL_FORM)),
  coded("x-gzip", "x-gzip", gzipSync(EVIL_FORM)),
  coded("deflate", "deflate", deflateSync(EVIL_FORM)),
  coded("deflate without a header", "deflate", deflateRawSync(EVIL_FORM)),
  coded("br", "br", brotliCompressSync(EVIL_FORM)),
  coded("zstd", "zstd", zstdCompressSync(EVIL_FORM)),
  coded("two members", "gzip", Buffer.concat([gzipSync(Buffer.from("q=E")), gzipSync(Buffer.from("VIL"))])),
  coded("words behind", "gzip", Buffer.concat([gzipSync(EVIL_FORM), Buffer.from("junk")])),
  coded("cut", "gzip", gzipSync(EVIL_FORM).subarray(0, -6)),
  coded("a name in the header", "gzip", namedGzip("&q=EVIL&")),
  coded("twice", "gzip, gzip", gzipSync(gzipSync(EVIL_FORM))),
  coded("three times", "gzip, gzip, gzip", gzipSync(gzipSync(gzipSync(EVIL_FORM)))),
  coded("unknown", "x-mine", EVIL_FORM),
  coded("said and not done", "gzip", EVIL_FORM),
  coded("grows by a thousand", "gzip", gzipSync(Buffer.concat([Buffer.alloc(2_000_000, "a"), EVIL_FORM]))),
  coded("JSON", "gzip", gzipSync('{"q":"EVIL"}'), JSON_TYPE),
  coded("multipart", "gzip", gzipSync(q("EVIL") + END), MULTIPART),

  cookie("semicolon in quotes", 'q="EV;IL"'),
  cookie("quotes that others see through", 'a="1; q=EVIL; b="'),
  cookie("octal", String.raw`q="\105VIL"`),
  cookie("backslash", String.raw`q="E\VIL"`),
  cookie("twice", "q=EVIL; q=ok"),
  cookie("twice, the other way round", "q=ok; q=EVIL"),
  cookie("spaces around =", "q = EVIL"),
  cookie("encoded name", "%71=EVIL"),
  cookie("encoded value", "q=%45VIL"),
  cookie("no name", "EVIL"),
  cookie("comma", "a=1, q=EVIL"),
  cookie("space", "a=1 q=EVIL"),
  cookie("two lines", "a=1", "q=EVIL"),
  cookie("brackets", "q[]=EVIL"),
];

/** The same as base64 of the bytes in the reference of measurements. */
export const MEASURED_BYTES: readonly OddRequest[] = [
  coded("gzip as measured", "gzip", Buffer.from("H4sIAPx8B2sC/yu0dQ3z9AEACgAnsgYAAAA=", "base64")),
  coded("raw deflate as measured", "deflate", Buffer.from("K7R1DfP0AQA=", "base64")),
  coded("polyglot as measured", "gzip", Buffer.from("H4sICAAAAAAA/yZxPUVWSUwmAEu0NQQAgTBijQMAAAA=", "base64")),
  coded("members as measured", "gzip", Buffer.from("H4sIAPx8B2sC/yu0BQBZFpUvAgAAAB+LCAD8fAdrAv9zDfP0AQDm3G67BAAAAA==", "base64")),
];
