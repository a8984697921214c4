import type { Field } from "./field.ts";
import { arrayOf, BOOLEAN, INTEGER, mapOf, STRING, type Value, type ValueType } from "#rules/expression/values/value-type.ts";

const unknown = (summary: string, type: ValueType, names: string): readonly Field[] =>
  names.split(" ").map((name) => ({ name, type, side: "request", summary, read: () => undefined, unknown: true }));

const constant = (summary: string, type: ValueType, value: Value, names: string): readonly Field[] =>
  names.split(" ").map((name) => ({ name, type, side: "request", summary, read: () => value }));

const claims = (name: string, type: ValueType): readonly Field[] => [
  ...unknown(
    "Claims of JSON web tokens by the configuration that validates them.",
    mapOf(arrayOf(type)),
    `http.request.jwt.claims.${name}`,
  ),
  ...unknown("Configurations whose token has this claim.", arrayOf(STRING), `http.request.jwt.claims.${name}.names`),
  ...unknown("Values of this claim.", arrayOf(type), `http.request.jwt.claims.${name}.values`),
];

const BOTS = "Bot management.";
const UPLOADS = "Scanning of uploads.";
const PROMPTS = "Inspection of prompts to language models.";
const CREDENTIALS = "Detection of leaked credentials.";
const SCORES = "Attack score; always 100, which means that the request has none.";
const HANDSHAKE = "Fingerprint of the TLS handshake.";

/**
 * Vendor fields whose values are unknown here. They have types, so that rules with them can be kept, but their values are
 * missing; scores have the vendor's number for "not scored".
 */
export const UNKNOWN_FIELDS: readonly Field[] = [
  ...unknown(
    BOTS,
    BOOLEAN,
    "cf.bot_management.corporate_proxy cf.bot_management.js_detection.passed cf.bot_management.signed_agent cf.bot_management.static_resource " +
      "cf.bot_management.verified_bot cf.client.bot",
  ),
  ...unknown(BOTS, STRING, "cf.bot_management.ja3_hash cf.bot_management.ja4 cf.verified_bot_category"),
  ...unknown(BOTS, INTEGER, "cf.bot_management.score"),
  ...unknown(BOTS, arrayOf(INTEGER), "cf.bot_management.detection_ids"),
  ...unknown(
    "API schemas and sessions.",
    BOOLEAN,
    "cf.api_gateway.auth_id_present cf.api_gateway.fallthrough_detected cf.api_gateway.request_violates_schema " +
      "cf.schema_validation.learned.violated cf.schema_validation.uploaded.violated",
  ),
  ...unknown(HANDSHAKE, STRING, "cf.tls_ciphers_sha1 cf.tls_client_extensions_sha1 cf.tls_client_extensions_sha1_le cf.tls_client_random"),
  ...unknown(HANDSHAKE, INTEGER, "cf.tls_client_hello_length"),
  ...unknown("Round trip to the client over TCP.", INTEGER, "cf.timings.client_tcp_rtt_msec"),
  ...unknown(UPLOADS, BOOLEAN, "cf.waf.content_scan.has_failed cf.waf.content_scan.has_malicious_obj cf.waf.content_scan.has_obj"),
  ...unknown(UPLOADS, INTEGER, "cf.waf.content_scan.num_malicious_obj cf.waf.content_scan.num_obj"),
  ...unknown(UPLOADS, arrayOf(INTEGER), "cf.waf.content_scan.obj_sizes"),
  ...unknown(UPLOADS, arrayOf(STRING), "cf.waf.content_scan.obj_results cf.waf.content_scan.obj_types"),
  ...unknown(
    CREDENTIALS,
    BOOLEAN,
    "cf.waf.auth_detected cf.waf.credential_check.password_leaked cf.waf.credential_check.username_and_password_leaked " +
      "cf.waf.credential_check.username_leaked cf.waf.credential_check.username_password_similar",
  ),
  ...unknown(PROMPTS, BOOLEAN, "cf.llm.prompt.detected cf.llm.prompt.pii_detected cf.llm.prompt.unsafe_topic_detected"),
  ...unknown(PROMPTS, arrayOf(STRING), "cf.llm.prompt.pii_categories cf.llm.prompt.unsafe_topic_categories"),
  ...unknown(PROMPTS, INTEGER, "cf.llm.prompt.token_count"),
  ...unknown(PROMPTS, mapOf(INTEGER), "cf.llm.prompt.custom_topic_categories"),
  ...unknown("Class of the attack score.", STRING, "cf.waf.score.class"),
  ...constant(SCORES, INTEGER, 100, "cf.llm.prompt.injection_score cf.waf.score cf.waf.score.rce cf.waf.score.sqli cf.waf.score.xss"),
  ...["aud", "iss", "jti", "sub"].flatMap((name) => claims(name, STRING)),
  ...["iat.sec", "nbf.sec"].flatMap((name) => claims(name, INTEGER)),
];
