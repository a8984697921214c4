import { loadConfig } from "#app/config/config.ts";
import { giveToOwner } from "#app/control/give-to-owner.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import { installCoreRules } from "#app/waf/install-core-rules.ts";
import { configInput } from "./config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "./outcome.ts";

export interface WafCrsInstallOptions {
  readonly sha256?: string;
}

/** Installs a release of the OWASP Core Rule Set into the data directory. */
export function wafCrsInstall(archive: string, { sha256 }: WafCrsInstallOptions, flags: readonly string[]): ExitCode {
  const config = loadConfig(configInput(flags));
  try {
    const installed = installCoreRules(archive, planeFiles(config.data).coreRules, sha256);
    giveToOwner(config.data);
    print(config.json, installed, [
      `SHA-256  ${installed.sha256}`,
      `installed ${installed.version || "the rules"}, ${installed.rules} rules, in ${installed.directory}`,
      "a running server uses it after its next start",
    ]);
    return EXIT.ok;
  } catch (error) {
    throw new CliError(`cannot install ${archive}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
