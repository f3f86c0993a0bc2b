import type { Middleware, Outcome, TurnEvent } from '@lastcall/core';
import { toPlainValue } from '@lastcall/core/internal';
import { KnownSecrets } from '../../telemetry/known-secrets.ts';
import type { WorkerRegistry } from './registry.ts';

/** The secrets that this process knows. */
export function secretsOf({ outgoing }: Pick<WorkerRegistry, 'outgoing'>): KnownSecrets {
  return outgoing?.secrets.known ?? NO_SECRETS;
}

const NO_SECRETS = new KnownSecrets();

/** Removes the process's secrets from how a call ended, whatever kind of tool it was, before anybody hears of it. */
export function removeSecrets(secrets: KnownSecrets): Middleware {
  return {
    name: 'remove-secrets',
    outcome: (outcome) => (secrets.isEmpty ? outcome : secrets.removeFromAll(withPlainValue(outcome))),
  };
}

/** Removes them from what a tool reports while it runs. */
export function withoutSecrets(event: TurnEvent, secrets: KnownSecrets): TurnEvent {
  if (event.type !== 'tool-call.progress' || secrets.isEmpty) return event;
  return { ...event, value: secrets.removeFromAll(toPlainValue(event.value)) };
}

/** What a `Map` or an object of a class holds is stored as well, so it is searched as it is stored. */
function withPlainValue(outcome: Outcome): Outcome {
  return outcome.status === 'ok' ? { ...outcome, value: toPlainValue(outcome.value) } : outcome;
}
