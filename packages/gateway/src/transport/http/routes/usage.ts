import { z } from 'zod';
import { invalid } from '../../../domain/entities/invalid.ts';
import { USAGE_KEYS, type UsageKey, usageReport } from '../../../domain/usage/usage-report.ts';
import { dayOf, USAGE_KINDS } from '../../../domain/usage/usage-row.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField } from '../fields.ts';

const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, { error: 'must be a day such as 2026-01-31, in UTC.' })
  .refine(isDay, { error: 'must be a day that exists.' });

/** `Date.parse` takes the 31st of February for the 3rd of March. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && dayOf(time) === text;
}

const usageItemSchema = z
  .strictObject({
    agent: z.string().optional().meta({ description: 'The id of the agent.' }),
    agentName: z.string().optional(),
    model: z.string().optional().meta({ description: "The provider's name of the model." }),
    day: z.string().optional().meta({ description: 'In UTC.' }),
    entity: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'The person whose message woke the run, or the caller of a conversation. Null: none.' }),
    entityName: z.string().optional(),
    kind: z
      .enum(USAGE_KINDS as [string, ...string[]])
      .optional()
      .meta({ description: 'What asked the model: a turn, a node of a machine, a sub-agent, a summary or a repair.' }),
    requests: z.int(),
    inputTokens: z.int(),
    cachedTokens: z.int().meta({ description: 'Of the input tokens, those that providers read from their caches.' }),
    outputTokens: z.int(),
    cost: z.number().nullable().meta({ description: 'Null if the price of a model is not configured.' }),
    currency: z.string(),
    estimated: z.boolean().meta({
      description: 'True if a provider counted nothing for a request, so that the gateway estimated its tokens.',
    }),
  })
  .meta({ id: 'UsageItem', description: 'Requests to models, added up.' });

export const usageEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/usage',
    summary: 'Get what models were asked, and what it cost',
    description:
      'Requests, tokens and money, added up by what `by` lists. Sub-agents and summaries are included; `by=kind` shows them apart. Newest day first, then the most tokens, at most 10,000 items.',
    access: 'key',
    query: z.strictObject({
      by: z.string().max(100).optional().meta({
        description: 'Any of `agent`, `model`, `day`, `entity` and `kind`, separated by commas. Default: `day`.',
      }),
      from: day.optional().meta({ description: 'The first day. Default: 29 days before `to`.' }),
      to: day.optional().meta({ description: 'The last day. Default: today.' }),
      agentId: idField.optional(),
      entityId: idField.optional(),
    }),
    answer: z
      .strictObject({
        from: z.string(),
        to: z.string(),
        items: z.array(usageItemSchema),
        truncated: z.literal(true).optional().meta({ description: 'There are more items than one answer has.' }),
      })
      .meta({ id: 'UsageReport' }),
    handle: ({ caller, query }, tx) => {
      const { by = 'day', ...filter } = query;
      return usageReport(tx.db, { ...filter, by: readKeys(by), view: viewOf(caller), now: tx.now() });
    },
  }),
];

function readKeys(text: string): readonly UsageKey[] {
  const names = text.split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !(USAGE_KEYS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw invalid('by', `must list some of ${USAGE_KEYS.join(', ')}, not "${unknown.slice(0, 50)}".`);
  return [...new Set(names)] as UsageKey[];
}
