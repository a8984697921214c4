import { readdirSync, statSync } from "node:fs";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { join } from "node:path";
import { parseAddressRange } from "#rules/expression/values/address-set.ts";
import type { ManagedLists } from "#rules/managed/rule-material.ts";

const NAME = /^([a-z0-9_]{1,50})\.txt$/;
/** Limit of all files together, because they are read at once. */
const BYTES_MAX = 8 << 20;
const ADDRESSES_MAX = 250_000;

/**
 * The lists in a directory: NAME.txt is `$cf.NAME`, with an address, a block or a range `first..last` in each line; `#`
 * begins a comment. Throws an Error with file, line and column for the first invalid line.
 */
export function readManagedLists(directory: string): ManagedLists {
  const lists: Record<string, readonly string[]> = {};
  let bytes = 0;
  let addresses = 0;
  for (const file of readdirSync(directory).sort()) {
    if (!file.endsWith(".txt")) continue;
    const path = join(directory, file);
    const name = NAME.exec(file)?.[1];
    if (name === undefined) throw new Error(`${path}: the name of a list may have up to 50 lowercase letters, digits and _`);
    if ((bytes += statSync(path).size) > BYTES_MAX) throw new Error(`${path}: the lists are larger than ${BYTES_MAX >> 20} MiB in total`);
    const found = addressesIn(readRegularFile(path, BYTES_MAX).toString("latin1"), path);
    if ((addresses += found.length) > ADDRESSES_MAX)
      throw new Error(`${path}: the lists have more than ${ADDRESSES_MAX} addresses in total`);
    lists[name] = found;
  }
  return lists;
}

function addressesIn(text: string, path: string): readonly string[] {
  const found: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const comment = line.indexOf("#");
    const whole = comment === -1 ? line : line.slice(0, comment);
    const address = whole.trim();
    if (address === "") continue;
    if (parseAddressRange(address) === undefined) {
      const column = whole.length - whole.trimStart().length + 1;
      throw new Error(`${path}:${index + 1}:${column}: not an address, a block or a range: ${JSON.stringify(address.slice(0, 60))}`);
    }
    found.push(address);
  }
  return found;
}
