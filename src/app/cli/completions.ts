import type { Command } from "commander";
import { ENV_TOOLS } from "./env/tools.ts";
import { LEVEL_CHOICES } from "./server/log-level.ts";
import { CliError, EXIT } from "./outcome.ts";

/** A command by its names, such as `token create`, and the words that may follow it. */
interface Level {
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly { readonly name: string; readonly about: string; readonly takesValue: boolean }[];
  /** Values of its argument. */
  readonly choices: readonly string[];
}

const SHELLS: Readonly<Record<string, (levels: readonly Level[]) => string>> = {
  bash: bashScript,
  // Its own emulation of bash, which every zsh brings.
  zsh: (levels) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(levels)}`,
  fish: fishScript,
};

/** Values of arguments that are one of a few words. */
const CHOICES: Readonly<Record<string, () => readonly string[]>> = {
  env: () => Object.keys(ENV_TOOLS),
  completions: () => Object.keys(SHELLS),
  "log level": () => LEVEL_CHOICES,
};

/** The script that completes commands and flags in this shell. Throws for another shell. */
export function completions(program: Command, shell: string): string {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (write === undefined) throw new CliError(`completions exist for ${Object.keys(SHELLS).join(", ")}, not for ${shell}`, EXIT.usage);
  return write(levelsOf(program, ""));
}

function levelsOf(command: Command, path: string): readonly Level[] {
  const commands = command.commands.map((one) => ({ name: one.name(), about: firstSentence(one.description()) }));
  const flags = command.options.flatMap((option) =>
    option.long === undefined || option.long === null
      ? []
      : [{ name: option.long, about: firstSentence(option.description), takesValue: option.required }],
  );
  const level: Level = {
    path,
    commands,
    choices: CHOICES[path]?.() ?? [],
    flags: [...flags, { name: "--help", about: "show help", takesValue: false }],
  };
  return [level, ...command.commands.flatMap((one) => levelsOf(one, path === "" ? one.name() : `${path} ${one.name()}`))];
}

const firstSentence = (text: string): string => /^[^.;(]*/.exec(text)?.[0].trim() ?? "";

function bashScript(levels: readonly Level[]): string {
  const known = levels.flatMap(({ path }) => (path === "" ? [] : [`"${path}"`])).join("|");
  const words = levels.map(
    ({ path, commands, choices, flags }) =>
      `    "${path}") words="${[...commands.map(({ name }) => name), ...choices, ...flags.map(({ name }) => name)].join(" ")}" ;;`,
  );
  const values = [
    ...new Set(levels.flatMap(({ flags }) => flags.filter(({ takesValue }) => takesValue).map(({ name }) => name))),
  ].toSorted();
  return `_selvedge() {
  local path="" next="" words="" begun="" cur="\${COMP_WORDS[COMP_CWORD]}" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case "$next" in
      ${known}) path="$next" ;;
    esac
  done
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    ${values.join("|")})
      COMPREPLY=()
      return ;;
  esac
  case "$path" in
${words.join("\n")}
  esac
  # bash makes three words of AREA=LEVEL, and replaces only the last.
  if [ "$cur" = "=" ] && ((COMP_CWORD > 1)); then
    begun="\${COMP_WORDS[COMP_CWORD - 1]}="
    cur=""
  elif [ "\${COMP_WORDS[COMP_CWORD - 1]}" = "=" ] && ((COMP_CWORD > 2)); then
    begun="\${COMP_WORDS[COMP_CWORD - 2]}="
  fi
  COMPREPLY=($(compgen -W "$words" -- "$begun$cur"))
  [ -z "$begun" ] || COMPREPLY=("\${COMPREPLY[@]#"$begun"}")
}
complete -o default -F _selvedge selvedge
`;
}

function fishScript(levels: readonly Level[]): string {
  const names = new Set(levels.flatMap(({ commands }) => commands.map(({ name }) => name)));
  const at = (path: string): string => `-n "__selvedge_at '${path}'"`;
  const about = (text: string): string => (text === "" ? "" : ` -d '${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`);
  const lines = levels.flatMap(({ path, commands, choices, flags }) => [
    ...choices.map((one) => `complete -c selvedge ${at(path)} -f -a ${one}`),
    ...commands.map((one) => `complete -c selvedge ${at(path)} -f -a ${one.name}${about(one.about)}`),
    ...flags.map((flag) => `complete -c selvedge ${at(path)} -l ${flag.name.slice(2)}${flag.takesValue ? " -r" : ""}${about(flag.about)}`),
  ]);
  return `function __selvedge_at
  set -l path
  for word in (commandline -opc)[2..]
    if contains -- $word ${[...names].join(" ")}
      set -a path $word
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}
