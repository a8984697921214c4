import { route, type Route } from "#api/route.ts";
import { SensitiveDataFindings, SensitiveDataScan } from "#model/sensitive-data.ts";

export const SENSITIVE_DATA_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/zones/:zone_id/sensitive_data/scan",
    id: "sensitive-data-scan",
    summary: "Look through a text as sensitive data detection would",
    scope: "zone",
    permissions: ["Zone WAF Read", "Zone WAF Write"],
    body: SensitiveDataScan,
    result: SensitiveDataFindings,
    paging: "one",
    handler: async ({ control, body }) => control.sensitiveData.scan(body),
  }),
];
