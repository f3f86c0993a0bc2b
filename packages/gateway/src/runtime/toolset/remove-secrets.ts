import type { Middleware, Outcome, TurnEvent } from '@lastcall/core';
import { toPlainValue } from '@lastcall/core/internal';
import { KnownSecrets } from '../../telemetry/known-secrets.ts';
import type { WorkerRegistry } from './registry.ts';

/** The secrets that this process knows. */
export function secretsOf({ outgoing }: Pick<WorkerRegistry, 'outgoing'>): KnownSecrets {
  return outgoing?.secrets.known ?? NO_SECRETS;
}

const NO_SECRETS = new KnownSecrets();

/** Removes the process's secrets from the outcome of a call, for every kind of tool, before anything else sees it. */
export function removeSecrets(secrets: KnownSecrets): Middleware {
  return {
    name: 'remove-secrets',
    outcome: (outcome) => (secrets.isEmpty ? outcome : secrets.removeFromAll(withPlainValue(outcome))),
  };
}

/** Removes them from the progress that a tool reports. */
export function withoutSecrets(event: TurnEvent, secrets: KnownSecrets): TurnEvent {
  if (event.type !== 'tool-call.progress' || secrets.isEmpty) return event;
  return { ...event, value: secrets.removeFromAll(toPlainValue(event.value)) };
}

/**
 * The contents of a `Map` or a class instance are stored too, so the value is searched in the form in which it is
 * stored.
 */
function withPlainValue(outcome: Outcome): Outcome {
  return outcome.status === 'ok' ? { ...outcome, value: toPlainValue(outcome.value) } : outcome;
}
