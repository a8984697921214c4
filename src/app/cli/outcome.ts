/** Exit codes of commands. */
export const EXIT = {
  ok: 0,
  /** The command was understood but did not succeed. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** The required server is not running. */
  notRunning: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure whose message is for the person at the terminal. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** The other side cannot be reached or cannot answer now. */
  readonly mayPass: boolean;

  constructor(message: string, exitCode: ExitCode = EXIT.failed, mayPass = false) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
    this.mayPass = mayPass;
  }
}

/** Results go to standard output: one JSON line, or lines for people. */
export function print(json: boolean, result: object, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${lines.join("\n")}\n`);
}

/** Everything else goes to standard error. */
export function complain(lines: readonly string[]): void {
  for (const line of lines.flatMap((one) => one.split("\n"))) process.stderr.write(`selvedge: ${line}\n`);
}

/** Names may contain any characters, and a terminal would interpret some of them. */
// linear: pumped
export const printable = (name: string): string => name.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");

/** Columns of text, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
