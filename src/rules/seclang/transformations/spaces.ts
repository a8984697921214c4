export const removeNulls = (text: string): string => text.replaceAll("\0", "");
export const replaceNulls = (text: string): string => text.replaceAll("\0", " ");
export const removeWhitespace = (text: string): string => text.replace(/[\t-\r \xa0]+/g, "");
export const compressWhitespace = (text: string): string => text.replace(/[\t-\r \xa0]+/g, " ");
export const trimLeft = (text: string): string => text.replace(/^[\t-\r ]+/, "");

export function trimRight(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

export const trim = (text: string): string => trimLeft(trimRight(text));

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);

/** Each C comment becomes a space; one that is never closed reaches to the end. */
export const replaceComments = (text: string): string => withoutComments(text, " ");

function withoutComments(text: string, instead: string): string {
  let at = text.indexOf("/*");
  if (at === -1) return text;
  let rest = "";
  let from = 0;
  while (at !== -1) {
    rest += text.slice(from, at) + instead;
    const end = text.indexOf("*/", at + 2);
    if (end === -1) return rest;
    from = end + 2;
    at = text.indexOf("/*", from);
  }
  return rest + text.slice(from);
}

/** C comments, those of HTML, and those of SQL to their end. */
export function removeComments(text: string): string {
  const bare = withoutComments(text, "");
  const line = bare.search(/--|#/);
  return line === -1 ? bare : bare.slice(0, line);
}

/** The marks of comments, without their content. */
export const removeCommentsChar = (text: string): string => text.replace(/\/\*|\*\/|<!--|-->|--|#/g, "");
