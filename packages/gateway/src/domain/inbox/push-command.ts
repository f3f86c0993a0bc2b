import type { Kysely } from 'kysely';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { lockAgent } from '../agents/lock-agent.ts';
import { plainText } from '../entities/column-text.ts';
import { tooLarge } from '../entities/invalid.ts';
import { newId } from '../new-id.ts';
import { countWaiting, inboxFull, inboxLimit } from './inbox-capacity.ts';
import { pushEvent } from './push-event.ts';

export interface NewCommand {
  readonly agentId: string;
  /** The agent's own thread, or that of one of its conversations. */
  readonly threadId: string;
  readonly name: string;
  readonly input: unknown;
  readonly instanceId?: string | undefined;
  /** The same key again is the same command. Default: a new one. */
  readonly idempotencyKey?: string | undefined;
}

/** Puts a command into the inbox. It runs before the machine's next step. Returns the id of its event. */
export async function pushCommand(tx: Tx, command: NewCommand): Promise<{ eventId: string; duplicate: boolean }> {
  const { agentId, threadId, name, input, instanceId, idempotencyKey = newId() } = command;
  checkKey(idempotencyKey);
  const came = Buffer.byteLength(toJson(input));
  if (came > tx.limits.resultBytes)
    throw tooLarge('input', { limit: tx.limits.resultBytes, came, unit: 'bytes of JSON' });
  const agent = await lockAgent(tx, agentId, 'inbox');
  const eventId = eventIdOf(idempotencyKey);
  const event = { type: 'command', name, input, ...(instanceId === undefined ? {} : { instanceId }) } as const;
  const isNew = await pushEvent(tx, { threadId, eventId, event });
  if (isNew) {
    const limit = inboxLimit(agent, tx.limits);
    if ((await countWaiting(tx.db, threadId)) > limit) throw inboxFull(threadId, limit);
  }
  return { eventId, duplicate: !isNew };
}

/** Whether a command with this key is in the inbox, or was. */
export async function isCommandGiven(
  db: Kysely<Tables>,
  { threadId, idempotencyKey }: { readonly threadId: string; readonly idempotencyKey: string | undefined },
): Promise<boolean> {
  if (idempotencyKey === undefined) return false;
  checkKey(idempotencyKey);
  const event = await db
    .selectFrom('inbox_events')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('event_id', '=', eventIdOf(idempotencyKey))
    .executeTakeFirst();
  return event !== undefined;
}

/** No column takes a text with NUL. */
function checkKey(idempotencyKey: string): void {
  plainText(idempotencyKey, 'idempotencyKey', { min: 1, max: 180 });
}

function eventIdOf(idempotencyKey: string): string {
  return `command:${idempotencyKey}`;
}
