import { canBeGranted } from '../grants/granted-definition.ts';
import type { CardCall } from '../spaces/card-call.ts';
import { toDisplay } from './display.ts';
import type { OpenedWait } from './open-wait.ts';

/** What the space sees of the call. It matches the row of the waiting call. */
export function toCardCall(opened: OpenedWait, round: number | undefined): CardCall {
  const { kind, display, answeredBy, resultSchema, inputSchema, expiresAt, askedDefinition = null } = opened;
  const schema = kind === 'approval' ? inputSchema : resultSchema;
  return {
    kind,
    ...(display === undefined ? {} : { display: toDisplay(display) }),
    ...(schema === undefined ? {} : { resultSchema: schema }),
    ...(answeredBy === undefined ? {} : { answerers: answeredBy }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(round === undefined ? {} : { round }),
    ...(kind !== 'approval' || canBeGranted(askedDefinition) ? {} : { mayGrant: false }),
  };
}
