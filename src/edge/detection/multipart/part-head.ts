import { charsetOf, mediaType } from "#edge/http/media-type.ts";
import { type BodyCut, cutOfRange } from "#edge/detection/body-cut.ts";

/** The fields of a part's head that describe its body (RFC 2046 §5.1). */
export interface PartHead {
  /** Media type, lower case, without parameters; RFC 2046 §5.1.4 has a default. */
  readonly type: string;
  /** Lower case; empty for none. */
  readonly charset: string;
  /** Content-Transfer-Encoding (RFC 2045 §6), lower case; empty for none. */
  readonly encoding: string;
  /** Boundary of the part's own parts; empty for none. */
  readonly boundary: string;
  readonly cut: BodyCut;
}

// RFC 2046 §5.1.1: at most 70 characters.
// linear: pumped
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i;
const NAME = /^[A-Za-z-]+$/;

/** Parses the lines before the empty one, one character per byte. Ignores lines that are not fields. */
export function parsePartHead(text: string): PartHead {
  const fields = new Map<string, string>();
  for (const line of text.replaceAll(/\r?\n[ \t]+/g, " ").split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    if (NAME.test(name)) fields.set(name.toLowerCase(), line.slice(colon + 1).trim());
  }
  const contentType = fields.get("content-type") ?? "";
  const [, quoted, token] = BOUNDARY.exec(contentType) ?? [];
  const range = fields.get("content-range");
  return {
    type: mediaType(contentType) || "text/plain",
    charset: charsetOf(contentType),
    encoding: fields.get("content-transfer-encoding")?.toLowerCase() ?? "",
    boundary: mediaType(contentType).startsWith("multipart/") ? (quoted ?? token ?? "") : "",
    cut: range === undefined ? "none" : cutOfRange(range),
  };
}
