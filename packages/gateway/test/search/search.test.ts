import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { resolveGatewayLimits } from '../../src/config/agent-limits.ts';
import { newId } from '../../src/domain/new-id.ts';
import { sweepMessages } from '../../src/domain/retention/sweep-messages.ts';
import { search } from '../../src/domain/search/search.ts';
import { updateIndex } from '../../src/domain/search/update-index.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { fixedTool } from '../chat/chat-api.ts';
import { filesWith, tablesWith } from '../erasure/planted.ts';
import { forAllTests, forEachTest } from '../support/for-all-tests.ts';
import { databases, locationOf } from '../support/stores.ts';

/** A short form of a result: its kind, and its snippet with the matches in brackets. */
interface Found {
  readonly kind: string;
  readonly snippet: readonly { readonly text: string; readonly isMatch?: true }[];
}

const inShort = ({ kind, snippet }: Found): string =>
  `${kind}: ${snippet.map((part) => (part.isMatch ? `[${part.text}]` : part.text)).join('')}`;

const TOOLS = [
  fixedTool('look_around', 'Three Octopuses under a pier.'),
  fixedTool('pay', 'Paid.', { approval: true }),
];

/** Calls the tool if the message has the word "look". The model fails on "storm". */
function reply({ prompt }: { readonly prompt: readonly { readonly role: string }[] }): ScriptedReply {
  const said = JSON.stringify(prompt.at(-1));
  if (said.includes('storm')) return new Error('The lighthouse is dark.');
  if (prompt.at(-1)?.role === 'tool' || !said.includes('look')) return 'Noted by the captain.';
  return [
    { toolName: 'look_around', input: { place: 'Kraken bay', depth: 40 } },
    { toolName: 'pay', input: { amount: 7, reason: 'Barnacles' } },
  ];
}

describe.each(databases)('search on $kind', ({ create }) => {
  const database = forAllTests(create);
  const gateway = forAllTests(async () => {
    const started = await startTestGateway({
      ...locationOf(database),
      model: scriptedModel(Array.from({ length: 100 }, () => reply as never)),
      tuning: { sweepMs: 50 },
    });
    for (const tool of TOOLS) await started.api('/api/tools', tool);
    return started;
  });
  const id = async (path: string, body: object, project = 'default'): Promise<string> => {
    const made = await asProject(gateway, project)(path, body);
    expect(made).toHaveProperty('id');
    return made.id;
  };
  const find = async (q: string, { key, ...more }: Record<string, string> = {}) =>
    await gateway.api(`/api/search?${new URLSearchParams({ q, ...more })}`, undefined, { key });
  /** Waits until the search finds at least this many. */
  const found = async (count: number, q: string, more: Record<string, string> = {}): Promise<readonly string[]> =>
    await waitFor(async () => {
      const { items } = await find(q, more);
      return items.length >= count ? items.map(inShort) : undefined;
    });
  const room = async (name: string, project = 'default') => {
    const suffix = project === 'default' ? '' : ` of ${project}`;
    const agent = await id(
      '/api/agents',
      { name: `${name}${suffix}`, instructions: 'Help.', tools: ['look_around', 'pay'] },
      project,
    );
    const ada = await id('/api/entities', { kind: 'human', displayName: 'Ada' }, project);
    const space = await id('/api/spaces', { name, members: [agent, ada].map((entityId) => ({ entityId })) }, project);
    const say = (text: string) => asProject(gateway, project)(`/api/spaces/${space}/messages`, { entityId: ada, text });
    return { agent, ada, space, say };
  };

  test('[S27] finds messages, inputs, outputs and errors, newest first, with their place', async () => {
    const { agent, ada, space, say } = await room('Pier');
    await say('Please look for the Flying Dutchman.');
    expect(await found(1, 'dutchman "the flying dutchman"')).toEqual([
      'message: Please look for [the Flying Dutchman].',
    ]);
    expect(await found(1, 'kraken')).toEqual(['input: look_around place: [Kraken] bay, depth: 40']);
    expect(await found(1, 'octop*')).toEqual(['output: Three [Octopuses] under a pier.']);
    // A waiting call has no output yet. The output is found after the answer, after the run that made the call.
    expect(await found(1, 'barnacles')).toEqual(['input: pay amount: 7, reason: [Barnacles]']);
    const { items: waiting } = await gateway.api(`/api/pending?agentId=${agent}`);
    const { runId, callId } = waiting[0];
    await gateway.api(`/api/runs/${runId}/tool-results`, { callId, deny: 'Barnacles are free of charge.' });
    expect(await found(2, 'barnacles')).toEqual([
      expect.stringContaining('error: '),
      'input: pay amount: 7, reason: [Barnacles]',
    ]);
    await say('There is a storm.');
    // The message is retried, and fails again.
    expect((await found(1, 'lighthouse', { kind: 'error' }))[0]).toBe('error: The [lighthouse] is dark.');
    await say('Ahoy one.');
    await say('Ahoy two.');
    expect(await found(2, 'ahoy')).toEqual(['message: [Ahoy] two.', 'message: [Ahoy] one.']);
    expect(await found(0, 'ahoy', { kind: 'output' })).toEqual([]);
    const { items, next } = await find('ahoy', { limit: '1' });
    expect(items).toMatchObject([{ kind: 'message', spaceId: space, entityId: ada, seq: expect.any(Number) }]);
    expect((await find('ahoy', { limit: '1', cursor: next })).items.map(inShort)).toEqual(['message: [Ahoy] one.']);
    expect((await find('kraken')).items).toMatchObject([
      { agentId: agent, runId: expect.any(String), callId: expect.any(String), toolName: 'look_around' },
    ]);
  });

  test('[S27] finds messages of a conversation, and says how far the index is', async () => {
    const before = Date.now();
    const { run_id: runId } = await gateway.api('/chat', { agent: 'Pier', message: 'Is the moon a lantern?' });
    expect(await found(1, 'moon lantern')).toEqual(['message: Is the [moon] a [lantern]?']);
    const { items, indexedTo } = await find('"is the moon"');
    expect(items).toMatchObject([{ kind: 'message', runId }]);
    expect(indexedTo).toBeGreaterThanOrEqual(before);
  });

  test('[S27] marks a text of a fork, and names the original run', async () => {
    await id('/api/agents', { name: 'Diver', instructions: 'Help.' });
    const { run_id: runId } = await gateway.api('/chat', { agent: 'Diver', message: 'Tell me about the nautilus.' });
    const forked = await gateway.api(`/api/runs/${runId}/forks`, {
      atStep: 1,
      changes: { message: 'And its spiral?' },
    });
    await found(1, 'spiral');
    expect((await find('spiral')).items).toMatchObject([{ runId: forked.runId, trial: { kind: 'fork', runId } }]);
    // What the fork has copied is found once, in the original.
    const { items } = await find('nautilus');
    expect(items).toMatchObject([{ kind: 'message', runId }]);
    expect(items[0]).not.toHaveProperty('trial');
  });

  test('[S27] accepts every text as a query: none causes an error of the gateway', async () => {
    const hostile = [
      ...[
        `"`,
        `'`,
        `a" OR "b`,
        `NEAR(a b)`,
        `words:a`,
        `a AND`,
        `(`,
        `*`,
        `a*b*`,
        `^a`,
        `-a`,
        `{a b}: c`,
        `a + b`,
        `\\`,
      ],
      ...[`a & | b`, `a <-> b`, `!a`, `a:*`, `'a':A`, `%`, `_`, `; drop table messages; --`, `=kmessage`, `=g0`],
      ...['\u0001', '\ud800', '漢字', '👩‍🚀', 'ﷺ', 'x'.repeat(500), 'a '.repeat(250), '"a" '.repeat(125)],
    ];
    for (const q of hostile) {
      const answer = await gateway.request(`/api/search?${new URLSearchParams({ q })}`);
      expect([q, answer.status]).toEqual([q, 200]);
      await answer.arrayBuffer();
    }
    for (const query of ['', 'q=', `q=${'x'.repeat(501)}`, 'q=a&cursor=x', 'q=a&cursor=9999999999999999', 'q=a&kind=x'])
      expect((await gateway.request(`/api/search?${query}`)).status).toBe(422);
  });

  test('[S27] a caller finds nothing that it may not read: of other projects, spaces and agents', async () => {
    await gateway.api('/api/projects', { id: 'acme' });
    for (const tool of TOOLS) await id('/api/tools', tool, 'acme');
    const ours = await room('Ours', 'acme');
    const theirs = await room('Theirs');
    await ours.say('The treasure is ours. Please look.');
    await theirs.say('The treasure is theirs. Please look.');
    await found(2, 'treasure');
    const key = async (body: object): Promise<string> =>
      (await gateway.api('/api/keys', { name: 'k', scopes: ['read'], ...body })).key;
    const acme = await key({ project: 'acme' });
    expect(await found(1, 'treasure', { key: acme })).toEqual(['message: The [treasure] is ours. Please look.']);
    // The same for the other project, with the header of an operator.
    expect((await asProject(gateway, 'acme')('/api/search?q=treasure')).items).toHaveLength(1);
    // By this point a run has used the tool in each project.
    const runs = await waitFor(async () => {
      const { items } = await find('kraken');
      return items.some(({ agentId }: { agentId: string }) => agentId === ours.agent) ? items : undefined;
    });
    expect(runs.length).toBeGreaterThan(1);
    expect((await find('kraken', { key: acme })).items).toMatchObject([{ agentId: ours.agent }]);
    const narrow = await key({ spaces: [theirs.space] });
    expect(await found(1, 'treasure', { key: narrow })).toEqual(['message: The [treasure] is theirs. Please look.']);
    expect((await find('kraken', { key: narrow })).items).toEqual([]);
    const { token } = await gateway.api(`/api/entities/${theirs.ada}/token`, {});
    expect(await found(1, 'treasure', { key: token })).toEqual(['message: The [treasure] is theirs. Please look.']);
    expect((await find('kraken', { key: token })).items).toEqual([]);
    // Of what the agent has said, a person sees the message and not the run.
    await theirs.say('Ahoy.');
    await found(1, 'captain', { key: token });
    for (const item of (await find('captain', { key: token })).items) {
      expect(item).toMatchObject({ kind: 'message', spaceId: theirs.space });
      expect(item).not.toHaveProperty('runId');
    }
    const ofKey = (await find('captain', { key: narrow })).items;
    expect(ofKey.at(0)).toMatchObject({ spaceId: theirs.space, runId: expect.any(String) });
    await gateway.api(`/api/spaces/${theirs.space}/members?entityId=${theirs.ada}`, undefined, { method: 'DELETE' });
    expect((await find('treasure', { key: token })).items).toEqual([]);
  });
});

describe.each(databases)('the index on $kind', ({ create }) => {
  const database = forEachTest(create);
  const store = forEachTest(() => database.open());
  const find = async (q: string): Promise<readonly string[]> =>
    (await store.transaction((tx) => search(tx, { q }))).items.map(inShort);
  const count = async (): Promise<number> =>
    Number((await sql<{ n: number }>`select count(*) as n from search_entries`.execute(store.db)).rows[0]?.n);
  const later = (ms: number): { now: number } => ({ now: Date.now() + ms });

  test('[S27] continues after a crash where it was, and indexes each text once, with any number of gateways', async () => {
    await insertMessages(store, 1_200);
    // SQLite belongs to one gateway.
    const second = store.dialect === 'postgres' ? await database.open() : undefined;
    const crash = new Error('crash');
    const crashing: Store = {
      ...store,
      isBusy: false,
      rowsAtOnce: 100,
      transaction: (work, options) =>
        store.transaction(async (tx) => {
          const result = await work(tx);
          if (Number((await tx.db.selectFrom('search_spaces').select('seq').executeTakeFirst())?.seq) >= 500)
            throw crash;
          return result;
        }, options),
    };
    await expect(updateIndex({ store: crashing })).rejects.toBe(crash);
    expect(await count()).toBe(400);
    await Promise.all([updateIndex({ store }), updateIndex({ store: second ?? store })]);
    await updateIndex({ store }, later(0));
    expect(await count()).toBe(1_200);
    expect(await find('"number 1199"')).toEqual(['message: This is [number 1199].']);
    await second?.close();
  });

  test('[S27] a page of long texts ends early, and later pages have the rest, each once', async () => {
    const ids = await insertMessages(store, 5, 'The needle is here, and here: needles');
    await updateIndex({ store }, later(0));
    const read: (string | undefined)[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.transaction((tx) =>
        search(tx, { q: 'needle needles', limit: 200, cursor }, { readingMs: -1 }),
      );
      read.push(...page.items.map(({ messageId }) => messageId));
      sizes.push(page.items.length);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(read.toSorted()).toEqual(ids.toSorted());
    // Without any time, a page has one text.
    expect(sizes).toEqual([1, 1, 1, 1, 1]);
  });

  test('[S27] indexes a run whose end was committed after that of a later one', async () => {
    const now = Date.now();
    await insertRun(store, { endedAt: now - 10_000, error: 'Later by the clock.' });
    await updateIndex({ store }, later(0));
    await insertRun(store, { endedAt: now - 30_000, error: 'Committed late.' });
    await updateIndex({ store }, later(0));
    expect(await find('committed')).toEqual([]);
    await updateIndex({ store }, later(40_000));
    expect(await find('committed')).toEqual(['error: [Committed] late.']);
    expect(await count()).toBe(2);
  });

  test('[S27] without a newer message looks at all spaces only every five seconds, and then misses none', async () => {
    await insertMessages(store, 3);
    await updateIndex({ store }, later(0));
    // A gateway whose clock is behind by an hour posts.
    const early = newId(Date.now() - 3_600_000);
    await store.transaction(async ({ db }) => {
      const first = await db.selectFrom('messages').selectAll().where('seq', '=', 1).executeTakeFirstOrThrow();
      await db
        .insertInto('messages')
        .values({ ...first, id: early, seq: 4, content: '"A belated kraken."' })
        .execute();
      await db.updateTable('spaces').set({ next_seq: 5 }).execute();
    });
    await updateIndex({ store }, later(1_000));
    expect(await find('kraken')).toEqual([]);
    await updateIndex({ store }, later(6_000));
    expect(await find('kraken')).toEqual(['message: A belated [kraken].']);
  });

  test('[S27] [O4] loses what retention deletes, and follows a text that is changed', async () => {
    const ids = await insertMessages(store, 3);
    await updateIndex({ store }, later(0));
    await store.transaction((tx) =>
      tx.db
        .updateTable('messages')
        .set({ content: '"Rewritten."' })
        .where('id', '=', ids[0] ?? '')
        .execute(),
    );
    expect(await find('"number 0"')).toEqual([]);
    await updateIndex({ store }, later(0));
    expect(await find('rewritten')).toEqual(['message: [Rewritten].']);
    const limits = resolveGatewayLimits({}, 10_000, { messages: 30 });
    await sweepMessages({ store, limits }, later(31 * 86_400_000));
    expect(await count()).toBe(0);
    await updateIndex({ store }, later(0));
    expect(await count()).toBe(0);
  });
});

describe.each(databases)('an erasure of indexed texts on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('[S27] [O3] leaves no word of a deleted person in the index, its tables or its files', async () => {
    const planted = 'quagmirefish';
    const gateway = await startTestGateway({
      ...locationOf(database),
      model: scriptedModel(({ prompt }) =>
        prompt.at(-1)?.role === 'tool' ? 'Done.' : { toolName: 'look_around', input: { place: planted } },
      ),
      tuning: { sweepMs: 50, graceMs: 100 },
    });
    try {
      await gateway.api('/api/tools', fixedTool('look_around', `A ${planted} swims.`));
      const agent = (await gateway.api('/api/agents', { name: 'Polly', instructions: 'Help.', tools: ['look_around'] }))
        .id;
      const ada = (await gateway.api('/api/entities', { kind: 'human', displayName: 'Ada' })).id;
      const members = [agent, ada].map((entityId) => ({ entityId }));
      const space = (await gateway.api('/api/spaces', { name: 'Pond', members })).id;
      await gateway.api(`/api/spaces/${space}/messages`, { entityId: ada, text: `I keep a ${planted} at home.` });
      const { found } = await waitFor(async () => {
        const { items } = await gateway.api(`/api/search?q=${planted}`);
        return items.length >= 3 ? { found: items } : undefined;
      });
      expect(new Set(found.map(({ kind }: Found) => kind))).toEqual(new Set(['message', 'input', 'output']));
      const { id } = await gateway.api(`/api/entities/${ada}`, undefined, { method: 'DELETE' });
      const erasure = async () => (await gateway.api('/api/erasures')).items[0];
      await waitFor(async () => (await erasure()).status === 'done', { timeoutMs: 90_000 });
      expect(id).toBeDefined();
      expect((await gateway.api(`/api/search?q=${planted}`)).items).toEqual([]);
      // The definition of the tool is the operator's text.
      await gateway.api('/api/tools/look_around', undefined, { method: 'DELETE' });
    } finally {
      await gateway.stop();
    }
    expect((await filesWith(database, undefined, planted)).filter((file) => /search/.test(file))).toEqual([]);
    const store = await database.open();
    try {
      expect((await tablesWith(store, planted)).filter((table) => table.startsWith('search'))).toEqual([]);
    } finally {
      await store.close();
    }
  });
});

/** Sends requests of the operator in a project. */
function asProject(gateway: TestGateway, project: string) {
  return async (path: string, body?: object): Promise<{ readonly id: string; readonly items: readonly Found[] }> => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${gateway.secretKey}`,
        'content-type': 'application/json',
        ...(project === 'default' ? {} : { 'lastcall-project': project }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as never;
  };
}

async function insertMessages(store: Store, count: number, text?: string): Promise<readonly string[]> {
  return await store.transaction(async (tx) => {
    const at = tx.now();
    const space = { id: 'room', project_id: 'default', name: 'Room', description: '', metadata: '{}' };
    await tx.db
      .insertInto('spaces')
      .values({ ...space, next_seq: count + 1, hops: 0, created_at: at, deleted_at: null })
      .execute();
    const rows = Array.from({ length: count }, (_, index) => ({
      ...{ id: newId(at), space_id: 'room', seq: index + 1, entity_id: 'ada', kind: 'text' as const },
      ...{ status: 'complete' as const, content: JSON.stringify(text ?? `This is number ${index}.`), metadata: '{}' },
      ...{ created_at: at, updated_at: at },
    }));
    await tx.db.insertInto('messages').values(rows).execute();
    return rows.map((row) => row.id);
  });
}

/** A run that failed. */
async function insertRun(store: Store, { endedAt, error }: { endedAt: number; error: string }): Promise<void> {
  await store.transaction(async (tx) => {
    const id = newId(endedAt);
    const names = {
      project_id: 'default',
      name: 'Clerk',
      config: '{}',
      config_version: 1,
      status: 'active',
      tag: 'tag',
    };
    await sql`insert into entities (id, project_id, kind, display_name, metadata, created_at, spaces_joined)
      values ('clerk', 'default', 'agent', 'Clerk', '{}', 0, 0) on conflict do nothing`.execute(tx.db);
    await tx.db
      .insertInto('agents')
      .values({ id: 'clerk', entity_id: 'clerk', ...names, created_at: 0, updated_at: 0 } as never)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await tx.db
      .insertInto('threads')
      .values({ id: 'clerk', kind: 'agent', agent_id: 'clerk', lease_until: 0, epoch: 0 } as never)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await tx.db
      .insertInto('runs')
      .values({
        ...{ id, thread_id: 'clerk', turn_id: id, trigger: '[]', status: 'failed', number: endedAt, epoch: 0 },
        ...{ config_version: 1, attempts: 0, taken_seq: 0, attempt: 1, created_at: endedAt, ended_at: endedAt },
        stop: JSON.stringify({ reason: 'error', error }),
      } as never)
      .execute();
  });
}
