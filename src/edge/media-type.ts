import { rememberTexts } from "#rules/expression/memo.ts";

const LENGTH_MAX = 64;

/** The media type of a Content-Type, without parameters. What is too long for one is cut: origins can write anything. */
export const mediaType = rememberTexts((contentType: string): string => {
  const semicolon = contentType.indexOf(";");
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase().slice(0, LENGTH_MAX);
});
