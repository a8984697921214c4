import { systemClock } from "#kernel/clock.ts";
import type { Config } from "#app/config/config.ts";
import { rebuildDatabase } from "#app/control/rebuild-database.ts";
import { CliError, columns, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";

/** Not part of the planes' copy, because they never read it. */
const NOT_IN_COPY = [
  "users, memberships, passwords and sessions, and the names and settings of accounts",
  "permissions of tokens other than running gateways, and tokens without that permission",
  "the audit log, versions of DNS records and of rulesets, and import jobs",
  "comments and tags of DNS records, and descriptions and comments of rulesets and lists",
  "settings, providers, costs and routes of gateways that were turned off, and evaluations",
  "the previous firewall, access applications, notifications, log push jobs, zone holds and custom name servers of accounts",
  "certificate orders, accounts at certificate authorities, and the key of the local authority",
] as const;

const NEXT = [
  "start the server; it prints a new first token, which owns every account",
  "create the missing users and tokens again, and check the settings of each zone",
  "give the new ca.pem to clients that trust the old one; visitors see the earlier certificates until they are renewed",
  "make backups from now on, and delete the directory with the damaged files once nothing is missing",
] as const;

/** Writes a new database from the last good copy, and reports the restored data, the lost data, and the next steps. */
export async function rebuild(config: Config): Promise<ExitCode> {
  const { at, kinds, aside, complaints } = await rebuildDatabase(config, systemClock).catch((error: unknown) => {
    throw error instanceof Error ? new CliError(error.message) : error;
  });
  const rows = kinds.map(({ what, held, recovered }) => [what, String(held), String(recovered)]);
  print(config.json, { rebuilt: true, revision: at.rev, kinds, not_in_copy: NOT_IN_COPY, next: NEXT, aside, complaints }, [
    `The database was rebuilt from the last good copy, at revision ${at.rev}.`,
    ...complaints.map((complaint) => `Only a part of the copy could be used: ${complaint}`),
    "",
    ...columns([["", "IN THE COPY", "AS BEFORE"], ...rows]),
    "",
    "Not in the copy, and lost:",
    ...NOT_IN_COPY.map((line) => `- ${line}`),
    "",
    "Next:",
    ...NEXT.map((line) => `- ${line}`),
    "",
    `The previous files are in ${aside}`,
  ]);
  return EXIT.ok;
}
