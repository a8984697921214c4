import { charge } from "#rules/budget.ts";

const TEXT_STEPS = 300;

/**
 * Whether a text is an address that only the machine behind the edge can reach: its own ports in a disguised spelling, or
 * internal services. Callback addresses of programs on a developer's machine do not count (RFC 8252 §7.3).
 */
export function isInternalAddress(text: string): boolean {
  charge(TEXT_STEPS);
  const address =
    // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
    /^\W{0,3}(?:url ?[=:] ?)?(?:(?:https?|ftp|wss?):[/\\]{0,4}|[/\\]{2})((?:[^/@\s]{0,80}@)?)(\[[0-9a-f:.%]{2,60}\]|[^/:?#\\\s,%]{1,120})(?::(\d{0,6}))?([^\s]{0,300})/.exec(
      text.slice(0, 512),
    );
  if (address === null) return false;
  const [, user = "", host = "", port = "", path = ""] = address;
  // A name and a password to some programs is the host to others.
  if (isLocal(user.split(/[#\\:@]/, 1)[0]!)) return true;
  if (isService(host)) return true;
  if (!isLocal(host)) return isPrivate(host) && !isCallback(Number(port) || 8080, path);
  if (user !== "" || isDisguised(host) || /^\W{0,3}[/\\]{2}/.test(text)) return true;
  if (/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(host)) return !isCallback(Number(port), path);
  return false;
}

const isLocal = (host: string): boolean => isDisguised(host) || /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])\.?$/.test(host);

/** Names of services within clusters and clouds. */
const isService = (host: string): boolean =>
  /^(?:kubernetes(?:\.default(?:\.svc)?)?|[\w.-]{1,80}\.(?:svc|svc\.cluster\.local|service\.consul)|metadata|metadata\.tencentyun\.com|instance-data|host\.docker\.internal|gateway\.docker\.internal)$/.test(
    host,
  );

/** A number that is not four decimals, or a name that resolves to such numbers. */
const isDisguised = (host: string): boolean => {
  const number = addressOf(host);
  if (number !== null && isInternal(number)) return number === 0 || isCloud(number) || !PLAIN.test(host) || /^127\.(?!0\.0\.1$)/.test(host);
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  return /^(?:\[(?:::|0:0:0:0:0:0:0:[01]|(?:0{1,4}:){5}ffff:[0-9a-f:.]{3,20}|::ffff:[0-9a-f:.]{3,20}|::127\.0\.0\.1|0{1,4}(?::0{1,4}){0,6}::?0{0,3}1|fe80:[0-9a-f:%]{1,40}|fd00:ec2::254)\]|(?:[\w.-]{0,80}\.)?(?:localtest\.me|lvh\.me|localhost\.localdomain|localdomain|(?:127|10|192|172|169)[.-]\d{1,3}[.-]\d{1,3}[.-]\d{1,3}\.(?:nip|xip|sslip)\.io|spoofed\.burpcollaborator\.net|vcap\.me)|localhost\.|ip6-localhost|\W{1,4}localhost)$/.test(
    host,
  );
};

const PLAIN = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/;

/** The address that a resolver makes of one to four numbers, in decimals, octal or hexadecimal (inet_aton); null for a name. */
function addressOf(host: string): number | null {
  const written = host.split(".", 5);
  if (written.length > 4 || !written.every((part) => /^(?:0x[0-9a-f]{1,10}|[0-9]{1,12})$/.test(part))) return null;
  const parts = written.map((part) => (part.startsWith("0x") ? Number(part) : octal(part)));
  const last = parts.pop()!;
  // Old resolvers keep the last eight bits of each of four numbers.
  if (written.length === 4) return [...parts, last].reduce((sum, part) => sum * 256 + (part % 256), 0);
  if (parts.some((part) => part > 255) || last >= 256 ** (4 - parts.length)) return null;
  return parts.reduce((sum, part, i) => sum + part * 256 ** (3 - i), last);
}

/** A leading zero makes a number octal, if its digits allow it. */
const octal = (part: string): number =>
  /^0[0-7]+$/.test(part) && !/^0{1,3}(?:127|10|192|172|169)$/.test(part) ? Number.parseInt(part, 8) : Number(part);

const isIn = (number: number, network: number, bits: number): boolean =>
  Math.floor(number / 2 ** (32 - bits)) === Math.floor(network / 2 ** (32 - bits));
const NETWORKS: readonly (readonly [network: number, bits: number])[] = [
  [0, 8],
  [0x0a00_0000, 8],
  [0x7f00_0000, 8],
  [0xa9fe_0000, 16],
  [0xac10_0000, 12],
  [0xc0a8_0000, 16],
];
const isInternal = (number: number): boolean => isCloud(number) || NETWORKS.some(([network, bits]) => isIn(number, network, bits));

/** Addresses of clouds' metadata services. */
const isCloud = (number: number): boolean => [0xa9fe_a9fe, 0xa9fe_aa02, 0x6464_64c8, 0xc000_00c0].includes(number);

const isPrivate = (host: string): boolean => {
  const number = addressOf(host);
  return number !== null && isInternal(number);
};

const SERVICE_PORTS: ReadonlySet<number> = new Set([
  1433, 1521, 2049, 2181, 2375, 2376, 2379, 3306, 4040, 4444, 5432, 5601, 5672, 5900, 5984, 5985, 6379, 6443, 7001, 8009, 8161, 8500, 9000,
  9090, 9092, 9200, 9300, 10_000, 10_250, 10_255, 11_211, 15_672, 27_017, 50_000, 50_070, 61_616,
]);

const isCallback = (port: number, path: string): boolean =>
  port >= 1024 &&
  !SERVICE_PORTS.has(port) &&
  !/admin|actuator|server-status|console|metrics|config|env|secret|internal|manager|shell|debug|cgi-bin|goform|hnap1|\.\.|%/.test(path);
