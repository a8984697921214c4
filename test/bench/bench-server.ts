import { type Answer, type ApiCall, succeed } from "../support/api.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { patientRequest } from "./patient-request.ts";

/** A server with one zone of the largest plan and without an API rate limit. The limit of DNS responses is on, but never reached. */
export interface BenchServer {
  readonly selvedge: Selvedge;
  readonly call: ApiCall;
  /** A new zone's id. */
  createZone(name: string): Promise<string>;
}

/** Measured calls may take long. */
const CALL_TIMEOUT_MS = 1_800_000;

export async function startBenchServer(args: readonly string[] = []): Promise<BenchServer> {
  const limits = ["--api-rate-limit-requests", "0", "--dns-rate-limit-per-second", "0"];
  const selvedge = await startSelvedge({ args: [...limits, "--log-level", "warn", ...args] });
  const call: ApiCall = async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${selvedge.ready.token ?? ""}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await patientRequest(selvedge.ready.api + path, { method, headers, timeoutMs: CALL_TIMEOUT_MS, ...content });
    return { ...answer, body: JSON.parse(answer.text) as Answer["body"] };
  };
  return {
    selvedge,
    call,
    createZone: async (name) => {
      const zone = await succeed(call("POST", "/zones", { name, account: { id: selvedge.ready.account_id }, type: "full" }));
      await succeed(call("PATCH", `/zones/${zone.id}`, { plan: { id: "enterprise" } }));
      return zone.id as string;
    },
  };
}
