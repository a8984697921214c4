import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";

/**
 * Addresses of a name in the machine's hosts file (hosts(5)), which container networks need; empty if it has none. Never
 * rejects.
 */
export type HostsFile = (name: string) => Promise<readonly string[]>;

/** Lists of blocked names are this long; larger files are not read. Bytes. */
const FILE_BYTES_MAX = 16_777_216;
const NONE: readonly string[] = [];

/** Reads the file again when it has changed. */
export function createHostsFile(path: string): HostsFile {
  let version = "";
  let hosts: ReadonlyMap<string, readonly string[]> = new Map();
  return async (name) => {
    try {
      const found = await stat(path);
      const { mtimeMs, size, ino } = found;
      const seen = `${mtimeMs} ${size} ${ino}`;
      if (seen !== version) {
        hosts = size > FILE_BYTES_MAX || !found.isFile() ? new Map() : parseHosts(await readFile(path, "utf8"));
        version = seen;
      }
      return hosts.get(name) ?? NONE;
    } catch {
      // Without the file, names are only looked up by DNS.
      return NONE;
    }
  };
}

function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [address]);
      else known.push(address);
    }
  }
  return hosts;
}
