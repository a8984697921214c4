import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { type Call, systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newTokenSecret } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { uploadUrl } from "#kernel/net/image-urls.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import {
  type DirectUpload,
  type Image,
  IMAGE_ID,
  type ImageCursorQuery,
  type ImageEdit,
  type ImageFile,
  type ImageList,
  type ImageListPage,
  type ImageStats,
  type NewImage,
} from "#model/images/image.ts";
import type { Store, Unit } from "#store/database/store.ts";
import {
  deleteDraft,
  deleteImage,
  findImage,
  imageByUpload,
  type ImageRow,
  imageTotals,
  insertImage,
  isEndedDraft,
  listImages,
  updateImage,
} from "#store/images/images.ts";
import type { Tables } from "#store/queries/tables.ts";
import { IMAGE_BYTES_MAX, formatOf, type ImageFormat, mediaTypeOf } from "./image-facts.ts";
import { imageFetcher } from "./image-fetch.ts";
import type { ImageFiles } from "./image-files.ts";
import type { ImageProcessor } from "./image-processor.ts";
import { createImageViews } from "./image-view.ts";
import type { OutboundAddressAllowed } from "#control/outbound.ts";

/** Images of accounts. An upload is acknowledged once its file is on disk and its row is stored. Throws `image_not_found` for an unknown one. */
export interface Images {
  list(accountId: string, query: { readonly page: number; readonly per_page: number; readonly creator?: string }): Promise<ImageList>;
  listAfter(accountId: string, query: ImageCursorQuery): Promise<ImageListPage>;
  get(accountId: string, id: string): Promise<Image>;
  stats(accountId: string): Promise<ImageStats>;
  /** The file as it was uploaded. */
  blob(accountId: string, id: string): Promise<{ readonly type: string; readonly bytes: Buffer }>;
  upload(call: Call, accountId: string, file: ImageFile, image: NewImage): Promise<Image>;
  /** Fetches the file first. */
  uploadFrom(call: Call, accountId: string, url: string, image: NewImage): Promise<Image>;
  edit(call: Call, accountId: string, id: string, body: ImageEdit): Promise<Image>;
  remove(call: Call, accountId: string, id: string): Promise<void>;
  /** A URL that takes one file, with what the image will have. */
  directUpload(call: Call, accountId: string, image: NewImage, expiry: string | undefined): Promise<DirectUpload>;
  /** Throws `image_upload_ended` unless the secret is that of a URL of the account, in its time, and unused. */
  receive(accountId: string, secret: string, file: ImageFile): Promise<Image>;
  /** Throws `image_upload_ended` as `receive` would, before the file is read. */
  assertAwaited(accountId: string, secret: string): Promise<void>;
}

export interface ImageLimits {
  readonly perAccountMax: number;
  readonly accountBytesMax: number;
}

export interface ImagesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: ImageFiles;
  readonly processor: ImageProcessor;
  readonly limits: ImageLimits;
  readonly allowed: OutboundAddressAllowed;
  /** The beginning of the URLs of images. */
  url(): string;
}

const META_BYTES_MAX = 1024;
const DEFAULT_EXPIRY_MS = 30 * 60_000;
const EXPIRY_MS_MIN = 2 * 60_000;
const EXPIRY_MS_MAX = 6 * 3_600_000;
const LIST_DEFAULT = 1000;
/** Paths beside those of images. */
const RESERVED: ReadonlySet<string> = new Set(["keys", "variants", "stats", "direct_upload"]);

export function createImages(deps: ImagesDeps): Images {
  const { store, clock, files, processor, limits } = deps;
  const views = createImageViews(store, deps.url);
  const fetchImage = imageFetcher(deps.allowed);
  const now = (): string => isoMicros(clock.nowMicros());
  const audit = (unit: Unit, call: Call, verb: string, before: ImageRow | null, after: ImageRow | null): void => {
    const row = after ?? before;
    if (row === null) return;
    const shown = (image: ImageRow | null): object | null =>
      image && { id: image.id, meta: JSON.parse(image.meta), signed: image.signed === 1, creator: image.creator, bytes: image.bytes };
    unit.audit({
      ...{ action: `image.${verb}`, actor: auditActor(call), account_id: row.account_id, zone_id: null },
      ...{ resource: { type: "image", id: row.id }, before: shown(before), after: shown(after) },
    });
  };

  async function assertRoom(db: Kysely<Tables>, accountId: string, images: number, bytes: number): Promise<void> {
    const totals = await imageTotals(db, accountId, now());
    if (totals.count + images > limits.perAccountMax)
      throw new PlatformError("image_quota", { message: `An account can have ${limits.perAccountMax} images.` });
    if (totals.bytes + bytes > limits.accountBytesMax)
      throw new PlatformError("image_quota", { message: `The images of an account can have ${limits.accountBytesMax} bytes together.` });
  }

  /** Runs `save` with the columns of a file that is on disk and can be decoded; the file goes if that fails. */
  async function withFile<T>(accountId: string, { name, bytes }: ImageFile, save: (columns: FileColumns) => Promise<T>): Promise<T> {
    if (bytes.length > IMAGE_BYTES_MAX) throw new PlatformError("image_too_large");
    if (formatOf(bytes) === null) throw new PlatformError("image_format");
    const { blob_id, path, digest } = await files.add(bytes);
    try {
      const { format, frames } = await processor.inspect(path, accountId);
      await files.keep(blob_id);
      return await save({ blob_id, digest, bytes: bytes.length, format, frames, filename: name === "" ? null : name.slice(0, 255) });
    } catch (error) {
      await files.remove(blob_id);
      throw error;
    }
  }

  const insert = (call: Call, accountId: string, image: NewImage, columns: DraftColumns & FileColumns, verb: string): Promise<ImageRow> =>
    commit({ store }, call, async (unit) => {
      const id = image.id ?? randomUUID();
      const other = await findImage(unit.db, accountId, id);
      if (other !== undefined && !isEndedDraft(other, now())) throw new PlatformError("image_exists", { source: "/id" });
      if (other !== undefined) await deleteDraft(unit.db, other);
      await assertRoom(unit.db, accountId, 1, columns.bytes);
      const row: ImageRow = {
        ...{ account_id: accountId, id, creator: image.creator, meta: JSON.stringify(image.meta) },
        ...{ signed: Number(image.signed), uploaded_on: now(), ...columns },
      };
      await insertImage(unit.db, row);
      audit(unit, call, verb, null, row);
      return row;
    });

  const upload = async (call: Call, accountId: string, file: ImageFile, image: NewImage): Promise<Image> => {
    checkNew(image);
    await assertRoom(store.read, accountId, 1, file.bytes.length);
    const row = await withFile(accountId, file, (columns) =>
      insert(call, accountId, image, { ...columns, upload_hash: null, expires_on: null }, "upload"),
    );
    return views.of(row);
  };

  const found = async (db: Kysely<Tables>, accountId: string, id: string): Promise<ImageRow> => {
    const row = await findImage(db, accountId, id);
    if (row === undefined || isEndedDraft(row, now())) throw new PlatformError("image_not_found");
    return row;
  };

  const awaited = async (db: Kysely<Tables>, accountId: string, secret: string): Promise<ImageRow> => {
    const row = await imageByUpload(db, hashSecret(secret));
    if (row === undefined || row.account_id !== accountId || isEndedDraft(row, now())) throw new PlatformError("image_upload_ended");
    return row;
  };

  return {
    list: async (accountId, { page, per_page: limit, creator }) => ({
      images: await views.all(
        accountId,
        await listImages(store.read, accountId, { creator, order: "desc", limit, offset: (page - 1) * limit }),
      ),
    }),
    listAfter: async (accountId, { continuation_token: token, per_page: limit = LIST_DEFAULT, sort_order: order = "desc", creator }) => {
      const after = token === undefined ? undefined : placeOf(token);
      const rows = await listImages(store.read, accountId, { creator, order, after, limit: limit + 1, offset: 0 });
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      return {
        images: await views.all(accountId, rows.slice(0, limit)),
        continuation_token: last === undefined ? null : tokenOf(last),
      };
    },
    get: async (accountId, id) => views.of(await found(store.read, accountId, id)),
    stats: async (accountId) => ({
      count: { current: (await imageTotals(store.read, accountId, now())).count, allowed: limits.perAccountMax },
    }),
    blob: async (accountId, id) => {
      const { blob_id: blobId, format } = await found(store.read, accountId, id);
      const bytes = blobId === null ? null : await files.read(blobId);
      if (bytes === null) throw new PlatformError("image_not_found");
      return { type: mediaTypeOf(format as ImageFormat), bytes };
    },
    upload,
    uploadFrom: async (call, accountId, url, image) => {
      checkNew(image);
      return upload(call, accountId, await fetchImage(accountId, url), image);
    },
    edit: async (call, accountId, id, { metadata, requireSignedURLs, creator }) => {
      if (metadata !== undefined) checkMeta(metadata);
      const row = await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, accountId, id);
        const change = {
          meta: metadata === undefined ? before.meta : JSON.stringify(metadata),
          signed: requireSignedURLs === undefined ? before.signed : Number(requireSignedURLs),
          creator: creator ?? before.creator,
        };
        await updateImage(unit.db, before, change);
        audit(unit, call, "edit", before, { ...before, ...change });
        return { ...before, ...change };
      });
      return views.of(row);
    },
    remove: async (call, accountId, id) => {
      const row = await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, accountId, id);
        await deleteImage(unit.db, before);
        audit(unit, call, "delete", before, null);
        return before;
      });
      // A file that stays because of a crash goes with the next sweep.
      if (row.blob_id !== null) await files.remove(row.blob_id);
    },
    directUpload: async (call, accountId, image, expiry) => {
      checkNew(image);
      const secret = newTokenSecret();
      const ends = expiry === undefined ? clock.nowMs() + DEFAULT_EXPIRY_MS : expiryMs(expiry, clock.nowMs());
      const draft = { upload_hash: hashSecret(secret), expires_on: isoMicros(ends * 1000) };
      const row = await insert(call, accountId, image, { ...NO_FILE, ...draft }, "direct_upload");
      return { id: row.id, uploadURL: uploadUrl(deps.url(), accountId, secret) };
    },
    assertAwaited: async (accountId, secret) => void (await awaited(store.read, accountId, secret)),
    receive: async (accountId, secret, file) => {
      const draft = await awaited(store.read, accountId, secret);
      await assertRoom(store.read, accountId, 0, file.bytes.length);
      const row = await withFile(accountId, file, (columns) =>
        commit({ store }, systemCall("direct-upload"), async (unit) => {
          // Another request may have used the URL meanwhile.
          const before = await awaited(unit.db, accountId, secret);
          await assertRoom(unit.db, accountId, 0, columns.bytes);
          const change = { ...columns, upload_hash: null, expires_on: null, uploaded_on: now() };
          await updateImage(unit.db, before, change);
          audit(unit, systemCall("direct-upload"), "upload", before, { ...before, ...change });
          return { ...before, ...change };
        }),
      );
      if (row.id !== draft.id) throw new PlatformError("internal", { detail: "one upload secret of two images" });
      return views.of(row);
    },
  };
}

type FileColumns = Pick<ImageRow, "blob_id" | "digest" | "bytes" | "format" | "frames" | "filename">;
type DraftColumns = Pick<ImageRow, "upload_hash" | "expires_on">;

const NO_FILE: FileColumns = { blob_id: null, digest: null, bytes: 0, format: null, frames: 0, filename: null };

function checkNew({ id, meta }: NewImage): void {
  checkMeta(meta);
  if (id === undefined) return;
  if (RESERVED.has(id))
    throw new PlatformError("image_input", { message: `The identifier ${id} is a path of the API; choose another one.`, source: "/id" });
  if (!IMAGE_ID.test(id) || /^\.+$/.test(id))
    throw new PlatformError("image_input", {
      message: "The identifier must have 1 to 255 letters, digits, . _ ~ and -, and not only dots.",
      source: "/id",
    });
}

function checkMeta(meta: object): void {
  if (Buffer.byteLength(JSON.stringify(meta)) > META_BYTES_MAX)
    throw new PlatformError("image_input", { message: "The metadata have more than 1,024 bytes.", source: "/metadata" });
}

function expiryMs(text: string, nowMs: number): number {
  const ends = parseTimestamp(text);
  if (ends === undefined || ends < nowMs + EXPIRY_MS_MIN || ends > nowMs + EXPIRY_MS_MAX)
    throw new PlatformError("image_input", { message: "The URL must end in 2 minutes to 6 hours.", source: "/expiry" });
  return ends;
}

const tokenOf = ({ uploaded_on: time, id }: ImageRow): string => Buffer.from(`${time} ${id}`).toString("base64url");

function placeOf(token: string) {
  const [time = "", id = "", ...rest] = Buffer.from(token, "base64url").toString("utf8").split(" ");
  if (parseTimestamp(time) === undefined || !IMAGE_ID.test(id) || rest.length > 0)
    throw new PlatformError("image_input", { message: "The continuation token is not one of this list.", source: "/continuation_token" });
  return { uploaded_on: time, id };
}
