import { z } from 'zod';
import type { Offered } from '../../../config/known-tool.ts';
import { findAgent } from '../../../domain/agents/agent.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import type { ForkChanges } from '../../../domain/forks/fork.ts';
import { assertFilePrograms, type CheckProgram, filePrograms } from '../../../domain/mcp/file-programs.ts';
import { fromJson } from '../../../ports/store/schema/json.ts';
import { type DraftInput, startDraft } from '../../../runtime/forks/start-draft.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { conversationUser } from '../conversation-user.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField } from '../fields.ts';
import { assertMayReachOut } from '../may-reach-out.ts';
import { draftChangesSchema, nodesSchema } from '../schemas/fork.ts';

const newDraftSchema = z.strictObject({
  changes: draftChangesSchema.optional().meta({ description: 'Default: none.' }),
  nodes: nodesSchema,
  message: z
    .string()
    .max(200_000)
    .regex(/\S/, { error: 'must not be empty.' })
    .optional()
    .meta({ description: 'What a person says to the draft.' }),
  after: idField.optional().meta({
    description: 'With `message`: a run of a draft of this agent whose conversation goes on. Default: a new one.',
  }),
  again: idField
    .optional()
    .meta({ description: 'In place of `message`: a run of a draft of this agent whose message is answered again.' }),
});

interface DraftBody {
  readonly changes?: Readonly<Record<string, unknown>> | undefined;
  readonly nodes?: ForkChanges['nodes'];
  readonly message?: string | undefined;
  readonly after?: string | undefined;
  readonly again?: string | undefined;
}

interface DraftOptions {
  readonly registry: Registry;
  readonly offered?: Offered | undefined;
  readonly checkProgram?: CheckProgram | undefined;
}

export function draftEndpoints({
  registry,
  offered,
  checkProgram = filePrograms([]),
}: DraftOptions): readonly Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/drafts',
      summary: 'Send a message to a draft of an agent',
      description:
        'Starts a run in a new conversation, with the saved configuration and changes that are not saved. Calls with effects outside wait for an answer, and nothing reaches spaces, goals, memories or plans. The agent itself is not changed.',
      access: 'key',
      body: newDraftSchema,
      status: 201,
      answer: z.strictObject({ runId: z.string(), contextId: z.string() }),
      refusals: [409],
      async handle({ caller, params, body }, tx) {
        const { changes = {}, nodes, ...asked } = body as DraftBody;
        await assertMayReachOut(caller, changes, async () => fromJson((await findAgent(tx.db, params.id)).config));
        assertFilePrograms(changes, checkProgram);
        return await startDraft(tx, registry, {
          caller: conversationUser(caller),
          agentId: params.id,
          changes,
          nodes,
          input: inputOf(asked),
          offered,
        });
      },
    }),
  ];
}

function inputOf({ message, after, again }: Omit<DraftBody, 'changes' | 'nodes'>): DraftInput {
  if (again === undefined) {
    if (message === undefined) throw invalid('message', 'is missing: send a message, or again with the id of a run.');
    return { message, after };
  }
  if (message !== undefined) throw invalid('message', 'must be absent if again is set: the message is the same.');
  if (after !== undefined) throw invalid('after', 'must be absent if again is set: its conversation is the same.');
  return { again };
}
