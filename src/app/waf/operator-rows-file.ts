import { statSync } from "node:fs";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { parse, TomlError } from "smol-toml";
import { type OperatorRow, readOperatorRow, RowError } from "#rules/managed/operator/operator-row.ts";
import { checkOperatorRows } from "#rules/managed/operator/operator-signatures.ts";
import { createTomlLocator } from "#app/config/toml-lines.ts";

/** The file is read at once. */
const BYTES_MAX = 1 << 20;
const ROWS_MAX = 200;

/**
 * The rows in a TOML file, a table `[rows.NAME]` for each. Throws an Error with file, line and column for the first
 * invalid one: a file with an error is not used at all.
 */
export function readOperatorRows(path: string): readonly OperatorRow[] {
  if (statSync(path).size > BYTES_MAX) throw new Error(`${path}: the file is larger than ${BYTES_MAX >> 20} MiB`);
  const text = readRegularFile(path, BYTES_MAX).toString();
  const document = documentIn(text, path);
  const lineOf = createTomlLocator(text);
  const lines = text.split("\n");
  const at = (keys: readonly string[], message: string): Error => {
    const line = lineOf(keys);
    return new Error(`${path}:${line}:${columnOf(lines[line - 1] ?? "")}: ${message}`);
  };
  const other = Object.keys(document).find((key) => key !== "rows");
  if (other !== undefined) throw at([other], `unknown key "${other}"; a row is a table [rows.NAME]`);
  const tables = document["rows"] ?? {};
  if (typeof tables !== "object" || Array.isArray(tables)) throw at(["rows"], "a row is a table [rows.NAME]");
  const names = Object.entries(tables);
  if (names.length > ROWS_MAX) throw at(["rows", names[ROWS_MAX]![0]], `more than ${ROWS_MAX} rows`);
  const inRow = (slug: string, { key, message }: RowError): Error =>
    at(["rows", slug, ...(key === "" ? [] : [key])], `${slug}: ${message}`);
  const rows = names.map(([slug, value]) => {
    try {
      return readOperatorRow(slug, value);
    } catch (error) {
      throw error instanceof RowError ? inRow(slug, error) : error;
    }
  });
  checkOperatorRows(rows, inRow);
  return rows;
}

function documentIn(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
    throw new Error(`${path}:${error.line}:${error.column}: ${reason}`, { cause: error });
  }
}

/** Column of a line's value, or of its other content; from 1. */
// linear: the text before the first equals sign, once
const columnOf = (line: string): number => /^(?:[^=]*=)?[ \t]*/.exec(line)![0].length + 1;
