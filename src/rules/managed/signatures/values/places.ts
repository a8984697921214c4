/** The targets of a request that signatures inspect; a signature names several by joining their bits. */
export const PATH = 1;
/** Names and values of query, form, parts, JSON and XML. */
export const ARGUMENTS = 2;
/** Names and values of cookies. */
export const COOKIES = 4;
/** Values of header fields and heads of parts, without those that have their own target. */
export const HEADERS = 8;
/** The field User-Agent. */
export const AGENT = 16;
/** Names of uploaded files. */
export const FILES = 32;
/** Bodies that are neither form nor parts nor JSON. */
export const BODY = 64;
/** The beginnings of uploaded files. */
export const UPLOADS = 128;

/** Targets in which a visitor can put a value. */
export const INPUT = ARGUMENTS | COOKIES | BODY;
/** Programs log and store more parts than those that they use. */
export const ANYWHERE = INPUT | PATH | HEADERS | AGENT;

/** Each target by its name in files of the operator. */
export const PLACES = {
  path: PATH,
  arguments: ARGUMENTS,
  cookies: COOKIES,
  headers: HEADERS,
  "user-agent": AGENT,
  filenames: FILES,
  body: BODY,
  uploads: UPLOADS,
} as const;

export type PlaceName = keyof typeof PLACES;
