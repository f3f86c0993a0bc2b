import { describe, expect, it } from 'vitest';
import { createSession, dispatchCall, fail, resource, type Session, sharedResources, tool } from '../../src/index.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function use(get: (ctx: { resources: Session['resources'] }) => unknown) {
  return tool({
    description: 'Uses it.',
    inputSchema: { type: 'object' },
    execute: async (_input, ctx) => ({ value: await get(ctx) }),
  });
}

async function call(session: Session, one: ReturnType<typeof use>) {
  return (await dispatchCall({ tools: { use: one }, session, call: { toolName: 'use' } })).outcome;
}

describe('shared resources', () => {
  it('[A10] one that two sessions request at the same moment is created once, and disposed of with the shared resources', async () => {
    const log: string[] = [];
    const pool = resource('pool', {
      scope: 'shared',
      async create() {
        log.push('open');
        await Promise.resolve();
        return { name: 'pool' };
      },
      dispose: () => void log.push('close'),
    });
    const shared = sharedResources({ logger: quiet });
    const sessions = [1, 2, 3].map(() => createSession({ resources: [pool], shared }));
    await Promise.all(
      sessions.map((session) =>
        call(
          session,
          use(({ resources }) => resources.get(pool)),
        ),
      ),
    );
    for (const session of sessions) await session.dispose();
    expect(log).toEqual(['open']);
    await shared.dispose();
    expect(log).toEqual(['open', 'close']);
    const late = await call(
      createSession({ shared }),
      use(({ resources }) => resources.get(pool)),
    );
    expect(late).toMatchObject({ status: 'error' });
    expect(log).toEqual(['open', 'close']);
  });

  it('[A10] one whose creation fails is created again by the next request', async () => {
    let tries = 0;
    const flaky = resource('flaky', {
      scope: 'gateway',
      async create() {
        if (++tries === 1) throw new Error('not yet');
        return 'ready';
      },
    });
    const shared = sharedResources({ logger: quiet });
    const session = createSession({ shared, logger: quiet });
    const get = use(({ resources }) => resources.get(flaky));
    expect(await call(session, get)).toMatchObject({ status: 'error' });
    expect(await call(session, get)).toMatchObject({ status: 'ok', value: { value: 'ready' } });
    expect(tries).toBe(2);
  });

  it('[A10] one that a failed call created stays, because other sessions may use it', async () => {
    const log: string[] = [];
    const pool = resource('pool', {
      scope: 'shared',
      create: () => log.push('open'),
      dispose: () => void log.push('close'),
    });
    const shared = sharedResources({ logger: quiet });
    const failing = tool({
      description: 'Fails.',
      inputSchema: { type: 'object' },
      execute(_input, { resources }) {
        resources.get(pool);
        return fail('no');
      },
    });
    const session = createSession({ shared });
    await dispatchCall({ tools: { failing }, session, call: { toolName: 'failing' } });
    await session.dispose();
    expect(log).toEqual(['open']);
  });

  it('without shared resources, a session disposes of its resources when it ends', async () => {
    const log: string[] = [];
    const pool = resource('pool', {
      scope: 'shared',
      create: () => log.push('open'),
      dispose: () => void log.push('close'),
    });
    const session = createSession();
    await call(
      session,
      use(({ resources }) => resources.get(pool)),
    );
    await session.dispose();
    expect(log).toEqual(['open', 'close']);
  });

  it('two definitions with one key are two resources', async () => {
    const make = (name: string) => resource('db', { scope: 'shared', create: () => name });
    const [one, other] = [make('one'), make('other')];
    const shared = sharedResources();
    for (const [definition, name] of [
      [one, 'one'],
      [other, 'other'],
    ] as const)
      expect(
        await call(
          createSession({ shared }),
          use(({ resources }) => resources.get(definition)),
        ),
      ).toMatchObject({ value: { value: name } });
  });

  it('cannot depend on resources that a session disposes of, nor have a snapshot', async () => {
    const own = resource('own', { create: () => 1 });
    const pool = resource('pool', { scope: 'shared', create: ({ resources }) => resources.get(own) });
    const outcome = await call(
      createSession({ shared: sharedResources() }),
      use(({ resources }) => resources.get(pool)),
    );
    expect(outcome).toMatchObject({
      status: 'error',
      text: expect.stringContaining('can be made only from shared resources'),
    });
    expect(() => resource('x', { scope: 'shared', create: () => 1, snapshot: () => 1, restore() {} })).toThrow(
      'a shared resource cannot have snapshot and restore',
    );
  });

  it('[A10] the lifetimes of a gateway are names of scopes', () => {
    const scopes = (['call', 'cycle', 'gateway'] as const).map(
      (scope) => resource('x', { scope, create: () => 1 }).scope,
    );
    expect(scopes).toEqual(['call', 'singleton', 'shared']);
  });
});
