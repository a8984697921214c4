import { TUNNEL_ALPN } from "#wire/tls/tunnel-protocol.ts";
import type { Koffi, Library } from "./koffi.ts";
import { atTickEnd, type TickTask } from "#kernel/process/tick-queue.ts";

/**
 * Functions of the OpenSSL built into Node.js that our connection loop uses, as in its manual (SSL_new(3) and related
 * pages). Contexts, connections and BIOs are addresses, which are invalid after being freed.
 *
 * While connections exist, calls only take and return numbers and strings: to decode arrays, koffi requests values from
 * the engine, gets none in a thread that is being terminated, and continues with invalid addresses.
 */
export interface OpenSsl extends ConnectionCalls {
  /** Null if the options are invalid. Connections opened with the context keep the parts that they need. */
  createContext(options: ServerContextOptions): number | null;
  freeContext(context: number): void;
}

interface ConnectionCalls {
  /** Opens the server side of a connection; 0 if out of memory. Writes to the descriptor, and does not close it. */
  open(context: number, fd: number): number;
  free(ssl: number): void;
  /** 1 when the handshake is complete; otherwise see `failure`. */
  handshake(ssl: number): number;
  /** Reads into memory at the address, at most one record. A record without content fails like one that has not arrived yet. */
  read(ssl: number, at: number, length: number): number;
  write(ssl: number, at: number, length: number): number;
  /** Sends close_notify: no more data follows. */
  sayEnd(ssl: number): number;
  /** Why the previous call returned 0 or less. */
  failure(ssl: number, result: number): Failure;
  /** A record was read partially. */
  hasPending(ssl: number): boolean;
  /** The next handshake or read takes so many bytes from the feeding buffer, and none from before. */
  feed(length: number): void;
  /** Fed bytes have not been read. */
  isFed(): boolean;
  /** Returns the fed bytes that were not read, and removes them. */
  takeBack(): Buffer | null;
  /** Such as `TLSv1.3`. */
  version(ssl: number): string;
  /** OpenSSL's name of the cipher. */
  cipher(ssl: number): string;
  /** The negotiated protocol, or "". */
  alpn(ssl: number): string;
  /** Null if the client sent no server name. */
  serverName(ssl: number): string | null;
}

export type Failure = "reading" | "writing" | "end" | "broken";

export interface ServerContextOptions {
  /** PEM: the certificate and its intermediates. */
  readonly chain: string;
  /** PEM. */
  readonly privateKey: Buffer;
  /** OpenSSL's names; those of TLS 1.3 begin with `TLS_`. */
  readonly ciphers: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly http2: boolean;
  /** At most 32 bytes; a session is resumed only in the context in which it began. */
  readonly sessionContext: string;
  readonly sessionSeconds: number;
  /** `TICKET_KEY_BYTES` long; null: OpenSSL generates a key. */
  readonly ticketKey: Uint8Array | null;
}

export type TlsVersion = "1.2" | "1.3";

/** Key name, HMAC secret and encryption key (SSL_CTX_set_tlsext_ticket_keys). */
export const TICKET_KEY_BYTES = 80;

/**
 * The major version whose constants below were compared with openssl/ssl.h; it determines the ABI (OpenSSL's versioning
 * policy).
 */
const MAJOR = 3;

/** Under the names of OpenSSL's headers, with which `headers.test.ts` compares them. */
export const OPENSSL = {
  OPENSSL_FULL_VERSION_STRING: 7,
  TLS1_2_VERSION: 0x0303,
  TLS1_3_VERSION: 0x0304,
  SSL_CTRL_EXTRA_CHAIN_CERT: 14,
  SSL_CTRL_MODE: 33,
  SSL_CTRL_SET_SESS_CACHE_MODE: 44,
  SSL_CTRL_SET_TLSEXT_SERVERNAME_CB: 53,
  SSL_CTRL_SET_TLSEXT_TICKET_KEYS: 59,
  SSL_CTRL_CLEAR_MODE: 78,
  SSL_CTRL_SET_MIN_PROTO_VERSION: 123,
  SSL_CTRL_SET_MAX_PROTO_VERSION: 124,
  SSL_MODE_ENABLE_PARTIAL_WRITE: 0x1,
  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER: 0x2,
  SSL_MODE_AUTO_RETRY: 0x4,
  SSL_MODE_RELEASE_BUFFERS: 0x10,
  SSL_SESS_CACHE_OFF: 0,
  SSL_OP_CIPHER_SERVER_PREFERENCE: 2 ** 22,
  SSL_OP_NO_RENEGOTIATION: 2 ** 30,
  SSL_TLSEXT_ERR_OK: 0,
  SSL_TLSEXT_ERR_ALERT_FATAL: 2,
  TLSEXT_NAMETYPE_host_name: 0,
  OPENSSL_NPN_NEGOTIATED: 1,
  SSL_ERROR_WANT_READ: 2,
  SSL_ERROR_WANT_WRITE: 3,
  SSL_ERROR_ZERO_RETURN: 6,
  BIO_C_SET_BUF_MEM: 114,
  BIO_C_SET_BUF_MEM_EOF_RETURN: 130,
} as const;

const VERSIONS: Readonly<Record<TlsVersion, number>> = { "1.2": OPENSSL.TLS1_2_VERSION, "1.3": OPENSSL.TLS1_3_VERSION };
const MODES = OPENSSL.SSL_MODE_ENABLE_PARTIAL_WRITE | OPENSSL.SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | OPENSSL.SSL_MODE_RELEASE_BUFFERS;
const ALPN_BYTES_MAX = 255;
/** Offsets, after the address of a protocol's name, at which its length is written and to which the name is copied. */
const [LENGTH_AT, ALPN_AT] = [8, 16];

/** The buffer from which connections are fed, at a constant address. */
interface Place {
  readonly raw: Buffer;
  readonly at: number;
}

/** Throws if Node.js was built with another OpenSSL, or without its symbols. */
export function loadOpenSsl(koffi: Koffi, place: Place): OpenSsl {
  const node = koffi.load(null);
  const version = node.func("const char *OpenSSL_version(int what)")(OPENSSL.OPENSSL_FULL_VERSION_STRING) as string;
  if (!version.startsWith(`${MAJOR}.`) || process.versions.openssl !== version) throw new Error(`OpenSSL is ${version}`);
  return { ...contexts(koffi, node), ...connections(koffi, node), ...food(koffi, node, place) };
}

type Food = Pick<ConnectionCalls, "open" | "feed" | "isFed" | "takeBack">;

/** struct buf_mem_st (openssl/buffer.h): length, data address and capacity; and its own size. */
export const BUF_MEM_ST = { length: 0, data: 8, max: 16, bytes: 32 } as const;
/** The same in 32-bit words. */
const BUF_MEM = { words: BUF_MEM_ST.bytes / 4, length: BUF_MEM_ST.length / 4, data: BUF_MEM_ST.data / 4, room: BUF_MEM_ST.max / 4 };
const WORD = 2 ** 32;

/**
 * The source of all connections of a thread: one shared memory BIO. It is read-only, so its bytes stay in our buffer, and
 * its descriptor is ours too (BIO_set_mem_buf(3)): feeding it needs no call.
 */
function food(koffi: Koffi, node: Library, { raw, at }: Place): Food {
  const create = node.func("uintptr_t SSL_new(uintptr_t context)");
  const free = node.func("void SSL_free(uintptr_t ssl)");
  const setAccepting = node.func("void SSL_set_accept_state(uintptr_t ssl)");
  const setReading = node.func("void SSL_set0_rbio(uintptr_t ssl, uintptr_t bio)");
  const setWriting = node.func("void SSL_set0_wbio(uintptr_t ssl, uintptr_t bio)");
  const newMemoryBio = node.func("uintptr_t BIO_new_mem_buf(uintptr_t bytes, int length)");
  const control = node.func("long BIO_ctrl(uintptr_t bio, int command, long number, uintptr_t pointer)");
  const newSocketBio = node.func("uintptr_t BIO_new_socket(int fd, int closes)");
  const freeBio = node.func("int BIO_free(uintptr_t bio)");
  const share = node.func("int BIO_up_ref(uintptr_t bio)");
  const cleared = clearedErrors(node);
  const described = Buffer.allocUnsafeSlow(BUF_MEM.words * 4).fill(0);
  kept.push(described);
  const words = new Uint32Array(described.buffer, described.byteOffset, BUF_MEM.words);
  const [lowAt, highAt] = [at % WORD, Math.floor(at / WORD)];
  let fed = 0;
  const feed = (length: number): void => {
    fed = length;
    words[BUF_MEM.length] = words[BUF_MEM.room] = length;
    words[BUF_MEM.data] = lowAt;
    words[BUF_MEM.data + 1] = highAt;
  };
  const takeBack = (): Buffer | null => {
    const length = words[BUF_MEM.length] ?? 0;
    if (length === 0) return null;
    words[BUF_MEM.length] = 0;
    return Buffer.from(raw.subarray(fed - length, fed));
  };
  const bio = newMemoryBio(at, 0) as number;
  if (bio === 0) throw new Error("no memory");
  control(bio, OPENSSL.BIO_C_SET_BUF_MEM, 0, Number(koffi.address(described)));
  // An empty BIO means that more data is needed, not the end.
  control(bio, OPENSSL.BIO_C_SET_BUF_MEM_EOF_RETURN, -1, 0);
  proveFood(koffi, node, { bio, raw, feed, left: takeBack });
  return {
    open: (context, fd) => {
      const ssl = create(context) as number;
      const socket = ssl === 0 ? 0 : (newSocketBio(fd, 0) as number);
      if (socket === 0 || share(bio) !== 1) {
        freeBio(socket);
        free(ssl);
        cleared();
        return 0;
      }
      setReading(ssl, bio);
      setWriting(ssl, socket);
      setAccepting(ssl);
      return ssl;
    },
    feed,
    isFed: () => words[BUF_MEM.length] !== 0,
    takeBack,
  };
}

interface Fed {
  readonly bio: number;
  readonly raw: Buffer;
  feed(length: number): void;
  left(): Buffer | null;
}

/** Throws unless a BIO reads the fed bytes, each once. */
function proveFood(koffi: Koffi, node: Library, { bio, raw, feed, left }: Fed): void {
  const read = node.func("int BIO_read(uintptr_t bio, uintptr_t bytes, int length)");
  const into = Buffer.allocUnsafeSlow(4).fill(0);
  const reads = (length: number): string => {
    const count = read(bio, koffi.address(into), length) as number;
    return count < 0 ? "" : into.toString("latin1", 0, count);
  };
  for (const text of ["food", "more"]) {
    raw.write(text);
    feed(4);
    if (reads(3) !== text.slice(0, 3) || left()?.toString() !== text.slice(3) || reads(4) !== "" || left() !== null)
      throw new Error("OpenSSL reads otherwise");
  }
}

function connections(koffi: Koffi, node: Library): Omit<ConnectionCalls, keyof Food> {
  const free = node.func("void SSL_free(uintptr_t ssl)");
  const handshake = node.func("int SSL_do_handshake(uintptr_t ssl)");
  const read = node.func("int SSL_read(uintptr_t ssl, uintptr_t bytes, int length)");
  const write = node.func("int SSL_write(uintptr_t ssl, uintptr_t bytes, int length)");
  const shutdown = node.func("int SSL_shutdown(uintptr_t ssl)");
  const getError = node.func("int SSL_get_error(uintptr_t ssl, int result)");
  const hasPending = node.func("int SSL_has_pending(uintptr_t ssl)");
  const version = node.func("const char *SSL_get_version(uintptr_t ssl)");
  const currentCipher = node.func("uintptr_t SSL_get_current_cipher(uintptr_t ssl)");
  const cipherName = node.func("const char *SSL_CIPHER_get_name(uintptr_t cipher)");
  const alpn = node.func("void SSL_get0_alpn_selected(uintptr_t ssl, uintptr_t name, uintptr_t length)");
  const copy = node.func("uintptr_t memcpy(uintptr_t to, uintptr_t from, size_t length)");
  const serverName = node.func("const char *SSL_get_servername(uintptr_t ssl, int type)");
  const cleared = clearedErrors(node);
  const clearedOnce = onceATurn(cleared);
  const found = Buffer.allocUnsafeSlow(ALPN_AT + ALPN_BYTES_MAX);
  kept.push(found);
  const at = Number(koffi.address(found));
  return {
    free: (ssl) => void free(ssl),
    handshake: (ssl) => {
      cleared();
      const result = handshake(ssl) as number;
      // A handshake that continues may still have caused errors, such as an unreadable ticket.
      if (result === 1) cleared();
      return result;
    },
    read: (ssl, at, bytes) => (clearedOnce(), read(ssl, at, bytes)),
    write: (ssl, at, bytes) => (clearedOnce(), write(ssl, at, bytes)),
    sayEnd: (ssl) => (clearedOnce(), shutdown(ssl)),
    failure: (ssl, result) => FAILURES[getError(ssl, result) as number] ?? (cleared(), "broken"),
    hasPending: (ssl) => hasPending(ssl) === 1,
    version: (ssl) => version(ssl) as string,
    cipher: (ssl) => cipherName(currentCipher(ssl)) as string,
    alpn: (ssl) => {
      alpn(ssl, at, at + LENGTH_AT);
      const length = Math.min(found.readUInt32LE(LENGTH_AT), ALPN_BYTES_MAX);
      if (length > 0) copy(at + ALPN_AT, Number(found.readBigUInt64LE()), length);
      return found.toString("latin1", ALPN_AT, ALPN_AT + length);
    },
    serverName: (ssl) => serverName(ssl, OPENSSL.TLSEXT_NAMETYPE_host_name) as string | null,
  };
}

const FAILURES: Readonly<Record<number, Failure>> = {
  [OPENSSL.SSL_ERROR_WANT_READ]: "reading",
  [OPENSSL.SSL_ERROR_WANT_WRITE]: "writing",
  [OPENSSL.SSL_ERROR_ZERO_RETURN]: "end",
};

/**
 * Clears errors that an earlier call left in the thread's queue, of a connection or of Node.js, because they would be
 * attributed to the next call (SSL_get_error(3)).
 */
function clearedErrors(node: Library): () => void {
  const peek = node.func("unsigned long ERR_peek_error()");
  const clear = node.func("void ERR_clear_error()");
  return () => {
    if (peek() !== 0) clear();
  };
}

/** Node.js and failures here leave the queue empty, so one check per tick is enough. */
function onceATurn(work: () => void): () => void {
  let isDone = false;
  const task: TickTask = {
    onTickEnd: () => {
      isDone = false;
    },
  };
  return () => {
    if (isDone) return;
    isDone = true;
    atTickEnd(task);
    work();
  };
}

function contexts(koffi: Koffi, node: Library): Pick<OpenSsl, "createContext" | "freeContext"> {
  const method = node.func("uintptr_t TLS_server_method()");
  const create = node.func("uintptr_t SSL_CTX_new(uintptr_t method)");
  const free = node.func("void SSL_CTX_free(uintptr_t context)");
  const setOptions = node.func("uint64_t SSL_CTX_set_options(uintptr_t context, uint64_t options)");
  const setCiphers = node.func("int SSL_CTX_set_cipher_list(uintptr_t context, const char *names)");
  const setSuites = node.func("int SSL_CTX_set_ciphersuites(uintptr_t context, const char *names)");
  const setTimeout = node.func("long SSL_CTX_set_timeout(uintptr_t context, long seconds)");
  const setSessionContext = node.func("int SSL_CTX_set_session_id_context(uintptr_t context, const char *name, unsigned int length)");
  const setAlpn = node.func("void SSL_CTX_set_alpn_select_cb(uintptr_t context, void *callback, uintptr_t argument)");
  const setCallback = node.func("long SSL_CTX_callback_ctrl(uintptr_t context, int command, void *callback)");
  const control = node.func("long SSL_CTX_ctrl(uintptr_t context, int command, long number, uintptr_t pointer)");
  const controlWith = node.func("long SSL_CTX_ctrl(uintptr_t context, int command, long number, void *bytes)");
  const useCertificates = certificateCalls(koffi, node, control);
  const cleared = clearedErrors(node);
  const selectAlpn = alpnCallback(koffi, node);
  // Server names are accepted by a function that returns 0: this one does for anything except DTLS, without calling
  // JavaScript.
  const acceptName: unknown = node.symbol("SSL_is_dtls");
  const configure = (context: number, options: ServerContextOptions): boolean => {
    const { ciphers, ticketKey } = options;
    const named = (isNew: boolean): string => ciphers.filter((name) => name.startsWith("TLS_") === isNew).join(":");
    setOptions(context, OPENSSL.SSL_OP_CIPHER_SERVER_PREFERENCE + OPENSSL.SSL_OP_NO_RENEGOTIATION);
    control(context, OPENSSL.SSL_CTRL_MODE, MODES, 0);
    // A read ends after a record without content, so that a client that only sends such records is noticed.
    control(context, OPENSSL.SSL_CTRL_CLEAR_MODE, OPENSSL.SSL_MODE_AUTO_RETRY, 0);
    // Sessions are stored in tickets only.
    control(context, OPENSSL.SSL_CTRL_SET_SESS_CACHE_MODE, OPENSSL.SSL_SESS_CACHE_OFF, 0);
    setTimeout(context, options.sessionSeconds);
    setCallback(context, OPENSSL.SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, acceptName);
    setAlpn(context, selectAlpn, options.http2 ? 1 : 0);
    return (
      control(context, OPENSSL.SSL_CTRL_SET_MIN_PROTO_VERSION, VERSIONS[options.minVersion], 0) === 1 &&
      control(context, OPENSSL.SSL_CTRL_SET_MAX_PROTO_VERSION, VERSIONS[options.maxVersion], 0) === 1 &&
      setSuites(context, named(true)) === 1 &&
      setCiphers(context, named(false)) === 1 &&
      setSessionContext(context, options.sessionContext, Buffer.byteLength(options.sessionContext)) === 1 &&
      (ticketKey === null ||
        controlWith(context, OPENSSL.SSL_CTRL_SET_TLSEXT_TICKET_KEYS, TICKET_KEY_BYTES, ticketKey.subarray(0, TICKET_KEY_BYTES)) === 1) &&
      useCertificates(context, options)
    );
  };
  return {
    createContext: (options) => {
      const context = create(method()) as number;
      const isGood = context !== 0 && configure(context, options);
      cleared();
      if (isGood) return context;
      free(context);
      return null;
    },
    freeContext: (context) => void free(context),
  };
}

/** Sets a context's certificate, intermediates and key; false if one of them is invalid, or they do not match. */
function certificateCalls(koffi: Koffi, node: Library, control: (...args: readonly number[]) => number) {
  const openBio = node.func("uintptr_t BIO_new_mem_buf(uintptr_t bytes, int length)");
  const freeBio = node.func("int BIO_free(uintptr_t bio)");
  const readCertificate = node.func("uintptr_t PEM_read_bio_X509(uintptr_t bio, uintptr_t into, uintptr_t callback, const char *password)");
  const freeCertificate = node.func("void X509_free(uintptr_t certificate)");
  const readKey = node.func("uintptr_t PEM_read_bio_PrivateKey(uintptr_t bio, uintptr_t into, uintptr_t callback, const char *password)");
  const freeKey = node.func("void EVP_PKEY_free(uintptr_t key)");
  const useCertificate = node.func("int SSL_CTX_use_certificate(uintptr_t context, uintptr_t certificate)");
  const useKey = node.func("int SSL_CTX_use_PrivateKey(uintptr_t context, uintptr_t key)");
  const checkKey = node.func("int SSL_CTX_check_private_key(uintptr_t context)");
  const withText = (text: Buffer, work: (bio: number) => boolean): boolean => {
    const bytes = Buffer.allocUnsafeSlow(text.length);
    text.copy(bytes);
    const bio = openBio(koffi.address(bytes), bytes.length) as number;
    const result = bio !== 0 && work(bio);
    freeBio(bio);
    bytes.fill(0);
    return result;
  };
  // Uses an empty password, so that OpenSSL never prompts on a terminal.
  const nextCertificate = (bio: number): number => readCertificate(bio, 0, 0, "") as number;
  return (context: number, { chain, privateKey }: ServerContextOptions): boolean =>
    withText(Buffer.from(chain), (bio) => {
      const own = nextCertificate(bio);
      const isUsed = own !== 0 && useCertificate(context, own) === 1;
      freeCertificate(own);
      for (let issuer = isUsed ? nextCertificate(bio) : 0; issuer !== 0; issuer = nextCertificate(bio)) {
        if (control(context, OPENSSL.SSL_CTRL_EXTRA_CHAIN_CERT, 0, issuer) === 1) continue;
        freeCertificate(issuer);
        return false;
      }
      return isUsed;
    }) &&
    withText(privateKey, (bio) => {
      const key = readKey(bio, 0, 0, "") as number;
      const isUsed = key !== 0 && useKey(context, key) === 1;
      freeKey(key);
      return isUsed && checkKey(context) === 1;
    });
}

/**
 * The server's protocols in wire format (RFC 7301 §3.1). Without a match the handshake fails with an alert, so http/1.0
 * is included.
 */
const PROTOCOLS = Buffer.from(`\x02h2\x08http/1.1\x08http/1.0${String.fromCharCode(TUNNEL_ALPN.length)}${TUNNEL_ALPN}`, "latin1");
const HTTP2_BYTES = 3;

/** Chooses the preferred common protocol; its argument says whether HTTP/2 is offered. Runs inside a call of `handshake`. */
function alpnCallback(koffi: Koffi, node: Library): unknown {
  const select = node.func(
    "int SSL_select_next_proto(uintptr_t out, uintptr_t out_length, uintptr_t ours, unsigned int ours_length, uintptr_t theirs, unsigned int theirs_length)",
  );
  const type = koffi.proto(
    "int (uintptr_t ssl, uintptr_t out, uintptr_t out_length, uintptr_t theirs, unsigned int theirs_length, uintptr_t http2)",
  );
  const ours = Buffer.allocUnsafeSlow(PROTOCOLS.length);
  PROTOCOLS.copy(ours);
  kept.push(ours);
  const at = Number(koffi.address(ours));
  const choose = (_ssl: number, out: number, outLength: number, theirs: number, theirsLength: number, http2: number): number => {
    const skipped = http2 === 1 ? 0 : HTTP2_BYTES;
    const chosen: unknown = select(out, outLength, at + skipped, ours.length - skipped, theirs, theirsLength);
    return chosen === OPENSSL.OPENSSL_NPN_NEGOTIATED ? OPENSSL.SSL_TLSEXT_ERR_OK : OPENSSL.SSL_TLSEXT_ERR_ALERT_FATAL;
  };
  return koffi.register(choose, koffi.pointer(type));
}

/** Buffers whose addresses are in use, kept from being garbage collected. */
const kept: Buffer[] = [];
