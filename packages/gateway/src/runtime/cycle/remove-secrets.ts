import type { Middleware, Outcome, TurnEvent } from '@lastcall/core';
import { asJson } from '../../ports/store/json.ts';
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
    outcome: (outcome) => (secrets.isEmpty ? outcome : secrets.removeFromAll(withJsonValue(outcome))),
  };
}

/** Removes them from what a tool reports while it runs. */
export function withoutSecrets(event: TurnEvent, secrets: KnownSecrets): TurnEvent {
  if (event.type !== 'tool-call.progress' || secrets.isEmpty) return event;
  return { ...event, value: secrets.removeFromAll(asJson(event.value)) };
}

/** A value that contains itself could not be searched to its end. */
function withJsonValue(outcome: Outcome): Outcome {
  return outcome.status === 'ok' ? { ...outcome, value: asJson(outcome.value) } : outcome;
}
