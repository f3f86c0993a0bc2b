import { z } from 'zod';
import type { Offered } from '../../../config/known-tool.ts';
import { type ForkChanges, listForks } from '../../../domain/forks/fork.ts';
import { getRun } from '../../../domain/runs/run.ts';
import { startFork } from '../../../runtime/forks/start-fork.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { conversationUser } from '../conversation-user.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { pageFields, pageOf } from '../fields.ts';
import { forkChangesSchema, forkSchema } from '../schemas/fork.ts';

const newForkSchema = z.strictObject({
  atStep: z
    .int()
    .min(1)
    .max(1_000_000)
    .meta({ description: 'The step that the fork does again. Steps before it are copied.' }),
  changes: forkChangesSchema.optional().meta({ description: 'Default: none.' }),
});

interface ForkBody {
  readonly atStep: number;
  readonly changes?: ForkChanges | undefined;
}

export function forkEndpoints(registry: Registry, offered?: Offered): readonly Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/runs/{id}/forks',
      summary: 'Fork a run at a step',
      description:
        'Continues the run from the step in a conversation of its own. Calls that the run made with the same input get the recorded outcome, and calls with effects outside wait for an answer. The run itself is not changed.',
      access: 'key',
      body: newForkSchema,
      status: 201,
      answer: z.strictObject({ runId: z.string(), contextId: z.string() }),
      refusals: [409],
      async handle({ caller, params, body }, tx) {
        const { atStep, changes = {} } = body as ForkBody;
        return await startFork(tx, registry, {
          caller: conversationUser(caller),
          runId: params.id,
          atStep,
          changes,
          offered,
        });
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/runs/{id}/forks',
      summary: 'List the forks of a run, newest first',
      access: 'key',
      query: z.strictObject({ ...pageFields }),
      answer: pageOf(forkSchema),
      async handle({ params, query }, tx) {
        await getRun(tx.db, params.id);
        return await listForks(tx.db, params.id, query);
      },
    }),
  ];
}
