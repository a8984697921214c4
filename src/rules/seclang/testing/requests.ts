import type { SourceFile } from "../syntax/directives.ts";
import { readProgram } from "../program/read-program.ts";
import type { Program } from "../program/program.ts";
import type { Outcome } from "../run/outcome.ts";
import { createEngine } from "../run/engine.ts";
import type { Transaction } from "#rules/seclang/run/transaction.ts";
import { NO_BODY, type TransactionBody, type TransactionRequest } from "../transaction/transaction.ts";

/** Rules from one file, with the word files that they name. */
export const programOf = (content: string, words: Readonly<Record<string, string>> = {}): Program =>
  readProgram({ files: [file(content)], dataFile: (name) => words[name] ?? null });

export const file = (content: string, name = "rules.conf"): SourceFile => ({ name, content });

/** A request for tests. */
export const requestOf = (
  changes: Partial<TransactionRequest> & { readonly body?: Partial<TransactionBody> } = {},
): TransactionRequest => ({
  method: "GET",
  target: "/a/b.php?x=1",
  protocol: "HTTP/1.1",
  line: "GET /a/b.php?x=1 HTTP/1.1",
  headers: [
    { name: "Host", value: "www.example.com" },
    { name: "User-Agent", value: "test/1" },
  ],
  cookies: [{ name: "session", value: "abc" }],
  queryArguments: [{ name: "x", value: "1" }],
  remoteAddress: "192.0.2.7",
  remotePort: 40_000,
  serverAddress: "192.0.2.1",
  serverName: "www.example.com",
  serverPort: 443,
  uniqueId: "00000000000000aa",
  timeMs: 0,
  country: "",
  bodyProcessor: "",
  readBody: () => ({ ...NO_BODY, ...changes.body }),
  ...changes,
});

/** Runs a program's rules on a request; returns the outcome and the transaction. */
export function runRequest(
  program: Program,
  request: TransactionRequest,
): { readonly outcome: Outcome; readonly transaction: Transaction } {
  const transaction = createEngine(program).begin(request);
  transaction.requestHeaders();
  return { outcome: transaction.requestBody(), transaction };
}

/** The rules that apply to a request, in order. */
export const idsOf = (rules: string, request: TransactionRequest, words?: Readonly<Record<string, string>>): readonly number[] =>
  runRequest(programOf(rules, words), request).outcome.matches.map(({ id }) => id);
