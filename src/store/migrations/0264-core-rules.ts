import type { Dialect } from "#store/queries/session.ts";

/** The Core Rule Set that control compiled, for planes on other machines: at most one row. */
export const coreRules = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE core_rules (${[
    `id ${integer} PRIMARY KEY`,
    `digest ${text} NOT NULL`,
    `version ${text} NOT NULL`,
    `format ${integer} NOT NULL`,
    `program ${text} NOT NULL`,
    `modified_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
];
