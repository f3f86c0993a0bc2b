import { fail, ok, type Tool, type ToolContext, type ToolSet, tool } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { ApiError } from '../../domain/api-error.ts';
import { listMessages } from '../../domain/spaces/list-messages.ts';
import { lockSpace } from '../../domain/spaces/lock-space.ts';
import { listMembers, requireMember } from '../../domain/spaces/membership.ts';
import { assertPostable, postMessage } from '../../domain/spaces/post-message.ts';
import { getSpace, listSpaces } from '../../domain/spaces/space.ts';
import { spaceStream } from '../../domain/streams/stream-names.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { SpaceToolContext } from './built-in-context.ts';

const spaceSchema = z.strictObject({ spaceId: z.string().min(1).max(200) });
const pageSchema = z.strictObject({
  spaceId: z.string().min(1).max(200),
  offset: z.int().min(0).max(1_000_000_000).optional(),
  limit: z.int().min(1).max(200).optional(),
});
interface SentText {
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly final?: boolean | undefined;
}

function messageSchema(characters: number): z.ZodType<SentText> {
  return z.strictObject({
    text: z.string().min(1).max(characters).regex(/\S/),
    replyTo: z.string().min(1).max(200).optional(),
    final: z.boolean().optional(),
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
    description: 'Enter one of your spaces: it becomes your active space. Returns its recent messages and its members.',
    inputSchema: spaceSchema,
    effects: 'session',
    async execute({ spaceId }, ctx) {
      const context = currentContext();
      const { agent, read, stage } = context;
      return await failOnApiError(async () => {
        const entered = await read(async (db) => {
          await requireMember(db, spaceId, agent.entityId);
          const { id, name, description } = await getSpace(db, spaceId);
          const { items: members } = await listMembers(db, { spaceId, limit: 100 });
          const { items: messages } = await listMessages(db, { spaceId, limit: RECENT_MESSAGES });
          return { spaceId: id, name, description, members, messages };
        });
        // Read now: when the write is applied, the call is settled, and the position has already changed.
        const { announcedSpaceId } = context.position();
        const entering = { kind: 'space', name: spaceId, count: 1, sample: 'entered' };
        stage(ctx, (tx) => moveTo(context, tx, { from: announcedSpaceId, to: spaceId }), [entering]);
        return entered;
      });
    },
  }) as Tool<{ spaceId: string }>;
}

async function moveTo(
  { runId, agent }: SpaceToolContext,
  tx: Tx,
  { from, to: spaceId }: { from: string | null; to: string },
): Promise<void> {
  // The lock makes a removal of the member wait for us, or lets us see it. Without it, a space could stay active
  // although the agent is no longer a member.
  await lockSpace(tx, spaceId);
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
    description:
      'Send a message to your active space. replyTo is the id of a message in it. final: true ends the run if all calls of this reply succeed.',
    inputSchema: messageSchema(characters),
    effects: 'session',
    async execute({ text, replyTo, final = false }, ctx: ToolContext) {
      const { services, agent, runId, position, read, stage, nodeOf, whyNotFinal } = currentContext();
      const spaceId = position().activeSpaceId;
      if (spaceId === null)
        return fail(`You have no active space. ${await read((db) => listEnterable(db, agent.entityId))}`, {
          code: 'no_active_space',
        });
      return await failOnApiError(async () => {
        await read(async (db) => {
          await requireMember(db, spaceId, agent.entityId);
          await assertPostable(services, db, { spaceId, text, replyTo });
        });
        const messageId = ctx.toolCallId;
        const node = nodeOf?.(messageId);
        const message = { spaceId, entityId: agent.entityId, text, replyTo, messageId, runId };
        const post = async (tx: Tx): Promise<void> => {
          await postMessage(services, tx, node === undefined ? message : { ...message, metadata: { node } });
        };
        stage(ctx, post, [{ kind: 'message', name: spaceId, count: 1, sample: text }]);
        const sent = { messageId, spaceId };
        if (!final) return sent;
        const why = whyNotFinal?.(messageId);
        return why === undefined
          ? ok(sent, 'Sent. The run ends if all calls of this reply succeed.', { final: true })
          : ok(sent, `Sent. ${why}`);
      });
    },
  }) as Tool<SentText>;
}

async function listEnterable(db: Kysely<Tables>, entityId: string): Promise<string> {
  const { items } = await listSpaces(db, { entityId, limit: 50 });
  if (items.length === 0) return 'You cannot enter one: you are not a member of any space.';
  return `Call enter_space first, with one of these: ${items.map(({ id, name }) => `${id} (${JSON.stringify(name)})`).join(', ')}.`;
}

function readMessages(
  currentContext: CurrentContext,
): Tool<{ spaceId: string; offset?: number | undefined; limit?: number | undefined }> {
  return tool({
    description: 'Read messages of one of your spaces, newest first: offset skips that many of the newest.',
    inputSchema: pageSchema,
    effects: 'none',
    async execute({ spaceId, offset = 0, limit = RECENT_MESSAGES }) {
      const { agent, read } = currentContext();
      const readPage = async (db: Kysely<Tables>): Promise<object> => {
        await requireMember(db, spaceId, agent.entityId);
        const newest = await db.selectFrom('spaces').select('next_seq').where('id', '=', spaceId).executeTakeFirst();
        // Message numbers have no gaps, so an offset from the newest message is a number.
        const before = (newest?.next_seq ?? 1) - offset;
        const { items } = before <= 1 ? { items: [] } : await listMessages(db, { spaceId, before, limit });
        // Checked again after reading: an agent that was removed in the meantime must not read later messages.
        await requireMember(db, spaceId, agent.entityId);
        return { spaceId, messages: items.toReversed() };
      };
      return await failOnApiError(() => read(readPage));
    },
  }) as Tool<{ spaceId: string; offset?: number | undefined; limit?: number | undefined }>;
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
