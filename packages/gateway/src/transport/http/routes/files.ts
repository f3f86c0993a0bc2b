import type { Kysely } from 'kysely';
import { z } from 'zod';
import { type AgentLimits, resolveAgentLimits } from '../../../config/agent-limits.ts';
import { definitionNamed } from '../../../config/definitions.ts';
import { type Agent, findAgent, getAgent } from '../../../domain/agents/agent.ts';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import { agentOfConversation } from '../../../domain/conversations/conversation.ts';
import { getFile, putFile, removeFile } from '../../../domain/files/change-file.ts';
import { type FileChanger, listFiles } from '../../../domain/files/stored-file.ts';
import { lockRows } from '../../../ports/store/lock-rows.ts';
import type { Tables } from '../../../ports/store/schema/tables.ts';
import type { Tx } from '../../../ports/store/store.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { secretsOf } from '../../../runtime/toolset/remove-secrets.ts';
import type { Caller } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';

const changerSchema = z
  .union([
    z.strictObject({ callId: z.string(), runId: z.string() }),
    z.strictObject({ entityId: z.string() }),
    z.strictObject({ keyId: z.string() }),
    z.strictObject({ sessionId: z.string() }),
  ])
  .meta({ description: 'The call, the entity, the key or the browser session that wrote it last.' });

const fileFields = {
  path: z.string(),
  size: z.int().meta({ description: 'In bytes of UTF-8.' }),
  changedAt: z.int(),
  changedBy: changerSchema,
};

const fileSchema = z.strictObject(fileFields).meta({ id: 'AgentFile', description: 'A text file of an agent.' });

const fileContentSchema = z
  .strictObject({ ...fileFields, content: z.string() })
  .meta({ id: 'AgentFileContent', description: 'A text file of an agent, with its text.' });

const inConversation = z.strictObject({
  contextId: idField.optional().meta({ description: 'For a file of one of its conversations.' }),
});

const PATH = '/api/agents/{id}/files/{path}';

/** The files that the tools of an agent read and write. */
export function fileEndpoints(registry: Registry): readonly Endpoint[] {
  const secrets = secretsOf(registry);
  return [
    endpoint({
      method: 'get',
      path: '/api/agents/{id}/files',
      summary: "List an agent's files by path",
      description: 'With `contextId`, those of one of its conversations.',
      access: 'key',
      query: z.strictObject({ ...pageFields, ...inConversation.shape }),
      answer: pageOf(fileSchema),
      async handle({ params, query: { contextId, ...page } }, tx) {
        await findAgent(tx.db, params.id);
        return await listFiles(tx.db, await threadOf(tx.db, params.id, contextId), page);
      },
    }),
    endpoint({
      method: 'get',
      path: PATH,
      hasRestPath: true,
      hasTextForm: true,
      summary: "Get one of an agent's files",
      description: 'With `Accept: text/plain`, the answer is the text of the file.',
      access: 'key',
      query: inConversation,
      answer: fileContentSchema,
      async handle({ params, query }, tx) {
        await findAgent(tx.db, params.id);
        const threadId = await threadOf(tx.db, params.id, query.contextId);
        const { text, ...file } = await getFile(tx, { threadId, path: params.path });
        return { ...file, content: secrets.removeFrom(text) };
      },
      respond: (file, { request, json }) => (asksForText(request) ? textAnswer(file.content) : json(file)),
    }),
    endpoint({
      method: 'put',
      path: PATH,
      hasRestPath: true,
      hasTextForm: true,
      summary: "Create or replace one of an agent's files",
      description:
        'A body that is not sent as `application/json` is the text of the file. A run that is under way sees the file with its next read; if a call of the run writes it too, the write that is stored last stays.',
      access: 'key',
      query: inConversation,
      body: z.strictObject({ content: z.string() }),
      answer: fileSchema,
      refusals: [409],
      async handle({ caller, params, query, body: { content } }, tx) {
        const change = await changeOf(tx, { caller, params, contextId: query.contextId });
        const limits = limitsForFiles(await getAgent(tx.db, params.id), registry);
        return await putFile(tx, change, { content, limits });
      },
    }),
    endpoint({
      method: 'delete',
      path: PATH,
      hasRestPath: true,
      summary: "Delete one of an agent's files",
      access: 'key',
      query: inConversation,
      answer: z.strictObject({ path: z.string() }),
      async handle({ caller, params, query }, tx) {
        const change = await changeOf(tx, { caller, params, contextId: query.contextId });
        return { path: await removeFile(tx, change) };
      },
    }),
  ];
}

async function threadOf(db: Kysely<Tables>, agentId: string, contextId: string | undefined): Promise<string> {
  if (contextId === undefined) return agentId;
  if ((await agentOfConversation(db, contextId)) !== agentId) throw notFound('conversation', contextId);
  return contextId;
}

interface Asked {
  readonly caller: Caller;
  readonly params: { readonly id: string; readonly path: string };
  readonly contextId: string | undefined;
}

async function changeOf(
  tx: Tx,
  { caller, params, contextId }: Asked,
): Promise<{ threadId: string; path: string; by: FileChanger }> {
  await lockRows(tx, { threads: [contextId ?? params.id] });
  await findAgent(tx.db, params.id);
  return { threadId: await threadOf(tx.db, params.id, contextId), path: params.path, by: changerOf(caller) };
}

/** The person that a browser is signed in for, or else the key that was used. */
function changerOf(caller: Caller): FileChanger {
  if (caller.kind === 'key') return { keyId: caller.keyId };
  if (caller.kind === 'entity') return { entityId: caller.entityId };
  if (caller.kind === 'anonymous') throw new Error('Every caller of this endpoint has credentials.');
  if (caller.entityId !== undefined) return { entityId: caller.entityId };
  return caller.keyId === undefined ? { sessionId: caller.sessionId } : { keyId: caller.keyId };
}

/** Throws if the agent's tools could never read what is written. */
function limitsForFiles({ config }: Agent, { definitions = {}, agentLimits }: Registry): AgentLimits {
  const definition = config.definition === undefined ? undefined : definitionNamed(config.definition, definitions);
  if (definition?.files !== true)
    throw new ApiError('no_files', 'This agent has no files. Its definition needs files: true.');
  return resolveAgentLimits(config.limits, agentLimits);
}

function asksForText({ headers }: Request): boolean {
  const accepted = headers.get('accept') ?? '';
  return /\btext\/plain\b/i.test(accepted) && !/\bapplication\/json\b/i.test(accepted);
}

/** A text of a tool is never shown as a page of the gateway's origin. */
function textAnswer(text: string): Response {
  return new Response(text, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    },
  });
}
