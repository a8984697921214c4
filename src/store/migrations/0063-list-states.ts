import type { Dialect } from "#store/queries/session.ts";

/** A table that is listed in pages: the owner of its rows, and the columns by which lists are sorted and filtered. */
interface Listed {
  readonly table: string;
  /** The owner's column; rows without an owner are in no list. */
  readonly owner: string;
  readonly columns: readonly string[];
}

const LISTED: readonly Listed[] = [
  { table: "zones", owner: "account_id", columns: ["account_id", "name", "status", "type", "plan"] },
  { table: "gateways", owner: "account_id", columns: ["created_at"] },
  {
    table: "custom_hostnames",
    owner: "zone_id",
    columns: ["hostname", "wildcard", "status", "ssl_status", "caa_error", "certificate_authority", "custom_origin_server", "created_at"],
  },
  // Rows are never updated.
  { table: "audit_log", owner: "account_id", columns: [] },
];

/**
 * Number of rows of each list, and a number that any change of it raises: a page gives its total without counting, and
 * results of one page stay valid for the next while the number is unchanged (ADR 0062). Triggers cover every writer,
 * including cascades.
 */
export function listStates(dialect: Dialect): readonly string[] {
  const { text, integer, tableOptions } = dialect;
  return [
    `CREATE TABLE list_states (list ${text} NOT NULL, owner ${text} NOT NULL, row_count ${integer} NOT NULL, version ${integer} NOT NULL, PRIMARY KEY (list, owner)) ${tableOptions}`,
    ...LISTED.flatMap((listed) => [begin(listed), ...(dialect.name === "sqlite" ? sqliteTriggers : postgresTriggers)(listed)]),
    // Without these indexes, a page would sort all rows of its list.
    "CREATE INDEX custom_hostnames_by_creation ON custom_hostnames (zone_id, created_at, id)",
    "CREATE INDEX custom_hostnames_by_ssl_status ON custom_hostnames (zone_id, ssl_status, id)",
    "CREATE INDEX gateways_by_creation ON gateways (account_id, created_at, id)",
  ];
}

const begin = ({ table, owner }: Listed): string =>
  `INSERT INTO list_states (list, owner, row_count, version) SELECT '${table}', ${owner}, count(*), 1 FROM ${table} WHERE ${owner} IS NOT NULL GROUP BY ${owner}`;

const OPERATIONS = [
  { on: "INSERT", row: "NEW", by: 1 },
  { on: "DELETE", row: "OLD", by: -1 },
] as const;

const RAISED =
  "ON CONFLICT (list, owner) DO UPDATE SET row_count = list_states.row_count + excluded.row_count, version = list_states.version + 1";

function sqliteTriggers({ table, owner, columns }: Listed): readonly string[] {
  const trigger = (name: string, on: string, row: string, by: number): string =>
    `CREATE TRIGGER ${table}_${name} AFTER ${on} ON ${table} WHEN ${row}.${owner} IS NOT NULL BEGIN INSERT INTO list_states (list, owner, row_count, version) VALUES ('${table}', ${row}.${owner}, ${by}, 1) ${RAISED}; END`;
  return [
    ...OPERATIONS.map(({ on, row, by }) => trigger(`listed_${on.toLowerCase()}`, on, row, by)),
    ...(columns.length === 0 ? [] : [trigger("listed_update", `UPDATE OF ${columns.join(", ")}`, "OLD", 0)]),
  ];
}

function postgresTriggers({ table, owner, columns }: Listed): readonly string[] {
  const name = (on: string): string => `${table}_listed_${on.toLowerCase()}`;
  const made = (on: string, insert: string, when: string): readonly string[] => [
    `CREATE FUNCTION ${name(on)}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN INSERT INTO list_states (list, owner, row_count, version) ${insert} ${RAISED}; RETURN NULL; END $body$`,
    `CREATE TRIGGER ${name(on)} AFTER ${when} EXECUTE FUNCTION ${name(on)}()`,
  ];
  // In a fixed order, so that two writers never deadlock.
  const counted = (by: number): string =>
    `SELECT '${table}', ${owner}, ${by} * count(*), 1 FROM changed WHERE ${owner} IS NOT NULL GROUP BY ${owner} ORDER BY ${owner}`;
  return [
    ...OPERATIONS.flatMap(({ on, row, by }) =>
      made(on, counted(by), `${on} ON ${table} REFERENCING ${row} TABLE AS changed FOR EACH STATEMENT`),
    ),
    ...(columns.length === 0
      ? []
      : made("UPDATE", `SELECT '${table}', OLD.${owner}, 0, 1`, `UPDATE OF ${columns.join(", ")} ON ${table} FOR EACH ROW`)),
  ];
}
