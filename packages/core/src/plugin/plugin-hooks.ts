import { assertMiddleware } from '../contract/middleware.ts';
import type { FinishedStep } from '../contract/turn-settings.ts';
import { PluginError } from '../errors.ts';
import { isPolicy, POLICIES } from '../policies/policy.ts';
import { describeError } from '../results/describe-error.ts';
import type { TurnOptions } from '../turn/turn-options.ts';

/** Hooks of a plugin around the agent's turns, in every mode. The same fields as a turn's. */
export type PluginHooks = Readonly<Pick<TurnOptions, 'policies' | 'middleware' | 'onStepFinish'>>;

/** Combines the hooks of all plugins: policies and middleware in the plugins' order, and every listener is called. */
export function joinHooks(all: readonly PluginHooks[]): PluginHooks {
  const policies = all.flatMap((one) => one.policies ?? []);
  const middleware = all.flatMap((one) => one.middleware ?? []);
  const listeners = all.flatMap((one) => (one.onStepFinish === undefined ? [] : [one.onStepFinish]));
  return {
    ...(policies.length === 0 ? {} : { policies }),
    ...(middleware.length === 0 ? {} : { middleware }),
    ...(listeners.length === 0 ? {} : { onStepFinish: (step: FinishedStep) => tellAll(listeners, step) }),
  };
}

/** If one listener fails, at once or later, the others are still called; the first error is thrown to the turn. */
function tellAll(listeners: readonly ((step: FinishedStep) => unknown)[], step: FinishedStep): unknown {
  const failures: unknown[] = [];
  const told: Promise<unknown>[] = [];
  for (const listener of listeners) {
    try {
      const answer = listener(step);
      if (answer instanceof Promise) told.push(answer.catch((error: unknown) => void failures.push(error)));
    } catch (error) {
      failures.push(error);
    }
  }
  const report = (): void => {
    if (failures.length > 0) throw failures[0];
  };
  return told.length === 0 ? report() : Promise.all(told).then(report);
}

const KNOWN = ['policies', 'middleware', 'onStepFinish'];

export function assertHooks(plugin: string, hooks: unknown): asserts hooks is PluginHooks {
  if (typeof hooks !== 'object' || hooks === null) throw new PluginError({ plugin }, 'hooks must be an object.');
  // An unknown hook would never be called, so its rule would not hold.
  const unknown = Object.keys(hooks).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined)
    throw new PluginError({ plugin }, `hooks.${unknown} is not known; known are ${KNOWN.join(', ')}.`);
  const { policies = [], middleware = [], onStepFinish } = hooks as Record<string, unknown>;
  if (!Array.isArray(policies) || !policies.every(isPolicy))
    throw new PluginError({ plugin }, `hooks.policies ${POLICIES}.`);
  try {
    assertMiddleware(middleware, 'hooks.middleware');
  } catch (cause) {
    throw new PluginError({ plugin }, describeError(cause).message, { cause });
  }
  if (onStepFinish !== undefined && typeof onStepFinish !== 'function')
    throw new PluginError({ plugin }, 'hooks.onStepFinish must be a function.');
}
