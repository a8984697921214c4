import { randomBytes, randomUUID } from "node:crypto";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { inTicks } from "#kernel/in-ticks.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  ACCESS_APP_DEFAULTS,
  ACCESS_APP_FIELDS,
  ACCESS_APP_NEEDS,
  type AccessApp,
  type AccessAppQuery,
  type AccessAppType,
  type AccessAppWrite,
  type AccessBookmark,
  type AccessBookmarkWrite,
  UNAVAILABLE_ACCESS_FIELDS,
} from "#model/access/access-app.ts";
import {
  accessApp,
  accessAppIdTaken,
  type AccessAppOwner,
  type AccessAppRow,
  accessAppsOf,
  accessAppsOfAccount,
  deleteAccessApp,
  insertAccessApp,
  updateAccessApp,
} from "#store/access/access-apps.ts";
import { lockAccount } from "#store/access/accounts.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { checkDestinations, hostsOf, invalidAccessApp } from "./destinations.ts";

/** Access applications. They are stored and displayed; the edge does not ask visitors to log in. */
export interface AccessApps {
  list(owner: AccessAppOwner, query: AccessAppQuery, page: PageRequest): Promise<Page<AccessApp>>;
  /** Throws `access_app_not_found`. */
  get(owner: AccessAppOwner, id: string): Promise<AccessApp>;
  /** Throws `access_app_invalid`, and `access_app_exists` if another application of the account protects a destination. */
  create(call: Call, owner: AccessAppOwner, body: AccessAppWrite): Promise<AccessApp>;
  update(call: Call, owner: AccessAppOwner, id: string, body: AccessAppWrite): Promise<AccessApp>;
  delete(call: Call, owner: AccessAppOwner, id: string): Promise<{ id: string }>;
  /** Bookmark applications in the format of the former bookmarks API. */
  readonly bookmarks: {
    list(accountId: string): Promise<AccessBookmark[]>;
    get(accountId: string, id: string): Promise<AccessBookmark>;
    /** The caller chooses the id. */
    create(call: Call, accountId: string, id: string, body: AccessBookmarkWrite): Promise<AccessBookmark>;
    update(call: Call, accountId: string, id: string, body: AccessBookmarkWrite): Promise<AccessBookmark>;
    delete(call: Call, accountId: string, id: string): Promise<{ id: string }>;
  };
}

const APPS_MAX = 1000;
/** Applications parsed per tick: each may be as large as a request. */
const APPS_AT_ONCE = 20;
const NOT_ENFORCED = "The application is stored, but the edge of this installation does not ask visitors to log in.";
const ENFORCED_ELSEWHERE: ReadonlySet<string> = new Set(["self_hosted", "ssh", "vnc", "rdp", "mcp", "mcp_portal"]);

interface AccessAppsDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export function createAccessApps(deps: AccessAppsDeps): AccessApps {
  const { store } = deps;

  const insert = (call: Call, owner: AccessAppOwner, id: string, body: AccessAppWrite): Promise<AccessAppRow> =>
    commit(deps, call, async (unit) => {
      const now = isoMicros(deps.clock.nowMicros());
      const value = await checkedValue(unit, owner, "", body);
      if (await accessAppIdTaken(unit.db, id)) throw new PlatformError("access_app_exists", { message: `The id ${id} is taken.` });
      const row: AccessAppRow = {
        ...{ id, ...owner, type: body.type, aud: randomBytes(32).toString("hex"), value },
        ...{ created_at: now, updated_at: now },
      };
      await insertAccessApp(unit.db, row);
      audit(unit, call, "create", null, row);
      return row;
    });
  const replace = (call: Call, owner: AccessAppOwner, id: string, body: AccessAppWrite): Promise<AccessAppRow> =>
    commit(deps, call, async (unit) => {
      const before = await load(unit.db, owner, id);
      if (body.type !== before.type) throw invalidAccessApp("/type", `The type of an application cannot be changed: it is ${before.type}.`);
      const value = await checkedValue(unit, owner, id, body);
      const row = { ...before, value, updated_at: isoMicros(deps.clock.nowMicros()) };
      await updateAccessApp(unit.db, row);
      audit(unit, call, "update", before, row);
      return row;
    });
  const remove = (call: Call, owner: AccessAppOwner, id: string, type?: AccessAppType): Promise<{ id: string }> =>
    commit(deps, call, async (unit) => {
      const before = await load(unit.db, owner, id, type);
      await deleteAccessApp(unit.db, id);
      audit(unit, call, "delete", before, null);
      return { id };
    });
  const warned = (call: Call, app: AccessApp): AccessApp => {
    if (ENFORCED_ELSEWHERE.has(app.type)) (call.notes ??= []).push(NOT_ENFORCED);
    return app;
  };
  const ofAccount = (account_id: string): AccessAppOwner => ({ account_id, zone_id: null });
  const bookmark = (body: AccessBookmarkWrite): AccessAppWrite => ({ ...body, type: "bookmark" });

  return {
    list: async (owner, query, { page, per_page }) => {
      const found: AccessApp[] = [];
      await inTicks(await accessAppsOf(store.read, owner), APPS_AT_ONCE, (row) => {
        const app = view(row);
        if (fits(app, query)) found.push(app);
      });
      return { items: found.slice((page - 1) * per_page, page * per_page), page, per_page, total_count: found.length };
    },
    get: async (owner, id) => view(await load(store.read, owner, id)),
    create: async (call, owner, body) => warned(call, view(await insert(call, owner, randomUUID(), body))),
    update: async (call, owner, id, body) => warned(call, view(await replace(call, owner, id, body))),
    delete: remove,
    bookmarks: {
      list: async (accountId) => {
        const found: AccessBookmark[] = [];
        await inTicks(await accessAppsOf(store.read, ofAccount(accountId)), APPS_AT_ONCE, (row) => {
          if (row.type === "bookmark") found.push(bookmarkView(row));
        });
        return found;
      },
      get: async (accountId, id) => bookmarkView(await load(store.read, ofAccount(accountId), id, "bookmark")),
      create: async (call, accountId, id, body) => bookmarkView(await insert(call, ofAccount(accountId), id, bookmark(body))),
      update: async (call, accountId, id, body) => {
        await load(store.read, ofAccount(accountId), id, "bookmark");
        return bookmarkView(await replace(call, ofAccount(accountId), id, bookmark(body)));
      },
      delete: (call, accountId, id) => remove(call, ofAccount(accountId), id, "bookmark"),
    },
  };
}

async function load(db: Unit["db"], owner: AccessAppOwner, id: string, type?: AccessAppType): Promise<AccessAppRow> {
  const row = await accessApp(db, owner, id);
  if (row === undefined || (type !== undefined && row.type !== type)) throw new PlatformError("access_app_not_found");
  return row;
}

type Fields = Omit<AccessAppWrite, "type">;

/** Validates a body and returns the stored value: JSON of all fields of the application. */
async function checkedValue(unit: Unit, owner: AccessAppOwner, id: string, body: AccessAppWrite): Promise<string> {
  const needs: readonly string[] | undefined = ACCESS_APP_NEEDS[body.type as AccessAppType];
  if (needs === undefined) throw invalidAccessApp("/type", `Applications of the type ${body.type} are not available in this version.`);
  for (const field of UNAVAILABLE_ACCESS_FIELDS) {
    const value = (body as Readonly<Record<string, unknown>>)[field] ?? null;
    if (value !== null && !(Array.isArray(value) && value.length === 0))
      throw invalidAccessApp(`/${field}`, `${field} is not available in this version.`);
  }
  const given = Object.fromEntries(ACCESS_APP_FIELDS.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]));
  const value = completed({ ...ACCESS_APP_DEFAULTS[body.type as AccessAppType], ...given } as Fields, needs);
  const missing = needs.find((field) => isEmpty((value as Readonly<Record<string, unknown>>)[field]));
  if (missing !== undefined) throw invalidAccessApp(`/${missing}`, `An application of the type ${body.type} needs ${missing}.`);
  const zone = owner.zone_id === null ? undefined : await zoneRowById(unit.db, owner.zone_id);
  checkDestinations(value, body.type, zone?.name);
  await lockAccount(unit.db, owner.account_id);
  const others = (await accessAppsOfAccount(unit.db, owner.account_id)).filter((row) => row.id !== id);
  if (others.length >= APPS_MAX) throw invalidAccessApp("", `An account has at most ${APPS_MAX} applications.`);
  await checkTaken(others, value);
  return JSON.stringify(value);
}

const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

/** Fills in `domain`, which is the first public destination, and the only one by default. */
function completed(value: Fields, needs: readonly string[]): Fields {
  if (!needs.includes("destinations")) return value;
  const { domain } = value;
  const destinations = (value.destinations ?? (domain === undefined ? [] : [{ uri: domain }])).map(
    (one) => ({ type: "public", ...one }) as typeof one,
  );
  const first = destinations.find((one) => "uri" in one);
  return { ...value, ...(domain === undefined && first !== undefined ? { domain: first.uri } : {}), destinations };
}

/** Throws if another application protects the same address, because only one could ask visitors. */
async function checkTaken(others: readonly AccessAppRow[], value: Fields): Promise<void> {
  const taken = new Set<string>();
  await inTicks(others, APPS_AT_ONCE, (row) => {
    for (const host of hostsOf(JSON.parse(row.value) as Fields)) taken.add(host);
  });
  const host = hostsOf(value).find((one) => taken.has(one));
  if (host !== undefined)
    throw new PlatformError("access_app_exists", { message: `Another application already covers ${host}.`, source: "/destinations" });
}

const view = (row: AccessAppRow): AccessApp => ({
  id: row.id,
  aud: row.aud,
  type: row.type,
  ...(JSON.parse(row.value) as Fields),
  policies: [],
  created_at: row.created_at,
  updated_at: row.updated_at,
});

function bookmarkView(row: AccessAppRow): AccessBookmark {
  const { name, domain = "", logo_url, app_launcher_visible } = JSON.parse(row.value) as Fields;
  return {
    id: row.id,
    ...(name === undefined ? {} : { name }),
    domain,
    ...(logo_url === undefined ? {} : { logo_url }),
    ...(app_launcher_visible === undefined ? {} : { app_launcher_visible }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function fits({ name = "", domain = "", aud }: AccessApp, query: AccessAppQuery): boolean {
  const holds = (text: string, part: string | undefined): boolean => {
    if (part === undefined) return true;
    return query.exact === true ? text === part : text.toLowerCase().includes(part.toLowerCase());
  };
  const searched = query.search === undefined || `${name}\n${domain}\n${aud}`.toLowerCase().includes(query.search.toLowerCase());
  return holds(name, query.name) && holds(domain, query.domain) && (query.aud === undefined || query.aud === aud) && searched;
}

function audit(
  unit: Unit,
  call: Call,
  verb: "create" | "update" | "delete",
  before: AccessAppRow | null,
  after: AccessAppRow | null,
): void {
  const row = (after ?? before) as AccessAppRow;
  unit.audit({
    action: `access_app.${verb}`,
    actor: auditActor(call),
    account_id: row.account_id,
    zone_id: row.zone_id,
    resource: { type: "access_app", id: row.id },
    before: before && view(before),
    after: after && view(after),
  });
}
