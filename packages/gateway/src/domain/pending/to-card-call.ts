import type { CardCall } from '../spaces/card-call.ts';
import { toDisplay } from './display.ts';
import type { OpenedPending } from './open-pending.ts';

/** What the space is told of the call. It is the same that the row of the pending call says. */
export function toCardCall(opened: OpenedPending, round: number | undefined): CardCall {
  const { kind, display, answeredBy, resultSchema, inputSchema, expiresAt } = opened;
  const schema = kind === 'approval' ? inputSchema : resultSchema;
  return {
    kind,
    ...(display === undefined ? {} : { display: toDisplay(display) }),
    ...(schema === undefined ? {} : { resultSchema: schema }),
    ...(answeredBy === undefined ? {} : { answerers: answeredBy }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(round === undefined ? {} : { round }),
  };
}
