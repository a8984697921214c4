import { systemClock } from "#kernel/clock.ts";
import { tokenStatus } from "#control/access/token-facts.ts";
import { allTokens } from "#store/access/tokens.ts";
import { allUsers } from "#store/access/users.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "./config-input.ts";
import { columns, EXIT, type ExitCode, print, printable } from "./outcome.ts";
import { withTokens } from "./token-store.ts";

const HEAD = ["ID", "NAME", "STATUS", "OWNER", "ISSUED", "EXPIRES", "API DATE"];

/** Prints every token of the installation, oldest first; their secrets are not stored. */
export async function tokenList(flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store }) => {
    const emails = new Map((await allUsers(store.read)).map(({ id, email }) => [id, email]));
    const tokens = (await allTokens(store.read))
      .map((row) => ({
        id: row.id,
        name: row.name,
        status: tokenStatus(row, systemClock.nowMs()),
        account_id: row.account_id,
        user: row.account_id === null ? (emails.get(row.user_id ?? "") ?? null) : null,
        issued_on: row.issued_on,
        expires_on: row.expires_on,
        api_date: row.api_date,
        /** Whether the first start generated and printed it. */
        first: row.bootstrap === 1,
      }))
      .toSorted((a, b) => (a.issued_on < b.issued_on ? -1 : 1));
    const rows = tokens.map(({ id, name, status, account_id, user, issued_on, expires_on, api_date, first }) => [
      id,
      first ? `${printable(name)} (as printed)` : printable(name),
      status,
      account_id === null ? `user ${user ?? "?"}` : `account ${account_id}`,
      issued_on.slice(0, 10),
      expires_on?.slice(0, 10) ?? "never",
      api_date ?? "",
    ]);
    print(config.json, { tokens }, columns([HEAD, ...rows]));
    return EXIT.ok;
  });
}
