import type { z } from 'zod';
import type { StreamEvent } from '../../src/ports/bus/bus.ts';
import { jobEventSchema } from '../../src/transport/http/schemas/job-event.ts';
import { runEventSchema } from '../../src/transport/http/schemas/run-event.ts';
import { spaceEventSchema } from '../../src/transport/http/schemas/space-event.ts';

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  space: spaceEventSchema,
  run: runEventSchema,
  jobs: jobEventSchema,
};

/** Throws if an event does not match `/openapi.json` for its stream. */
export function assertDocumentedEvents(events: readonly StreamEvent[]): void {
  for (const { stream, seq, type, at, payload } of events) {
    const checked = SCHEMAS[stream.split(':')[0] ?? '']?.safeParse({ ...(payload as object), seq, type, at });
    if (checked?.success === false)
      throw new Error(`${stream} was told what is not documented: ${type} ${JSON.stringify(payload).slice(0, 1_000)}`);
  }
}
