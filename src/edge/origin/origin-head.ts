import type { Trailer } from "#wire/http/chunked.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { FORWARDING_FIELDS } from "#kernel/net/client-addresses.ts";
import { dropFields, fieldNames } from "#wire/http/hop-by-hop.ts";
import { REFUSED_TRAILERS } from "#wire/http/known-fields.ts";
import { framingField, forwardedLines } from "#wire/http/write.ts";
import type { ConnectionInfo, Exchange } from "#edge/exchange/exchange.ts";
import { dropEdited, type ResponseEdits } from "#edge/http/header-edits.ts";

/** Writes heads for origins. */
export interface OriginHeads {
  /** The head for the origin. `upgrade`: the protocol to switch to, or empty. */
  write(buffer: Buffer, head: Head, exchange: Exchange, upgrade: string): string;
  /** The visitor's trailers without fields that are removed from heads, since some origins merge trailers into heads. */
  trailers(received: readonly Trailer[], exchange: Pick<Exchange, "requestEdits">): readonly Trailer[];
}

/** The usual prefix of such fields at CDNs: copies that visitors send are removed as well. */
const KNOWN_PREFIX = "cf";

/** Names, after the prefix, of fields in which proxies describe a visitor. */
const PREFIXED = ["connecting-ip", "connecting-ipv6", "device-type", "ipcountry", "pseudo-ipv4", "ray", "visitor"];

/**
 * Removed from visitors' requests: an origin that reads the first address of a list, or a field that we do not set, would
 * trust the visitor.
 */
const edgeFieldNames = (prefix: string): string[] => [
  ...FORWARDING_FIELDS,
  ...[...new Set([prefix, KNOWN_PREFIX])].flatMap((known) => PREFIXED.map((word) => `${known}-${word}`)),
  // Only spellings with an underscore are left here. They did not frame the body for us, so they must not for the origin.
  "content-length",
  "transfer-encoding",
  // A proxy that removes Upgrade must also remove the settings of the HTTP/2 upgrade (RFC 9113 §3.1 retired both).
  "http2-settings",
];

export function createOriginHeads(prefix: string): OriginHeads {
  const ours = edgeFieldNames(prefix);
  const oursInHead = fieldNames(ours);
  // Of refused fields, only spellings with an underscore are left; `Proxy` is removed where heads are read.
  const oursInTrailers = new Set([...ours, ...REFUSED_TRAILERS, "proxy"]);
  const ownNames = `${prefix}-`;
  const loopEnd = `${prefix}\r\n\r\n`;
  const end = `\r\nCDN-Loop: ${loopEnd}`;
  /** Ends where the ray id follows. */
  const tell = ({ clientIp, scheme }: ConnectionInfo): string =>
    flat(
      `X-Forwarded-For: ${clientIp}\r\nX-Forwarded-Proto: ${scheme}\r\n${prefix}-connecting-ip: ${clientIp}\r\n` +
        `${prefix}-visitor: {"scheme":"${scheme}"}\r\n${prefix}-ray: `,
    );
  return {
    write: (buffer, head, exchange, upgrade) => {
      dropFields(buffer, head, oursInHead);
      const { arrival, requestEdits: edits } = exchange;
      if (edits !== null) dropEdited(buffer, head, edits);
      const host = exchange.hostHeader === "" ? exchange.authority : exchange.hostHeader;
      const original = exchange.hostHeader === "" ? "" : `X-Forwarded-Host: ${exchange.authority}\r\n`;
      const country = exchange.settings.ip_geolocation ? exchange.place?.country : undefined;
      return (
        `${exchange.method} ${exchange.originForm} HTTP/1.1\r\nHost: ${host}\r\n` +
        forwardedLines(exchange.headLines, head) +
        (edits === null ? "" : fieldLines(edits, ownNames)) +
        // Only for a single visitor: cached responses lack trailers.
        (head.takesTrailers && upgrade === "" && !exchange.isForMany ? "TE: trailers\r\nConnection: TE\r\n" : "") +
        (upgrade === "" ? "" : `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`) +
        (head.chunked ? framingField(null) : head.contentLength >= 0 ? framingField(head.contentLength) : "") +
        original +
        (exchange.deviceType === "" ? "" : `${prefix}-device-type: ${exchange.deviceType}\r\n`) +
        (country === undefined ? "" : `${prefix}-ipcountry: ${country}\r\n`) +
        (arrival.told ??= tell(arrival)) +
        exchange.ray_id +
        (head.loopIndex < 0 ? end : `\r\nCDN-Loop: ${exchange.headers("cdn-loop").join(", ")}, ${loopEnd}`)
      );
    },
    trailers: (received, { requestEdits }) =>
      received.filter(({ name }) => {
        const lower = name.toLowerCase();
        return !oursInTrailers.has(lower.replaceAll("_", "-")) && requestEdits?.drop.includes(lower) !== true;
      }),
  };
}

/** The same text as one flat string, since it becomes a part of many others. */
const flat = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

/** Fields that rules add, except those with our prefix, which origins trust. */
function fieldLines(edits: ResponseEdits, own: string): string {
  let lines = "";
  for (const { lower, line } of edits.add) if (!lower.startsWith(own)) lines += line;
  return lines;
}

const UPGRADE = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$/;

/**
 * The protocol that a request may be switched to, or empty. HTTP itself is excluded: after an upgrade to h2c, an origin
 * would take requests that passed no stage.
 */
export function upgradeProtocol(buffer: Buffer, head: Head): string {
  if (!head.connectionUpgrade || head.upgradeIndex < 0 || head.minorVersion === 0 || head.chunked || head.contentLength > 0) return "";
  const protocol = head.value(buffer, head.upgradeIndex);
  return UPGRADE.test(protocol) && !/^(?:h2|http|tls)/i.test(protocol) ? protocol : "";
}
