import { resolveConfig } from "#app/config/config.ts";
import { configInput } from "./config-input.ts";
import { columns, EXIT, type ExitCode, print } from "./outcome.ts";

/** Prints every effective value with its source, and warnings on standard error; an invalid configuration throws ConfigError. */
export function configCheck(flags: readonly string[]): ExitCode {
  const { config, values, warnings } = resolveConfig(configInput(flags));
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  const result = Object.fromEntries(
    values.map(({ key, value, source, origin }) => [
      key,
      { value: JSON.parse(value) as unknown, source, ...(origin === "" ? {} : { origin }) },
    ]),
  );
  const lines = columns(
    values.map(({ key, value, source, origin }) => [key, "=", value, `# ${origin === "" ? source : `${source}: ${origin}`}`]),
  );
  print(config.json, result, lines);
  return EXIT.ok;
}
