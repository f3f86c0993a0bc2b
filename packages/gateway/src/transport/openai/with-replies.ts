import type { Kysely } from 'kysely';
import { ifNotFound } from '../../domain/api-error.ts';
import { getConversation } from '../../domain/conversations/conversation.ts';
import { responsesOfRuns } from '../../domain/conversations/run-answer.ts';
import { isId } from '../../domain/entities/column-text.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { TurnCaller } from '../../runtime/chat/turn-request.ts';
import type { Item, ReplyReference } from './items.ts';

/** The items with the stored texts of the replies that the client only names. Throws 422 for one that the caller must not see. */
export async function withReplies(
  db: Kysely<Tables>,
  items: readonly (Item | ReplyReference)[],
  caller: TurnCaller,
): Promise<readonly Item[]> {
  const named = new Set(items.flatMap((item) => (item.kind === 'reference' && isId(item.runId) ? [item.runId] : [])));
  if (!items.some(({ kind }) => kind === 'reference')) return items as readonly Item[];
  const found = await responsesOfRuns(db, [...named]);
  const visible = await visibleAmong(db, new Set([...found.values()].map(({ contextId }) => contextId)), caller);
  return items.map((item): Item => {
    if (item.kind !== 'reference') return item;
    const reply = found.get(item.runId);
    if (reply === undefined || !visible.has(reply.contextId))
      throw invalid(item.path, 'is not the id of a stored message of yours: send the message itself.');
    return { kind: 'assistant', text: reply.response };
  });
}

async function visibleAmong(
  db: Kysely<Tables>,
  contextIds: ReadonlySet<string>,
  caller: TurnCaller,
): Promise<ReadonlySet<string>> {
  const visible = new Set<string>();
  for (const contextId of contextIds) {
    if ((await getConversation(db, contextId, caller).catch(ifNotFound)) !== undefined) visible.add(contextId);
  }
  return visible;
}
