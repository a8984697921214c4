/** What a zone file would add to an exported zone. */
export interface ZoneFileDiff {
  /** `www.shop.example. A 203.0.113.10`, without those that are there. */
  readonly added: readonly string[];
  readonly same: number;
  /** Lines in a form that this comparison does not read: in parentheses, or by directives. The server reads them. */
  readonly unread: number;
}

const CLASSES: ReadonlySet<string> = new Set(["IN", "CH", "HS"]);
/** Types whose content is names, which are relative to the origin. */
const NAMES: ReadonlySet<string> = new Set(["CNAME", "NS", "PTR", "MX", "DNAME", "SRV"]);

/** A preview: the server decides. TTLs are left out, since an import does not change a record that is there. */
export function compareZoneFiles(exported: string, given: string, zone: string): ZoneFileDiff {
  const there = new Set(readLines(exported, zone).records);
  const { records, unread } = readLines(given, zone);
  const distinct = [...new Set(records)];
  return { added: distinct.filter((record) => !there.has(record)), same: distinct.filter((record) => there.has(record)).length, unread };
}

interface Lines {
  readonly records: readonly string[];
  readonly unread: number;
}

function readLines(text: string, zone: string): Lines {
  const records: string[] = [];
  let unread = 0;
  let origin = `${zone}.`;
  let owner = origin;
  let isOpen = false;
  for (const raw of text.split(/\r?\n/)) {
    const words = wordsOf(raw);
    const isInside = isOpen;
    isOpen = isOpen ? !words.includes(")") : words.includes("(") && !words.includes(")");
    const [first = ""] = words;
    if (isInside || words.length === 0) continue;
    if (first.toUpperCase() === "$ORIGIN") origin = absolute(words[1] ?? "@", origin);
    else if (first.startsWith("$")) unread += first.toUpperCase() === "$TTL" ? 0 : 1;
    else if (isOpen || words.includes("(")) unread += isSoa(words) ? 0 : 1;
    else {
      const rest = /^\s/.test(raw) ? words : words.slice(1);
      if (!/^\s/.test(raw)) owner = absolute(first, origin);
      const at = rest.findIndex((word) => !/^\d+[smhdw]?$/i.test(word) && !CLASSES.has(word.toUpperCase()));
      const type = rest[at]?.toUpperCase() ?? "";
      if (type === "" || type === "SOA") continue;
      const content = rest.slice(at + 1);
      const last = content.length - 1;
      records.push([owner, type, ...content.map((word, i) => (NAMES.has(type) && i === last ? absolute(word, origin) : word))].join(" "));
    }
  }
  return { records, unread };
}

const isSoa = (words: readonly string[]): boolean => words.some((word) => word.toUpperCase() === "SOA");

function absolute(name: string, origin: string): string {
  const lower = name.toLowerCase();
  return lower === "@" ? origin : lower.endsWith(".") ? lower : `${lower}.${origin}`;
}

/** Words of one line: a quoted one keeps its quotes, and a comment ends the line. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word = "";
  let isQuoted = false;
  for (let i = 0; i < line.length; i++) {
    const sign = line[i] ?? "";
    if (sign === "\\") word += sign + (line[++i] ?? "");
    else if (sign === '"') {
      isQuoted = !isQuoted;
      word += sign;
    } else if (isQuoted) word += sign;
    else if (sign === ";") break;
    else if (/\s/.test(sign)) {
      if (word !== "") words.push(word);
      word = "";
    } else word += sign;
  }
  if (word !== "") words.push(word);
  return words;
}
