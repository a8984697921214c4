import { rememberTexts } from "#rules/text/memo.ts";

const LENGTH_MAX = 64;

/** The media type of a Content-Type, without parameters. What is too long for one is cut: origins can write anything. */
export const mediaType = rememberTexts((contentType: string): string => typeOf(contentType).slice(0, LENGTH_MAX));

/** The same, however long it is, as rules see it. */
export const wholeMediaType = rememberTexts(typeOf);

// RFC 9110 §8.3.1, with or without quotes.
const CHARSET = /;\s*charset\s*=\s*"?([\w.:+-]{1,40})/i;

/** The parameter of a Content-Type field, lower case; empty where there is none. */
export const charsetOf = rememberTexts((contentType: string): string => CHARSET.exec(contentType)?.[1]?.toLowerCase() ?? "");

function typeOf(contentType: string): string {
  const semicolon = contentType.indexOf(";");
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}
