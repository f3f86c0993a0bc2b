import { fail, type Tool, type ToolContext, type ToolSet, tool } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { ApiError } from '../../domain/api-error.ts';
import { listMessages } from '../../domain/spaces/list-messages.ts';
import { lockSpace } from '../../domain/spaces/lock-space.ts';
import { listMembers, requireMember } from '../../domain/spaces/membership.ts';
import { assertPostable, postMessage } from '../../domain/spaces/post-message.ts';
import { getSpace, listSpaces } from '../../domain/spaces/space.ts';
import { emit, spaceChannel } from '../../domain/streams/emit.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Tables } from '../../ports/store/tables.ts';
import type { Cycle } from '../cycle/cycle.ts';
import type { CycleContext, RunningCycle } from '../cycle/cycle-context.ts';

const spaceSchema = z.strictObject({ spaceId: z.string().min(1).max(200) });
const pageSchema = z.strictObject({
  spaceId: z.string().min(1).max(200),
  offset: z.int().min(0).max(1_000_000_000).optional(),
  limit: z.int().min(1).max(200).optional(),
});
function messageSchema(characters: number): z.ZodType<{ text: string; replyTo?: string | undefined }> {
  return z.strictObject({
    text: z.string().min(1).max(characters).regex(/\S/),
    replyTo: z.string().min(1).max(200).optional(),
  });
}

/** How much of a space's history an agent reads when it enters. */
const RECENT = 20;

/** The tools by which an agent moves, speaks and reads. The only ones that know of spaces. */
export function spaceTools(here: Here, { messageCharacters }: { messageCharacters: number }): ToolSet {
  return {
    enter_space: enterSpace(here),
    send_message: sendMessage(here, messageCharacters),
    read_messages: readMessages(here),
  };
}

type Here = () => RunningCycle;

function enterSpace(here: Here): Tool<{ spaceId: string }> {
  return tool({
    description: 'Enter one of your spaces: it becomes your active space. Gives its recent messages and who is there.',
    inputSchema: spaceSchema,
    effects: 'session',
    async execute({ spaceId }, ctx) {
      const { services, agent, cycle, read, stage } = here();
      return await orFail(async () => {
        const entered = await read(async (db) => {
          await requireMember(db, spaceId, agent.entityId);
          const { id, name, description } = await getSpace(db, spaceId);
          const { items: members } = await listMembers(db, { spaceId, limit: 100 });
          const { items: messages } = await listMessages(db, { spaceId, limit: RECENT });
          return { spaceId: id, name, description, members, messages };
        });
        stage(ctx, (tx) => moveTo(services, tx, cycle, spaceId));
        return entered;
      });
    },
  }) as Tool<{ spaceId: string }>;
}

async function moveTo(services: CycleContext['services'], tx: Tx, cycle: Cycle, spaceId: string): Promise<void> {
  const { runId, agent, announcedSpaceId } = cycle;
  // A removal waits for this or is seen by it: otherwise it could leave a space active that the agent is no longer in.
  await lockSpace(tx, spaceId);
  await requireMember(tx.db, spaceId, agent.entityId);
  await tx.db.updateTable('agents').set({ active_space_id: spaceId }).where('id', '=', agent.id).execute();
  if (announcedSpaceId !== spaceId) {
    const payload = { runId, entityId: agent.entityId };
    await tx.db.updateTable('runs').set({ active_in: spaceId }).where('id', '=', runId).execute();
    if (announcedSpaceId !== null)
      emit(services, tx, { channel: spaceChannel(announcedSpaceId), type: 'agent.inactive', payload });
    emit(services, tx, { channel: spaceChannel(spaceId), type: 'agent.active', payload });
  }
  tx.afterCommit(() => {
    cycle.activeSpaceId = spaceId;
    cycle.announcedSpaceId = spaceId;
  });
}

function sendMessage(here: Here, characters: number): Tool<{ text: string; replyTo?: string | undefined }> {
  return tool({
    description: 'Send a message to your active space. replyTo is the id of a message in it.',
    inputSchema: messageSchema(characters),
    effects: 'session',
    async execute({ text, replyTo }, ctx: ToolContext) {
      const { services, agent, runId, cycle, read, stage } = here();
      const spaceId = cycle.activeSpaceId;
      if (spaceId === null)
        return fail(`You are in no space. ${await read((db) => available(db, agent.entityId))}`, {
          code: 'no_active_space',
        });
      return await orFail(async () => {
        await read(async (db) => {
          await requireMember(db, spaceId, agent.entityId);
          await assertPostable(services, db, { spaceId, text, replyTo });
        });
        const messageId = ctx.toolCallId;
        stage(ctx, async (tx) => {
          await postMessage(services, tx, { spaceId, entityId: agent.entityId, text, replyTo, messageId, runId });
        });
        return { messageId, spaceId };
      });
    },
  }) as Tool<{ text: string; replyTo?: string | undefined }>;
}

async function available(db: Kysely<Tables>, entityId: string): Promise<string> {
  const { items } = await listSpaces(db, { entityId, limit: 50 });
  if (items.length === 0) return 'There is none you could enter: nobody has made you a member of one.';
  return `Enter one with enter_space first: ${items.map(({ id, name }) => `${id} (${JSON.stringify(name)})`).join(', ')}.`;
}

function readMessages(here: Here): Tool<{ spaceId: string; offset?: number | undefined; limit?: number | undefined }> {
  return tool({
    description: 'Read messages of one of your spaces, newest first: offset skips that many of the newest.',
    inputSchema: pageSchema,
    effects: 'none',
    async execute({ spaceId, offset = 0, limit = RECENT }) {
      const { agent, read } = here();
      const readPage = async (db: Kysely<Tables>): Promise<object> => {
        await requireMember(db, spaceId, agent.entityId);
        const newest = await db.selectFrom('spaces').select('next_seq').where('id', '=', spaceId).executeTakeFirst();
        // Numbers have no gaps: an offset from the newest is a number.
        const before = (newest?.next_seq ?? 1) - offset;
        const { items } = before <= 1 ? { items: [] } : await listMessages(db, { spaceId, before, limit });
        // Again, after it was read: who is taken out of the space meanwhile reads nothing that was said after it.
        await requireMember(db, spaceId, agent.entityId);
        return { spaceId, messages: items.toReversed() };
      };
      return await orFail(() => read(readPage));
    },
  }) as Tool<{ spaceId: string; offset?: number | undefined; limit?: number | undefined }>;
}

/** What cannot be done is told to the model in the words of the API. */
async function orFail<T>(work: () => Promise<T>): Promise<T | ReturnType<typeof fail>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return fail(error.message, { code: error.code });
    throw error;
  }
}
