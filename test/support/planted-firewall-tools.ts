/** One access rule at each level, a lockdown and a user-agent rule; the values of their path parameters. */
export async function plantFirewallTools(
  made: (method: string, path: string, body: object) => Promise<{ readonly id: string }>,
  zoneId: string,
  account: string,
) {
  const [zone, base] = [`/zones/${zoneId}/firewall`, `/accounts/${account}/firewall`];
  const rule = { mode: "block", configuration: { target: "ip", value: "203.0.113.77" }, notes: "planted access rule" };
  const ofZone = await made("POST", `${zone}/access_rules/rules`, rule);
  const ofAccount = await made("POST", `${base}/access_rules/rules`, rule);
  const lockdown = await made("POST", `${zone}/lockdowns`, {
    description: "planted lockdown",
    urls: ["locked.planted.example/*"],
    configurations: [{ target: "ip", value: "192.0.2.77" }],
  });
  const ua = await made("POST", `${zone}/ua_rules`, { mode: "block", configuration: { target: "ua", value: "planted/1" } });
  return {
    access_rule_id: ofZone.id,
    account_access_rule_id: ofAccount.id,
    lockdown_id: lockdown.id,
    ua_rule_id: ua.id,
  };
}
