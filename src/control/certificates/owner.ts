import type { Call } from "#control/call.ts";
import type { OwnerKind } from "#store/certificates/certificate-orders.ts";

/** The owner of an order's certificate. */
export interface OrderOwner {
  /** Displays the order's progress; false if the owner no longer exists. */
  progress(call: Call, id: string, progress: OrderProgress): Promise<boolean>;
  /** Uses the certificate instead of the previous one; false if the owner no longer exists. */
  deploy(call: Call, id: string, certificate: NewCertificate): Promise<boolean>;
  /** Whether the names are known to belong to the owner, which is the local authority's only check. */
  leadsHere(id: string): Promise<boolean>;
  /** Whether a challenge that is not served here is in place. */
  isProofShown(id: string, record: ValidationRecord): Promise<boolean>;
  /** Names in a certificate of the local authority, the Common Name first. */
  localNames(id: string, hosts: readonly string[]): Promise<readonly string[]>;
}

export type OrderOwners = Readonly<Record<OwnerKind, OrderOwner>>;

export type OrderStatus =
  | "initializing"
  | "pending_validation"
  | "pending_issuance"
  | "pending_deployment"
  | "validation_timed_out"
  | "issuance_timed_out";

export interface OrderProgress {
  readonly status: OrderStatus;
  readonly authority: string;
  /** Records that must be in place to prove the names, without those that are already proved. */
  readonly records: readonly ValidationRecord[];
  /** For people; empty without an error. */
  readonly error: string;
  /** CAA records prevent the authority from issuing (SPEC 3.2). */
  readonly isCaaError: boolean;
}

/** An entry of `ssl.validation_records`. */
export interface ValidationRecord {
  readonly status: string;
  readonly txt_name?: string;
  readonly txt_value?: string;
  readonly http_url?: string;
  readonly http_body?: string;
}

export interface NewCertificate {
  readonly hosts: readonly string[];
  /** PEM, leaf first. */
  readonly chain: string;
  /** PKCS #8 PEM, unsealed. */
  readonly privateKey: string;
  /** The authority's name, or `local`. */
  readonly issuer: string;
  readonly notBefore: string;
  readonly notAfter: string;
}
