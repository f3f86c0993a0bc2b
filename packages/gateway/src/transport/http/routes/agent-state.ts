import { Transcript } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { findAgent } from '../../../domain/agents/agent.ts';
import { notFound } from '../../../domain/api-error.ts';
import { agentOfConversation } from '../../../domain/conversations/conversation.ts';
import { readRows } from '../../../domain/entities/page.ts';
import { toGoal } from '../../../domain/memory/goal.ts';
import { goalRows } from '../../../domain/memory/goals.ts';
import { memoryRows } from '../../../domain/memory/memories.ts';
import { toMemory } from '../../../domain/memory/memory.ts';
import { toPlan } from '../../../domain/plans/plan.ts';
import { planRows } from '../../../domain/plans/plans.ts';
import { loadTranscript } from '../../../domain/transcript/load-transcript.ts';
import { readSession } from '../../../domain/transcript/read-session.ts';
import { toReadable } from '../../../domain/transcript/readable-frames.ts';
import type { Tables } from '../../../ports/store/schema/tables.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageOf } from '../fields.ts';
import { modelMessageSchema, transcriptEntrySchema } from '../schemas/transcript-entry.ts';

const times = { createdAt: z.int(), updatedAt: z.int() };

const goalSchema = z
  .strictObject({ key: z.string(), description: z.string(), status: z.string(), priority: z.int(), ...times })
  .meta({ id: 'Goal' });

const memorySchema = z.strictObject({ key: z.string(), value: z.unknown(), ...times }).meta({ id: 'Memory' });

export const planSchema: z.ZodType = z
  .strictObject({
    id: z.string(),
    key: z.string(),
    name: z.string(),
    instruction: z.string(),
    cron: z.string().optional().meta({ description: 'Set for a recurring plan, together with `timeZone`.' }),
    timeZone: z.string().optional(),
    at: z.int().optional().meta({ description: 'Set for a plan that is due once.' }),
    misfire: z.enum(['once', 'skip']),
    nextAt: z
      .int()
      .optional()
      .meta({ description: 'When it is due next. Absent once the plan will not be due again.' }),
    lastAt: z.int().optional(),
    setBy: z.enum(['agent', 'operator', 'file']).meta({
      description: 'Who set it. The agent cannot change a plan of an operator or of the configuration file.',
    }),
    ...times,
  })
  .meta({ id: 'Plan' });

const sliceSchema = z
  .strictObject({
    version: z.int(),
    policy: z
      .literal('log')
      .optional()
      .meta({ description: 'Set for a slice that keeps the entries of failed calls.' }),
    state: z.unknown(),
  })
  .meta({ id: 'Slice' });

/** Goals, memories and plans of an agent. The agent's limits bound their number, so they fit on one page. */
export const agentStateEndpoints: readonly Endpoint[] = [
  transcriptAt('transcript', "Get an agent's transcript"),
  transcriptAt('consciousness', "Get an agent's transcript by the old name of its path"),
  endpoint({
    method: 'get',
    path: '/api/agents/{id}/session',
    summary: "Get the slices of an agent's session",
    description:
      'The state that the tools and sections of an agent share, as the last settled call left it. With `contextId`, that of one of its conversations.',
    access: 'admin',
    query: z.strictObject({ contextId: idField.optional() }),
    answer: z.strictObject({ slices: z.record(z.string(), sliceSchema) }),
    async handle({ params, query: { contextId } }, tx) {
      await findAgent(tx.db, params.id);
      if (contextId !== undefined && (await agentOfConversation(tx.db, contextId)) !== params.id)
        throw notFound('conversation', contextId);
      return { slices: await readSession(tx.db, contextId ?? params.id) };
    },
  }),
  keptBy({
    kind: 'goals',
    summary: "List an agent's goals, most important first",
    item: goalSchema,
    rows: goalRows,
    toItem: toGoal,
  }),
  keptBy({
    kind: 'memories',
    summary: "List an agent's memories, oldest first",
    item: memorySchema,
    rows: memoryRows,
    toItem: toMemory,
  }),
  keptBy({
    kind: 'plans',
    summary: "List an agent's plans, soonest first",
    item: planSchema,
    rows: planRows,
    toItem: toPlan,
  }),
];

interface Kept<Row> {
  readonly kind: 'goals' | 'memories' | 'plans';
  readonly summary: string;
  readonly item: z.ZodType;
  readonly rows: (db: Kysely<Tables>, of: { readonly agentId: string }) => Promise<readonly Row[]>;
  readonly toItem: (row: Row) => unknown;
}

/** The endpoint that lists one kind of an agent's notes. */
function keptBy<Row extends { readonly key: string }>({ kind, summary, item, rows, toItem }: Kept<Row>): Endpoint {
  return endpoint({
    method: 'get',
    path: `/api/agents/{id}/${kind}`,
    summary,
    access: 'key',
    answer: pageOf(item),
    async handle({ params }, tx) {
      await findAgent(tx.db, params.id);
      const found = await rows(tx.db, { agentId: params.id });
      return readRows(found, { idOf: ({ key }) => key, toItem });
    },
  });
}

/** The endpoint that shows what an agent remembers, under one of its names. */
function transcriptAt(name: 'transcript' | 'consciousness', summary: string): Endpoint {
  return endpoint({
    method: 'get',
    path: `/api/agents/{id}/${name}`,
    summary,
    description:
      'The messages that the next run starts with, the transcript entries they come from, and the number of the next entry.',
    access: 'key',
    answer: z
      .strictObject({
        messages: z.array(modelMessageSchema),
        entries: z.array(transcriptEntrySchema),
        nextSeq: z.int(),
      })
      .meta({ id: 'AgentTranscript', description: 'What an agent remembers.' }),
    async handle({ params }, tx) {
      await findAgent(tx.db, params.id);
      const { entries, nextSeq } = await loadTranscript(tx.db, params.id);
      const transcript = new Transcript(entries);
      return {
        messages: toReadable(transcript.view()),
        entries: toReadable(transcript.toJSON().entries),
        nextSeq,
      };
    },
  });
}
