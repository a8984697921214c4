import type { AuthorityName } from "#acme/authorities.ts";
import type { Binding } from "#acme/client.ts";
import type { IssuerName } from "#control/certificates/choose-authority.ts";
import type { OwnershipConfig } from "#control/ownership/policy.ts";
import type { IsoDate } from "#kernel/clock.ts";
import type { NativeMode } from "#kernel/process/native-transport.ts";
import type { RecordPolicy } from "#model/dns/prepared-record.ts";
import type { ClientAddressField } from "#kernel/net/client-addresses.ts";
import type { LogArea } from "./log-areas.ts";
import type { Role } from "./roles.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Values of configuration keys, by the name of their type in the schema. */
export interface ConfigTypes {
  readonly text: string;
  readonly site: string;
  readonly issuer: string;
  readonly path: string;
  readonly paths: readonly string[];
  readonly secret: string;
  readonly password: string;
  readonly label: string;
  readonly tag: string;
  readonly hosts_to_listen: readonly string[];
  readonly addresses_to_listen: readonly string[];
  readonly port: number;
  readonly port_or_auto: number | "auto";
  readonly count: number;
  readonly switch: boolean;
  readonly day: IsoDate | "";
  readonly database: string;
  readonly bus: string;
  readonly counters: string;
  readonly clickhouse: string;
  readonly level: LogLevel;
  readonly levels: Readonly<Partial<Record<LogArea, LogLevel>>>;
  readonly native: NativeMode;
  readonly roles: readonly Role[];
  readonly activation: OwnershipConfig["activation"];
  readonly txt_content: RecordPolicy["txtContent"];
  readonly names_rule: Exclude<RecordPolicy["names"], "any">;
  readonly accounts: readonly string[];
  readonly addresses: readonly string[];
  readonly servers: readonly string[];
  readonly networks: readonly string[];
  readonly client_field: ClientAddressField;
  readonly recipients: readonly string[];
  readonly names: readonly string[];
  readonly hosts: readonly string[];
  readonly domains: readonly string[];
  readonly providers: Readonly<Record<string, string>>;
  readonly issuers: readonly IssuerName[];
  readonly directories: Readonly<Partial<Record<AuthorityName, string>>>;
  readonly bindings: Readonly<Partial<Record<AuthorityName, Binding>>>;
}
