import type { Call, PageRequest } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import type { Store } from "#store/database/store.ts";
import { copyRow } from "./row-copies.ts";

/** A server with many objects of one kind. */
export interface ScaledPlace {
  readonly store: Store;
  readonly control: Control;
  readonly account_id: string;
  /** The first zone, which contains the objects that belong to zones. */
  readonly zone: { readonly id: string; readonly account_id: string; readonly name: string; readonly plan: string };
  /** IDs of the created objects, by number. */
  readonly ids: Map<number, string>;
  call(): Call;
}

/** A kind of object that can be numerous. */
export interface Scaled {
  readonly name: string;
  /** By which its sizes are multiplied. */
  readonly unit?: number;
  /** Values that grow with the number, such as a document that is stored and shown as a whole. */
  readonly grows?: readonly string[];
  fill(place: ScaledPlace, count: number): Promise<void>;
  /** Number `n`, and remembers its identifier. */
  create(place: ScaledPlace, n: number): Promise<void>;
  change(place: ScaledPlace, n: number, to: number): Promise<unknown>;
  page(place: ScaledPlace, page: PageRequest): Promise<unknown>;
}

const RULES_PHASE = "http_request_firewall_custom";
const GATEWAY = {
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: false,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
const address = (n: number): string => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
const idAt = ({ ids }: ScaledPlace, n: number): string => {
  const id = ids.get(n);
  if (id === undefined) throw new Error(`number ${n} was never created`);
  return id;
};
const scopeOf = ({ account_id, zone, call }: ScaledPlace) =>
  ({ level: "zone", account_id, zone_id: zone.id, plan: "enterprise", actor: call().actor }) as const;
const rules = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ action: "block", expression: `http.request.uri.path eq "/${i}"` }) as const);

const GROUP = PERMISSION_GROUPS.find(({ name }) => name === "DNS Write")?.id ?? "";
const tokenNamed = ({ account_id }: ScaledPlace, name: string) => ({
  name,
  policies: [
    {
      effect: "allow" as const,
      resources: { [`com.cloudflare.api.account.${account_id}`]: "*" as const },
      permission_groups: [{ id: GROUP }],
    },
  ],
});

export const SCALED: readonly Scaled[] = [
  {
    name: "zones",
    fill: ({ store }, count) => copyRow(store, "zones", count, (n) => ({ id: newId(), name: `zone${n}.scale.example` })),
    create: async (place, n) => {
      const { id } = await place.control.zones.create(place.call(), { name: `new${n}.test`, account: { id: place.account_id } });
      place.ids.set(n, id);
    },
    change: (place, n, to) => place.control.zones.edit(place.call(), idAt(place, n), { paused: to % 2 === 1 }),
    page: ({ control, call }, page) => control.zones.list(call(), {}, page),
  },
  {
    name: "records_of_a_name",
    // A new record is compared with those of its name, which are limited to 8,192 bytes.
    grows: ["create"],
    fill: async ({ control, call, zone, store }, count) => {
      await control.dnsRecords.create(call(), zone as never, { type: "A", name: "many.scale.test", content: address(0) } as never);
      await copyRow(store, "dns_records", count - 1, (n) => ({
        id: newId(),
        content: address(n + 1),
        content_key: address(n + 1),
        content_head: address(n + 1),
        rdata: Buffer.from(
          address(n + 1)
            .split(".")
            .map(Number),
        ).toString("base64"),
      }));
      await store.write(({ db }) => db.updateTable("zones").set({ record_count: count }).where("id", "=", zone.id).execute());
    },
    create: async (place, n) => {
      const body = { type: "A", name: "many.scale.test", content: address(n) } as never;
      place.ids.set(n, (await place.control.dnsRecords.create(place.call(), place.zone as never, body)).id);
    },
    change: ({ control, call, zone, ids }, n, to) =>
      control.dnsRecords.edit(call(), zone as never, ids.get(n) ?? "", { content: address(100_000 + n + to) } as never),
    page: ({ control, zone }, page) => control.dnsRecords.list(zone as never, {}, page),
  },
  {
    name: "custom_hostnames",
    unit: 10,
    fill: async ({ store, control, call, zone }, count) => {
      await control.customHostnames.create(call(), zone as never, { hostname: "first.customer.test" } as never);
      const ids = Array.from({ length: count }, () => newId());
      await copyRow(store, "custom_hostnames", count, (n) => ({
        id: ids[n],
        hostname: `shop${n}.customer.test`,
        status: "active",
        next_check_ms: null,
      }));
      const at = "2026-01-01T00:00:00.000000Z";
      const first = {
        ...{
          id: newId(),
          custom_hostname_id: ids[0] ?? "",
          zone_id: zone.id,
          hosts: "[]",
          chain: "c".repeat(3_000),
          private_key: "k".repeat(380),
        },
        ...{
          issuer: "",
          is_custom: 0,
          serial_number: "1",
          signature: "",
          not_before: at,
          not_after: "2099-01-01T00:00:00.000000Z",
          created_on: at,
        },
      };
      await store.write(({ db }) => db.insertInto("custom_hostname_certificates").values(first).execute());
      const certificate = (n: number) => ({ id: newId(), custom_hostname_id: ids[n], hosts: JSON.stringify([`shop${n}.customer.test`]) });
      await copyRow(store, "custom_hostname_certificates", count, certificate);
    },
    create: async (place, n) => {
      const body = { hostname: `new${n}.customer.test` } as never;
      place.ids.set(n, (await place.control.customHostnames.create(place.call(), place.zone as never, body)).id);
    },
    change: (place, n, to) =>
      place.control.customHostnames.edit(place.call(), place.zone as never, idAt(place, n), {
        custom_metadata: { to: String(to) },
      } as never),
    page: ({ control, zone }, page) => control.customHostnames.list(zone as never, {}, page),
  },
  {
    name: "rules",
    unit: 0.5,
    // A ruleset is one document with versions, which is written and shown as a whole.
    grows: ["create", "change", "page"],
    fill: async (place, count) => {
      await place.control.rulesets.putEntryPoint(place.call(), scopeOf(place), RULES_PHASE, { rules: rules(count) } as never);
    },
    create: async (place, n) => {
      await place.control.rulesets.putEntryPoint(place.call(), scopeOf(place), RULES_PHASE, { rules: rules(n) } as never);
    },
    change: (place, n, to) =>
      place.control.rulesets.putEntryPoint(place.call(), scopeOf(place), RULES_PHASE, {
        rules: rules(n),
        description: String(to),
      } as never),
    page: (place) => place.control.rulesets.entryPoint(scopeOf(place), RULES_PHASE),
  },
  {
    name: "gateways",
    fill: async ({ store, control, call, account_id }, count) => {
      await control.gateways.create(call(), account_id, { id: "first", ...GATEWAY });
      await copyRow(store, "gateways", count, (n) => ({
        id: `gateway-${n}`,
        created_at: `2026-01-01T00:00:00.${String(n).padStart(6, "0")}Z`,
      }));
    },
    create: async ({ control, call, account_id }, n) => {
      await control.gateways.create(call(), account_id, { id: `new-${n}`, ...GATEWAY });
    },
    change: ({ control, call, account_id }, n, to) =>
      control.gateways.update(call(), account_id, `new-${n}`, { ...GATEWAY, cache_ttl: 60 + to }),
    page: ({ control, account_id }, page) => control.gateways.list(account_id, {}, page),
  },
  {
    name: "list_items",
    unit: 20,
    // A part of a list, 4,096 items at most, crosses and is put together as a whole.
    grows: ["create", "change"],
    fill: async (place, count) => {
      const { control, call, account_id, ids } = place;
      const { id } = await control.ruleLists.create(call(), account_id, { name: "scale", kind: "ip" });
      ids.set(-1, id);
      const items = Array.from({ length: count }, (_, n) => ({ ip: address(n) }));
      await control.ruleListItems.replace(call(), account_id, id, items);
      await control.ruleListItems.idle();
    },
    create: async (place, n) => {
      await place.control.ruleListItems.add(place.call(), place.account_id, idAt(place, -1), [{ ip: address(n) }]);
      await place.control.ruleListItems.idle();
    },
    change: async (place, n, to) => {
      await place.control.ruleListItems.add(place.call(), place.account_id, idAt(place, -1), [{ ip: address(n), comment: String(to) }]);
      await place.control.ruleListItems.idle();
    },
    page: (place, { per_page }) => place.control.ruleListItems.list(place.account_id, idAt(place, -1), { per_page }, undefined),
  },
  {
    name: "tokens",
    // An owner has at most a thousand.
    unit: 0.9,
    fill: ({ store, account_id }, count) =>
      copyRow(store, "tokens", count, (n) => ({ id: newId(), hash: newId() + newId(), account_id, name: `token ${n}`, bootstrap: 0 })),
    create: async (place, n) => {
      const created = await place.control.access.tokens.create(
        place.call(),
        { account_id: place.account_id },
        tokenNamed(place, `new ${n}`),
      );
      place.ids.set(n, created.id);
    },
    change: (place, n, to) => {
      const body = { ...tokenNamed(place, `changed ${to}`), status: "active" } as const;
      return place.control.access.tokens.update(place.call(), { account_id: place.account_id }, idAt(place, n), body);
    },
    page: ({ control, account_id }, page) => control.access.tokens.list({ account_id }, {}, page),
  },
];
