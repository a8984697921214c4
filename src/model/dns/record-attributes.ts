/** Attributes of a record that zone files carry in comments (dns.md, "Export"). */
export interface RecordAttributes {
  readonly comment: string | null;
  /** `name` or `name:value`. */
  readonly tags: readonly string[];
  /** Undefined if the file does not specify it. */
  readonly proxied?: boolean;
  /** Settings that are on. */
  readonly settings: RecordFlags;
}

export type RecordFlags = Readonly<Partial<Record<FlagName, boolean>>>;
type FlagName = "flatten_cname" | "ipv4_only" | "ipv6_only";

const MARK = "cf_tags=";
const PROXIED = "cf-proxied";
/** Settings by their names in zone files. */
const FLAGS: ReadonlyMap<string, FlagName> = new Map([
  ["cf-flatten-cname", "flatten_cname"],
  ["cf-ipv4-only", "ipv4_only"],
  ["cf-ipv6-only", "ipv6_only"],
]);

/** `comment cf_tags=a,b:"x,y",cf-proxied:true,cf-flatten-cname`; empty without attributes. */
export function attributesText({ comment, tags, proxied, settings }: RecordAttributes): string {
  const items = tags.map(tagText);
  if (proxied !== undefined) items.push(`${PROXIED}:${proxied}`);
  for (const [word, flag] of FLAGS) if (settings[flag]) items.push(word);
  const text = oneLine(comment ?? "");
  // The last mark begins the tags, so a comment that contains a mark gets another one after it.
  const marked = items.length > 0 || text.includes(MARK) ? `${MARK}${items.join(",")}` : "";
  return [text, marked].filter((part) => part !== "").join(" ");
}

/** Parses the comment of a zone file's record. Without a mark, the whole text is the record's comment. */
export function readAttributes(text: string): RecordAttributes {
  const at = markIndex(text);
  const comment = oneLine(at < 0 ? text : text.slice(0, at));
  const tags: string[] = [];
  const settings: Partial<Record<FlagName, true>> = {};
  let proxied: boolean | undefined;
  for (const { value, literal } of at < 0 ? [] : items(text.slice(at + MARK.length))) {
    const flag = literal ? undefined : FLAGS.get(value);
    if (flag !== undefined) settings[flag] = true;
    else if (!literal && (value === `${PROXIED}:true` || value === `${PROXIED}:false`)) proxied = value.endsWith(":true");
    else tags.push(value);
  }
  return { comment: comment === "" ? null : comment, tags, ...(proxied === undefined ? {} : { proxied }), settings };
}

/** The index of the last mark that is a separate word. */
function markIndex(text: string): number {
  for (let at = text.lastIndexOf(MARK); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(MARK, at - 1)) {
    if (at === 0 || /\s/.test(text.charAt(at - 1))) return at;
  }
  return -1;
}

/** A line break would end the comment; other control characters have no meaning in it. */
// oxlint-disable-next-line no-control-regex
const oneLine = (text: string): string => text.replace(/[\x00-\x1f\x7f\u2028\u2029]/g, " ").trim();

/** A tag that looks like an attribute is quoted completely, so that it stays a tag. */
function tagText(tag: string): string {
  if (FLAGS.has(tag) || tag.startsWith(`${PROXIED}:`)) return quoted(tag);
  const colon = tag.indexOf(":");
  const value = tag.slice(colon + 1);
  return colon < 0 || (/^[^\s,"\\]*$/.test(value) && !value.includes(MARK)) ? tag : `${tag.slice(0, colon)}:${quoted(value)}`;
}

/** Also escapes the equals sign, so that quoted text contains no mark. */
const quoted = (text: string): string => `"${text.replace(/["\\=]/g, "\\$&")}"`;

interface Item {
  readonly value: string;
  /** The item begins with a quote. */
  readonly literal: boolean;
}

/** Splits at commas; quotes protect their content, in which a backslash escapes the next character. */
function items(text: string): readonly Item[] {
  const found: Item[] = [];
  let value = "";
  let inQuotes = false;
  let literal = false;
  /** Length of the value up to the last quoted character; white space after it is trimmed. */
  let kept = 0;
  const close = (): void => {
    const whole = value.slice(0, kept) + value.slice(kept).trimEnd();
    if (whole !== "") found.push({ value: whole, literal });
    [value, literal, kept] = ["", false, 0];
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') {
      literal ||= !inQuotes && value === "";
      inQuotes = !inQuotes;
      kept = value.length;
    } else if (inQuotes) value += character === "\\" ? text.charAt((at += 1)) : character;
    else if (character === ",") close();
    else if (value !== "" || character.trim() !== "") value += character;
  }
  if (inQuotes) kept = value.length;
  close();
  return found;
}
