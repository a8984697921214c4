import { charge } from "#rules/budget.ts";

const TEXT_STEPS = 300;

/**
 * Whether a text is the address of something that only the machine behind the edge reaches: its own ports, spelled in a way that hides it,
 * or services that stand there. Addresses that programs on a developer's machine are called back at are not (RFC 8252 §7.3).
 */
export function isInternalAddress(text: string): boolean {
  charge(TEXT_STEPS);
  const address =
    // linear: at most 8192 bytes (callers cut what they give, and its repetitions are bounded)
    /^\W{0,3}(?:url ?[=:] ?)?(?:https?|ftp|wss?):[/\\]{1,3}((?:[^/@\s]{0,80}@)?)(\[[0-9a-f:.%]{2,60}\]|[^/:?#\\\s]{1,120})(?::(\d{0,6}))?([^\s]{0,300})/.exec(
      text.slice(0, 512),
    );
  if (address === null) return false;
  const [, user = "", host = "", port = "", path = ""] = address;
  if (!isLocal(host)) return false;
  if (user !== "" || isDisguised(host)) return true;
  if (/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(host)) return !isCallback(Number(port), path);
  return false;
}

const isLocal = (host: string): boolean => isDisguised(host) || /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])\.?$/.test(host);

/** This machine in numbers, in octal or hexadecimal, mapped into IPv6, cut short, or behind a public name. */
const isDisguised = (host: string): boolean =>
  // linear: at most 8192 bytes (callers cut what they give, and its repetitions are bounded)
  /^(?:0|0\.0\.0\.0|127\.\d{1,8}|127\.\d{1,3}\.\d{1,5}|127\.(?!0\.0\.1$)\d{1,3}\.\d{1,3}\.\d{1,3}|0x7f[0-9a-fx.]{0,12}|0{0,3}177(?:\.\d{1,12}){0,3}|017700000001|2130706433|(?:2852039166|3232235521|167772161|2886729729)|\[(?:::|0:0:0:0:0:0:0:[01]|::ffff:[0-9a-f:.]{3,20}|::127\.0\.0\.1|0{1,4}(?::0{1,4}){6}:0{0,3}1)\]|(?:[\w.-]{0,80}\.)?(?:localtest\.me|lvh\.me|localhost\.localdomain|localdomain|(?:127|10|192|172|169)[.-]\d{1,3}[.-]\d{1,3}[.-]\d{1,3}\.(?:nip|xip|sslip)\.io|spoofed\.burpcollaborator\.net|vcap\.me)|localhost\.|\W{1,4}localhost)$/.test(
    host,
  );

const SERVICE_PORTS: ReadonlySet<number> = new Set([
  1433, 1521, 2049, 2181, 2375, 2376, 2379, 3306, 4040, 4444, 5432, 5601, 5672, 5900, 5984, 5985, 6379, 6443, 7001, 8009, 8161, 8500, 9000,
  9090, 9092, 9200, 9300, 10_000, 10_250, 10_255, 11_211, 15_672, 27_017, 50_000, 50_070, 61_616,
]);

const isCallback = (port: number, path: string): boolean =>
  port >= 1024 &&
  !SERVICE_PORTS.has(port) &&
  !/admin|actuator|server-status|console|metrics|config|env|secret|internal|manager|shell|debug|\.\.|%/.test(path);
