import { retryInvalidAgent } from '../domain/agents/retry-invalid.ts';
import type { Services } from '../ports/services.ts';

/**
 * Lets agents that could not work with an earlier configuration or program try again: what has just started may fit what they have stored.
 * If it does not, each fails once more, and its events go on waiting.
 */
export async function retryInvalidAgents({ store, logger }: Pick<Services, 'store' | 'logger'>): Promise<void> {
  const invalid = await store.db.selectFrom('agents').select(['id', 'name']).where('status', '=', 'invalid').execute();
  for (const { id, name } of invalid) {
    const isRetried = await store.transaction((tx) => retryInvalidAgent(tx, id));
    if (isRetried)
      logger.info(`The agent ${JSON.stringify(name)} (${id}) could not work before this start. It tries again.`);
  }
}
