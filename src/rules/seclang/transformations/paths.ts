/** Of ASCII letters only. */
export function lowercase(text: string): string {
  if (!/[A-Z]/.test(text)) return text;
  return /[\x80-\xff]/.test(text) ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text.toLowerCase();
}

export const uppercase = (text: string): string => (/[a-z]/.test(text) ? text.replace(/[a-z]+/g, (part) => part.toUpperCase()) : text);

/**
 * Removes characters that shells ignore: quotes, backslashes and carets; separators become one space, which is removed
 * before `/` and `(`.
 */
export function cmdLine(text: string): string {
  const bare = /["'\\^]/.test(text) ? text.replace(/["'\\^]+/g, "") : text;
  const spaced = /[,;\t\r\n]| [ /(]/.test(bare) ? bare.replace(/[ ,;\t\r\n]+/g, " ").replace(/ ([/(])/g, "$1") : bare;
  return lowercase(spaced);
}

/** Removes empty segments, `.`, and `..` together with the segment before it. */
export function normalizePath(text: string): string {
  if (text === "") return text;
  const isAbsolute = text.startsWith("/");
  const kept: string[] = [];
  const segments = text.split("/");
  for (const segment of segments) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!isAbsolute) kept.push(segment);
  }
  const last = segments.at(-1);
  const isFolder = kept.length > 0 && (last === "" || last === "." || last === "..");
  return `${isAbsolute ? "/" : ""}${kept.join("/")}${isFolder ? "/" : ""}`;
}

export const normalizePathWin = (text: string): string => normalizePath(text.replaceAll("\\", "/"));
