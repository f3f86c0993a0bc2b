import { z } from 'zod';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from './limits.ts';

/** What one agent may use. */
export interface AgentLimits {
  /** Model replies in a cycle. */
  readonly maxSteps: number;
  /** Tokens in and out, in a cycle. */
  readonly tokensPerCycle: number;
  /** What the agent carries over from cycle to cycle before it is compacted. */
  readonly consciousnessTokens: number;
  readonly cycleTimeoutMs: number;
  /** Events taken as one batch. */
  readonly eventsPerCycle: number;
  /** Events that may wait; the next one is refused. */
  readonly inboxLength: number;
  /** How often a cycle is tried before its events are dead. */
  readonly maxAttempts: number;
  /** Messages between agents without a human one. */
  readonly hopLimit: number;
  readonly maxGoals: number;
  readonly maxMemories: number;
  readonly maxPlans: number;
  /** Characters of a goal, a memory or a plan's instruction. */
  readonly noteLength: number;
}

export const DEFAULT_AGENT_LIMITS: AgentLimits = {
  maxSteps: 50,
  tokensPerCycle: 400_000,
  consciousnessTokens: 32_000,
  // A model that thinks long and calls a few slow tools stays well below.
  cycleTimeoutMs: 600_000,
  eventsPerCycle: 50,
  inboxLength: 10_000,
  maxAttempts: 5,
  hopLimit: 8,
  maxGoals: 50,
  maxMemories: 200,
  maxPlans: 50,
  noteLength: 4_000,
};

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

export type AgentLimitsInput = Optional<AgentLimits>;

/** The gateway's own limits, and under `agent` what its agents get where they say nothing themselves. The lease is a setting. */
export type GatewayLimitsInput = Optional<Omit<GatewayLimits, 'leaseMs'>> & {
  readonly agent?: AgentLimitsInput | undefined;
};

const count = z.int().min(1).max(1_000_000_000).optional();
// Nothing that waits longer than a day is a cycle.
const cycleTime = z.int().min(1).max(86_400_000).optional();
// Zero means none: no goals, no answer to another agent.
const countOrNone = z.int().min(0).max(1_000_000).optional();

export const agentLimitsSchema: z.ZodType<AgentLimitsInput> = z.strictObject({
  maxSteps: count,
  tokensPerCycle: count,
  consciousnessTokens: count,
  cycleTimeoutMs: cycleTime,
  eventsPerCycle: count,
  inboxLength: count,
  maxAttempts: count,
  hopLimit: countOrNone,
  maxGoals: countOrNone,
  maxMemories: countOrNone,
  maxPlans: countOrNone,
  noteLength: count,
});

const { leaseMs: _setting, ...gatewayLimits } = DEFAULT_GATEWAY_LIMITS;

export const gatewayLimitsSchema: z.ZodType<GatewayLimitsInput> = z.strictObject({
  ...(Object.fromEntries(Object.keys(gatewayLimits).map((name) => [name, count])) as Record<
    keyof typeof gatewayLimits,
    typeof count
  >),
  agent: agentLimitsSchema.optional(),
});

/** The first of them that says something, limit by limit. */
export function resolveAgentLimits(...sources: readonly (AgentLimitsInput | undefined)[]): AgentLimits {
  return firstDefined(DEFAULT_AGENT_LIMITS, sources);
}

export function resolveGatewayLimits(sources: GatewayLimitsInput, leaseMs: number): GatewayLimits {
  return firstDefined(DEFAULT_GATEWAY_LIMITS, [{ ...sources, leaseMs }]);
}

function firstDefined<T extends object>(defaults: T, sources: readonly (Optional<T> | undefined)[]): T {
  const keys = Object.keys(defaults) as (keyof T)[];
  return Object.fromEntries(
    keys.map((key) => [key, sources.find((one) => one?.[key] !== undefined)?.[key] ?? defaults[key]]),
  ) as T;
}
