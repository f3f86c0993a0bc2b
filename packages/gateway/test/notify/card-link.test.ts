import { expect, test } from 'vitest';
import { cardCode, openCardLink } from '../../src/domain/notify/card-link.ts';
import { retryNotification } from '../../src/domain/notify/notification.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { startWebSite } from '../support/web-site.ts';
import { deliver, LINK_SECRET, openCall, rowsOf, targetTo, webhookTo } from './desk.ts';

describeIdleWorld('codes of links', ({ world }) => {
  /** The notification of a call that Ada may answer. */
  async function notify(more: { readonly expiresAt?: number; readonly linkMs?: number } = {}) {
    await using site = await startWebSite();
    const ada = await world.person('Ada');
    const { linkMs = 3_600_000, expiresAt } = more;
    const target = targetTo(webhookTo(site.url), { name: `t-${ada}`, recipient: { id: ada }, linkMs });
    await using gateway = deliver(world, [target], { allow: [site.host] });
    const callId = await openCall(world, await world.agent(), { answeredBy: { entities: [ada] }, expiresAt });
    await gateway.send();
    const [row] = await rowsOf(world, { callId });
    if (row === undefined) throw new Error('There is no notification.');
    return { ada, callId, row, targets: new Map([[target.name, target]]), code: cardCode(LINK_SECRET, row.id) };
  }
  const open = (code: string) => world.in((tx) => openCardLink(tx, LINK_SECRET, code));
  const reasonOf = async (code: string): Promise<unknown> =>
    await open(code).then(
      () => 'opened',
      (error) => error.details.reason,
    );

  test('[O8] codes that were changed, cut, lengthened or made with another secret are refused', async () => {
    const { code, ada, callId } = await notify();
    const [id = '', mac = ''] = code.split('.');
    const changed = `${id}.${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`;
    const foreign = cardCode(new Uint8Array(32).fill(8), id);
    const other = `${(await notify()).row.id}.${mac}`;
    for (const wrong of [changed, foreign, other, id, `${id}.`, `${code}.x`, 'x', '', `\0.${mac}`])
      expect([wrong, await reasonOf(wrong)]).toEqual([wrong, 'unknown']);
    expect(await open(code)).toMatchObject({ callId, entity: { id: ada, displayName: 'Ada' } });
    expect(await reasonOf(code)).toBe('used');
  });

  test('[O8] a link works until it expires, and only while its call waits', async () => {
    const expiresAt = Date.now() + 900_000;
    const { row, code } = await notify({ expiresAt });
    expect(row.link_expires_at).toBe(expiresAt);
    const short = await notify({ linkMs: 60_000 });
    expect(short.row.link_expires_at).toBeLessThanOrEqual(Date.now() + 60_000);
    await world.in((tx) =>
      tx.db.updateTable('notifications').set({ link_expires_at: tx.now() }).where('id', '=', row.id).execute(),
    );
    expect(await reasonOf(code)).toBe('expired');
  });

  test('[O8] the link of a deleted person is refused', async () => {
    const { ada, code } = await notify();
    await world.in((tx) => tx.db.updateTable('entities').set({ deleted_at: 1 }).where('id', '=', ada).execute());
    expect(await reasonOf(code)).toBe('revoked');
  });

  test('[O8] a notification that has failed is sent again on demand, with the same id', async () => {
    await using site = await startWebSite();
    const target = targetTo(webhookTo(site.url), { name: 'again' });
    const targets = new Map([['again', target]]);
    await using gateway = deliver(world, [target], { allow: [site.host] });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    const [row] = await rowsOf(world, { callId });
    const id = row?.id ?? '';
    await expect(world.in((tx) => retryNotification(tx, targets, { id }))).rejects.toMatchObject({
      code: 'not_failed',
    });
    await world.in((tx) => tx.db.updateTable('notifications').set({ status: 'failed' }).where('id', '=', id).execute());
    await expect(
      world.in((tx) => retryNotification(tx, targets, { id, view: { project: 'acme' } })),
    ).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await world.in((tx) => retryNotification(tx, targets, { id }))).toMatchObject({
      status: 'pending',
      attempts: 0,
    });
    await gateway.send();
    expect(site.requests.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
  });

  test('[O8] the link of a notification that is sent again works for as long as a new one, and not longer than its call', async () => {
    const again = async (more: { readonly expiresAt?: number }) => {
      const { row, code, targets } = await notify(more);
      // It was given up days ago.
      const old = { status: 'failed', created_at: 1, link_expires_at: 2 } as const;
      await world.in((tx) => tx.db.updateTable('notifications').set(old).where('id', '=', row.id).execute());
      expect(await reasonOf(code)).toBe('expired');
      const { linkExpiresAt } = await world.in((tx) => retryNotification(tx, targets, { id: row.id }));
      expect(await reasonOf(code)).toBe('opened');
      return linkExpiresAt;
    };
    const before = await world.in(async (tx) => tx.now());
    expect(await again({})).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(await again({ expiresAt: before + 60_000 })).toBe(before + 60_000);
  });
});
