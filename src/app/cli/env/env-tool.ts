export interface EnvTool {
  /** The part of the installation that the tool calls. */
  readonly calls: "api" | "gateway";
  /** The format of the text, such as `sh`. */
  readonly format: string;
  /** The settings for this base URL, which contains no quotes, spaces or control characters and no slash at its end. */
  readonly text: (base: string) => string;
}

/** Settings in a file. */
export const file = (format: string, text: EnvTool["text"]): EnvTool => ({ calls: "api", format, text });

/** Settings as commands for a shell. */
export const shell = (text: EnvTool["text"]): EnvTool => file("sh", text);

/** The shell refuses a line with it, and what follows, while the variable is not set. */
export const SHELL_TOKEN = '"${SELVEDGE_TOKEN:?must contain an API token}"';

/** A comment for tools whose code contains the address of the API. */
export const fixedAddress = (tool: string, api: string): string =>
  `${tool} always calls https://api.cloudflare.com; docs/guides/infrastructure-as-code.md says how it reaches ${api}.`;
