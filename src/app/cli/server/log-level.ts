import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { loadConfig } from "#app/config/config.ts";
import { LEVELS } from "#app/config/config-formats.ts";
import { isLogPart, LOG_PARTS, type LogPart } from "#app/config/log-areas.ts";
import { suggest } from "#app/config/suggest.ts";
import {
  FOR_MS_MAX,
  type LevelOutcome,
  type LevelRequest,
  removeLevelRequest,
  type ShownLevel,
  writeLevelRequest,
} from "#app/operations/level-request.ts";
import { isAlive, readRunFile } from "#app/operations/run-file.ts";
import { durationMs } from "#app/cli/command-parts.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, columns, complain, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { signalServer } from "./signal-server.ts";

export interface LogLevelOptions {
  readonly for?: string;
}

/** Every part at once. */
const ALL = "all";
/** In place of a level: the one of the configuration returns. */
const CONFIGURED = "configured";
const AREA_WORDS: readonly string[] = [...LOG_PARTS, ALL];
const LEVEL_WORDS: readonly string[] = [...LEVELS, CONFIGURED];
const LOOK_EVERY_MS = 50;
const LOOKS_MAX = 600;

/** All words that the command takes, for completions. */
export const LEVEL_CHOICES: readonly string[] = AREA_WORDS.flatMap((area) => LEVEL_WORDS.map((level) => `${area}=${level}`));

/**
 * Shows the levels of the server of the data directory, and before that sets those of `words` (AREA=LEVEL): 0 once they are in force,
 * 3 without a server.
 */
export async function logLevel(words: readonly string[], options: LogLevelOptions, flags: readonly string[]): Promise<ExitCode> {
  const changes = changesOf(words);
  const for_ms = options.for === undefined ? null : timeOf(options.for, changes);
  const { data, json } = loadConfig(configInput(flags));
  const run = readRunFile(data);
  if (run === null || !isAlive(run.pid)) {
    if (json) print(true, { status: "not running", data }, []);
    else complain([`no server runs on ${data}; start one with: selvedge start --data ${data}`]);
    return EXIT.notRunning;
  }
  const { levels } = await answerTo({ id: randomUUID(), changes, for_ms }, data, run.pid);
  print(json, { levels }, columns([["AREA", "LEVEL", "CONFIGURED", "UNTIL"], ...levels.map(shown)]));
  return EXIT.ok;
}

async function answerTo(request: LevelRequest, data: string, pid: number): Promise<LevelOutcome> {
  writeLevelRequest(data, request);
  try {
    signalServer(pid, "SIGUSR1");
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const outcome = readRunFile(data)?.last_log_level;
      if (outcome?.id === request.id) return outcome;
      if (!isAlive(pid)) throw new CliError(`the server (process ${pid}) stopped before it answered`);
      await delay(LOOK_EVERY_MS);
    }
  } catch (error) {
    removeLevelRequest(data);
    throw error;
  }
  removeLevelRequest(data);
  throw new CliError(
    `the server (process ${pid}) has not answered within ${(LOOKS_MAX * LOOK_EVERY_MS) / 1000} seconds: its log says why; or it is of an earlier release, which learns levels only from log.levels and selvedge reload; or another selvedge log level ran at the same time: try again`,
  );
}

const shown = ({ level, area, configured, until }: ShownLevel): readonly string[] => [
  area,
  level,
  configured,
  until === null ? "" : until === "restart" ? "the next restart" : `${until.slice(0, 19)}Z`,
];

/** The last word about an area counts. */
function changesOf(words: readonly string[]): LevelRequest["changes"] {
  const changes = new Map<LogPart, string | null>();
  for (const word of words) {
    const at = word.indexOf("=");
    if (at < 0)
      throw new CliError(`"${word}" has no level: write AREA=LEVEL, such as edge=debug. ${KNOWN_AREAS}. ${KNOWN_LEVELS}`, EXIT.usage);
    const area = known("area", word.slice(0, at), AREA_WORDS, KNOWN_AREAS);
    const level = known("level", word.slice(at + 1), LEVEL_WORDS, KNOWN_LEVELS);
    for (const part of isLogPart(area) ? [area] : LOG_PARTS) changes.set(part, level === CONFIGURED ? null : level);
  }
  return [...changes].map(([area, level]) => ({ area, level }));
}

const KNOWN_AREAS = `Areas: ${AREA_WORDS.join(", ")}`;
const KNOWN_LEVELS = `Levels: ${LEVEL_WORDS.join(", ")}`;

function known(what: string, word: string, words: readonly string[], list: string): string {
  if (words.includes(word)) return word;
  const near = suggest(word, words);
  throw new CliError(`unknown ${what} "${word}"${near === undefined ? "." : `; did you mean "${near}"?`} ${list}`, EXIT.usage);
}

function timeOf(text: string, changes: LevelRequest["changes"]): number {
  if (!changes.some(({ level }) => level !== null)) throw new CliError("--for needs a level to set, such as edge=debug", EXIT.usage);
  const ms = durationMs("--for", text);
  if (ms > FOR_MS_MAX) throw new CliError("--for takes at most 7d; log.levels of the configuration holds for longer", EXIT.usage);
  return ms;
}
