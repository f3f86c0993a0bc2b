import type { TurnOptions } from '@lastcall/core';
import { DEFAULT_CONSECUTIVE_NUDGES, DEFAULT_MAX_INVOCATIONS } from '@lastcall/core/internal';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { AgentLimits } from '../../config/agent-limits.ts';
import type { TerminatingContract } from '../../domain/conversations/turn-settings.ts';

/**
 * A request may ask for less than the agent may use, but not for more. A higher value is lowered: the run then ends at
 * the agent's limit, and its answer names the limit.
 */

/** The contract of a request, limited by the agent's own contract. */
export function lowerContract(asked: TerminatingContract, own: AgentConfig['terminating']): TerminatingContract {
  const { consecutiveNudges = DEFAULT_CONSECUTIVE_NUDGES, maxInvocations = DEFAULT_MAX_INVOCATIONS } = asked;
  return {
    ...asked,
    consecutiveNudges: Math.min(consecutiveNudges, own?.consecutiveNudges ?? consecutiveNudges),
    maxInvocations: Math.min(maxInvocations, own?.maxInvocations ?? maxInvocations),
  };
}

/**
 * The rules of a turn, limited by the agent's steps. Under a contract an invocation is a step, so the lower number
 * counts.
 */
export function limitSteps<R extends Pick<TurnOptions, 'terminating'>>(
  rules: R,
  { maxSteps }: Pick<AgentLimits, 'maxSteps'>,
): R & Pick<TurnOptions, 'maxSteps'> {
  const { terminating } = rules;
  if (terminating === undefined) return { ...rules, maxSteps };
  const { maxInvocations = DEFAULT_MAX_INVOCATIONS } = terminating;
  return { ...rules, terminating: { ...terminating, maxInvocations: Math.min(maxInvocations, maxSteps) } };
}
