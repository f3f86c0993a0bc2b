import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node } from '@lastcall/machines';
import { sql } from 'kysely';
import { z } from 'zod';
import { compileDefinition } from '../../src/config/definitions.ts';
import { SEEDED } from '../../src/domain/agents/agent-details.ts';
import { newId } from '../../src/domain/new-id.ts';
import { createArtifactFiles } from '../../src/ports/artifacts/artifact-files.ts';
import { demoEndpoints } from '../../src/transport/http/routes/demo.ts';
import { listen } from '../../src/transport/http/server.ts';
import { type Api, openApi } from '../http/api.ts';
import { openJob } from '../jobs/job-desk.ts';
import { targetTo, webhookTo } from '../notify/desk.ts';
import { rowsWritten } from '../support/rows-written.ts';
import { onSqlite } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

/**
 * The callers of a path. `member` and `stranger` have entity tokens: of a person in the space of the agent, and of one in no space.
 * `person` and `operator` are signed in: with a link for the member, and with the key of an admin. `revoked` has a key that was revoked.
 */
const WITH_SECRETS = ['anonymous', 'member', 'stranger', 'read', 'write', 'admin', 'revoked'] as const;
export const CALLERS = [...WITH_SECRETS, 'person', 'operator'] as const;
export type CallerName = (typeof CALLERS)[number];

/** A gateway whose model replies at once, with a space, a person in it, one who is in none, and objects to request. */
export interface Stage {
  readonly api: Api;
  readonly url: string;
  readonly member: string;
  readonly agent: string;
  /** An agent that has files. */
  readonly filer: string;
  /** An agent that is a machine, with a command "note". */
  readonly machine: string;
  readonly space: string;
  readonly secrets: Readonly<Record<(typeof WITH_SECRETS)[number], string | undefined>>;
  /** The credentials of a caller. For signed-in callers, the cookie of a new session. */
  credentials(caller: CallerName): Promise<Readonly<Record<string, string>>>;
  /** A unique id. */
  name(): string;
  /** A key must say for whom it posts. A token speaks for its entity. */
  onBehalf(caller: CallerName): object;
  create(path: string, body: object): Promise<string>;
  /** A run of the member's that has ended, with one call. */
  run(): Promise<{ runId: string; callId: string }>;
  /** A call with a card in the space. */
  shownCall(): Promise<string>;
  /** A call that waits for a member of the space. */
  waitingCall(): Promise<{ runId: string; callId: string }>;
  /** A notification that has failed. */
  failedNotification(): Promise<string>;
  /** A grant that the member gave. */
  grant(): Promise<string>;
  /** A file of a message in the space. */
  attached(): Promise<string>;
  /** The id of a new session. */
  signIn(): Promise<string>;
  /** A hash of each table, which a refused request must not change. */
  stored(): Promise<Readonly<Record<string, string>>>;
  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export const HOOK_SECRET = 'the secret of a hook';

const note = { description: 'Notes.', inputSchema: z.object({}), execute: () => 'Noted.' };
const desk = { machine: charter({ nodes: { main: node({ instructions: 'Help.', commands: { note } }) } }) };

export async function openStage(): Promise<Stage> {
  const database = await onSqlite.create();
  const world = await openWorld({ database, models: { default: model() }, tools: { look }, definitions: { desk } });
  await world.start();
  const { services, registry, store } = world;
  const folder = await mkdtemp(join(tmpdir(), 'lastcall-rights-'));
  const api = await openApi(database, {
    services,
    registry: { ...registry, definitions: { ...registry.definitions, ...withFiles() } },
    endpoints: demoEndpoints(() => {}),
    hooks: new Map([
      ['forge', { name: 'forge', agent: 'Bot', verify: 'github', secrets: [HOOK_SECRET], answers: undefined }],
    ]),
    targets: new Map([['ops', targetTo(webhookTo('http://127.0.0.1:9'))]]),
    artifacts: createArtifactFiles(folder),
    trustedProxies: ['127.0.0.0/8', '::1/128'],
  });
  const server = await listen(api.app, { port: 0, logger: services.logger });
  const [member, stranger] = [await api.person('Ada'), await api.person('Eve')];
  const agent = await api.agent('Bot', { tools: ['look'] });
  // Hooks name agents of the configuration file.
  const value = JSON.stringify({ agents: { Bot: agent }, spaces: {} });
  await store.db.insertInto('settings').values({ key: SEEDED, value }).execute();
  const space = await api.space(member, agent);
  const filer = await api.agent('Filer', { definition: 'filer' });
  const machine = await api.agent('Desk', { definition: 'desk' });
  const secrets = {
    anonymous: undefined,
    member: await api.tokenOf(member),
    stranger: await api.tokenOf(stranger),
    read: await api.keyWith('read'),
    write: await api.keyWith('write'),
    admin: await api.keyWith('admin'),
    revoked: await revokedKey(api),
  };
  const ownPage = { origin: server.url, 'sec-fetch-site': 'same-origin' };
  const signIn = async (body: object): Promise<Response> => {
    const headers = { 'content-type': 'application/json', ...ownPage };
    return await fetch(`${server.url}/api/session`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const session = async (body: object) => {
    const [cookie = ''] = (await signIn(body)).headers.getSetCookie();
    return { cookie: cookie.split(';', 1)[0] ?? '', ...ownPage };
  };
  let [names, addresses] = [0, 0];
  /** What was stored when the tables were read last. */
  let last: { readonly writes: number; readonly hashes: Readonly<Record<string, string>> } | undefined;
  const run: Stage['run'] = async () => {
    await api.call('POST', '/chat', { body: { agent, message: 'Look.' }, secret: secrets.member });
    const calls = store.db.selectFrom('calls').select(['id', 'run_id']).orderBy('id', 'desc');
    const { id: callId, run_id: runId } = await calls.executeTakeFirstOrThrow();
    return { runId, callId };
  };
  return {
    ...{ api, url: server.url, member, agent, filer, machine, space, secrets, idle: world.idle },
    name: () => `name-${++names}`,
    onBehalf: (caller) => (['member', 'stranger', 'person'].includes(caller) ? {} : { entityId: member }),
    create: async (path, body) => (await api.done<{ id: string }>('POST', path, body)).id,
    run,
    async attached() {
      const uploaded = await api.call('POST', `/api/artifacts?name=a.txt&entityId=${member}`, { body: 'bytes' });
      const attachments = [uploaded.body.id];
      await api.done('POST', `/api/spaces/${space}/messages`, { entityId: member, text: 'See.', attachments });
      return uploaded.body.id;
    },
    async shownCall() {
      const [{ callId }, card] = [await run(), await world.say(space, member, 'Hello.')];
      await world.in(({ db }) => db.updateTable('messages').set({ call_id: callId }).where('id', '=', card).execute());
      return callId;
    },
    waitingCall: () => openJob(api, agent, { spaceId: space }),
    async failedNotification() {
      const { id } = await api.done<{ id: string }>('POST', '/api/notifications/targets/ops/test');
      await world.in(({ db }) =>
        db.updateTable('notifications').set({ status: 'failed', next_at: null }).where('id', '=', id).execute(),
      );
      return id;
    },
    async grant() {
      const { callId, runId } = await openJob(api, agent, { spaceId: space });
      const id = newId();
      await world.in(({ db }) =>
        db
          .insertInto('grants')
          .values({
            ...{ id, agent_id: agent, tool_name: 'look', lasts: 'always', conditions: '[]', definition: 'd.c' },
            ...{ reach: 'thread', call_id: callId, run_id: runId, thread_id: agent, space_id: space },
            ...{ granted_by: member, created_at: 1, expires_at: null, ended_at: null, end_reason: null },
            ...{ ended_by: null, last_used_at: null },
          })
          .execute(),
      );
      return id;
    },
    async credentials(caller) {
      if (caller === 'operator') return await session({ key: secrets.admin });
      if (caller === 'person') {
        const { url } = await api.done<{ url: string }>('POST', '/api/links', { entityId: member });
        return await session({ code: url.split('#in=')[1] });
      }
      const secret = secrets[caller];
      // Wrong keys are counted by address: each comes from another one.
      return secret === undefined
        ? {}
        : { authorization: `Bearer ${secret}`, 'x-forwarded-for': `192.0.2.${++addresses % 250}` };
    },
    signIn: async () => ((await (await signIn({ key: secrets.admin })).json()) as { id: string }).id,
    async stored() {
      const writes = await rowsWritten(store.db);
      if (writes === last?.writes) return last.hashes;
      const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(store.db);
      const names = tables.rows.map(({ name }) => name).filter((name) => !WRITTEN_BY_WORKERS.has(name));
      const hashOf = async (name: string): Promise<[string, string]> => {
        const { rows } = await sql`select * from ${sql.table(name)}`.execute(store.db);
        return [name, hash('sha256', JSON.stringify(rows))];
      };
      last = { writes, hashes: Object.fromEntries(await Promise.all(names.map(hashOf))) };
      return last.hashes;
    },
    async close() {
      api.app.stop();
      await server.close({ graceMs: 100 });
      await world.stop();
      await database.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function withFiles() {
  const compiled = compileDefinition('filer', { files: true }, []);
  if (!compiled.ok) throw new Error('The definition is wrong.');
  return { filer: compiled.value };
}

async function revokedKey(api: Api): Promise<string> {
  const { id, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
    name: 'r',
    scopes: ['admin'],
  });
  await api.call('DELETE', `/api/keys/${id}`);
  return key;
}

/** A run that has ended may still write here: it releases its lease, and compacts its transcript. */
const WRITTEN_BY_WORKERS: ReadonlySet<string> = new Set([
  'threads',
  'streams',
  'stream_events',
  'request_texts',
  'transcript_entries',
  'usage',
  'usage_requests',
]);

const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });

const model = () =>
  scriptedModel(({ prompt }) => {
    const asked = JSON.stringify(prompt.at(-1));
    return asked.includes('Look.') ? { toolName: 'look', input: {} } : 'Hello.';
  });
