import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** A test of the Core Rule Set's own suite: a request, and rules that must or must not apply. */
export interface RegressionTest {
  /** Rule and number, such as 942100-1. */
  readonly name: string;
  readonly stages: readonly Stage[];
}

export interface Stage {
  readonly input: StageInput;
  readonly expected: readonly number[];
  readonly unexpected: readonly number[];
  /** It is about the answer of a web server, or its log, and not about rules. */
  readonly isOfServer: boolean;
}

export interface StageInput {
  readonly method: string;
  readonly uri: string;
  readonly version: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly data: string;
  readonly completesHeaders: boolean;
  /** The whole request, base64; empty if the other fields describe it. */
  readonly encoded: string;
}

type Row = Readonly<Record<string, unknown>>;

/** The tests of a directory, in the format of 3.x or 4.x. */
export function readTests(directory: string): readonly RegressionTest[] {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".yaml"));
  return files.sort().flatMap((file) => testsOf((parse(readFileSync(join(directory, file), "utf8")) ?? {}) as Row));
}

function testsOf(file: Row): readonly RegressionTest[] {
  const tests = (file["tests"] as readonly Row[] | undefined) ?? [];
  return tests.map((test) => ({
    name: test["test_title"] === undefined ? `${String(file["rule_id"])}-${String(test["test_id"])}` : String(test["test_title"]),
    stages: (test["stages"] as readonly Row[]).map((stage) => stageOf((stage["stage"] as Row | undefined) ?? stage)),
  }));
}

function stageOf(stage: Row): Stage {
  const input = (stage["input"] as Row | undefined) ?? {};
  const output = (stage["output"] as Row | undefined) ?? {};
  const log = (output["log"] as Row | undefined) ?? {};
  const expected = [...idsIn(log["expect_ids"]), ...idsIn(log["match_regex"]), ...idsIn(output["log_contains"])];
  const unexpected = [...idsIn(log["no_expect_ids"]), ...idsIn(log["no_match_regex"]), ...idsIn(output["no_log_contains"])];
  return { input: inputOf(input), expected, unexpected, isOfServer: expected.length === 0 && unexpected.length === 0 };
}

/** `[942100]`, `id "942100"` or a pattern with it. */
const idsIn = (value: unknown): readonly number[] => {
  if (Array.isArray(value)) return value.map(Number);
  return typeof value === "string" ? [...value.matchAll(/id[^0-9]{1,6}(\d{6,7})/g)].map(([, id]) => Number(id)) : [];
};

const latin1 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
const text = (value: unknown, otherwise: string): string =>
  value === undefined || value === null ? otherwise : latin1(repeated(String(value as string)));

/** The one template that the tests have: a text many times. */
const repeated = (given: string): string =>
  given.replace(/\{\{ ?"([^"]{1,20})" \| repeat (\d{1,6}) ?\}\}/g, (_, piece: string, times: string) => piece.repeat(Number(times)));

function inputOf(input: Row): StageInput {
  const data = input["data"];
  return {
    method: text(input["method"], "GET"),
    uri: text(input["uri"], "/"),
    version: text(input["version"], "HTTP/1.1"),
    headers: headersOf(input["headers"]),
    data: Array.isArray(data) ? data.map((line) => text(line, "")).join("\r\n") : text(data, ""),
    completesHeaders: (input["autocomplete_headers"] ?? input["stop_magic"] !== true) === true,
    encoded: text(input["encoded_request"], ""),
  };
}

function headersOf(headers: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(headers)) return (headers as readonly Row[]).map((row) => [text(row["name"], ""), text(row["value"], "")]);
  return Object.entries((headers as Row | undefined) ?? {}).map(([name, value]) => [latin1(name), text(value, "")]);
}
