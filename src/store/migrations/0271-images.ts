import type { Dialect } from "#store/queries/session.ts";

/** Images of accounts, whose files are in the data directory; their variants, and the keys that sign their URLs. */
export const images = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE images (${[
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `id ${text} NOT NULL`,
    `blob_id ${text}`,
    `digest ${text}`,
    `bytes ${integer} NOT NULL`,
    `format ${text}`,
    `frames ${integer} NOT NULL`,
    `filename ${text}`,
    `creator ${text}`,
    `meta ${text} NOT NULL`,
    `signed ${integer} NOT NULL`,
    `uploaded_on ${text} NOT NULL`,
    `upload_hash ${text}`,
    `expires_on ${text}`,
    "PRIMARY KEY (account_id, id)",
  ].join(", ")}) ${tableOptions}`,
  "CREATE UNIQUE INDEX images_by_blob ON images (blob_id)",
  "CREATE UNIQUE INDEX images_by_upload ON images (upload_hash)",
  "CREATE INDEX images_by_end ON images (expires_on)",
  "CREATE INDEX images_by_time ON images (account_id, uploaded_on, id)",
  `CREATE TABLE image_variants (${[
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `id ${text} NOT NULL`,
    `fit ${text} NOT NULL`,
    `width ${integer} NOT NULL`,
    `height ${integer} NOT NULL`,
    `metadata ${text} NOT NULL`,
    `never_signed ${integer} NOT NULL`,
    "PRIMARY KEY (account_id, id)",
  ].join(", ")}) ${tableOptions}`,
  `CREATE TABLE image_keys (${[
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `name ${text} NOT NULL`,
    `value ${text} NOT NULL`,
    "PRIMARY KEY (account_id, name)",
  ].join(", ")}) ${tableOptions}`,
];
