import { type Logger, log, type Middleware } from '@lastcall/core';
import { asJson } from '../../ports/store/schema/json.ts';
import type { KnownSecrets } from '../../telemetry/known-secrets.ts';
import type { CallNotes } from './call-notes.ts';

export interface CallLog {
  readonly logger: Logger;
  readonly agentId: string;
  readonly runId: string;
  readonly notes: CallNotes;
  readonly secrets: KnownSecrets;
}

/**
 * Logs one line per call, whether or not its tool ran, with fields to search by. Inputs and outputs are logged only at
 * debug level, in a separate line, without secrets. Replies of the model are logged too.
 */
export function logCalls({ logger, agentId, runId, notes, secrets }: CallLog): Middleware {
  const startedAt = new Map<string, number>();
  return {
    ...log(logger),
    async call(next, { callId }) {
      startedAt.set(callId, performance.now());
      return await next();
    },
    outcome(outcome, { callId, toolName, input }) {
      const from = startedAt.get(callId);
      startedAt.delete(callId);
      const { status } = outcome;
      const { cache, retry } = notes.of(callId);
      const ids = { agentId, runId, callId, toolName };
      logger.info('Tool call', {
        ...ids,
        outcome: status,
        ...(outcome.status === 'error' ? { code: outcome.code } : {}),
        durationMs: from === undefined ? 0 : Math.round(performance.now() - from),
        attempt: retry?.attempts ?? 1,
        ...(cache === undefined ? {} : { cached: true }),
      });
      const { text } = outcome;
      logger.debug('Tool call, input and output', { ...ids, ...secrets.removeFromAll({ input: asJson(input), text }) });
      return outcome;
    },
  };
}
