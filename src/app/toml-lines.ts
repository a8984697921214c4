/**
 * Finds the line (from 1) on which a TOML key stands; the parser gives values without positions. Gives the
 * line of the longest leading part of the path that the text names, so keys of an inline table are found at
 * the line of the table.
 */
export function createTomlLocator(text: string): (path: readonly string[]) => number {
  const lines = new Map<string, number>();
  let section: readonly string[] = [];
  let fence: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (fence === undefined) {
      const header = /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line);
      const assignment = header ? null : /^\s*((?:[\w-]+|"[^"]*"|'[^']*'|\s*\.\s*)+?)\s*=/.exec(line);
      if (header) section = keyParts(header[1] ?? "");
      const path = header ? section : assignment ? [...section, ...keyParts(assignment[1] ?? "")] : [];
      for (let length = 1; length <= path.length; length++) {
        const key = joined(path.slice(0, length));
        if (!lines.has(key)) lines.set(key, index + 1);
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

const joined = (path: readonly string[]): string => JSON.stringify(path);

function keyParts(text: string): string[] {
  return Array.from(text.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g), (match) => match[1] ?? match[2] ?? match[3] ?? "");
}

/** The multi-line string that is open at the end of a line: what looks like a key inside it is none. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  for (const match of line.matchAll(/"""|'''/g)) {
    if (open === undefined) open = match[0];
    else if (open === match[0]) open = undefined;
  }
  return open;
}
