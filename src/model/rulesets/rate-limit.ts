import { documented } from "#model/documented.ts";
import { type Static, Type } from "typebox";

const ResponseHeader = Type.Object({ name: Type.String(), op: Type.Enum(["eq", "ne"]), value: Type.String() });

/** Rate limits, which rules of `http_ratelimit` replaced (SPEC 9, 2025-06-15). */
export const RATE_LIMITS_MAX = 100;

const fields = {
  disabled: Type.Optional(Type.Boolean()),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  match: Type.Object({
    request: Type.Optional(
      Type.Object({
        methods: Type.Optional(Type.Array(Type.Enum(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "_ALL_"]), { maxItems: 7 })),
        schemes: Type.Optional(Type.Array(Type.Enum(["HTTP", "HTTPS", "_ALL_"]), { maxItems: 3 })),
        url: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
      }),
    ),
    response: Type.Optional(
      Type.Object({
        origin_traffic: Type.Optional(Type.Boolean()),
        status: Type.Optional(Type.Array(Type.Integer({ minimum: 100, maximum: 999 }), { maxItems: 100 })),
        headers: Type.Optional(Type.Array(documented(ResponseHeader), { maxItems: 10 })),
      }),
    ),
    headers: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ pattern: "^[A-Za-z0-9-]{1,100}$" }),
          op: Type.Enum(["eq", "ne"]),
          value: Type.String({ pattern: "^[ !#-\\[\\]-~]{0,200}$" }),
        }),
        { maxItems: 10 },
      ),
    ),
  }),
  threshold: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  period: Type.Integer({ minimum: 10, maximum: 86_400, description: "Seconds." }),
  action: Type.Object({
    mode: Type.Enum(["simulate", "ban", "challenge", "js_challenge", "managed_challenge"]),
    timeout: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400, description: "Seconds." })),
    response: Type.Optional(
      Type.Object({
        content_type: Type.Enum(["application/json", "text/html", "text/plain", "text/xml"]),
        body: Type.String({ maxLength: 10_240 }),
      }),
    ),
  }),
  bypass: Type.Optional(
    Type.Array(Type.Object({ name: Type.Enum(["url"]), value: Type.String({ minLength: 1, maxLength: 1024 }) }), { maxItems: 20 }),
  ),
};

export const RateLimitWrite = Type.Object(fields);
export type RateLimitWrite = Static<typeof RateLimitWrite>;

export const RateLimit = Type.Object({ id: Type.String({ minLength: 32, maxLength: 32 }), ...fields });
export type RateLimit = Static<typeof RateLimit>;
