import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from '../../../config/agent-limits.ts';
import { VERSION } from '../../../config/version.ts';
import { IS_PENDING } from '../../../domain/pending/is-pending.ts';
import type { DefaultModel } from '../../../models/default-model.ts';
import { howToSetModel, type ListedModel } from '../../../models/list-models.ts';
import type { Tables } from '../../../ports/store/tables.ts';
import { limitedTo } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';

/** How a gateway is set up, as far as its database does not know. */
export interface Setup {
  /** The name under which it holds threads: takeovers of runs name it. */
  readonly gatewayId: string;
  /** Where everything is stored, in words. */
  readonly store: string;
  /** The model of agents that name none. */
  readonly model: () => Promise<DefaultModel>;
  /** What is set up wrong, one sentence each, with the command that mends it. */
  readonly problems: () => Promise<readonly string[]>;
  readonly models: () => Promise<readonly ListedModel[]>;
  /** Those of agents that set none of their own. */
  readonly agentLimits: AgentLimits;
  /** Whether `POST /api/demo/crash` is served. Default false. */
  readonly canCrash?: boolean;
}

const statusSchema = z
  .strictObject({
    version: z.string(),
    model: z
      .strictObject({
        name: z.string(),
        why: z.string().meta({ description: 'Why it is that one: half a sentence.' }),
        isRehearsal: z.boolean(),
        howToSet: z.string().optional().meta({ description: 'How to set a real one, if it is the rehearsal.' }),
      })
      .meta({ description: 'The model of agents that name none.' }),
    gatewayId: z.string().optional().meta({ description: 'The name that takeovers of runs have for it.' }),
    store: z.string().optional(),
    problems: z.array(z.string()).optional().meta({ description: 'What is set up wrong, and what mends it.' }),
    agentLimits: z
      .strictObject(Object.fromEntries(Object.keys(DEFAULT_AGENT_LIMITS).map((name) => [name, z.int()])))
      .optional()
      .meta({ description: 'What counts for agents whose `limits` do not say otherwise.' }),
    counts: z.strictObject({ agents: z.int(), deadEvents: z.int(), pendingCalls: z.int() }).optional(),
    canCrash: z
      .literal(true)
      .optional()
      .meta({ description: 'It is the demo, whose process may be killed on purpose: `POST /api/demo/crash`.' }),
  })
  .meta({
    id: 'Status',
    description:
      '`gatewayId`, `store`, `problems`, `agentLimits`, `counts` and `canCrash` are for keys and sessions that may read.',
  });

const modelSchema = z
  .strictObject({
    name: z.string(),
    usable: z.boolean(),
    why: z.string().optional().meta({ description: 'What is missing, with the command that mends it.' }),
  })
  .meta({ id: 'Model' });

export function statusEndpoints(setup: Setup): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/status',
      summary: 'Get the state of the gateway',
      description: 'With a token: only its version and its model.',
      access: 'entity',
      answer: statusSchema,
      async handle({ caller }, tx) {
        return limitedTo(caller) === undefined ? await countAll(tx.db) : undefined;
      },
      async respond(counts) {
        const { gatewayId, store, agentLimits, canCrash = false } = setup;
        const told = { version: VERSION, model: toModel(await setup.model()) };
        if (counts === undefined) return Response.json(told);
        // The name of a gateway has that of its machine in it.
        const more = { gatewayId, store, agentLimits, problems: await setup.problems(), counts };
        return Response.json({ ...told, ...more, ...(canCrash ? { canCrash } : {}) });
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/models',
      summary: 'List models',
      description:
        'Those that agents may name: the default first. No provider is asked, so a key that is wrong is not found out here.',
      access: 'key',
      answer: z.strictObject({ items: z.array(modelSchema) }),
      handle: async () => undefined,
      respond: async () => Response.json({ items: await setup.models() }),
    }),
  ];
}

function toModel({ name, why, problem }: DefaultModel): object {
  const isRehearsal = name === 'rehearsal';
  return { name, why, isRehearsal, ...(isRehearsal ? { howToSet: problem ?? howToSetModel() } : {}) };
}

async function countAll(db: Kysely<Tables>): Promise<{ agents: number; deadEvents: number; pendingCalls: number }> {
  const count = (rows: { count: number | string | bigint }): number => Number(rows.count);
  const [agents, deadEvents, pendingCalls] = await Promise.all([
    db
      .selectFrom('agents')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('status', '!=', 'deleted')
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('inbox_events')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('status', '=', sql.lit('dead'))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('calls')
      .select((eb) => eb.fn.countAll().as('count'))
      .where(IS_PENDING)
      .executeTakeFirstOrThrow(),
  ]);
  return { agents: count(agents), deadEvents: count(deadEvents), pendingCalls: count(pendingCalls) };
}
