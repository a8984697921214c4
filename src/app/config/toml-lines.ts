/**
 * Finds the line (from 1) of a TOML key; the parser returns values without positions. Returns the line of the longest
 * leading part of the path that the text names, so keys of an inline table are found at the line of the table.
 */
export function createTomlLocator(text: string): (path: readonly string[]) => number {
  const lines = new Map<string, number>();
  let section: readonly string[] = [];
  let fence: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (fence === undefined) {
      const header = headerPath(line);
      const key = header === null ? keyPath(line, "=") : null;
      if (header !== null) section = header;
      const path = header ?? (key === null ? [] : [...section, ...key]);
      for (let length = 1; length <= Math.min(path.length, DEPTH_MAX); length++) {
        const known = joined(path.slice(0, length));
        if (!lines.has(known)) lines.set(known, index + 1);
      }
    }
    fence = fenceAfter(line, fence);
  }
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const line = lines.get(joined(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}

/** Settings are nested less deeply. */
const DEPTH_MAX = 16;

const joined = (path: readonly string[]): string => JSON.stringify(path);

/** `[a.b]` or `[[a.b]]`; null for any other line. */
function headerPath(line: string): readonly string[] | null {
  const text = line.trimStart();
  if (!text.startsWith("[")) return null;
  return keyPath(text.slice(text.startsWith("[[") ? 2 : 1), "]");
}

/** A part of a key, and the character after it. */
const PART = /[ \t]*(?:"([^"]*)"|'([^']*)'|([\w-]+))[ \t]*([.=\]])/y;

/** The parts of the key at the start of the text, up to `end`; null without one. */
function keyPath(text: string, end: "=" | "]"): readonly string[] | null {
  const parts: string[] = [];
  for (PART.lastIndex = 0; ;) {
    const found = PART.exec(text);
    if (found === null) return null;
    parts.push(found[1] ?? found[2] ?? found[3] ?? "");
    if (found[4] !== ".") return found[4] === end ? parts : null;
  }
}

/** The multi-line string that is open at the end of a line: text inside it may look like a key. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  for (const match of line.matchAll(/"""|'''/g)) {
    if (open === undefined) open = match[0];
    else if (open === match[0]) open = undefined;
  }
  return open;
}
