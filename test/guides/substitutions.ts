import { ROOT } from "../../tools/steps.ts";
import type { Site } from "./site.ts";

interface Substitution {
  readonly written: string | RegExp;
  readonly runs: (site: Site) => string;
}

/** Values in guides that differ for every reader. Everything else runs as written. */
const SUBSTITUTIONS: readonly Substitution[] = [
  { written: "TOKEN=… ACCOUNT=…", runs: ({ token, account_id }) => `TOKEN=${token} ACCOUNT=${account_id}` },
  { written: "TOKEN_ID", runs: ({ spareTokenId }) => spareTokenId },
  { written: /\b8780\b/g, runs: ({ ports }) => String(ports.api) },
  { written: /\b8781\b/g, runs: ({ ports }) => String(ports.gateway) },
  { written: /\b5300\b/g, runs: ({ ports }) => String(ports.dns) },
  { written: /\b8080\b/g, runs: ({ ports }) => String(ports.http) },
  { written: /\b8443\b/g, runs: ({ ports }) => String(ports.https) },
  { written: /\b9000\b/g, runs: ({ originPort }) => String(originPort) },
  { written: /\b4010\b/g, runs: ({ providerPort }) => String(providerPort) },
  { written: /\b9100\b/g, runs: ({ receiverPort }) => String(receiverPort) },
  // The two servers of the guides to transfers: 192.0.2.20 is Selvedge, 192.0.2.10 its primary and 192.0.2.30 its secondary.
  { written: '"ip": "192.0.2.10", "port": 53', runs: ({ peerPort }) => `"ip": "127.0.0.1", "port": ${peerPort}` },
  { written: '"ip": "192.0.2.30", "port": 53', runs: ({ peerPort }) => `"ip": "127.0.0.1", "port": ${peerPort}` },
  { written: "@192.0.2.30", runs: ({ peerPort }) => `@127.0.0.1 -p ${peerPort}` },
  { written: "192.0.2.20 port 53", runs: ({ ports }) => `127.0.0.1 port ${ports.dns}` },
  { written: "192.0.2.20@53", runs: ({ ports }) => `127.0.0.1@${ports.dns}` },
  { written: "@192.0.2.20", runs: ({ ports }) => `@127.0.0.1 -p ${ports.dns}` },
  { written: "192.0.2.20", runs: () => "127.0.0.1" },
  // Any root works for a server that orders no certificates.
  { written: "pebble.minica.pem", runs: () => ".selvedge/ca.pem" },
  // The machine with a public address.
  { written: "@203.0.113.10", runs: ({ ports }) => `@127.0.0.1 -p ${ports.dns}` },
  // The unit of the service.
  { written: "/srv/selvedge", runs: () => ROOT },
  { written: "/etc/selvedge.toml", runs: () => "selvedge.toml" },
  { written: "/var/lib/selvedge", runs: () => "var/lib/selvedge" },
  { written: "/backup/", runs: () => "backup/" },
  { written: /\b8782\b/g, runs: ({ opsPort }) => String(opsPort) },
  // The collector of logs.
  { written: "https://logs.example", runs: ({ logsPort }) => `http://127.0.0.1:${logsPort}` },
];

export const substituted = (text: string, site: Site): string =>
  SUBSTITUTIONS.reduce((result, { written, runs }) => result.replaceAll(written, () => runs(site)), text);
