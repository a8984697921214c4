import { charge } from "#rules/budget.ts";
import type { BodyCause } from "./body-causes.ts";
import { ARGUMENT_STEPS, type Findings, plainArgument } from "./body-reading.ts";
import { createElements } from "./xml-elements.ts";
import { decodeCharset, isPlainCharset } from "./charsets.ts";

const BYTE_STEPS = 4;
const TAG_STEPS = 100;

/**
 * Adds the contents of an XML document, without processing its declarations: its text twice, with nothing and with spaces
 * in place of tags, its tags, and the values of its attributes and elements. Comments, processing instructions and CDATA marks
 * are removed, as every parser does.
 */
export function addXmlBody(body: string, isCut: boolean, findings: Findings): void {
  charge(body.length * BYTE_STEPS);
  const text = textOf(body, findings.causes);
  if (!BEGINS_AS_XML.test(text)) findings.causes.add("xml-invalid");
  let [joined, spaced, markup] = ["", "", ""];
  const seams: number[] = [];
  const elements = createElements(findings);
  // Flags, because reading the end of the growing text would flatten its copy each time.
  let [isBehindTag, endsBlank] = [false, true];
  const add = (piece: string): void => {
    if (piece === "") return;
    if (isBehindTag && !endsBlank && !isBlank(piece[0])) seams.push(joined.length);
    [isBehindTag, endsBlank] = [false, isBlank(piece.at(-1))];
    joined += piece;
    spaced += piece;
    elements.addText(piece);
  };
  for (let at = 0; at < text.length;) {
    const found = text.indexOf("<", at);
    const open = found === -1 ? text.length : found;
    add(decodeXml(text.slice(at, open)));
    if (open === text.length) break;
    const section = SECTIONS.find(([begin]) => text.startsWith(begin, open));
    if (section === undefined) {
      if (!isBehindTag) spaced += " ";
      isBehindTag = true;
      at = readTag(text, open + 1, findings);
      elements.addTag(text, open, at);
      markup += text.slice(open, at);
    } else {
      const [begin, end, kind] = section;
      const close = text.indexOf(end, open + begin.length);
      at = close === -1 ? text.length + 1 : close + end.length;
      if (kind === "text") add(text.slice(open + begin.length, close === -1 ? text.length : close));
      else markup += text.slice(open, at);
    }
    if (at > text.length && !isCut) findings.causes.add("xml-invalid");
  }
  findings.xml.push(joined, spaced);
  findings.pieces.push(markup);
  // Otherwise each text is the value of an element.
  if (elements.isMixed()) findings.pieces.push(spaced.trim(), aroundSeams(joined, seams));
}

const isBlank = (char: string | undefined): boolean => char === undefined || char <= " ";

/** Bytes around a seam; beyond them, the text with spaces has the same words. */
const SEAM_BYTES = 64;

/** The text around tags inside words: without a space there, only it differs. */
function aroundSeams(joined: string, seams: readonly number[]): string {
  let around = "";
  for (let i = 0; i < seams.length;) {
    const start = Math.max(0, seams[i]! - SEAM_BYTES);
    let end = seams[i]! + SEAM_BYTES;
    for (i++; i < seams.length && seams[i]! - SEAM_BYTES <= end; i++) end = seams[i]! + SEAM_BYTES;
    around += `${joined.slice(start, end)}\n`;
  }
  return around;
}

// linear: pumped
const BEGINS_AS_XML = /^(?:\xef\xbb\xbf)?[ \t\r\n]*</;

const SECTIONS: readonly (readonly [begin: string, end: string, kind: "text" | "none"])[] = [
  ["<!--", "-->", "none"],
  ["<?", "?>", "none"],
  ["<![CDATA[", "]]>", "text"],
];

/** Reads the attributes of a tag, or a DOCTYPE; returns the index after it, beyond the text if it does not end. */
function readTag(text: string, start: number, { args, causes }: Findings): number {
  charge(TAG_STEPS);
  const isDoctype = /^!doctype/i.test(text.slice(start, start + 8));
  if (isDoctype) causes.add("xml-doctype");
  let depth = 0;
  let nameStart = start;
  for (let at = start; at < text.length; at++) {
    switch (text[at]) {
      case '"':
      case "'": {
        const end = text.indexOf(text[at]!, at + 1);
        if (end === -1) return text.length + 1;
        const name = text
          .slice(Math.max(nameStart, at - NAME_BYTES_MAX), at)
          .trimEnd()
          .replace(/=$/, "")
          .trimEnd();
        charge(ARGUMENT_STEPS);
        args.push(plainArgument("xml", name, decodeXml(text.slice(at + 1, end))));
        at = end;
        nameStart = end + 1;
        break;
      }
      case " ":
      case "\n":
      case "\t":
      case "\r":
      case "/":
        if (/[^ \t\r\n=]/.test(text[at + 1] ?? "")) nameStart = at + 1;
        break;
      case "[":
        if (isDoctype) {
          depth++;
          causes.add("xml-declarations");
        }
        break;
      case "]":
        depth--;
        break;
      case ">":
        if (depth <= 0) return at + 1;
        break;
      default:
    }
  }
  return text.length + 1;
}

const NAME_BYTES_MAX = 128;

const NAMED: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/** Decodes character references, to UTF-8, and the entities that every document has (XML 1.0 §4.6). */
const decodeXml = (text: string): string =>
  text.includes("&")
    ? text.replace(
        /&(?:#x0{0,9}([0-9a-f]{1,6})|#0{0,9}([0-9]{1,7})|(amp|apos|gt|lt|quot));/gi,
        (whole, hex?: string, decimal?: string, name?: string) => {
          if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
          const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
          return point > 0x10_ffff ? whole : Buffer.from(String.fromCodePoint(point), "utf8").toString("latin1");
        },
      )
    : text;

const MARKS: readonly (readonly [mark: string, charset: string])[] = [
  ["\xff\xfe", "utf-16le"],
  ["\xfe\xff", "utf-16be"],
  ["<\0", "utf-16le"],
  ["\0<", "utf-16be"],
  // `<?xm` in EBCDIC.
  ["\x4c\x6f\xa7\x94", "ibm037"],
];

const DECLARATION_BYTES_MAX = 512;
// linear: at most 512 bytes (the part of a document that is searched for a declaration)
const DECLARATION = /^(?:\xef\xbb\xbf)?[ \t\r\n]*<\?xml[^>]*?encoding[ \t\r\n]*=[ \t\r\n]*["']([\w.:-]{1,40})["']/;

/** The document as UTF-8, as far as ASCII is concerned. */
function textOf(body: string, causes: Set<BodyCause>): string {
  const mark = MARKS.find(([bytes]) => body.startsWith(bytes))?.[1];
  const declared = DECLARATION.exec(body.slice(0, DECLARATION_BYTES_MAX))?.[1];
  const charset = mark ?? declared?.toLowerCase() ?? "";
  if (isPlainCharset(charset)) return body;
  causes.add("xml-charset");
  const readings = decodeCharset(charset, body);
  return (charset.endsWith("be") ? readings.at(-1) : readings[0]) ?? body;
}
