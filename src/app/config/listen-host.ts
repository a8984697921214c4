import { isIP } from "node:net";

/** An address, or an address with a port, as `X.host` takes it; undefined if it is neither. */
export function parseListenHost(text: string): { readonly host: string; readonly port?: number } | undefined {
  if (isHost(text)) return { host: text };
  const { six, four, port = "" } = /^(?:\[(?<six>[^\]]*)\]|(?<four>[^:]*)):(?<port>[0-9]{1,5})$/.exec(text)?.groups ?? {};
  const host = six ?? four ?? "";
  const isRight = six === undefined ? isHost(host) : isIP(host) === 6;
  return isRight && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined;
}

const isHost = (text: string): boolean => isIP(text) !== 0 || text === "localhost";
