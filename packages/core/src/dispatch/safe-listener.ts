import type { Logger } from '../logger.ts';

/**
 * A listener that cannot do harm: errors that it throws, at once or later, are logged. Undefined if there is no
 * listener.
 */
export function safeListener<E extends { readonly type: string }>(
  listener: ((event: E) => unknown) | undefined,
  logger: Logger,
): ((event: E) => void) | undefined {
  if (listener === undefined) return undefined;
  return (event) => {
    const report = (error: unknown): void =>
      logger.error(`A listener to "${event.type}" threw. The call or turn is not affected.`, error);
    try {
      const answer = listener(event);
      if (answer instanceof Promise) answer.catch(report);
    } catch (error) {
      report(error);
    }
  };
}
