import type { ToolContext } from '@lastcall/core';
import type { Services } from '../../src/ports/services.ts';
import type { BuiltInContext, StagedWrite } from '../../src/runtime/tools/built-in-context.ts';

/** A run whose staged writes wait until the test settles the call. */
export function activeRunOf(
  services: Services,
  agentId: string,
): { run: BuiltInContext; staged: StagedWrite[]; settle(): Promise<void> } {
  const staged: StagedWrite[] = [];
  return {
    staged,
    run: {
      services,
      runId: 'run',
      agent: { id: agentId, entityId: agentId, name: 'Ada' },
      read: (work) => work(services.store.db),
      stage: (_ctx: ToolContext, write) => void staged.push(write),
    },
    async settle() {
      await services.store.transaction(async (tx) => {
        for (const write of staged) await write(tx);
      });
      staged.length = 0;
    },
  };
}
