import type { Call } from "#control/call.ts";
import type { OwnerKind } from "#store/certificates/certificate-orders.ts";

/** Whom an order's certificate is for, and where it goes. */
export interface OrderOwner {
  /** Shows how the order comes along; false where there is nobody left to have the certificate. */
  progress(call: Call, id: string, progress: OrderProgress): Promise<boolean>;
  /** Puts the certificate to use in place of the earlier one; false where there is nobody left to have it. */
  deploy(call: Call, id: string, certificate: NewCertificate): Promise<boolean>;
  /** Whether the names are known to be the owner's: the installation's own authority asks nobody else. */
  leadsHere(id: string): Promise<boolean>;
  /** Whether what proves a name is there to be seen, where no zone here shows it. */
  isProofShown(id: string, record: ValidationRecord): Promise<boolean>;
  /** The names of a certificate of the installation's own authority, the Common Name first. */
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
  /** What has to be in place for the names to be proved; those that are proved already are left out. */
  readonly records: readonly ValidationRecord[];
  /** For people; empty where nothing went wrong. */
  readonly error: string;
  /** CAA records keep the authority from issuing (SPEC 3.2). */
  readonly isCaaError: boolean;
}

/** As `ssl.validation_records` shows it. */
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
  /** The authority's name, `local` among them. */
  readonly issuer: string;
  readonly notBefore: string;
  readonly notAfter: string;
}
