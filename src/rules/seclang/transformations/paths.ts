export const lowercase = (text: string): string => (/[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text);
export const uppercase = (text: string): string => (/[a-z]/.test(text) ? text.replace(/[a-z]+/g, (part) => part.toUpperCase()) : text);

/** What shells leave out: quotes, backslashes and carets; separators become one space, which goes before `/` and `(`. */
export function cmdLine(text: string): string {
  const bare = text.replace(/["'\\^]+/g, "").replace(/[ ,;\t\r\n]+/g, " ");
  return lowercase(bare.replace(/ ([/(])/g, "$1"));
}

/** Without empty segments, `.`, and `..` where something stands before it. */
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
