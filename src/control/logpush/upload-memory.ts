/** Memory for files that are being sent, which all jobs share. */
export interface UploadMemory {
  /** Reserves up to `wanted` bytes: at most half of what leaves the account no more than is then free. Null if that is too little. */
  take(accountId: string, wanted: number): UploadBytes | null;
}

export interface UploadBytes {
  readonly bytes: number;
  /** The file has this length; the rest is free again. */
  shrink(bytes: number): void;
  release(): void;
}

/** Smaller files would cost more requests than they are worth. */
const FILE_BYTES_MIN = 1024 * 1024;

export function createUploadMemory(bytesMax: number): UploadMemory {
  const held = new Map<string, number>();
  let free = bytesMax;
  return {
    take: (accountId, wanted) => {
      const bytes = Math.min(wanted, Math.floor((free - (held.get(accountId) ?? 0)) / 2));
      if (bytes < Math.min(wanted, FILE_BYTES_MIN)) return null;
      let taken = 0;
      const set = (now: number): void => {
        const own = (held.get(accountId) ?? 0) + now - taken;
        free -= now - taken;
        taken = now;
        if (own === 0) held.delete(accountId);
        else held.set(accountId, own);
      };
      set(bytes);
      return { bytes, shrink: (length) => set(Math.min(taken, length)), release: () => set(0) };
    },
  };
}
