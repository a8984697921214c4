import type { PackedRows } from "#events/rows/packed-rows.ts";
import { RequestPacker } from "#events/rows/request-packer.ts";
import { RowPacker } from "#events/rows/row-packer.ts";
import type { EventTable, EventTables, GatewayLogRow, RequestEvent, RequestRow, SecurityEventRow } from "#events/rows/rows.ts";

/** Rows as the writer's database takes them. */
export function packed<T extends EventTable>(table: T, rows: readonly EventTables[T][]): PackedRows {
  const packer = new RowPacker(table);
  for (const row of rows) packer.push(row);
  return packer.take();
}

/** The same with the events that rules logged for each. */
export function packedRequests(requests: readonly (readonly [RequestRow, readonly RequestEvent[]])[]): PackedRows {
  const packer = new RequestPacker();
  for (const [row, events] of requests) packer.push(row, events);
  return packer.take();
}

export const testRequestEvent = ({ matches = [], ...rule }: Partial<RequestEvent["rule"] & RequestEvent> = {}): RequestEvent => ({
  rule: {
    ruleset_id: "ruleset",
    rule_id: "rule",
    deployed_by: "",
    rule_description: "",
    phase: "http_request_firewall_custom",
    action: "log",
    service: "WAF",
    ...rule,
  },
  matches,
});

/** Rows for tests. */
export const testRequestRow = (changes: Partial<RequestRow> = {}): RequestRow => ({
  ray_id: "00000000000000aa",
  at_ms: 1_700_000_000_000,
  account_id: "account",
  zone_id: "zone",
  client_ip: "192.0.2.7",
  method: "GET",
  scheme: "https",
  host: "www.example.com",
  path: "/",
  query: "",
  user_agent: "test/1",
  status: 200,
  origin_status: null,
  bytes_in: 10,
  bytes_out: 20,
  duration_ms: 1.5,
  custom_fields: null,
  http_version: "HTTP/1.1",
  tls_version: "TLSv1.3",
  content_type: "text/html",
  cache_status: "",
  country: "",
  edge_error: "",
  edge_error_name: "",
  ...changes,
});

export const testSecurityRow = (changes: Partial<SecurityEventRow> = {}): SecurityEventRow => ({
  id: "01HF00000000000000000000AA",
  ray_id: "00000000000000aa",
  at_ms: 1_700_000_000_000,
  account_id: "account",
  zone_id: "zone",
  ruleset_id: "ruleset",
  rule_id: "rule",
  deployed_by: "",
  rule_description: "",
  phase: "http_response_firewall_managed",
  action: "log",
  service: "Data Loss Protection",
  client_ip: "192.0.2.7",
  method: "GET",
  scheme: "https",
  host: "www.example.com",
  path: "/",
  query: "",
  user_agent: "test/1",
  status: 200,
  matches: [{ detector: "fin.iban", rule_id: "rule", count: 1, offset: 5, confidence: "high" }],
  scan_limited: false,
  country: "",
  ...changes,
});

export const testGatewayRow = (changes: Partial<GatewayLogRow> = {}): GatewayLogRow => ({
  id: "01HF00000000000000000000BB",
  at_ms: 1_700_000_000_000,
  account_id: "account",
  gateway_id: "gateway",
  provider: "openai",
  model: "m",
  path: "chat/completions",
  method: "POST",
  status_code: 200,
  success: true,
  cached: false,
  duration_ms: 12.25,
  tokens_in: 3,
  tokens_out: null,
  cost: 0.5,
  step: 0,
  request_content_type: "application/json",
  response_content_type: "application/json",
  request_bytes: 1,
  response_bytes: 2,
  event_id: "01HF00000000000000000000CC",
  metadata: "",
  model_type: "",
  request_type: "",
  user_agent: "test/1",
  custom_cost: false,
  estimated: false,
  tokens_cache_read: null,
  tokens_cache_write: null,
  tokens_reasoning: null,
  first_byte_ms: null,
  authentication: false,
  compatibility_mode: false,
  dlp_action: "",
  guardrail_action: "",
  guardrail_findings: "",
  feedback: null,
  score: null,
  segment: null,
  segment_at: null,
  request_kept: 0,
  response_kept: 0,
  ...changes,
});
