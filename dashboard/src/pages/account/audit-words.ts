/**
 * Actions of the audit log in words; the first row that fits decides. A name with a verb is one action. A name without is an
 * object, whose actions take their word from VERBS.
 */
const WORDS: readonly (readonly [name: string, words: string])[] = [
  ["zone.create", "added a zone"],
  ["zone.edit", "changed a zone"],
  ["zone.delete", "deleted a zone"],
  ["zone.delete_records", "deleted the records of a deleted zone"],
  ["zone.activate", "activated a zone"],
  ["zone.move", "took a zone away, because another account owns it"],
  ["zone.refuse", "refused a zone"],
  ["zone.expire", "let a zone expire"],
  ["zone.name_servers", "changed the name servers of a zone"],
  ["zone.purge_cache", "purged the cache of a zone"],
  ["zone.settings.edit", "changed settings of a site"],
  ["zone.dns_settings.edit", "changed DNS settings of a zone"],
  ["zone.transfer", "received a zone from its primary"],
  ["zone.refetch", "told secondaries of new addresses"],
  ["zone_hold", "the hold of a zone"],
  ["dns_record.batch", "changed many DNS records"],
  ["dns_record.import", "imported DNS records"],
  ["dns_record.revert", "undid a change of DNS records"],
  ["dns_record.restore", "restored an earlier version of DNS records"],
  ["dns_record", "a DNS record"],
  ["dnssec.edit", "changed DNSSEC of a zone"],
  ["dnssec.delete", "ended DNSSEC of a zone"],
  ["dnssec.rollover", "began to replace a key of DNSSEC"],
  ["dnssec.progress", "moved DNSSEC of a zone a step on"],
  ["dnssec.refetch", "told secondaries of new signatures"],
  ["custom_name_server", "a name server of the account"],
  ["account.dns_settings.edit", "changed DNS settings of the account"],
  ["incoming_transfer.force", "asked the primary for a zone"],
  ["incoming_transfer", "the primary of a zone"],
  ["outgoing_transfer.notify", "notified the secondaries of a zone"],
  ["outgoing_transfer.enable", "turned transfers to secondaries on"],
  ["outgoing_transfer.disable", "turned transfers to secondaries off"],
  ["outgoing_transfer", "the secondaries of a zone"],
  ["transfer_peer", "a nameserver for transfers"],
  ["transfer_tsig", "a key for transfers"],
  ["transfer_acl", "a network for transfers"],
  ["certificate.issue", "issued a certificate"],
  ["certificate.renew", "asked for a new certificate"],
  ["service_certificate.issue", "issued the certificate of this server"],
  ["certificate_pack.issue", "issued a certificate"],
  ["certificate_pack", "an order of certificates"],
  ["custom_certificate", "an uploaded certificate"],
  ["custom_hostname.certificate_delete", "deleted the certificate of a custom hostname"],
  ["custom_hostname.certificate", "changed the certificate of a custom hostname"],
  ["custom_hostname.active", "found a custom hostname active"],
  ["custom_hostname.pending", "found a custom hostname not ready"],
  ["custom_hostname.moved", "found a custom hostname moved away"],
  ["custom_hostname", "a custom hostname"],
  ["fallback_origin.put", "set the fallback origin"],
  ["fallback_origin", "the fallback origin"],
  ["ruleset.delete_version", "deleted a version of a ruleset"],
  ["ruleset", "a ruleset"],
  ["core_rules.use", "began to use other core rules"],
  ["waf_migration.step", "moved the WAF a step on"],
  ["access_rule", "an IP access rule"],
  ["firewall_rule", "a firewall rule"],
  ["filter", "a filter"],
  ["rate_limit", "a rate limit"],
  ["page_rule", "a page rule"],
  ["page_policy", "a policy of Page Shield"],
  ["lockdown", "a lockdown"],
  ["ua_rule", "a rule for user agents"],
  ["waf_override", "an override of the previous WAF"],
  ["waf_package", "a package of the previous WAF"],
  ["waf_group", "a group of the previous WAF"],
  ["waf_rule", "a rule of the previous WAF"],
  ["rule_list.change_items", "changed items of a list"],
  ["rule_list", "a list"],
  ["sensitive_data_allowed", "a value that detection leaves out"],
  ["sensitive_data_pattern", "a pattern of detection"],
  ["gateway_logs.delete", "deleted logs of a gateway"],
  ["gateway_provider_config", "a provider key of a gateway"],
  ["gateway_custom_provider", "a custom provider of gateways"],
  ["gateway_custom_cost", "a cost of a model"],
  ["gateway_route_version", "a version of a gateway's route"],
  ["gateway_route_deployment", "a deployment of a gateway's route"],
  ["gateway_route", "a route of a gateway"],
  ["gateway_dlp_profile", "a profile of sensitive data"],
  ["gateway_dataset", "a dataset of a gateway"],
  ["gateway_evaluation", "an evaluation of a gateway"],
  ["gateway_domain", "a domain of a gateway"],
  ["gateway", "a gateway"],
  ["tunnel.configure", "changed the rules of a tunnel"],
  ["tunnel.disconnect", "ended connections of a tunnel"],
  ["tunnel", "a tunnel"],
  ["edge_addresses.change", "changed the addresses in answers to proxied names"],
  ["logpush_job", "a Logpush job"],
  ["image_variant", "a variant of images"],
  ["image_key", "a key of images"],
  ["image", "an image"],
  ["notification_policy", "a notification policy"],
  ["notification_webhook", "a webhook"],
  ["notification_silence", "a silence of notifications"],
  ["member.invite", "invited a member"],
  ["member.remove", "removed a member"],
  ["member.decide", "answered an invitation"],
  ["member", "a member's roles"],
  ["membership.update", "answered an invitation"],
  ["membership.delete", "left the account"],
  ["token.roll", "gave an API token a new value"],
  ["token.reset", "made a new first token"],
  ["token", "an API token"],
  ["session.create", "signed in"],
  ["session.delete", "signed out"],
  ["session.end", "ended a session"],
  ["user.edit", "changed a user"],
  ["user.password", "changed a password"],
  ["user.password_end", "turned a password off"],
  ["user.totp_start", "began to set up one-time codes"],
  ["user.totp_confirm", "turned one-time codes on"],
  ["user.totp_end", "turned one-time codes off"],
  ["user.passkey_create", "added a passkey"],
  ["user.passkey_edit", "renamed a passkey"],
  ["user.passkey_delete", "deleted a passkey"],
  ["user.provider_link", "signed in by the provider for the first time"],
  ["access_app", "an application with access"],
  ["account", "an account"],
  ["installation.create", "installed this server"],
  ["installation.set_up", "created the first user"],
  ["installation.recover", "recovered this server"],
];

const VERBS: Readonly<Record<string, string>> = {
  create: "created",
  edit: "changed",
  update: "changed",
  put: "set",
  delete: "deleted",
  upload: "uploaded",
};

/** An action in words; its raw name if the table does not know it. */
export function actionWords(name: string): string {
  const at = name.lastIndexOf(".");
  const verb = VERBS[name.slice(at + 1)];
  for (const [known, words] of WORDS) {
    if (known === name && name.includes(".")) return words;
    if (verb !== undefined && known === name.slice(0, at)) return `${verb} ${words}`;
  }
  return name;
}

/** The part of a row of the audit log that says whose change it is. */
interface ActorOfRow {
  readonly actor: { readonly id: string; readonly email?: string };
  readonly metadata: { readonly actor_type: string };
}

/** A person by e-mail address, a token of the account by its beginning, or this server. */
export function actorWords({ actor, metadata }: ActorOfRow): string {
  if (metadata.actor_type === "system") return "this server";
  if (actor.email !== undefined) return metadata.actor_type === "token" ? `${actor.email}, by a token` : actor.email;
  return metadata.actor_type === "token" ? `token ${actor.id.slice(0, 8)}` : `user ${actor.id.slice(0, 8)}`;
}
