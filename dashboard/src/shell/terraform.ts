import type { NotedCall } from "../api/calls.ts";

type Values = Readonly<Record<string, unknown>>;

interface Kind {
  readonly path: RegExp;
  readonly resource: string;
  /** The attributes of the resource; `ids` are the groups of the path. */
  readonly of: (body: Values, ids: readonly string[]) => Values;
  readonly nameOf?: (body: Values, ids: readonly string[]) => string;
}

const owner = (scope = "", id = ""): Values => ({ [scope === "zones" ? "zone_id" : "account_id"]: id });
const named = ({ name }: Values): string => String(name);
const token = ({ policies, ...body }: Values): Values => ({
  ...body,
  policies: (Array.isArray(policies) ? (policies as Values[]) : []).map((policy) => ({
    ...policy,
    resources: new Json(policy["resources"]),
  })),
});

/** The writes of the API that a resource of the provider 5 does. */
const KINDS: readonly Kind[] = [
  {
    path: /^\/(zones)\/([^/]+)\/dns_records(?:\/[^/]+)?$/,
    resource: "cloudflare_dns_record",
    of: (body, [scope, id]) => ({ ...owner(scope, id), ...body }),
    nameOf: ({ type, name }) => `${String(name)}_${String(type)}`,
  },
  {
    path: /^\/(zones|accounts)\/([^/]+)\/rulesets\/phases\/([^/]+)\/entrypoint$/,
    resource: "cloudflare_ruleset",
    of: ({ rules, description }, [scope, id, phase]) => ({
      ...owner(scope, id),
      name: "default",
      kind: scope === "zones" ? "zone" : "root",
      phase,
      ...(description === undefined ? {} : { description }),
      rules,
    }),
    nameOf: (_, [, , phase]) => phase ?? "",
  },
  {
    path: /^\/(zones)\/([^/]+)\/custom_hostnames(?:\/[^/]+)?$/,
    resource: "cloudflare_custom_hostname",
    of: (body, [scope, id]) => ({ ...owner(scope, id), ...body }),
    nameOf: ({ hostname }) => String(hostname),
  },
  {
    path: /^\/(zones)\/([^/]+)\/settings\/([^/]+)$/,
    resource: "cloudflare_zone_setting",
    of: ({ value }, [scope, id, setting]) => ({ ...owner(scope, id), setting_id: setting, value }),
    nameOf: (_, [, , setting]) => setting ?? "",
  },
  { path: /^\/user\/tokens(?:\/[^/]+)?$/, resource: "cloudflare_api_token", of: token },
  {
    path: /^\/(accounts)\/([^/]+)\/tokens(?:\/[^/]+)?$/,
    resource: "cloudflare_account_token",
    of: (body, [scope, id]) => ({ ...owner(scope, id), ...token(body) }),
  },
  {
    path: /^\/(accounts)\/([^/]+)\/rules\/lists(?:\/[^/]+)?$/,
    resource: "cloudflare_list",
    of: (body, [scope, id]) => ({ ...owner(scope, id), ...body }),
  },
  {
    path: /^\/(accounts)\/([^/]+)\/alerting\/v3\/policies(?:\/[^/]+)?$/,
    resource: "cloudflare_notification_policy",
    of: (body, [scope, id]) => ({ ...owner(scope, id), ...body }),
  },
  {
    path: /^\/(accounts)\/([^/]+)\/alerting\/v3\/destinations\/webhooks(?:\/[^/]+)?$/,
    resource: "cloudflare_notification_policy_webhooks",
    of: (body, [scope, id]) => ({ ...owner(scope, id), ...body }),
  },
  {
    path: /^\/(zones|accounts)\/([^/]+)\/firewall\/access_rules\/rules$/,
    resource: "cloudflare_access_rule",
    of: (body, [scope, id]) => ({ ...owner(scope, id), ...body }),
    nameOf: ({ configuration }) => String((configuration as Values)["value"]),
  },
  { path: /^\/zones$/, resource: "cloudflare_zone", of: (body) => body },
];

/** A value that the provider wants as the text of JSON. */
class Json {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** The resource of a write; undefined if the provider has none for it. */
export function asTerraform({ method, path, body, status }: NotedCall): string | undefined {
  if (!["POST", "PUT", "PATCH"].includes(method) || status >= 400 || typeof body !== "object" || body === null) return undefined;
  const [bare = ""] = path.split("?");
  for (const { path: pattern, resource, of, nameOf = named } of KINDS) {
    const found = pattern.exec(bare);
    if (!found) continue;
    const ids = found.slice(1);
    const values = of(body as Values, ids);
    const lines = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
    const width = Math.max(...lines.map(([name]) => name.length));
    const attributes = lines.map(([name, value]) => `  ${name.padEnd(width)} = ${hcl(value, 1)}`);
    const isPart = method === "PATCH" ? ["  # The attributes of this change: keep the others of your resource."] : [];
    return [`resource "${resource}" "${label(nameOf(body as Values, ids))}" {`, ...isPart, ...attributes, "}"].join("\n");
  }
  return undefined;
}

/** A value in HCL. */
function hcl(value: unknown, depth: number): string {
  const inner = "  ".repeat(depth + 1);
  const end = "  ".repeat(depth);
  if (value instanceof Json) return `jsonencode(${hcl(value.value, depth)})`;
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    const parts = value.map((one) => hcl(one, depth + 1));
    return parts.every((part) => !part.includes("\n")) && parts.join(", ").length < 60
      ? `[${parts.join(", ")}]`
      : `[\n${parts.map((part) => `${inner}${part},\n`).join("")}${end}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined);
    if (entries.length === 0) return "{}";
    const keys = entries.map(([name]) => (/^[A-Za-z_][\w-]*$/.test(name) ? name : text(name)));
    const width = Math.max(...keys.map((key) => key.length));
    return `{\n${entries.map(([, one], at) => `${inner}${(keys[at] ?? "").padEnd(width)} = ${hcl(one, depth + 1)}\n`).join("")}${end}}`;
  }
  return String(value);
}

/** A quoted text: `${` and `%{` begin templates, and HCL has fewer short escapes than JSON. */
const text = (value: string): string =>
  JSON.stringify(value)
    .replaceAll("\\b", "\\u0008")
    .replaceAll("\\f", "\\u000c")
    .replaceAll(/([$%])\{/g, "$1$1{");

/** `www.example.com_A` → `www_example_com_a`. */
const label = (name: string): string => {
  const words = name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join("_");
  return /^[a-z]/.test(words) ? words : `this_${words}`;
};
