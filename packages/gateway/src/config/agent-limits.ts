import { z } from 'zod';
import { DEFAULT_GATEWAY_LIMITS, defaultShares, type GatewayLimits } from './limits.ts';
import { RETENTION_NAMES, type RetentionInput, retentionLimits } from './retention.ts';
import { type PersonLimits, personLimitsSchema, type SpendLimits, spendLimitsSchema } from './spend-limits.ts';

/** The limits of one agent. */
export interface AgentLimits {
  /** The number of model replies in a run. */
  readonly maxSteps: number;
  /** The number of input and output tokens in a run. */
  readonly tokensPerCycle: number;
  /** The size of the transcript above which it is compacted. */
  readonly consciousnessTokens: number;
  readonly cycleTimeoutMs: number;
  /** The number of events that one run takes. */
  readonly eventsPerCycle: number;
  /** The number of events that may wait. The next one is refused. */
  readonly inboxLength: number;
  /** The number of attempts after which the events of a failing run are dead. */
  readonly maxAttempts: number;
  /** The number of agents' messages in a row, without one by a person, after which no agent is woken. */
  readonly hopLimit: number;
  readonly maxGoals: number;
  readonly maxMemories: number;
  readonly maxPlans: number;
  /** The number of characters of a goal, a memory or a plan's instruction. */
  readonly noteLength: number;
  /** How deep sub-agents may be nested. */
  readonly subAgentDepth: number;
  /** The size of one file, in bytes. */
  readonly fileBytes: number;
  /** The size of all files of the agent, or of one of its conversations. */
  readonly filesBytes: number;
  /** The number of these files. */
  readonly maxFiles: number;
  /** How much its models may cost. Default: no limit. An agent's own limits replace the default as a whole. */
  readonly spend: SpendLimits;
}

export const DEFAULT_AGENT_LIMITS: AgentLimits = {
  // The same as for a run of the chat endpoints that sets no limit (law C2).
  maxSteps: 64,
  tokensPerCycle: 400_000,
  consciousnessTokens: 32_000,
  // A model that reasons for long and calls a few slow tools stays well below this.
  cycleTimeoutMs: 600_000,
  eventsPerCycle: 50,
  inboxLength: 10_000,
  maxAttempts: 5,
  hopLimit: 8,
  maxGoals: 50,
  maxMemories: 200,
  maxPlans: 50,
  noteLength: 4_000,
  subAgentDepth: 3,
  fileBytes: 1_000_000,
  filesBytes: 20_000_000,
  // More would make every search of an agent's files slow.
  maxFiles: 10_000,
  spend: {},
};

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

export type AgentLimitsInput = Optional<AgentLimits>;

/**
 * The gateway's own limits, and under `agent` the defaults for its agents. `leaseMs` is missing because it is a
 * setting. How long things are kept is under `retention`.
 */
export type GatewayLimitsInput = Optional<Omit<GatewayLimits, 'leaseMs' | keyof typeof RETENTION_NAMES>> & {
  readonly agent?: AgentLimitsInput | undefined;
  /** The limits of each person, over all agents. */
  readonly person?: PersonLimits | undefined;
};

const count = z.int().min(1).max(1_000_000_000).optional();
// A run that takes longer than a day is a mistake.
const runTime = z.int().min(1).max(86_400_000).optional();
// Zero means none: no goals, or no answer to another agent.
const countOrNone = z.int().min(0).max(1_000_000).optional();

export const agentLimitsSchema: z.ZodType<AgentLimitsInput> = z
  .strictObject({
    maxSteps: count,
    tokensPerCycle: count,
    consciousnessTokens: count,
    cycleTimeoutMs: runTime,
    eventsPerCycle: count,
    inboxLength: count,
    maxAttempts: count,
    hopLimit: countOrNone,
    maxGoals: countOrNone,
    maxMemories: countOrNone,
    maxPlans: countOrNone,
    noteLength: count,
    subAgentDepth: countOrNone,
    fileBytes: count,
    filesBytes: count,
    maxFiles: count,
    spend: spendLimitsSchema.optional(),
  })
  .meta({ id: 'AgentLimits', description: 'The limits of one agent. Default: those of the gateway.' });

const isRetention = (name: string): name is keyof typeof RETENTION_NAMES => name in RETENTION_NAMES;
const limitNames = Object.keys(DEFAULT_GATEWAY_LIMITS).filter((name) => name !== 'leaseMs');

export const gatewayLimitsSchema: z.ZodType<GatewayLimitsInput> = z.strictObject({
  ...(Object.fromEntries(limitNames.map((name) => [name, isRetention(name) ? moved(name) : count])) as Record<
    keyof Omit<GatewayLimits, 'leaseMs' | keyof typeof RETENTION_NAMES>,
    typeof count
  >),
  agent: agentLimitsSchema.optional(),
  person: personLimitsSchema.optional(),
});

/** They were limits in earlier versions. */
function moved(name: keyof typeof RETENTION_NAMES): z.ZodType {
  return z.undefined({ error: `is not a limit any more: set retention.${RETENTION_NAMES[name]}, in days.` }).optional();
}

/** Takes each limit from the first source that sets it. */
export function resolveAgentLimits(...sources: readonly (AgentLimitsInput | undefined)[]): AgentLimits {
  return firstDefined(DEFAULT_AGENT_LIMITS, sources);
}

export function resolveGatewayLimits(
  sources: GatewayLimitsInput,
  leaseMs: number,
  retention: RetentionInput = {},
): GatewayLimits {
  const kept = retentionLimits(retention);
  return firstDefined(DEFAULT_GATEWAY_LIMITS, [{ ...sources, ...kept, leaseMs }, defaultShares(sources)]);
}

function firstDefined<T extends object>(defaults: T, sources: readonly (Optional<T> | undefined)[]): T {
  const keys = Object.keys(defaults) as (keyof T)[];
  return Object.fromEntries(
    keys.map((key) => [key, sources.find((one) => one?.[key] !== undefined)?.[key] ?? defaults[key]]),
  ) as T;
}
