export interface ImagesTable {
  account_id: string;
  id: string;
  /** The name of its file; null, like the facts about the file, until a direct upload has arrived. */
  blob_id: string | null;
  /** SHA-256 of the file, hexadecimal. */
  digest: string | null;
  bytes: number;
  format: string | null;
  frames: number;
  filename: string | null;
  creator: string | null;
  /** JSON. */
  meta: string;
  signed: number;
  uploaded_on: string;
  /** SHA-256 of the secret in the URL of a direct upload, hexadecimal; null once the file has arrived. */
  upload_hash: string | null;
  /** Of the URL. */
  expires_on: string | null;
}

export interface ImageVariantsTable {
  account_id: string;
  id: string;
  fit: string;
  width: number;
  height: number;
  metadata: string;
  never_signed: number;
}

export interface ImageKeysTable {
  account_id: string;
  name: string;
  /** Sealed. */
  value: string;
}
