import { newPrivateKey } from "#acme/account-key.ts";
import type { Authorities, OpenAuthority } from "#acme/accounts.ts";
import { AcmeError } from "#acme/acme-error.ts";
import { type AuthorityName, authorityNamed } from "#acme/authorities.ts";
import type { CertificateFacts } from "#acme/certificate-facts.ts";
import { txtName } from "#acme/issuance.ts";
import { issuedChain } from "#acme/issued-chain.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { type Call, systemCall } from "#control/call.ts";
import { issuedAlert, notIssuedAlert } from "#control/notifications/alerts/alert.ts";
import { enqueueAlert } from "#control/notifications/policies/enqueue-alert.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { checkDelayMs } from "#model/hostnames/custom-hostname-states.ts";
import { ANY_ACCOUNT } from "#snapshot/reliance.ts";
import { type CertificateOrderRow, deleteOrder, orderById, putRenewal, updateOrder } from "#store/certificates/certificate-orders.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { type ChooseAuthority, type IssuerName, OrderRefused } from "./choose-authority.ts";
import type { NewCertificate, OrderOwners, OrderStatus } from "./owner.ts";
import {
  changeProofs,
  foreignProofs,
  foreignRecords,
  type Placement,
  type ChallengePlacement,
  placementOf,
  validationRecords,
} from "./placement.ts";

/** Advances an order as far as possible now, and stores each step. Rejects only if the signal is aborted or the store fails. */
export type OrderSteps = (id: string, signal: AbortSignal) => Promise<void>;

export interface WorkDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Null if the installation has no local authority. */
  readonly ca: LocalCa | null;
  readonly authorities: Authorities;
  readonly choose: ChooseAuthority;
  readonly owners: OrderOwners;
  /** Issuers in order of preference, for owners that leave the choice to the installation. */
  readonly preference: Readonly<Record<CertificateOrderRow["owner_kind"], readonly IssuerName[]>>;
  /** For tests; three minutes otherwise. */
  readonly attemptMsMax?: number | undefined;
  /** Zone and name at which this server can publish a TXT record of the name for the order's account; null if the name is hosted elsewhere. */
  hostingPlacementOf(order: CertificateOrderRow, txtName: string): Promise<ChallengePlacement | null>;
}

/** Attempts before an order is given up; the delays between them are those of hostname checks (custom-hostnames.md §1). */
const ATTEMPTS_MAX = 119;

/** Columns of an order that its owner sees. */
const OWNER_COLUMNS = ["status", "error", "authority", "placed"] as const satisfies readonly (keyof CertificateOrderRow)[];
/** Planes publish a challenge some milliseconds after it is stored; after this time, the authority is asked to check it. */
const CHALLENGE_DELAY_MS = 1_000;
/** Time that one attempt may wait for an authority, which can answer each request slowly; it occupies a place for so long. */
const ATTEMPT_MS_MAX = 180_000;
/** Consecutive failures before a notification is sent, because short problems need no action. */
const ALERT_ATTEMPTS = 3;
const ALERTS = {
  zone: "universal_ssl_event_type",
  custom_hostname: "custom_ssl_certificate_event_type",
  certificate_pack: "universal_ssl_event_type",
} as const;
const DAY_MS = 86_400_000;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** However late an authority advises, this much is left for failures. */
const LEFT_MS = 3 * DAY_MS;
/** Errors that the order itself does not cause: the next attempt continues with the same order. */
const TRANSIENT_ERRORS: ReadonlySet<string> = new Set(["unavailable", "serverInternal", "rateLimited", "malformed_answer"]);

const TOO_SLOW = new AcmeError({ type: "unavailable", detail: "the authority answered too slowly" });

export function createOrderSteps(deps: WorkDeps): OrderSteps {
  const { store, clock, sealer, owners } = deps;
  const call = (): Call => systemCall("certificate-orders");

  /** Stores the order's state, and releases it until it is due. */
  const save = async (
    row: CertificateOrderRow,
    values: Partial<CertificateOrderRow>,
    shown: { readonly isCaaError?: boolean } = {},
    alsoIn: (unit: Unit, next: CertificateOrderRow) => Promise<void> = async () => undefined,
  ): Promise<CertificateOrderRow | null> => {
    const next = { ...row, ...values };
    const { result: isThere } = await store.write(async (unit) => {
      // It may have been deleted or replaced meanwhile.
      if ((await orderById(unit.db, row.id)) === undefined) return false;
      await updateOrder(unit.db, row.id, values);
      await alsoIn(unit, next);
      return true;
    });
    if (!isThere) return null;
    // The owner does not need to know that only the due time changed.
    if (OWNER_COLUMNS.every((column) => next[column] === row[column])) return next;
    const placement = placementOf(next);
    const hasOwner = await owners[row.owner_kind].progress(call(), row.owner_id, {
      status: next.status as OrderStatus,
      authority: next.authority,
      records: placement === null ? [] : validationRecords(row.method, placement),
      error: next.error,
      isCaaError: shown.isCaaError === true,
    });
    if (hasOwner) return next;
    await drop(next);
    return null;
  };

  /** Deletes an order and removes its challenges. */
  const drop = async (row: CertificateOrderRow, alsoIn: (unit: Unit) => Promise<void> = async () => undefined): Promise<void> => {
    await store.write(async (unit) => {
      const present = await orderById(unit.db, row.id);
      if (present === undefined) return;
      const placement = placementOf(present);
      if (placement !== null) await changeProofs(unit, present, placement, "take_back");
      await deleteOrder(unit.db, row.id);
      await alsoIn(unit);
    });
  };

  /** Schedules the next attempt, with growing delays; the last one ends the order. */
  const retry = async (
    row: CertificateOrderRow,
    failed: { status: OrderStatus; error: string; isCaaError?: boolean; atLeastMs?: number; restarts?: boolean },
  ): Promise<void> => {
    const tries = row.tries + 1;
    const isOver = tries >= ATTEMPTS_MAX;
    const overStatus: OrderStatus = failed.status === "pending_issuance" ? "issuance_timed_out" : "validation_timed_out";
    const values: Partial<CertificateOrderRow> = {
      status: isOver ? overStatus : failed.status,
      error: failed.error,
      tries,
      due_ms: clock.nowMs() + Math.max(checkDelayMs(tries), failed.atLeastMs ?? 0),
      lease_ms: 0,
      ...(failed.restarts === true ? { placed: null, private_key: null } : {}),
    };
    const placement = placementOf(row);
    const alsoIn = async (unit: Unit): Promise<void> => {
      if (failed.restarts === true && placement !== null) await changeProofs(unit, row, placement, "take_back");
      // Without an error, the order waits for the customer.
      if (!isOver && (tries !== ALERT_ATTEMPTS || failed.error === "")) return;
      const facts = { hosts: JSON.parse(row.hosts) as string[], authority: row.authority };
      await enqueueAlert(unit, clock.nowMs(), ALERTS[row.owner_kind], row.zone_id, (zone) =>
        notIssuedAlert(zone, facts, failed.error, isOver),
      );
    };
    const next = await save(row, values, { isCaaError: failed.isCaaError === true }, alsoIn);
    if (isOver && next !== null) await drop(next);
  };

  const place = async (row: CertificateOrderRow, signal: AbortSignal): Promise<void> => {
    const hosts = JSON.parse(row.hosts) as string[];
    const account_id = (await zoneRowById(store.read, row.zone_id))?.account_id ?? ANY_ACCOUNT;
    const wanted = { account_id, hosts, method: row.method, requested: row.requested, preference: deps.preference[row.owner_kind] };
    const opened = await deps.choose(wanted, signal);
    if (opened === null) return issueLocally(row, hosts);
    const order = await opened.issuance.place(hosts, row.method, row.replaces, signal);
    const placement = await withHostedChallenges(row, { order, homes: {} });
    const values = {
      ...{ placed: JSON.stringify(placement), authority: opened.authority.name, status: "pending_validation", error: "" },
      ...{ due_ms: clock.nowMs() + CHALLENGE_DELAY_MS, lease_ms: 0 },
    };
    await save(row, values, {}, (unit, next) => changeProofs(unit, next, placement, "show"));
  };

  /**
   * Finds challenges that this server can publish now, because an alias was added or the name points here. Before that,
   * the edge does not answer them: otherwise an account could validate a name that another account serves here.
   */
  const withHostedChallenges = async (row: CertificateOrderRow, placement: Placement): Promise<Placement> => {
    const homes: Record<string, ChallengePlacement> = { ...placement.homes };
    for (const { host } of foreignProofs(placement)) {
      const leadsHere = row.method === "http" && (await owners[row.owner_kind].leadsHere(row.owner_id));
      const home =
        row.method === "txt" ? await deps.hostingPlacementOf(row, txtName(host)) : leadsHere ? { zone_id: row.zone_id, name: host } : null;
      if (home !== null) homes[host] = home;
    }
    return { ...placement, homes };
  };

  const issueLocally = async (row: CertificateOrderRow, hosts: readonly string[]): Promise<void> => {
    if (deps.ca === null) throw new OrderRefused("terms", "this installation has no local certificate authority");
    // For the local authority, this is the only proof that the name belongs to its owner here.
    if (!(await owners[row.owner_kind].leadsHere(row.owner_id))) return retry(row, { status: "pending_validation", error: "" });
    const issued = await deps.ca.issue(await owners[row.owner_kind].localNames(row.owner_id, hosts));
    await finish(row, { ...issued, hosts, issuer: "local" }, null);
  };

  /** Authorities limit failed validations, so they are asked to validate only when every record is published. */
  const areProofsPublished = async (row: CertificateOrderRow, placement: Placement): Promise<boolean> => {
    for (const record of foreignRecords(row.method, placement))
      if (!(await owners[row.owner_kind].isProofShown(row.owner_id, record))) return false;
    return true;
  };

  /** Publishes challenges that have become possible; returns whether there were any. The authority is asked later. */
  const placeMoreChallenges = async (row: CertificateOrderRow, placement: Placement): Promise<boolean> => {
    const next = await withHostedChallenges(row, placement);
    if (foreignProofs(next).length === foreignProofs(placement).length) return false;
    const values = { placed: JSON.stringify(next), due_ms: clock.nowMs() + CHALLENGE_DELAY_MS, lease_ms: 0 };
    await save(row, values, {}, (unit, saved) => changeProofs(unit, saved, next, "show"));
    return true;
  };

  const complete = async (
    row: CertificateOrderRow,
    placement: Placement,
    { issuance }: OpenAuthority,
    signal: AbortSignal,
  ): Promise<void> => {
    if (row.private_key === null) {
      if (await placeMoreChallenges(row, placement)) return;
      if (!(await areProofsPublished(row, placement))) return retry(row, { status: "pending_validation", error: row.error });
      if (!(await issuance.prove(placement.order, signal))) return retry(row, { status: "pending_validation", error: row.error });
    }
    const context = `certificate-order:${row.id}`;
    const privateKey = row.private_key === null ? newPrivateKey() : sealer.open(row.private_key, context).toString("utf8");
    // The key is stored before the certificate is requested, so that the order continues with it after a crash.
    const keyed =
      row.private_key === null
        ? await save(row, { private_key: sealer.seal(privateKey, context), status: "pending_issuance", error: "" })
        : row;
    if (keyed === null) return;
    const hosts = JSON.parse(row.hosts) as string[];
    const sent = await issuance.complete(placement.order, hosts, privateKey, signal);
    if (sent === null) return retry(keyed, { status: "pending_issuance", error: keyed.error });
    const { chain, facts } = await issuedChain(sent, { hosts, privateKey, nowMs: clock.nowMs() });
    await finish(keyed, { hosts, chain, privateKey, issuer: row.authority, notBefore: facts.notBefore, notAfter: facts.notAfter }, facts);
  };

  const finish = async (row: CertificateOrderRow, certificate: NewCertificate, facts: CertificateFacts | null): Promise<void> => {
    const isDeployed = await owners[row.owner_kind].deploy(call(), row.owner_id, certificate);
    const lengthMs = Date.parse(certificate.notAfter) - Date.parse(certificate.notBefore);
    await drop(row, async (unit) => {
      if (!isDeployed) return;
      const { owner_kind, owner_id, zone_id, hosts, method, requested } = row;
      await putRenewal(unit.db, {
        ...{ owner_kind, owner_id, zone_id, hosts, method, requested },
        authority: certificate.issuer,
        renewal_id: facts?.renewalId ?? null,
        // Certificates with a lifetime of less than three months are renewed when a third of it remains.
        renew_ms: Date.parse(certificate.notAfter) - Math.min(RENEW_BEFORE_MS, Math.floor(lengthMs / 3)),
        advice_ms: clock.nowMs() + DAY_MS,
        latest_ms: Date.parse(certificate.notAfter) - Math.min(LEFT_MS, Math.floor(lengthMs / 10)),
      });
      const alertFacts = { hosts: certificate.hosts, authority: certificate.issuer };
      await enqueueAlert(unit, clock.nowMs(), ALERTS[owner_kind], zone_id, (zone) => issuedAlert(zone, alertFacts, certificate.notAfter));
    });
  };

  const failed = async (row: CertificateOrderRow, error: unknown): Promise<void> => {
    if (error instanceof OrderRefused) {
      const isCaaError = error.kind === "caa";
      return retry(row, { status: "pending_issuance", error: isCaaError ? `caa_error: ${error.message}` : error.message, isCaaError });
    }
    if (!(error instanceof AcmeError))
      return retry(row, { status: row.status as OrderStatus, error: `the order could not be processed: ${(error as Error).message}` });
    if (error.type === "accountDoesNotExist" && authorityNamed(row.authority))
      await deps.authorities.forgetAccount(row.authority as AuthorityName);
    const isCaaError = error.type === "caa";
    return retry(row, {
      status: row.private_key === null && !isCaaError ? "pending_validation" : "pending_issuance",
      error: isCaaError ? `caa_error: ${error.message}` : error.message,
      isCaaError,
      atLeastMs: error.retryAfterMs ?? 0,
      restarts: !TRANSIENT_ERRORS.has(error.type),
    });
  };

  return async (id, signal) => {
    const row = await orderById(store.read, id);
    if (row === undefined) return;
    const timeout = AbortSignal.timeout(deps.attemptMsMax ?? ATTEMPT_MS_MAX);
    const limited = AbortSignal.any([signal, timeout]);
    try {
      const placement = placementOf(row);
      if (placement === null) await place(row, limited);
      else await complete(row, placement, await deps.authorities.open(row.authority as AuthorityName, limited), limited);
    } catch (error) {
      signal.throwIfAborted();
      const now = await orderById(store.read, id);
      if (now !== undefined) await failed(now, timeout.aborted ? TOO_SLOW : error);
    }
  };
}
