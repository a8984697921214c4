import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { SERVICE_CERTIFICATE_ID } from "#snapshot/certificates.ts";
import { certificatesOfZone } from "#store/certificates/certificates.ts";
import { controlOver } from "../../test/support/control.ts";
import { storeTest } from "../../test/support/store.ts";
import { renewCertificates } from "./renew-certificates.ts";

const DAY_MS = 86_400_000;

storeTest(
  "certificates, the installation's own too, are renewed with a third of their life left, and the old one is removed in the same delta",
  async ({ store }) => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const { control, account_id, call } = await controlOver(store, { clock });
    const zone = await control.zones.create(call(), { name: "renewed.example", account: { id: account_id } });
    const [first] = await certificatesOfZone(store.read, zone.id);
    await control.serviceCertificate.ensure(call(), 0);
    const job = renewCertificates(control);

    clock.advance(59 * DAY_MS);
    assert.equal(await job.run(), null, "not due yet");
    clock.advance(2 * DAY_MS);
    const before = await store.revision();
    assert.deepEqual(await job.run(), { renewed: 2 });

    const [second, ...others] = await certificatesOfZone(store.read, zone.id);
    assert.ok(first && second && others.length === 0);
    assert.notEqual(second.id, first.id);
    assert.ok(second.not_after > first.not_after);
    const [own, delta] = (await store.changesSince(before, 2)) ?? [];
    assert.deepEqual(
      own?.changes.map(({ kind, id }) => [kind, id]),
      [["certificate", SERVICE_CERTIFICATE_ID]],
    );
    assert.deepEqual(
      delta?.changes.map(({ kind, id, value }) => [kind, id, value === null]),
      [
        ["certificate", second.id, false],
        ["certificate", first.id, true],
      ],
    );
    assert.equal(await job.run(), null, "once is enough");
  },
);

storeTest("certificates issued while the clock ran ahead are issued again", async ({ store }) => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const { control, account_id, call } = await controlOver(store, { clock });
  const zone = await control.zones.create(call(), { name: "early.example", account: { id: account_id } });
  await control.serviceCertificate.ensure(call(), 0);
  const job = renewCertificates(control);
  const endsInDays = async (): Promise<number> => {
    const [certificate] = await certificatesOfZone(store.read, zone.id);
    return Math.round((Date.parse(certificate?.not_after ?? "") - clock.nowMs()) / DAY_MS);
  };
  const days = await endsInDays();
  for (const jump of [365, -365, -1]) {
    clock.advance(jump * DAY_MS);
    assert.deepEqual(await job.run(), { renewed: 2 }, `${jump} days`);
    assert.equal(await endsInDays(), days);
    assert.equal(await job.run(), null, "once is enough");
  }
});
