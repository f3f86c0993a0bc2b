import { z } from 'zod';
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from '../../../config/agent-limits.ts';
import { DEFAULT_PROJECT } from '../../../config/default-project.ts';
import { DEFAULT_CURRENCY } from '../../../config/prices.ts';
import { spendLimitsSchema } from '../../../config/spend-limits.ts';
import { VERSION } from '../../../config/version.ts';
import { countAll } from '../../../domain/count-all.ts';
import { projectOf } from '../../../domain/projects/view.ts';
import type { DefaultModel } from '../../../models/default-model.ts';
import { howToSetModel, type ListedModel } from '../../../models/list-models.ts';
import { limitedTo, viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';

/** The part of a gateway's setup that is not in its database. */
export interface Setup {
  /** The name under which it holds threads. Takeovers of runs refer to it. */
  readonly gatewayId: string;
  /** A description of the store, e.g. `SQLite in .lastcall`. */
  readonly store: string;
  /** The model of agents that name none. */
  readonly model: () => Promise<DefaultModel>;
  /** Problems of the setup, one sentence each, with the command that fixes it. */
  readonly problems: () => Promise<readonly string[]>;
  readonly models: () => Promise<readonly ListedModel[]>;
  /** The limits of agents that set none. */
  readonly agentLimits: AgentLimits;
  /** The currency of the configured prices. Default USD. */
  readonly currency?: string | undefined;
  /** The definitions that agents may name. */
  readonly definitions: readonly NamedDefinition[];
  /** Whether `POST /api/demo/crash` is served. Default false. */
  readonly canCrash?: boolean;
}

/** A definition of the configuration file. */
interface NamedDefinition {
  readonly name: string;
  /** Whether agents with this definition run as a machine. */
  readonly machine: boolean;
}

const statusSchema = z
  .strictObject({
    version: z.string(),
    model: z
      .strictObject({
        name: z.string(),
        why: z.string().meta({ description: 'The reason, as a short phrase.' }),
        isRehearsal: z.boolean(),
        howToSet: z.string().optional().meta({ description: 'How to set a real one, if it is the rehearsal.' }),
      })
      .meta({ description: 'The model of agents that name none.' }),
    gatewayId: z.string().optional().meta({ description: 'The name of this gateway in takeovers of runs.' }),
    store: z.string().optional(),
    problems: z.array(z.string()).optional().meta({ description: 'Problems of the setup, and how to fix them.' }),
    agentLimits: z
      .strictObject({
        ...Object.fromEntries(Object.keys(DEFAULT_AGENT_LIMITS).map((name) => [name, z.int()])),
        spend: spendLimitsSchema,
      })
      .optional()
      .meta({ description: 'The limits of agents whose own `limits` do not override them.' }),
    currency: z
      .string()
      .optional()
      .meta({ description: 'The currency of all costs: that of the configured prices.', examples: ['USD'] }),
    definitions: z
      .array(z.strictObject({ name: z.string(), machine: z.boolean() }))
      .optional()
      .meta({ description: 'The definitions that agents may name, and whether each is a machine.' }),
    counts: z.strictObject({ agents: z.int(), deadEvents: z.int(), waitingCalls: z.int() }).optional(),
    canCrash: z
      .literal(true)
      .optional()
      .meta({ description: 'True for the demo, whose process can be killed on purpose with `POST /api/demo/crash`.' }),
  })
  .meta({
    id: 'Status',
    description:
      '`agentLimits`, `currency`, `definitions`, `counts` and `canCrash` are for keys and sessions that may read. `gatewayId`, `store` and `problems` are for those of all projects, or of the project `default`.',
  });

const modelSchema = z
  .strictObject({
    name: z.string(),
    usable: z.boolean(),
    why: z.string().optional().meta({ description: 'What is missing, with the command that fixes it.' }),
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
        return limitedTo(caller) === undefined ? await countAll(tx.db, viewOf(caller)) : undefined;
      },
      async respond(counts, { caller }) {
        const { gatewayId, store, agentLimits, currency = DEFAULT_CURRENCY, definitions, canCrash = false } = setup;
        const told = { version: VERSION, model: toModel(await setup.model()) };
        if (counts === undefined) return Response.json(told);
        const more = { agentLimits, currency, definitions, counts, ...(canCrash ? { canCrash } : {}) };
        // Customers do not see how the gateway is set up. Its name contains the name of its machine.
        if (projectOf(viewOf(caller)) !== DEFAULT_PROJECT) return Response.json({ ...told, ...more });
        return Response.json({ ...told, gatewayId, store, problems: await setup.problems(), ...more });
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/models',
      summary: 'List models',
      description:
        'The models that agents may name, the default first. No provider is contacted, so a wrong key is not detected here.',
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
