import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { settlesWithin } from '../settles-within.ts';
import type { AnyResource } from './resource.ts';

/** A disposal that hangs must not hang what waits for it; this is far above what a normal one takes. */
export const DISPOSE_MS = 5_000;

/** A resource, and what its `create` returned. */
interface Created {
  readonly resource: AnyResource;
  readonly value: unknown;
}

interface Disposing {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly withinMs: number;
}

/**
 * Disposes of all, newest first, within one time limit. A disposal that fails or hangs is logged and does not stop
 * the others.
 */
export async function disposeResources(all: readonly Created[], { clock, logger, withinMs }: Disposing): Promise<void> {
  if (all.length === 0) return;
  const end = clock.now() + withinMs;
  for (const { resource, value } of [...all].reverse()) {
    const report = (error: unknown): void =>
      logger.error(`Resource "${resource.key}" could not be disposed of.`, error);
    const disposal = disposeOne(resource, value).catch(report);
    const left = Math.max(0, end - clock.now());
    if (!(await settlesWithin(clock, left, disposal))) report(new Error(`dispose took over ${withinMs} ms`));
  }
}

async function disposeOne(resource: AnyResource, value: unknown): Promise<void> {
  if (resource.dispose !== undefined) await resource.dispose((await value) as never);
}
