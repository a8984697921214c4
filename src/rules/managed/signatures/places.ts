/** A place of a request that signatures look at. */
export interface Place {
  /** As rows of operators name it. */
  readonly name: string;
  readonly bit: number;
  readonly title: string;
}

export const PATH = 1;
export const ARGUMENTS = 2;
export const COOKIES = 4;
export const HEADERS = 8;
export const AGENT = 16;
export const FILES = 32;
export const BODY = 64;
export const UPLOADS = 128;

/** Every place there is; a signature names several by joining their bits. */
export const PLACES: readonly Place[] = [
  { name: "path", bit: PATH, title: "the path" },
  { name: "arguments", bit: ARGUMENTS, title: "names and values of query, form, parts, JSON and XML" },
  { name: "cookies", bit: COOKIES, title: "names and values of cookies" },
  { name: "headers", bit: HEADERS, title: "values of header fields, and heads of parts, without those that have a place of their own" },
  { name: "user-agent", bit: AGENT, title: "User-Agent" },
  { name: "file-names", bit: FILES, title: "names of uploaded files" },
  { name: "files", bit: UPLOADS, title: "beginnings of uploaded files" },
  { name: "body", bit: BODY, title: "bodies that are neither form nor parts nor JSON" },
];

/** What a visitor can put a value into. */
export const INPUT = ARGUMENTS | COOKIES | BODY;
/** Programs log and keep more than what they ask for. */
export const ANYWHERE = INPUT | PATH | HEADERS | AGENT;
