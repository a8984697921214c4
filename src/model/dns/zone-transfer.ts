import { type Static, Type } from "typebox";

const Name = Type.String({ minLength: 1, maxLength: 255 });
const Id = Type.String({ maxLength: 32 });
const Time = Type.String({ format: "date-time" });
const MaybeTime = Type.Union([Time, Type.Null()]);

/** Addresses from which NOTIFY and transfer requests are accepted, for all zones of the account. */
export const TransferAcl = Type.Object({ id: Id, name: Name, ip_range: Type.String({ maxLength: 64 }) });
export type TransferAcl = Static<typeof TransferAcl>;
export const TransferAclWrite = Type.Omit(TransferAcl, ["id"]);
export type TransferAclWrite = Static<typeof TransferAclWrite>;

/**
 * The shortest prefixes in an ACL: large enough for private networks such as 10.0.0.0/8 or fc00::/7, but not for the
 * whole Internet.
 */
export const ACL_PREFIX_MIN = { 4: 8, 6: 7 } as const;

/** Another operator's name server: the primary of a secondary zone, or a secondary of a zone. */
export const TransferPeer = Type.Object({
  id: Id,
  name: Name,
  ip: Type.Optional(Type.String({ maxLength: 45 })),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  ixfr_enable: Type.Boolean(),
  tsig_id: Type.Optional(Id),
});
export type TransferPeer = Static<typeof TransferPeer>;
export const TransferPeerWrite = Type.Object({
  name: Name,
  ip: Type.Optional(Type.Union([Type.String({ maxLength: 45 }), Type.Null()])),
  port: Type.Optional(TransferPeer.properties.port),
  ixfr_enable: Type.Optional(Type.Boolean()),
  tsig_id: Type.Optional(Type.Union([Id, Type.Null()])),
});
export type TransferPeerWrite = Static<typeof TransferPeerWrite>;

/** RFC 8945 §6, names as in messages; with and without the final dot. */
export const TSIG_ALGORITHMS = ["hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"] as const;

export const TransferTsig = Type.Object({
  id: Id,
  name: Name,
  algo: Type.String({ maxLength: 32, description: "One of hmac-sha1., hmac-sha224., hmac-sha256., hmac-sha384. or hmac-sha512." }),
  secret: Type.String({ maxLength: 1024, description: "Base64. Empty for callers with read-only permission." }),
});
export type TransferTsig = Static<typeof TransferTsig>;
export const TransferTsigWrite = Type.Omit(TransferTsig, ["id"]);
export type TransferTsigWrite = Static<typeof TransferTsigWrite>;

const PeerIds = Type.Array(Id, { minItems: 1, maxItems: 30 });
const CONFIGURATION = {
  id: Id,
  name: Name,
  peers: PeerIds,
  created_time: Time,
  modified_time: Time,
  soa_serial: Type.Integer(),
};

/** A zone that is transferred from a primary elsewhere. */
export const IncomingTransfer = Type.Object({
  ...CONFIGURATION,
  auto_refresh_seconds: Type.Integer({ minimum: 300 }),
  status: Type.Enum(["inactive", "pending", "ok", "failing", "expired"], {
    description: "inactive: the zone is not of type secondary; pending: no transfer yet; expired: the nameserver does not answer from it.",
  }),
  checked_time: Type.Optional(Time),
  transferred_time: MaybeTime,
  next_check_time: MaybeTime,
  expires_time: MaybeTime,
  transfer_method: Type.Union([Type.Enum(["AXFR", "IXFR"]), Type.Null()]),
  last_error: Type.Union([Type.String({ description: "Why the last check failed with all peers." }), Type.Null()]),
});
export type IncomingTransfer = Static<typeof IncomingTransfer>;
/** A zone that secondaries elsewhere transfer. */
export const OutgoingTransfer = Type.Object(CONFIGURATION);
export type OutgoingTransfer = Static<typeof OutgoingTransfer>;

export const OutgoingTransferWrite = Type.Object({ name: Type.Optional(Name), peers: PeerIds });
export type OutgoingTransferWrite = Static<typeof OutgoingTransferWrite>;
export const IncomingTransferWrite = Type.Object({
  name: Type.Optional(Name),
  peers: PeerIds,
  // How long a lost NOTIFY may go unnoticed; unrelated to the serial arithmetic of RFC 1035.
  auto_refresh_seconds: Type.Optional(Type.Integer({ minimum: 300, maximum: 2_147_483_647 })),
});
export type IncomingTransferWrite = Static<typeof IncomingTransferWrite>;

export const AUTO_REFRESH_SECONDS = 86_400;
