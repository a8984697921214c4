import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApi, type ApiConfig, type ApiDeps } from "#api/server.ts";
import { ROUTES } from "#api/routes/table.ts";
import type { Control } from "#control/control.ts";
import { type Clock, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { createControl } from "#control/create.ts";
import type { ControlDeps } from "#control/control-deps.ts";
import { bootstrap } from "#control/access/bootstrap.ts";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { openGatewayLogReads } from "#events/read/log-reads.ts";
import { openGatewayLogStore } from "#events/read/store.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { logSegmentsOf } from "#events/logs/segment.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { IMAGE_UPLOAD_LIMIT } from "#api/images/image-uploads.ts";
import type { ImageLimits } from "#control/images/images.ts";
import { copySqliteDatabase } from "./sqlite.ts";

export interface ApiServer {
  /** Ends in `/client/v4`. */
  readonly url: string;
  readonly port: number;
  readonly control: Control;
  readonly store: Store;
  readonly account_id: string;
  readonly user_id: string;
  /** The first token: it may do everything. */
  readonly token: string;
  /** Path of the events database; a test that needs events creates it. */
  readonly eventsPath: string;
  /** Everything that the API logged, as text. */
  readonly logged: string[];
  /** `between` runs when the API has stopped and the store is still open. */
  close(between?: () => Promise<void>): Promise<void>;
}

export interface ApiServerOptions {
  readonly clock?: Clock;
  readonly date?: ApiConfig["date"];
  readonly rateLimit?: ApiConfig["rateLimit"];
  readonly failureLimit?: ApiConfig["failureLimit"];
  readonly bodyBytesMax?: number;
  readonly tls?: ApiConfig["tls"];
  readonly dashboard?: string;
  readonly docs?: string;
  readonly hasOpenApi?: () => boolean;
  readonly recordsCalls?: () => boolean;
  /** Default: no separate limits for any route. */
  readonly limits?: NonNullable<ApiConfig["limits"]>;
  readonly routes?: ApiDeps["routes"];
  readonly deprecations?: ApiDeps["deprecations"];
  readonly settled?: ApiDeps["settled"];
  readonly scanResolvers?: readonly string[];
  readonly mailServer?: NonNullable<ControlDeps["mailServer"]>;
  readonly dashboardUrl?: string;
  readonly signInProvider?: NonNullable<ControlDeps["signInProvider"]>;
  readonly records?: NonNullable<ControlDeps["records"]>;
  readonly images?: Partial<ImageLimits>;
  readonly hasPlaces?: boolean;
}

/** For tests that send no e-mail: the address has no listener. */
export const SILENT_MAIL_SERVER = { host: "127.0.0.1", port: 1, username: "", password: "", from: "edge@example.com" } as const;

export const IMAGES_URL = "http://images.example";
export const OWNER_EMAIL = "owner@example.com";
export const OWNER_KEY = "0123456789abcdef0123456789abcdef01234";

/** The whole management API on a free port of loopback, over a new database in a new directory. */
export async function startApi(options: ApiServerOptions = {}): Promise<ApiServer> {
  const clock = options.clock ?? systemClock;
  const directory = mkdtempSync(join(tmpdir(), "selvedge-api-"));
  const eventsPath = join(directory, "events.db");
  const store = await openStore({ url: await copySqliteDatabase(join(directory, "control.db")), clock });
  const sealer = createSealer(Buffer.alloc(32, 7));
  const first = await bootstrap({ store, clock, sealer, email: OWNER_EMAIL, apiKey: OWNER_KEY });
  const control = createControl({
    nodeId: "node-of-the-test",
    store,
    clock,
    sealer,
    events: openEventQueries(eventsPath),
    gatewayLogStore: openGatewayLogStore(eventsPath, openGatewayLogReads(eventsPath)),
    logSegments: logSegmentsOf(eventsPath),
    ca: createLocalCa({ root: await createRoot(clock), clock }),
    edgeAddresses: ["127.0.0.1"],
    localOriginAllowed: () => true,
    webhookAllowed: () => true,
    primaryAllowed: () => true,
    vendorPrefix: "svc",
    images: {
      ...{ perAccountMax: 100, accountBytesMax: 100_000_000, ...options.images },
      ...{ directory: join(directory, "images"), url: () => IMAGES_URL },
    },
    // The address has no listener, so that no test uses the network.
    scanResolvers: options.scanResolvers ?? ["127.0.0.1:1"],
    ...(options.hasPlaces === undefined ? {} : { hasPlaces: options.hasPlaces }),
    ...(options.records ? { records: options.records } : {}),
    ...(options.dashboardUrl === undefined ? {} : { dashboardUrl: options.dashboardUrl }),
    ...(options.signInProvider ? { signInProvider: options.signInProvider } : {}),
    ...(options.mailServer ? { mailServer: options.mailServer } : {}),
  });
  const logged: string[] = [];
  const note = (fields: object, message: string): void =>
    void logged.push(
      `${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? `${value.stack} ${String(value.cause)}` : value))}`,
    );
  const app = createApi({
    control,
    clock,
    routes: options.routes ?? ROUTES,
    settled: options.settled ?? (async () => ({ behind: [] })),
    log: { debug: note, error: note },
    metrics: createMetrics(),
    ...(options.deprecations ? { deprecations: options.deprecations } : {}),
    config: {
      vendorPrefix: "svc",
      date: options.date ?? { asOf: null, negotiate: false },
      rateLimit: options.rateLimit ?? { requests: 0, periodSeconds: 300 },
      failureLimit: options.failureLimit ?? { requests: 0, periodSeconds: 300 },
      limits: options.limits ?? {
        dns_import: { bodyBytesMax: 256 * 1024, rateLimit: { requests: 0, periodSeconds: 60 } },
        image_upload: IMAGE_UPLOAD_LIMIT,
      },
      ...(options.tls ? { tls: options.tls } : {}),
      ...(options.dashboard ? { dashboard: options.dashboard } : {}),
      ...(options.docs ? { docs: options.docs } : {}),
      ...(options.hasOpenApi ? { hasOpenApi: options.hasOpenApi } : {}),
      ...(options.recordsCalls ? { recordsCalls: options.recordsCalls } : {}),
      ...(options.bodyBytesMax === undefined ? {} : { bodyBytesMax: options.bodyBytesMax }),
    },
  });
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  const user = await store.read.selectFrom("users").select("id").executeTakeFirstOrThrow();
  return {
    url: `${address}/client/v4`,
    port: Number(new URL(address).port),
    control,
    store,
    account_id: first.account_id,
    user_id: user.id,
    token: first.token ?? "",
    eventsPath,
    logged,
    close: async (between) => {
      await app.close();
      await between?.();
      control.access.close();
      control.imageProcessor.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The envelope; empty if the body is not one. */
  readonly body: any;
}

export interface Asking {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string;
  /** Sent as a form of several parts. */
  readonly form?: Readonly<Record<string, string | File>>;
}

/** Sends one request, with the first token by default. */
export async function ask(server: ApiServer, method: string, path: string, asking: Asking = {}): Promise<Answer> {
  const token = asking.token === undefined ? server.token : asking.token;
  const body = asking.raw ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body));
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...asking.headers,
    },
    ...(asking.form ? { body: formOf(asking.form) } : body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(120_000),
  });
  const text = await response.text();
  const isJson = text.startsWith("{") && response.headers.get("content-type") !== "application/x-ndjson";
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
}

function formOf(fields: Readonly<Record<string, string | File>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}
