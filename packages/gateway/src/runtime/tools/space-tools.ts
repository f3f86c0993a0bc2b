import { fail, ok, type Tool, type ToolContext, type ToolSet, tool } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { spaceReference } from '../../domain/agents/situation-words.ts';
import { ApiError } from '../../domain/api-error.ts';
import { senderInWords } from '../../domain/inbox/inbox-words.ts';
import { textInWords } from '../../domain/plain-words.ts';
import { listMessages } from '../../domain/spaces/list-messages.ts';
import { lockSpace } from '../../domain/spaces/lock-space.ts';
import { listMembers, requireMember } from '../../domain/spaces/membership.ts';
import { findMessageId } from '../../domain/spaces/message-reference.ts';
import { messagesInWords } from '../../domain/spaces/messages-in-words.ts';
import { assertPostable, postMessage } from '../../domain/spaces/post-message.ts';
import { findOwnSpace, listOwnSpaces, type OwnSpace } from '../../domain/spaces/space-reference.ts';
import { assertNotArchived } from '../../domain/spaces/update-space.ts';
import { spaceStream } from '../../domain/streams/stream-names.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { SpaceToolContext } from './built-in-context.ts';
import { orAbsent } from './or-absent.ts';
import { reference } from './reference.ts';
import { wholeNumber } from './whole-number.ts';

const spaceSchema = z.strictObject({ spaceId: reference });
const pageSchema = z.strictObject({
  spaceId: reference,
  offset: orAbsent(wholeNumber({ min: 0, max: 1_000_000_000 })),
  limit: orAbsent(wholeNumber({ min: 1, max: 200 })),
});
interface SentText {
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly final?: boolean | undefined;
}

function messageSchema(characters: number): z.ZodType<SentText> {
  return z.strictObject({
    text: z.string().min(1).max(characters).regex(/\S/),
    replyTo: orAbsent(reference),
    final: orAbsent(z.boolean()),
  });
}

/** How many messages an agent reads when it enters a space. */
const RECENT_MESSAGES = 20;

/** The tools for entering a space, sending messages and reading them. No other tools use spaces. */
export function spaceTools(
  currentContext: CurrentContext,
  { messageCharacters }: { messageCharacters: number },
): ToolSet {
  return {
    enter_space: enterSpace(currentContext),
    send_message: sendMessage(currentContext, messageCharacters),
    read_messages: readMessages(currentContext),
  };
}

type CurrentContext = () => SpaceToolContext;

function enterSpace(currentContext: CurrentContext): Tool<{ spaceId: string }> {
  return tool({
    description: 'Enters a space and shows its last messages.',
    inputSchema: spaceSchema,
    effects: 'session',
    async execute({ spaceId: reference }, ctx) {
      const context = currentContext();
      const { agent, read, stage, forked } = context;
      return await failOnApiError(async () => {
        const { text, ...entered } = await read((db) =>
          readSpace(db, agent.entityId, { reference, asOf: forked?.asOf }),
        );
        const { spaceId } = entered;
        // Read now: when the write is applied, the call is settled, and the position has already changed.
        const { announcedSpaceId } = context.position();
        const entering = { kind: 'space', name: spaceId, count: 1, sample: 'entered' };
        stage(ctx, (tx) => moveTo(context, tx, { from: announcedSpaceId, to: spaceId }), [entering]);
        return ok(entered, text, { excludeValueFromContext: true });
      });
    },
  }) as Tool<{ spaceId: string }>;
}

/** What an agent reads of a space that it enters: `Space 2 (Invoices): …`, its members, and its last messages. */
async function readSpace(
  db: Kysely<Tables>,
  entityId: string,
  { reference, asOf }: { readonly reference: string; readonly asOf: number | undefined },
): Promise<{ readonly spaceId: string; readonly name: string; readonly text: string }> {
  const space = await findOwnSpace(db, entityId, reference);
  const { spaceId } = space;
  // A fork reads its spaces as they were. A draft reads them as they are.
  const wasArchived = space.archivedAt !== null && space.archivedAt <= (asOf ?? Infinity);
  if (wasArchived) assertNotArchived({ ...space, id: spaceId, archived_at: space.archivedAt });
  const { items: members, next } = await listMembers(db, { spaceId, limit: 100 });
  const before = asOf === undefined ? undefined : (await lastSeqAt(db, spaceId, asOf)) + 1;
  const { items: messages } = await listMessages(db, { spaceId, before, limit: RECENT_MESSAGES });
  const named = members.map(({ displayName: name, kind }) => senderInWords({ name, kind }));
  const others = next === undefined ? '' : ', and others';
  const lines = [titleOf(space), `Members: ${named.join(', ')}${others}`, ...(await messagesInWords(db, messages))];
  return { spaceId, name: space.name, text: lines.join('\n') };
}

function titleOf(space: OwnSpace): string {
  const { description } = space;
  return `Space ${spaceReference({ ...space })}${description === '' ? '' : `: ${textInWords(description)}`}`;
}

async function moveTo(
  { runId, agent }: SpaceToolContext,
  tx: Tx,
  { from, to: spaceId }: { from: string | null; to: string },
): Promise<void> {
  // The lock makes a removal of the member wait for us, or lets us see it. Without it, a space could stay active
  // although the agent is no longer a member.
  assertNotArchived(await lockSpace(tx, spaceId));
  await requireMember(tx.db, spaceId, agent.entityId);
  await tx.db.updateTable('agents').set({ active_space_id: spaceId }).where('id', '=', agent.id).execute();
  if (from !== spaceId) {
    const payload = { runId, entityId: agent.entityId };
    await tx.db.updateTable('runs').set({ active_in: spaceId }).where('id', '=', runId).execute();
    if (from !== null) tx.emit({ stream: spaceStream(from), type: 'agent.inactive', payload });
    tx.emit({ stream: spaceStream(spaceId), type: 'agent.active', payload });
  }
}

function sendMessage(currentContext: CurrentContext, characters: number): Tool<SentText> {
  return tool({
    description: 'Posts in your active space. final: true ends the run.',
    inputSchema: messageSchema(characters),
    effects: 'session',
    async execute({ text, replyTo: reply, final = false }, ctx: ToolContext) {
      const { services, agent, runId, position, read, stage, nodeOf, whyNotFinal } = currentContext();
      const spaceId = position().activeSpaceId;
      if (spaceId === null)
        return fail(`You have no active space. ${await read((db) => listEnterable(db, agent.entityId))}`, {
          code: 'no_active_space',
        });
      return await failOnApiError(async () => {
        const replyTo = await read(async (db) => {
          await requireMember(db, spaceId, agent.entityId);
          const found = reply === undefined ? undefined : await findMessageId(db, spaceId, reply);
          await assertPostable(services, db, { spaceId, text, replyTo: found });
          return found;
        });
        const messageId = ctx.toolCallId;
        const node = nodeOf?.(messageId);
        const message = { spaceId, entityId: agent.entityId, text, replyTo, messageId, runId };
        const post = async (tx: Tx): Promise<void> => {
          await postMessage(services, tx, node === undefined ? message : { ...message, metadata: { node } });
        };
        stage(ctx, post, [{ kind: 'message', name: spaceId, count: 1, sample: text }]);
        const sent = { messageId, spaceId, ...(replyTo === undefined ? {} : { replyTo }) };
        const why = final ? whyNotFinal?.(messageId) : undefined;
        if (!final || why !== undefined)
          return ok(sent, why === undefined ? 'Sent.' : `Sent. ${why}`, { excludeValueFromContext: true });
        const end = 'Sent. The run ends if all calls of this reply succeed.';
        return ok(sent, end, { final: true, excludeValueFromContext: true });
      });
    },
  }) as Tool<SentText>;
}

async function listEnterable(db: Kysely<Tables>, entityId: string): Promise<string> {
  const spaces = await listOwnSpaces(db, entityId);
  return spaces.startsWith('You are not')
    ? 'You cannot enter one: you are not a member of any space.'
    : `Call enter_space first. ${spaces}`;
}

function readMessages(
  currentContext: CurrentContext,
): Tool<{ spaceId: string; offset?: number | undefined; limit?: number | undefined }> {
  return tool({
    description: 'Reads messages, newest first.',
    inputSchema: pageSchema,
    effects: 'none',
    async execute({ spaceId: reference, offset = 0, limit = RECENT_MESSAGES }) {
      const { agent, read, forked } = currentContext();
      const readPage = async (db: Kysely<Tables>): Promise<string> => {
        const { spaceId } = await findOwnSpace(db, agent.entityId, reference);
        const next =
          forked === undefined ? await nextSeq(db, spaceId) : (await lastSeqAt(db, spaceId, forked.asOf)) + 1;
        // Message numbers have no gaps, so an offset from the newest message is a number.
        const before = next - offset;
        const { items } = before <= 1 ? { items: [] } : await listMessages(db, { spaceId, before, limit });
        const lines = await messagesInWords(db, items.toReversed());
        // Checked again after reading: an agent that was removed in the meantime must not read later messages.
        await requireMember(db, spaceId, agent.entityId);
        return lines.length === 0 ? 'No messages.' : lines.join('\n');
      };
      return await failOnApiError(() => read(readPage));
    },
  }) as Tool<{ spaceId: string; offset?: number | undefined; limit?: number | undefined }>;
}

async function nextSeq(db: Kysely<Tables>, spaceId: string): Promise<number> {
  const newest = await db.selectFrom('spaces').select('next_seq').where('id', '=', spaceId).executeTakeFirst();
  return newest?.next_seq ?? 1;
}

/** The number of the newest message at that time. */
async function lastSeqAt(db: Kysely<Tables>, spaceId: string, at: number): Promise<number> {
  const newest = await db
    .selectFrom('messages')
    .select('seq')
    .where('space_id', '=', spaceId)
    .where('created_at', '<=', at)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.seq ?? 0;
}

/** Turns an API error into a failed result, so that the model reads the API's message. */
async function failOnApiError<T>(work: () => Promise<T>): Promise<T | ReturnType<typeof fail>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return fail(error.message, { code: error.code });
    throw error;
  }
}
