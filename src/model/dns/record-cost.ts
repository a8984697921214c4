/** Bytes that cost others about as much as a name. */
const BYTES_OF_NAME = 256;

/**
 * The cost of a change of a record for others: names that planes may have to add or remove for it, and its bytes. `previous` is the name
 * of the record before it, whose names above it cost nothing more.
 */
export function recordCost({ name, content = "", rdata = "" }: SizedRecord, previous: string): number {
  return namesBeside(name, previous) + Math.floor((content.length + rdata.length) / BYTES_OF_NAME);
}

export interface SizedRecord {
  readonly name: string;
  readonly content?: string;
  readonly rdata?: string;
}

/** The name itself, and the names above it that are not above `previous`. */
function namesBeside(name: string, previous: string): number {
  let same = 0;
  while (same < Math.min(name.length, previous.length) && name.at(-1 - same) === previous.at(-1 - same)) same += 1;
  let names = 1;
  for (let at = name.indexOf("."); at !== -1 && at < name.length - same; at = name.indexOf(".", at + 1)) names += 1;
  return names;
}
