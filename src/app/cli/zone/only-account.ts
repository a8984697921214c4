import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../outcome.ts";

/** The only account that the token can access. Throws CliError if it can access several, or none. */
export async function onlyAccount(api: ApiClient): Promise<string> {
  const accounts = (await api.call("GET", "/accounts")) as readonly { id: string }[];
  const [account] = accounts;
  if (account === undefined || accounts.length > 1)
    throw new CliError(`the token can access ${accounts.length} accounts; choose one with --account`, EXIT.usage);
  return account.id;
}
