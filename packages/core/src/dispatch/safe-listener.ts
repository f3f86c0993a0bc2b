import type { Logger } from '../logger.ts';

/** A listener that cannot hurt: what it throws, at once or later, is reported. Undefined where nobody listens. */
export function safeListener<E extends { readonly type: string }>(
  listener: ((event: E) => unknown) | undefined,
  logger: Logger,
): ((event: E) => void) | undefined {
  if (listener === undefined) return undefined;
  return (event) => {
    const report = (error: unknown): void =>
      logger.error(`A listener to "${event.type}" threw. What it was told of is not affected.`, error);
    try {
      const answer = listener(event);
      if (answer instanceof Promise) answer.catch(report);
    } catch (error) {
      report(error);
    }
  };
}
