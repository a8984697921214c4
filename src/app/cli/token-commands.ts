import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { collect, DATABASE_KEYS, type Finish } from "./command-parts.ts";

/** Adds the commands of `selvedge token`. */
export function addTokens(parent: Command, finish: Finish): void {
  addTokenCreate(parent, finish);
  const list = parent
    .command("list")
    .description("List all API tokens of the installation. The server stores no secrets, so the list does not show them.");
  const listFlags = addConfigFlags(list, DATABASE_KEYS);
  list.action(async () => finish(await (await import("./token-list.ts")).tokenList(listFlags)));
  const revoke = parent
    .command("revoke")
    .argument("<id>", "the token's identifier, as shown by token list")
    .description("Delete an API token of any user or account.");
  const revokeFlags = addConfigFlags(revoke, DATABASE_KEYS);
  revoke.action(async (id: string) => finish(await (await import("./token-revoke.ts")).tokenRevoke(id, revokeFlags)));
  const reset = parent
    .command("reset")
    .argument("[id]", "the token's identifier (default: the first token, which is created again if it was revoked)")
    .description(
      "Give an API token a new secret and print it once. Use this if the first token was lost, and before you open a plane to the Internet.",
    );
  const resetFlags = addConfigFlags(reset, DATABASE_KEYS);
  reset.action(async (id: string | undefined) => finish(await (await import("./token-revoke.ts")).tokenReset(id, resetFlags)));
}

function addTokenCreate(parent: Command, finish: Finish): void {
  const command = parent
    .command("create")
    .description("Create an API token for an account and print its secret once. Set its permissions with --permission or --all.")
    .requiredOption("--name <name>", "name of the token, such as its purpose")
    .option("--permission <group>", 'a permission group such as "DNS Write"; repeatable', collect)
    .option("--all", "all permissions for the account and its zones")
    .option("--account <id>", "the account that owns the token (default: the first account)")
    .option("--expires-in <time>", "how long the token is valid: 90d, 12h, 30m or 600s (default: no expiry)")
    .option("--api-date <day>", "the API date that its calls have, such as 2024-05-01 (default: that of the account or the operator)");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (options) => finish(await (await import("./token-create.ts")).tokenCreate(options, flags)));
}
