import { isDeepStrictEqual } from 'node:util';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { lockAgent } from '../agents/lock-agent.ts';
import { ApiError } from '../api-error.ts';
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

/**
 * The id of the event of a command that was given with this key before. Undefined if there is none. Throws if the key was used for
 * another command or another input: the answer to that one would be taken for the answer to this one.
 */
export async function findCommand(
  tx: Tx,
  { threadId, name, input, instanceId, idempotencyKey }: Omit<NewCommand, 'agentId'>,
): Promise<string | undefined> {
  if (idempotencyKey === undefined) return undefined;
  plainText(idempotencyKey, 'idempotencyKey', { min: 1, max: 180 });
  const eventId = idOf(idempotencyKey);
  const event = await tx.db
    .selectFrom('inbox_events')
    .select('payload')
    .where('thread_id', '=', threadId)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  if (event === undefined) return undefined;
  const given = fromJson<Pick<NewCommand, 'name' | 'input' | 'instanceId'>>(event.payload);
  if (given.name !== name)
    throw new ApiError('idempotency_key_reused', `This idempotency key was used for the command "${given.name}".`);
  const isOtherInstance = given.instanceId !== instanceId;
  if (isOtherInstance || !isDeepStrictEqual(given.input, fromJson(toJson(input))))
    throw new ApiError(
      'idempotency_key_reused',
      `This idempotency key was used for the same command with another ${isOtherInstance ? 'instanceId' : 'input'}.`,
    );
  return eventId;
}

function idOf(idempotencyKey: string): string {
  return `command:${idempotencyKey}`;
}

/** Puts a command into the inbox. It runs before the machine's next step. Returns the id of its event. */
export async function pushCommand(tx: Tx, command: NewCommand): Promise<{ eventId: string; duplicate: boolean }> {
  const { agentId, threadId, name, input, instanceId, idempotencyKey = newId() } = command;
  plainText(idempotencyKey, 'idempotencyKey', { min: 1, max: 180 });
  const came = Buffer.byteLength(toJson(input));
  if (came > tx.limits.resultBytes)
    throw tooLarge('input', { limit: tx.limits.resultBytes, came, unit: 'bytes of JSON' });
  const agent = await lockAgent(tx, agentId, 'inbox');
  const eventId = idOf(idempotencyKey);
  const event = { type: 'command', name, input, ...(instanceId === undefined ? {} : { instanceId }) } as const;
  const isNew = await pushEvent(tx, { threadId, eventId, event });
  // Another request stored a command with this key after this one looked for it.
  if (!isNew) await findCommand(tx, { ...command, idempotencyKey });
  else {
    const limit = inboxLimit(agent, tx.limits);
    if ((await countWaiting(tx.db, threadId)) > limit) throw inboxFull(threadId, limit);
  }
  return { eventId, duplicate: !isNew };
}
