import { charge } from "#rules/budget.ts";
import { AMBIGUOUS_PROGRAMS, BARE_PROGRAMS, CERTAIN_PROGRAMS, LISTING_PROGRAMS, WAITING_PROGRAMS } from "./shell-programs.ts";

const BYTE_STEPS = 8;
const WORD_STEPS = 60;
const WORD_BYTES_MAX = 80;
const ARGUMENT_BYTES_MAX = 200;
/** Bytes of names, numbers and addresses before a separator. */
const PREFIX_BYTES_MAX = 256;

/**
 * Whether a text becomes a shell command if it is a part of one: nothing or one word, then a separator or the beginning
 * of a substitution, then a program. Sentences and whole scripts do not count, because other text precedes their
 * commands. Takes the text as a shell reads it (normalise.ts), and, for substitutions, as it was written.
 */
export function injectsShell(text: string): boolean {
  charge(Math.min(text.length, PREFIX_BYTES_MAX) * BYTE_STEPS);
  // Markdown sets programs between such lines.
  if (text.startsWith("\x60\x60\x60")) return false;
  if (isCommandLine(text.slice(0, REST_BYTES_MAX))) return true;
  const from = leading(text);
  for (let at = from; at < Math.min(text.length, from + PREFIX_BYTES_MAX); at++) {
    const opened = openerAt(text, at);
    if (opened === 0) {
      // A sentence, or a program and its arguments.
      if (/\s/.test(text[at]!) && !isBeforeSeparator(text, at)) return false;
      continue;
    }
    charge(WORD_STEPS);
    const prefix = text.slice(from, at).trim();
    if (text[at] === "&" && isBuild(text)) return false;
    // A word of a sentence before a program that Markdown sets apart.
    if (text[at] === "`" && prefix === "" && /^`[^`]{1,200}` [a-z]{2,15} [a-z]/.test(text.slice(at, at + 240))) return false;
    if (text[at] === "`" && text[at - 1] === " " && /^[a-z']{2,15}[:,]?$/.test(prefix)) return false;
    if (isProgram(prefix) || prefix.startsWith("#!")) return false;
    const behind = text.slice(at + opened, at + opened + REST_BYTES_MAX);
    if (isCommand(text, at + opened, prefix, "$<>`".includes(text[at]!)) || isDisguised(behind)) return true;
    if (/^[\w.:-]{0,64}$/.test(prefix) && (text[at] !== "\n" || prefix === "") && runsProgram(behind)) return true;
    // A command after other lines belongs to a text or a script.
    if (text[at] === "\n" && prefix !== "") return false;
    at += opened - 1;
  }
  return false;
}

const REST_BYTES_MAX = 512;

/** A script of a package: tools by their names, and files of the package that Node.js runs, as many as all succeed. */
const isBuild = (text: string): boolean => text.length <= REST_BYTES_MAX && BUILD.test(text);

const BUILD =
  // linear: at most 512 bytes (longer texts are not tested)
  /^[a-z][a-z-]{1,20} && node (?:--(?:test|watch|loader ts-node\/esm|enable-source-maps|no-warnings) ){0,3}(?!\S{0,200}(?:\.\.|tmp|upload|public|media))(?:\.\/)?(?:[a-z][\w-]{0,40}\/){0,5}(?:\*|[\w-]{1,60})(?:\.test|\.config)?\.[cm]?[jt]s$/;

/** A whole command: a program and one that tells about the machine, or one that is fetched and run. */
function isCommandLine(text: string): boolean {
  const first = FIRST_COMMAND.exec(text);
  const rest = first === null ? "" : text.slice(first[0].length);
  const name = first?.[1] ?? "";
  return (
    (isProgram(name) && TELLING.test(rest)) ||
    (MACHINE.test(name) && /^id\s{0,4}(?:$|[;|&#\n>])/.test(rest)) ||
    FETCHED.test(text) ||
    TOLD.test(text)
  );
}

/** Substitutions within a sentence: texts about programs do not set these apart as they do others. */
const TOLD =
  /(?:`|\$\()\s?(?:whoami|uname(?:\s-\w{1,4})?|cat\s\/(?:etc|proc)\/[\w./]{1,40}|ifconfig|ipconfig|systeminfo|tasklist|sleep\s\d{1,5}|ping\s-[cn]\s?\d{1,5}\s[\w.]{1,60})\s?[`)]/;

const FIRST_COMMAND =
  // linear: at most 512 bytes (callers cut the text)
  /^\s{0,4}([a-z][\w.-]{0,20})(?:\s[\w./=:@-]{1,60}){0,4}\s{0,4}(?:;|&&?|\|\|?)\s{0,4}/;

/** Programs beside which `id` is a program, too, and not the name of a column. */
const MACHINE = /^(?:id|ls|pwd|whoami|uname|ifconfig|ipconfig|netstat|hostname|echo|cat)$/;

const TELLING =
  // linear: at most 512 bytes (callers cut the text)
  /^(?:sudo\s)?(?:\/(?:usr\/)?bin\/)?(?:whoami|uname(?:\s-\w{1,4})?|ifconfig|ipconfig|netstat|systeminfo|tasklist|printenv|cat\s\/(?:etc|proc|root)\/\S{1,60}|ls\s(?:-\w{1,5}\s)?\/\S{0,60})\s{0,4}(?:$|[;|&#\n>])/;

const FETCHED =
  // linear: at most 512 bytes (callers cut the text)
  /^\s{0,4}(?:sudo\s)?(?:(?:curl|wget)\s[^\n]{3,400}|fetch\s[^\n]{1,200}:\/\/[^\n]{1,200})(?:\|\s{0,4}(?:sudo\s(?:-\w{1,3}\s){0,3})?(?:\w{1,20}=\S{0,40}\s){0,2}(?:\/?(?:usr\/)?bin\/)?(?:(?:ba|z|k|da|a)?sh|python[23]?|perl|php|ruby|node)(?=$|[\s;|&#)])|(?:;|&&)\s{0,4}(?:ba|z|k|da|a)?sh\s+[\w./-]{1,60}\s{0,4}(?:$|[;|&#]))|^\s{0,4}(?:\/?(?:usr\/)?bin\/)?(?:(?:ba|z|k|da|a)?sh|eval|source|\.|python[23]?|perl)\s(?:-\w{1,4}\s)?(?:<\(|\$\(|`)\s?(?:curl|wget|fetch)\s/;

/** A path of wildcards, a program in a substitution, or one after a variable. */
const isDisguised = (rest: string): boolean =>
  /^\s{0,4}(?:\/[\w?*[\]-]{1,12}){2,5}(?=[\s;|&<>]|$)/.test(rest) && /^\s{0,4}[\w/[\]-]{0,24}(?:[?*]|\[[a-z])/.test(rest)
    ? true
    : /^\s{0,4}(?:\$\(|`)\s?(?:printf|echo|tr|rev|base64|cat|a=)\b/.test(rest) ||
      /^\s{0,4}[a-z]{1,8}(?:`[^`\s]{0,8}`|\$\([^)\s]{0,8}\))[a-z]{1,10}/.test(rest) ||
      /^\s{0,4}(?:export\s)?[a-z_]{1,12}=(?:\$\(|`|[^;&]{1,80}(?:&&|;)\s?\$[a-z_])/.test(rest);

/** After one word at most: arguments that are files or hosts, sums, subcommands of Windows, or input of a shell. */
const runsProgram = (rest: string): boolean =>
  (/^\s{0,4}[a-z]/.test(rest) && /\|\s{0,4}(?:ba|z|k|da)?sh\s{0,4}(?:$|[;&|#)])/.test(rest)) ||
  /^\s{0,4}(?:host|dig|nslookup|ssh|ping)\s(?:[+-]\w{1,10}\s)?(?:\w{1,32}@)?[\w-]{1,80}\.[\w.-]{1,40}/.test(rest) ||
  /^\s{0,4}\$(?:shell|bash|0)\s-/.test(rest) ||
  /^\s{0,4}(?:host|dig|mv|cp|nc|ssh|ftp|ping|tar|dd|strings|base64|xxd)\s[\w/-]{1,80}[./][\w.-]{1,40}/.test(rest) ||
  /^\s{0,4}echo\s+(?:[^\n;]{0,60}\$\(\(|[^\n;|<>]{1,120}>{1,2}\s?[/~.])/.test(rest) ||
  /^\s{0,4}\$0\s{0,4}<<</.test(rest) ||
  /^\s{0,4}expr\s+-?\d{1,12}\s[+*/-]\s-?\d/.test(rest) ||
  SUBCOMMAND.test(rest) ||
  SHELL_SYNTAX.test(rest) ||
  POWERSHELL.test(rest) ||
  /^\s{0,4}(?:net\s+(?:user|localgroup|view|use|share|group)|reg\s+(?:query|add|save|delete)|sc\s+(?:query|config|create|stop|start)|for\s+\/[fld]\s|%comspec%|copy\s+[a-z]:|(?:del|rd|rmdir|findstr|copy|move|ren)\s+\/|attrib\s+[+-][a-z]|start\s+(?:\/b|calc|cmd|notepad|powershell)|%[a-z]{3,20}(?::~-?\d{1,3}(?:,-?\d{1,3})?%[a-z\\%]|%[a-z\\]))/.test(
    rest,
  );

/** Programs whose first argument is a verb. */
const SUBCOMMAND =
  /^\s{0,4}(?:(?:docker|podman)\s+(?:run|exec|cp|build|ps|images|pull)\b|kubectl\s+(?:get|exec|apply|delete|run|cp|describe)\b|git\s+(?:clone|config)\s|service\s+[\w-]{1,30}\s+(?:start|stop|restart|reload|status)\b|apt(?:-get)?\s+(?:-y\s+)?install\s|pip3?\s+install\s|npm\s+(?:i|install)\s+[\w@]|(?:nohup|setsid|doas|screen\s+-dm)\s+[./\w])/;

/** Statements of the shell's language. */
const SHELL_SYNTAX =
  /^\s{0,4}(?:if\s+\[{1,2}\s|for\s+\w{1,20}\s+in\s[^;]{1,80};\s?do\b|while\s+(?:true|:|\[)\s?[;\]]|until\s+\[|\[\s+-[a-z]\s+\/|test\s+-[a-z]\s)/;

const POWERSHELL =
  // linear: at most 512 bytes (callers cut the text)
  /^\s{0,4}(?:(?:get|set|start|stop|new|remove|invoke|write|out|import|export|copy|move|add|enter|restart|clear|convertto|convertfrom|test)-(?:process|service|content|childitem|item|itemproperty|sleep|object|location|host|webrequest|expression|restmethod|command|job|wmiobject|ciminstance|eventlog|winevent|netipaddress|netipconfiguration|computerinfo|localuser|localgroup|acl|history|variable|date|psdrive|hotfix|clipboard|credential|executionpolicy|scheduledtask|mppreference|computer|file|pssession|connection)\b|\[(?:system\.|convert\]|reflection|io\.|net\.|text\.|diagnostics)[\w.\]]{0,60}::\w|gc\s+[a-z]:|gci\b|iwr\s|irm\s|sleep\s+-s\b)/;

/** Quotes and brackets that end what the text was put into. */
const leading = (text: string): number => /^[ \t'")}\]]{0,20}/.exec(text)![0].length;

const isBeforeSeparator = (text: string, at: number): boolean => /^\s{1,4}(?:[;|&\n`]|\$\()/.test(text.slice(at, at + 6));

/** Number of bytes that start a command at this position; 0 without one. */
function openerAt(text: string, at: number): number {
  const char = text[at]!;
  if (char === "$") return text[at + 1] === "(" ? 2 : text.startsWith("{ifs}", at + 1) ? 6 : 0;
  if (char === "|" || char === "&") return text[at + 1] === char ? 2 : 1;
  if ((char === "<" || char === ">") && text[at + 1] === "(") return 2;
  return char === ";" || char === "\n" || char === "`" ? 1 : 0;
}

/** A program with typical arguments, or a distinctive program alone. */
function isCommand(text: string, from: number, prefix: string, isSubstitution: boolean): boolean {
  const rest = text.slice(from, from + WORD_BYTES_MAX + ARGUMENT_BYTES_MAX);
  const word =
    // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
    /^[\s({!+]{0,8}(?:(?:sudo|nohup|exec|command|time|env|busybox|nice|ionice|setsid|doas|strace|watch|xargs) )?(?:[.~\w-]{0,40}\/){0,6}([a-z][\w.+-]{0,30})(?=$|[\s;|&<>)`#{}$+(])/.exec(
      rest,
    );
  if (word === null) return false;
  const name = word[1]!.replace(/\.(?:exe|com|bat)$/, "");
  const after = rest.slice(word[0].length);
  const argument = /^[^;|&\n`)#]{0,200}/.exec(after)![0].replace(/^[\s+]+/, "");
  const isPath = word[0].includes("bin/");
  if (isPath && (CERTAIN_PROGRAMS.has(name) || isAmbiguous(name))) return true;
  if (CERTAIN_PROGRAMS.has(name)) return !after.startsWith("(");
  if (BARE_PROGRAMS.has(name) && prefix === "" && /^\s{0,4}(?:[#;&|]?\s{0,4})$/.test(after)) return true;
  if (!isAmbiguous(name)) return false;
  if (isArgumentOfProgram(name, argument)) return true;
  return argument.trim() === "" && isAlone(after, prefix, isSubstitution) && LISTING_PROGRAMS.has(name);
}

const isAmbiguous = (name: string): boolean => AMBIGUOUS_PROGRAMS.has(name) || LISTING_PROGRAMS.has(name) || WAITING_PROGRAMS.has(name);
const isProgram = (name: string): boolean => name !== "" && (CERTAIN_PROGRAMS.has(name) || isAmbiguous(name));

function isArgumentOfProgram(name: string, argument: string): boolean {
  if (WAITING_PROGRAMS.has(name) && /^-?\d/.test(argument)) return true;
  return (
    /^(?:-{1,2}[a-z0-9]|\+[a-z]|\.(?:\s|$)|\/[a-z0-9*?.]{1,}|~|\.{1,2}\/|\*|\$[a-z({@]|%[a-z]{3,20}%|[a-z]:[\\/]|\d{1,3}\.\d{1,3}\.\d|https?:|<<<|\/\s|-?aux?\b|addr\b|[\w.-]{1,30}\s\/[a-z]|[<>] ?[/&\w])/.test(
      argument,
    ) || /^[\w./-]{1,60}\s*[<>]{1,2}/.test(argument)
  );
}

/** Whether no text follows, and the word before is not part of a list of words. */
function isAlone(after: string, prefix: string, isSubstitution: boolean): boolean {
  const rest = after.trimStart();
  const next = rest[0] ?? "";
  if (isSubstitution) return next === "" || next === ")" || next === "`";
  const behind = rest.slice(1).trimStart();
  if (next === "|" && /^(?:grep|egrep|sort|head|tail|wc|base64|nc|tee|xargs|sed|awk|cut|tr|curl|xxd|od)\b/.test(behind))
    return prefix === "";
  if (next !== "" && (!";|&\n#".includes(next) || /^[a-z]/.test(behind))) return false;
  return !isList(prefix) || next !== "";
}

/** Names with separators between them, such as columns, or one of at least four letters. */
function isList(prefix: string): boolean {
  const words = prefix.split(/[;|&\n]/).map((word) => word.trim());
  return words.length === 1
    ? /^[a-z_][\w-]{3}/.test(prefix) && !/[^\w-]/.test(prefix)
    : words.every((word) => /[a-z_][\w-]{0,80}$/.test(word));
}
