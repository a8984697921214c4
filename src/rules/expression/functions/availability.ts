import type { PhaseName } from "#rules/phases.ts";

/** Phases whose actions take expressions that return values. */
export const REQUEST_TRANSFORMS: readonly PhaseName[] = ["http_request_transform", "http_request_late_transform"];
export const TRANSFORMS: readonly PhaseName[] = [...REQUEST_TRANSFORMS, "http_response_headers_transform"];
export const HEADER_TRANSFORMS: readonly PhaseName[] = ["http_request_late_transform", "http_response_headers_transform"];
export const REDIRECTS: readonly PhaseName[] = ["http_request_dynamic_redirect", "http_request_redirect"];
export const CUSTOM_AND_RATE_LIMITS: readonly PhaseName[] = ["http_request_firewall_custom", "http_ratelimit"];
