import type { Services } from '../../ports/services.ts';

/**
 * Deletes texts of requests that no request has had for as long as contexts are kept. The conversations that had them may be older, and
 * then the request of their steps can no longer be read. A text in use is noted once a day, by gateways that ask at most once a day: so
 * two days more are waited for.
 */
export async function sweepRequestTexts(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now }: { now?: number } = {},
): Promise<void> {
  await store.transaction(async (tx) => {
    const before = (now ?? tx.now()) - (limits.contextDays + 2) * DAY_MS;
    await tx.db.deleteFrom('request_texts').where('used_at', '<', before).execute();
  });
}

const DAY_MS = 86_400_000;
