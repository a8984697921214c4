/**
 * The buffer that TLS is decrypted into, one per thread. Its size bounds one read of a connection with much to read, such as a
 * tunnel's, whose streams share the cost of each read (ADR 0324).
 */
export const SECURE_BUFFER = Buffer.allocUnsafeSlow(128 * 1024);

/** Room for the rest of a record that was read in part, and the longest overhead of records (RFC 5246 §6.2.3). */
const RECORD_BYTES = 17_536;

/** Encrypted bytes that one read may take if its content is to fit: a read that continues a record has more content than bytes. */
export const encryptedMax = (bytesMax: number): number => Math.min(bytesMax, SECURE_BUFFER.length) - RECORD_BYTES;
