import type { ApiServer } from "./api-server.ts";

/** A script, a connection and a cookie that the edge has reported, and a policy. */
export async function plantPageShield(
  { control }: ApiServer,
  made: (method: string, path: string, body: object) => Promise<any>,
  zone: string,
) {
  const path = `/zones/${zone}/page_shield`;
  await made("PUT", path, { enabled: true });
  const policy = { description: "planted policy", action: "log", expression: "true", enabled: true, value: "script-src 'self'" };
  const { id } = await made("POST", `${path}/policies`, policy);
  const seen = { zone_id: zone, host: "cdn.planted.example", page_url: "https://planted.example/", at_ms: Date.now() };
  await control.pageShield.note([
    { ...seen, kind: "script", url: "https://cdn.planted.example/planted.js" },
    { ...seen, kind: "connection", url: "https://cdn.planted.example/" },
    { ...seen, kind: "cookie", name: "planted", attributes: { secure: true, http_only: true } },
  ]);
  const idOf = async (kind: "scripts" | "connections" | "cookies"): Promise<string> =>
    (await control.pageShield[kind](zone, {}, { page: 1, per_page: 1 })).items[0]?.id ?? "";
  return {
    policy_id: id as string,
    ids: {
      script_id: await idOf("scripts"),
      connection_id: await idOf("connections"),
      cookie_id: await idOf("cookies"),
    },
  };
}
