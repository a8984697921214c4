// https://www.sqlite.org/rescode.html: SQLITE_FULL; SQLITE_IOERR_SHMSIZE, the error of a full disk when a file is opened.
export const FULL_CODES: readonly number[] = [13, 4874];

export const isFull = (error: unknown): boolean =>
  error instanceof Error &&
  (("errcode" in error && FULL_CODES.includes(Number(error.errcode))) || ("code" in error && error.code === "ENOSPC"));
