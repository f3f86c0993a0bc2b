import type { Services } from '../../ports/services.ts';

/**
 * Deletes tools that their server has not listed for a day, because a server may list others each time. A tool that appears again
 * later counts as new. Tools of a server that is down or unused are kept.
 */
export async function sweepMcpTools({ store }: Pick<Services, 'store'>, { now }: { now?: number } = {}): Promise<void> {
  await store.transaction(async (tx) => {
    const due = tx.db
      .selectFrom('mcp_tools')
      .select('id')
      .where('gone_at', '<', (now ?? tx.now()) - DAY_MS)
      .limit(MOST_AT_ONCE);
    await tx.db.deleteFrom('mcp_tools').where('id', 'in', due).execute();
  });
}

const DAY_MS = 86_400_000;
/** The next sweep deletes the rest. */
const MOST_AT_ONCE = 500;
