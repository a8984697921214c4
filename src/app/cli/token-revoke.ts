import { systemCall } from "#control/call.ts";
import { resetFirstToken } from "#control/access/first-token.ts";
import { systemClock } from "#kernel/clock.ts";
import type { Store } from "#store/database/store.ts";
import { findTokenById, type TokenOwner, type TokenRow } from "#store/access/tokens.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "./config-input.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "./outcome.ts";
import { withTokens } from "./token-store.ts";

/** Deletes a token of any owner. */
export async function tokenRevoke(id: string, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store, access, whenHeeded }) => {
    const row = await requireToken(store, id);
    await access.tokens.remove(systemCall("cli"), ownerOf(row), id);
    print(config.json, { id, name: row.name }, [`token "${row.name}" (${id}) was deleted. ${whenHeeded}`.trimEnd()]);
    return EXIT.ok;
  });
}

/** Gives a token a new secret and prints it: the token with this identifier, or the installation's first one, in any state. */
export async function tokenReset(id: string | undefined, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store, access, whenHeeded }) => {
    const reset = id === undefined ? await resetFirstToken({ store, clock: systemClock }) : await roll();
    if (reset === null) throw new CliError("the database has no user yet; start the server once to create the first token");
    const which = id === undefined ? `the first token (${reset.id}), which has all permissions` : `token ${id}`;
    if (!config.json)
      complain([`new secret for ${which}; it is shown only once, and the previous one is no longer valid. ${whenHeeded}`.trimEnd()]);
    print(config.json, { id: reset.id, token: reset.secret }, [reset.secret]);
    return EXIT.ok;

    async function roll(): Promise<{ readonly id: string; readonly secret: string }> {
      const row = await requireToken(store, id ?? "");
      return { id: row.id, secret: await access.tokens.roll(systemCall("cli"), ownerOf(row), row.id) };
    }
  });
}

async function requireToken(store: Store, id: string): Promise<TokenRow> {
  const row = await findTokenById(store.read, id);
  if (row === undefined) throw new CliError(`the token ${JSON.stringify(id)} does not exist; selvedge token list shows the identifiers`);
  return row;
}

const ownerOf = ({ account_id, user_id }: TokenRow): TokenOwner => (account_id === null ? { user_id: user_id ?? "" } : { account_id });
