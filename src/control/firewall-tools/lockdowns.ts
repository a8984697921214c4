import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { compileLockdowns } from "#control/previous-waf/compile-tools.ts";
import { changeFirewall, type FirewallDeps, type FirewallEdit, type FirewallOwner } from "#control/previous-waf/firewall-edit.ts";
import { firewallPage, holdsText } from "#control/previous-waf/firewall-page.ts";
import { normalLockdown } from "#control/previous-waf/normal-patterns.ts";
import { loadFirewall } from "#control/previous-waf/state.ts";
import { type Lockdown, type LockdownQuery, LOCKDOWNS_MAX, type LockdownWrite } from "#model/rulesets/lockdown.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import { isHostInZone, urlPatternHost, urlPatternProblem } from "#rules/previous-waf/url-pattern.ts";
import { servedHostnames } from "#store/hostnames/custom-hostnames.ts";
import { visitorsOf } from "./visitors.ts";

/** Lockdowns of a zone. Throws `firewall_object_not_found`, `firewall_invalid`. */
export interface Lockdowns {
  list(zone: FirewallOwner, query: LockdownQuery, page: PageRequest): Promise<Page<Lockdown>>;
  get(zone: FirewallOwner, id: string): Promise<Lockdown>;
  create(call: Call, zone: FirewallOwner, write: LockdownWrite): Promise<Lockdown>;
  update(call: Call, zone: FirewallOwner, id: string, write: LockdownWrite): Promise<Lockdown>;
  delete(call: Call, zone: FirewallOwner, id: string): Promise<{ readonly id: string }>;
}

export function createLockdowns(deps: FirewallDeps): Lockdowns {
  const { store } = deps;
  const put = (call: Call, zone: FirewallOwner, id: string | null, write: LockdownWrite): Promise<Lockdown> =>
    changeFirewall(deps, call, zone, async (edit) => {
      const { lockdowns } = await edit.firewall();
      const created_on = id === null ? edit.now : lockdownNamed(lockdowns, id).created_on;
      if (id === null && lockdowns.length >= LOCKDOWNS_MAX) throw invalid(`A zone has at most ${LOCKDOWNS_MAX} lockdowns.`, "");
      const value = checked(write);
      await checkHosts(edit, value.urls);
      const lockdown = { id: id ?? newId(), ...value, created_on, modified_on: edit.now };
      checkLength(normalLockdown(lockdown, edit.zone));
      await edit.put("lockdown", lockdown.id, value, id === null ? "create" : "update");
      return lockdown;
    });

  return {
    list: async (zone, query, page) =>
      firewallPage(
        (await loadFirewall(store.read, zone.id)).lockdowns.filter((lockdown) => fits(lockdown, query)),
        page,
      ),
    get: async (zone, id) => lockdownNamed((await loadFirewall(store.read, zone.id)).lockdowns, id),
    create: (call, zone, write) => put(call, zone, null, write),
    update: (call, zone, id, write) => put(call, zone, id, write),
    delete: (call, zone, id) =>
      changeFirewall(deps, call, zone, async (edit) => {
        lockdownNamed((await edit.firewall()).lockdowns, id);
        await edit.remove("lockdown", id);
        return { id };
      }),
  };
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("firewall_invalid", { message, source });

type StoredLockdown = Omit<Lockdown, "id" | "created_on" | "modified_on">;

function checked({ description = "", paused = false, priority, urls, configurations }: LockdownWrite): StoredLockdown {
  for (const [index, url] of urls.entries()) {
    const problem = urlPatternProblem(url);
    if (problem !== null) throw invalid(`the address ${problem}`, `/urls/${index}`);
  }
  return {
    description,
    paused,
    ...(priority === undefined ? {} : { priority }),
    urls,
    configurations: configurations.map((configuration, index) => visitorsOf(configuration, `/configurations/${index}`)),
  };
}

/** A lockdown of another zone's name would protect nothing. The names of a zone include its custom hostnames. */
async function checkHosts({ db, zone }: FirewallEdit, urls: readonly string[]): Promise<void> {
  const hosts = urls.map(urlPatternHost);
  const outside = new Set(hosts.filter((host) => !isHostInZone(host, zone.name)));
  if (outside.size === 0) return;
  const served = await servedHostnames(db, zone.id, outside);
  const foreign = hosts.findIndex((host) => outside.has(host) && !served.has(host));
  if (foreign >= 0) throw invalid(`${JSON.stringify(urls[foreign])} must name a host of the zone ${zone.name}.`, `/urls/${foreign}`);
}

/** The compiled expression must respect the usual length limit. */
function checkLength(lockdown: Lockdown): void {
  try {
    for (const { expression } of compileLockdowns([{ ...lockdown, paused: false }]))
      compileExpression(expression, "http_request_firewall_custom");
  } catch (error) {
    if (error instanceof ExpressionError) throw invalid(`the lockdown cannot be compiled: ${error.message}`, "/urls");
    throw error;
  }
}

function lockdownNamed(lockdowns: readonly Lockdown[], id: string): Lockdown {
  const lockdown = lockdowns.find((candidate) => candidate.id === id);
  if (lockdown === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find lockdown ${id}` });
  return lockdown;
}

const isSameTime = (asked: string, time: string): boolean => Date.parse(asked) === Date.parse(time);

function fits({ description, urls, configurations, priority, created_on, modified_on }: Lockdown, query: LockdownQuery): boolean {
  const some = (part: string | undefined, texts: readonly string[]): boolean => texts.some((text) => holdsText(text, part));
  const values = configurations.map(({ value }) => value);
  return (
    (query.description === undefined || query.description === description) &&
    (query.priority === undefined || query.priority === priority) &&
    (query.created_on === undefined || isSameTime(query.created_on, created_on)) &&
    (query.modified_on === undefined || isSameTime(query.modified_on, modified_on)) &&
    holdsText(description, query.description_search) &&
    (query.ip === undefined || values.includes(query.ip)) &&
    some(query.ip_search, values) &&
    some(query.ip_range_search, values) &&
    some(query.uri_search, urls)
  );
}
