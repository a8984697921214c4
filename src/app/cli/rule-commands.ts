import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { CLIENT_KEYS, type Finish } from "./command-parts.ts";
import type { WafCrsInstallOptions } from "./waf-crs-install.ts";

/** Adds the commands of `selvedge rules`. */
export function addRules(parent: Command, finish: Finish): void {
  parent
    .command("fmt")
    .description("Print an expression in its canonical form. Exits 1 if the expression is invalid or the phase does not accept it.")
    .argument("[expression]", "the expression (default: standard input)")
    .option("--phase <phase>", "check the expression for this phase, except for its lists")
    .option("--value", "parse the expression as a value, as in rewrites and redirects")
    .action(async (expression: string | undefined, options: { phase?: string; value?: boolean }) =>
      finish(await (await import("./rules-format.ts")).rulesFormat(expression, options)),
    );
}

/** Adds the commands of `selvedge waf`. */
export function addWaf(parent: Command, finish: Finish): void {
  const crs = parent.command("crs").description("The OWASP Core Rule Set.").helpCommand(false);
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
