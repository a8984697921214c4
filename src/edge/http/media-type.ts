import { rememberTexts } from "#rules/text/memo.ts";

const LENGTH_MAX = 64;

/** The media type of a Content-Type, without parameters, cut to `LENGTH_MAX` because origins may send anything. */
export const mediaType = rememberTexts((contentType: string): string => typeOf(contentType).slice(0, LENGTH_MAX));

/** The media type at any length, as rules see it. */
export const wholeMediaType = rememberTexts(typeOf);

// RFC 9110 §8.3.1, with or without quotes.
const CHARSET = /;\s*charset\s*=\s*"?([\w.:+-]{1,40})/i;

/** The charset of a Content-Type field in lower case; empty without one. */
export const charsetOf = rememberTexts((contentType: string): string => CHARSET.exec(contentType)?.[1]?.toLowerCase() ?? "");

function typeOf(contentType: string): string {
  const semicolon = contentType.indexOf(";");
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}
