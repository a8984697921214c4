import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { CLIENT_KEYS, type Finish, withApi } from "./command-parts.ts";
import type { RulesFormatOptions } from "./rules/rules-format.ts";
import type { RulesApplyOptions, RulesOptions } from "./rules/rules-commands.ts";
import type { ApiOptions } from "./zone/zone-api.ts";
import type { WafCrsInstallOptions } from "./waf-crs-install.ts";

const FILE = ["<file>", "a file of rules export, or - for standard input"] as const;
const OTHER_ZONE = ["--zone <name>", "the zone to change (default: the one that the file names)"] as const;

/** Adds the commands of `selvedge rules`. */
export function addRules(parent: Command, finish: Finish): void {
  const load = () => import("./rules/rules-commands.ts");
  const exported = parent
    .command("export")
    .argument("<zone>", "the zone, such as example.com")
    .description("Print the rules of a zone by phase, as JSON for a file that rules diff and rules apply read.");
  const exportFlags = addConfigFlags(withApi(exported), CLIENT_KEYS);
  exported.action(async (zone: string, options: ApiOptions) => finish(await (await load()).rulesExport(zone, options, exportFlags)));
  const diff = parent
    .command("diff")
    .argument(...FILE)
    .description("Show what rules apply would change. Exits 1 if the API would refuse it.")
    .option(...OTHER_ZONE);
  const diffFlags = addConfigFlags(withApi(diff), CLIENT_KEYS);
  diff.action(async (file: string, options: RulesOptions) => finish(await (await load()).rulesDiff(file, options, diffFlags)));
  const apply = parent
    .command("apply")
    .argument(...FILE)
    .description(
      "Make the rules of a zone those of a file, after showing the changes. Phases that the file does not have stay as they are. If the API refuses a rule, changes nothing and exits 1.",
    )
    .option(...OTHER_ZONE)
    .option("-y, --yes", "do not ask");
  const applyFlags = addConfigFlags(withApi(apply), CLIENT_KEYS);
  apply.action(async (file: string, options: RulesApplyOptions) => finish(await (await load()).rulesApply(file, options, applyFlags)));
  parent
    .command("fmt")
    .description("Print an expression in its canonical form. Exits 1 if the expression is invalid or the phase does not accept it.")
    .argument("[expression]", "the expression (default: standard input)")
    .option("--phase <phase>", "check the expression for this phase, except for its lists")
    .option("--value", "parse the expression as a value, as in rewrites and redirects")
    .option("--json", "print JSON")
    .action(async (expression: string | undefined, options: RulesFormatOptions) =>
      finish(await (await import("./rules/rules-format.ts")).rulesFormat(expression, options)),
    );
}

/** Adds the commands of `selvedge waf`. */
export function addWaf(parent: Command, finish: Finish): void {
  const crs = parent.command("crs").description("Manage the OWASP Core Rule Set.").helpCommand(false);
  const install = crs
    .command("install")
    .argument("<file>", "a release of the OWASP Core Rule Set, .tar.gz")
    .description(
      "Install the OWASP Core Rule Set into the data directory, for the server's next start. If its rules do not compile, changes nothing.",
    )
    .option("--sha256 <digest>", "refuse the file unless this is its SHA-256 digest");
  const flags = addConfigFlags(install, CLIENT_KEYS);
  install.action(async (file: string, options: WafCrsInstallOptions) =>
    finish((await import("./waf-crs-install.ts")).wafCrsInstall(file, options, flags)),
  );
}
