import type { Services } from '../../ports/services.ts';

/**
 * Deletes texts that no request has used for as long as conversations are kept. Conversations that used them may be older, and then
 * the requests of their steps can no longer be read. The use of a text is recorded once a day, by gateways that check at most
 * once a day, so two more days are added.
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
