import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A program that npm does not bring. */
export interface SystemTool {
  readonly name: string;
  /** The Debian package that contains it. */
  readonly debianPackage: string;
  /** The command that needs it: `npm test` fails or skips tests without it, `npm run bench` omits the peer or the row. */
  readonly neededBy: "test" | "bench";
  readonly purpose: string;
  /** A file that shows its presence, for a library without a program. */
  readonly file?: string;
  /** Folders to search besides PATH. */
  readonly folders?: () => readonly string[];
}

export const SYSTEM_TOOLS: readonly SystemTool[] = [
  { name: "dig", debianPackage: "bind9-dnsutils", neededBy: "test", purpose: "asks the nameserver as a stranger would" },
  { name: "kdig", debianPackage: "knot-dnsutils", neededBy: "test", purpose: "asks the nameserver with a second set of options" },
  {
    name: "ip",
    debianPackage: "iproute2",
    neededBy: "test",
    purpose: "lays networks of their own for attacks",
    folders: () => ["/usr/sbin", "/sbin"],
  },
  { name: "named-checkzone", debianPackage: "bind9-utils", neededBy: "test", purpose: "reads zone files as a second opinion" },
  { name: "dnssec-dsfromkey", debianPackage: "bind9-utils", neededBy: "test", purpose: "makes DS records as a second opinion" },
  { name: "dnssec-cds", debianPackage: "bind9-utils", neededBy: "test", purpose: "follows CDS records as a parent zone does" },
  { name: "kzonecheck", debianPackage: "knot-dnssecutils", neededBy: "test", purpose: "reads exported zones as a third opinion" },
  {
    name: "python3-cloudflare",
    debianPackage: "python3-cloudflare",
    neededBy: "test",
    purpose: "calls the API as other people's scripts do",
    file: "/usr/lib/python3/dist-packages/CloudFlare/cloudflare.py",
  },
  {
    name: "python3-lexicon",
    debianPackage: "python3-lexicon",
    neededBy: "test",
    purpose: "changes records as scripts for many DNS providers do",
    file: "/usr/lib/python3/dist-packages/lexicon/providers/cloudflare.py",
  },
  {
    name: "modsecurity-crs",
    debianPackage: "modsecurity-crs",
    neededBy: "test",
    purpose: "is a Core Rule Set that somebody else has packed",
    file: "/usr/share/modsecurity-crs/rules/REQUEST-901-INITIALIZATION.conf",
  },
  {
    name: "nginx with ModSecurity",
    debianPackage: "libnginx-mod-http-modsecurity",
    neededBy: "bench",
    purpose: "runs the Core Rule Set beside the edge",
    file: "/usr/lib/nginx/modules/ngx_http_modsecurity_module.so",
  },
  { name: "ddclient", debianPackage: "ddclient", neededBy: "test", purpose: "updates a record as routers at home do" },
  {
    name: "certbot-dns-cloudflare",
    debianPackage: "python3-certbot-dns-cloudflare",
    neededBy: "test",
    purpose: "asks for certificates with challenges in the DNS",
    file: "/usr/lib/python3/dist-packages/certbot_dns_cloudflare/__init__.py",
  },
  { name: "certbot", debianPackage: "certbot", neededBy: "test", purpose: "asks for certificates" },
  { name: "pebble", debianPackage: "pebble", neededBy: "test", purpose: "is a certificate authority that looks for challenges" },
  { name: "chromium", debianPackage: "chromium", neededBy: "test", purpose: "visits the edge as people do" },
  { name: "script", debianPackage: "bsdutils", neededBy: "test", purpose: "is a terminal that can be closed" },
  { name: "curl", debianPackage: "curl", neededBy: "test", purpose: "visits the edge as a stranger would" },
  { name: "delv", debianPackage: "bind9-dnsutils", neededBy: "test", purpose: "validates answers as a stranger would" },
  {
    name: "unbound",
    debianPackage: "unbound",
    neededBy: "test",
    purpose: "validates signed zones, and resolves names elsewhere",
    folders: () => ["/usr/sbin"],
  },
  { name: "drill", debianPackage: "ldnsutils", neededBy: "test", purpose: "follows signatures to a key that it trusts" },
  { name: "ldns-verify-zone", debianPackage: "ldnsutils", neededBy: "test", purpose: "verifies whole signed zones" },
  { name: "dnsviz", debianPackage: "dnsviz", neededBy: "test", purpose: "judges signed zones as their delegations show them" },
  {
    name: "zonemaster-cli",
    debianPackage: "zonemaster-cli",
    neededBy: "test",
    purpose: "judges zones as registries do before they delegate",
  },
  { name: "systemd-notify", debianPackage: "systemd", neededBy: "test", purpose: "tells systemd how the service is" },
  { name: "systemd-analyze", debianPackage: "systemd", neededBy: "test", purpose: "judges the unit of the service" },
  { name: "dpkg-deb", debianPackage: "dpkg", neededBy: "test", purpose: "builds and opens the Debian package" },
  { name: "promtool", debianPackage: "prometheus", neededBy: "test", purpose: "reads the alert rules and the queries of dashboards" },
  { name: "fish", debianPackage: "fish", neededBy: "test", purpose: "completes commands" },
  { name: "zsh", debianPackage: "zsh", neededBy: "test", purpose: "completes commands" },
  { name: "age", debianPackage: "age", neededBy: "test", purpose: "decrypts backups, and encrypts some for us to open" },
  { name: "gcc", debianPackage: "gcc", neededBy: "test", purpose: "reads the system's headers" },
  {
    name: "libc6-dev",
    debianPackage: "libc6-dev",
    neededBy: "test",
    purpose: "has those headers",
    file: "/usr/include/malloc.h",
  },
  { name: "openssl", debianPackage: "openssl", neededBy: "test", purpose: "verifies certificates and handshakes" },
  { name: "testssl", debianPackage: "testssl.sh", neededBy: "test", purpose: "judges the edge's TLS" },
  {
    name: "postgres",
    debianPackage: "postgresql",
    neededBy: "test",
    purpose: "runs the store's tests on the second dialect",
    folders: postgresFolders,
  },
  {
    name: "nats-server",
    debianPackage: "nats-server",
    neededBy: "test",
    purpose: "carries changes from control to nodes",
    folders: () => ["/usr/sbin"],
  },
  { name: "redis-server", debianPackage: "redis-server", neededBy: "test", purpose: "counts for several machines" },
  { name: "python3", debianPackage: "python3", neededBy: "test", purpose: "runs a receiver of webhooks, as the guide has it" },
  { name: "sqlite3", debianPackage: "sqlite3", neededBy: "test", purpose: "backs a database up, as a guide does" },
  { name: "systemd-analyze", debianPackage: "systemd", neededBy: "test", purpose: "verifies the unit of a guide" },
  {
    name: "nsd-checkconf",
    debianPackage: "nsd",
    neededBy: "test",
    purpose: "verifies the configuration of a guide",
    folders: () => ["/usr/sbin"],
  },
  { name: "jq", debianPackage: "jq", neededBy: "test", purpose: "reads answers of the API, as guides do" },
  { name: "strace", debianPackage: "strace", neededBy: "test", purpose: "counts the syncs to disk that a commit takes" },
  { name: "dnsperf", debianPackage: "dnsperf", neededBy: "bench", purpose: "puts load on nameservers" },
  { name: "rg", debianPackage: "ripgrep", neededBy: "bench", purpose: "looks for the same forms as the detectors" },
  { name: "slowhttptest", debianPackage: "slowhttptest", neededBy: "test", purpose: "attacks the edge slowly" },
  { name: "wrk", debianPackage: "wrk", neededBy: "bench", purpose: "puts load on HTTP servers" },
  { name: "h2load", debianPackage: "nghttp2-client", neededBy: "bench", purpose: "puts load on HTTP servers over TLS" },
  { name: "nghttp", debianPackage: "nghttp2-client", neededBy: "test", purpose: "speaks HTTP/2 to the edge as a stranger would" },
  {
    name: "nginx",
    debianPackage: "nginx-light",
    neededBy: "test",
    purpose: "is an origin, and the edge's peer in benches",
    folders: () => ["/usr/sbin"],
  },
  {
    name: "nsd",
    debianPackage: "nsd",
    neededBy: "test",
    purpose: "is the nameserver's peer, and answers the same questions",
    folders: () => ["/usr/sbin"],
  },
  {
    name: "knotd",
    debianPackage: "knot",
    neededBy: "test",
    purpose: "answers the same questions as the nameserver",
    folders: () => ["/usr/sbin"],
  },
  {
    name: "named",
    debianPackage: "bind9",
    neededBy: "test",
    purpose: "is the primary of secondary zones, and the nameserver's peer",
    folders: () => ["/usr/sbin"],
  },
  { name: "nsupdate", debianPackage: "bind9-dnsutils", neededBy: "test", purpose: "changes zones of that primary" },
  { name: "knotc", debianPackage: "knot", neededBy: "test", purpose: "changes zones of Knot DNS", folders: () => ["/usr/sbin"] },
  {
    name: "pdns_server",
    debianPackage: "pdns-server",
    neededBy: "bench",
    purpose: "is the nameserver's peer, and its API the management API's",
    folders: () => ["/usr/sbin"],
  },
  { name: "ldns-keygen", debianPackage: "ldnsutils", neededBy: "bench", purpose: "makes the key of a zone that peers serve signed" },
  { name: "ldns-signzone", debianPackage: "ldnsutils", neededBy: "bench", purpose: "signs that zone" },
  {
    name: "pdns-backend-sqlite3",
    debianPackage: "pdns-backend-sqlite3",
    neededBy: "bench",
    purpose: "keeps the zones of the management API's peer",
    file: "/usr/share/doc/pdns-backend-sqlite3",
  },
];

/** The path of the program or library, or undefined if it is not installed. */
export function findTool(name: string): string | undefined {
  const tool = SYSTEM_TOOLS.find((row) => row.name === name);
  if (tool?.file !== undefined) return existsSync(tool.file) ? tool.file : undefined;
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...(tool?.folders?.() ?? [])];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/**
 * Installs missing tools that `who` needs, if it may: as root, with apt, in CI or with SELVEDGE_INSTALL_TOOLS=1.
 * Returns the tools that are still missing; never throws.
 */
export function provideTools(who: SystemTool["neededBy"]): readonly SystemTool[] {
  const missing = missingTools(who);
  if (missing.length > 0 && mayInstall()) {
    const packages = [...new Set(missing.map((tool) => tool.debianPackage))];
    console.log(`installing ${packages.join(" ")}`);
    if (aptGet(["update", "-qq"])) aptGet(["install", "-y", "-qq", "--no-install-recommends", ...packages]);
  }
  return missingTools(who);
}

/** Whether a missing tool is a failure instead of a skip. */
export const inCi = (): boolean => !["", "0", "false"].includes(process.env["CI"] ?? "");

const missingTools = (who: SystemTool["neededBy"]): readonly SystemTool[] =>
  SYSTEM_TOOLS.filter((tool) => tool.neededBy === who && findTool(tool.name) === undefined);

function mayInstall(): boolean {
  const allowed = inCi() || process.env["SELVEDGE_INSTALL_TOOLS"] === "1";
  return allowed && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

const INSTALL_TIMEOUT_MS = 300_000;

function aptGet(args: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // Another apt may hold the lock for a moment, for example on a machine that has just started.
  const result = spawnSync("/usr/bin/apt-get", ["-o", "DPkg::Lock::Timeout=60", ...args], {
    env,
    encoding: "utf8",
    timeout: INSTALL_TIMEOUT_MS,
  });
  if (result.status !== 0) console.error(`apt-get ${args.join(" ")} failed: ${result.error?.message ?? result.stderr}`);
  return result.status === 0;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Debian installs the server's programs outside PATH, in one folder per version. */
function postgresFolders(): readonly string[] {
  const root = "/usr/lib/postgresql";
  return existsSync(root) ? readdirSync(root).map((version) => join(root, version, "bin")) : [];
}
