import { createCoreRuleSet } from "#rules/managed/core/core-rule-set.ts";
import { SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { RESPONSE_SCORES_RULESET_ID } from "#rules/managed/response-rulesets.ts";
import type { ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import { MANAGED_RULESETS, useOperatorRules } from "#rules/managed/rulesets.ts";
import type { Program } from "#rules/seclang/program/program.ts";
import { httpOrigin, rawClient, startEdge } from "#edge/testing/edge.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import type { Op } from "#snapshot/entries.ts";
import type { StageInput } from "./regression-tests.ts";
import { reflected } from "./test-transaction.ts";

/** The result of a request at the edge: the rules of its events, and its status. */
export interface EdgeAnswer {
  readonly status: number;
  readonly ids: readonly number[];
}

export interface EdgeClient {
  ask(input: StageInput): Promise<EdgeAnswer>;
  close(): Promise<void>;
}

/** An edge with a Core Rule Set at its highest level that logs each rule, before the backend of the suite. */
export async function startEdgeClient(program: Program, hosts: ReadonlySet<string>): Promise<EdgeClient> {
  const core = createCoreRuleSet(program, "ab".repeat(32));
  core.prepare(4);
  useOperatorRules({ core, rows: [] });
  const origin = await httpOrigin((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => void chunks.push(chunk));
    req.on("end", () => {
      const { status, headers, body } = reflected(req.url ?? "", Buffer.concat(chunks).toString("latin1"));
      res.writeHead(
        status,
        headers.flatMap(({ name, value }) => (/^(?:content-length|transfer-encoding)$/i.test(name) ? [] : [name, value])),
      );
      res.end(Buffer.from(body, "latin1"));
    });
  });
  const rulesets = [SCORES_RULESET_ID, RESPONSE_SCORES_RULESET_ID].map((id) => MANAGED_RULESETS.get(id)!);
  const numbers = new Map(rulesets.flatMap(({ rules }) => rules.map(({ id, core: number }) => [id, number] as const)));
  const execute = ({ id, phase, rules }: ManagedRuleset): Op => {
    const overrides = { action: "log", enabled: true, rules: [{ id: rules.at(-1)!.id, score_threshold: 1 }] };
    return rulesetOp(id, "account", "account", phase, [{ action: "execute", expression: "true", action_parameters: { id, overrides } }]);
  };
  const edge = await startEdge([...zonesOf(hosts), ...rulesets.map(execute)], { originPort: origin.port });
  return {
    ask: async (input) => {
      edge.security.length = 0;
      const answer = await exchange(edge.http, bytesOf(input));
      const ids = edge.security.flatMap(({ matches }) => matches.flatMap(({ rule_id }) => numbers.get(rule_id) ?? []));
      if (ids.length > 0) ids.push(...SUMS[ids.some((id) => id >= 950_000) ? "response" : "request"]);
      return { status: Number(answer.slice(9, 12)), ids };
    },
    close: async () => {
      await edge.close();
      origin.close();
    },
  };
}

/** Rules that report sums, which the edge reports in its own way. */
const SUMS = { request: [949_110, 980_170], response: [959_100, 980_170] } as const;

/** A request that is shorter than its content-length gets no response. */
const ANSWER_MS_MAX = 3000;

async function exchange(port: number, bytes: string): Promise<string> {
  const client = rawClient(port);
  client.send(bytes);
  const limit = setTimeout(() => client.socket.destroy(), ANSWER_MS_MAX);
  const answer = await client.closed();
  clearTimeout(limit);
  return answer;
}

/** Sent like the suite's own client; the end of the connection shows that the response is complete. */
function bytesOf({ method, uri, version, headers, data, completesHeaders, encoded }: StageInput): string {
  if (encoded !== "") return closing(Buffer.from(encoded, "base64").toString("latin1"));
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted);
  if (completesHeaders && data !== "") {
    if (!has("content-type")) lines.push("Content-Type: application/x-www-form-urlencoded");
    if (!has("content-length") && !has("transfer-encoding")) lines.push(`Content-Length: ${data.length}`);
  }
  return closing(`${method} ${uri} ${version}\r\n${lines.join("\r\n")}\r\n\r\n${data}`);
}

const closing = (bytes: string): string =>
  /^connection:/im.test(bytes) ? bytes : bytes.replace(/\r\n\r\n/, "\r\nConnection: close\r\n\r\n");

/** Zones for the hosts that tests name. */
function zonesOf(hosts: ReadonlySet<string>): readonly Op[] {
  return [...hosts].flatMap((host, i) => [zoneOp(`zone-${i}`, host), recordOp(`record-${i}`, `zone-${i}`, host, "A", "127.0.0.1")]);
}

/** Names, since an edge has no zone for an address. */
export const hostsIn = (inputs: readonly StageInput[]): ReadonlySet<string> =>
  new Set(
    inputs.flatMap(({ headers, encoded }) => {
      const line = /^host: *(\S+)/im.exec(Buffer.from(encoded, "base64").toString("latin1"))?.[1];
      const value = line ?? headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "";
      return /^([a-z][a-z0-9.-]*)(?::\d*)?$/i.exec(value)?.[1]?.toLowerCase() ?? [];
    }),
  );
