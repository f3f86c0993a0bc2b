import { z } from 'zod';
import { search } from '../../../domain/search/search.ts';
import { limitedTo, viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { positionFields } from '../fields.ts';
import { trialSchema } from '../schemas/fork.ts';

const kindSchema = z.enum(['message', 'input', 'output', 'error']).meta({
  description:
    '`message`: said in a space or a conversation. `input`, `output`: of a call. `error`: of a call or a run.',
});

const resultSchema = z
  .strictObject({
    kind: kindSchema,
    at: z.int(),
    messageId: z.string().optional().meta({ description: 'Of a message in a space, as are `spaceId` and `seq`.' }),
    spaceId: z.string().optional(),
    seq: z.int().optional(),
    entityId: z.string().optional().meta({ description: 'Who wrote the message.' }),
    runId: z.string().optional(),
    agentId: z.string().optional(),
    callId: z.string().optional(),
    toolName: z.string().optional(),
    trial: trialSchema.optional().meta({ description: 'Set if it is of a run of a fork or a draft.' }),
    snippet: z
      .array(z.strictObject({ text: z.string(), isMatch: z.literal(true).optional() }))
      .meta({ description: 'The text around the first match. `isMatch` marks what was searched for.' }),
  })
  .meta({ id: 'SearchResult', description: 'A text that was found.' });

export const searchEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/search',
    summary: 'Search all texts, newest first',
    description:
      'Finds messages, and inputs, outputs and errors of runs that have ended. With a token: only messages of the spaces that its entity is in. ' +
      'A page may have fewer results than its limit although `next` is set: a search ends after a while, and the next page goes on.',
    access: 'entity',
    query: z.strictObject({
      ...positionFields,
      q: z.string().min(1).max(500).meta({
        description:
          'Words, "phrases in quotation marks" and prefix*. All of them have to occur. Upper case and accents do not matter.',
      }),
      kind: kindSchema.optional(),
    }),
    answer: z.object({
      items: z.array(resultSchema),
      next: z.string().optional().meta({ description: 'The cursor of the next page. Absent on the last page.' }),
      indexedTo: z.int().optional().meta({
        description:
          'Texts that were stored before this time can be found. Absent while the index is built for the first time.',
      }),
    }),
    handle: ({ caller, query }, tx) => search(tx, { ...query, entityId: limitedTo(caller), view: viewOf(caller) }),
  }),
];
