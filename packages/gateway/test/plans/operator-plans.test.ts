import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import type { Plan } from '../../src/domain/plans/plan.ts';
import { startTestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { databases, locationOf } from '../support/stores.ts';

const agents = [{ name: 'Clerk', instructions: 'Work.' }];
const daily = { name: 'Report', instruction: 'Write the report.', cron: '0 9 * * *' };

const idOf = async (gateway: { api(path: string): Promise<{ items: { id: string }[] }> }): Promise<string> =>
  (await gateway.api('/api/agents')).items[0]?.id ?? '';

describe.each(databases)('plans of operators on $kind', ({ create }) => {
  const settings = async () => locationOf(await create());

  it('[O6] an operator creates, changes and deletes a plan, and the agent gets an event when it is due', async () => {
    const model = scriptedModel(() => 'Done.');
    await using gateway = await startTestGateway({ ...(await settings()), model, agents, limits: { sweepMs: 20 } });
    const id = await idOf(gateway);
    const path = `/api/agents/${id}/plans`;
    const made = await gateway.api(path, { ...daily, timeZone: 'Europe/Berlin' });
    expect(made).toMatchObject({ key: 'report', setBy: 'operator', cron: '0 9 * * *', timeZone: 'Europe/Berlin' });
    expect((await gateway.request(path, { ...daily, key: 'report' })).status).toBe(409);
    const patched = await gateway.api(`${path}/report`, { instruction: 'Write two.' }, { method: 'PATCH' });
    expect(patched).toMatchObject({
      id: made.id,
      nextAt: made.nextAt,
      instruction: 'Write two.',
      timeZone: 'Europe/Berlin',
    });
    const soon = await gateway.api(`${path}/report`, { after: 1 }, { method: 'PATCH' });
    expect(soon).not.toHaveProperty('cron');
    await expect.poll(() => model.requests.length).toBe(1);
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('plan report (Report)');
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('Write two.');
    expect(await gateway.api(`${path}/report`, undefined, { method: 'DELETE' })).toEqual({ key: 'report' });
    expect((await gateway.api(path)).items).toEqual([]);
  });

  it('[O6] a change to a plan leaves the plans of other agents with the same key as they are', async () => {
    const both = [...agents, { name: 'Twin', instructions: 'Work.' }];
    await using gateway = await startTestGateway({ ...(await settings()), agents: both });
    const [one, other] = (await gateway.api('/api/agents')).items.map(
      ({ id }: { id: string }) => `/api/agents/${id}/plans`,
    );
    const [, before] = [await gateway.api(one, daily), await gateway.api(other, daily)];
    for (const body of [{ name: 'Renamed' }, { cron: '0 10 * * *' }])
      await gateway.api(`${one}/report`, body, { method: 'PATCH' });
    expect((await gateway.api(one)).items).toMatchObject([{ name: 'Renamed', cron: '0 10 * * *' }]);
    expect((await gateway.api(other)).items).toEqual([before]);
    await gateway.api(`${one}/report`, undefined, { method: 'DELETE' });
    expect((await gateway.api(other)).items).toEqual([before]);
  });

  it('[O6] a one-time plan that has fired is renamed, keeps its times and does not fire again', async () => {
    const model = scriptedModel(() => 'Done.');
    await using gateway = await startTestGateway({ ...(await settings()), model, agents, limits: { sweepMs: 20 } });
    const id = await idOf(gateway);
    const path = `/api/agents/${id}/plans`;
    const fired = async () =>
      (await gateway.api(`/api/agents/${id}/inbox`)).items.filter(({ type }: { type: string }) => type === 'plan')
        .length;
    const patch = (body: object) => gateway.api(`${path}/once`, body, { method: 'PATCH' });
    await gateway.api(path, { key: 'once', name: 'Once', instruction: 'Look.', after: 1 });
    await expect.poll(fired).toBe(1);
    const [{ updatedAt: _, ...before }] = (await gateway.api(path)).items;
    expect(before).toMatchObject({ lastAt: before.at });
    const renamed = await patch({ name: 'Renamed', instruction: ' Look twice. ', misfire: 'skip' });
    expect(renamed).toEqual({
      ...before,
      ...{ name: 'Renamed', instruction: 'Look twice.', misfire: 'skip', updatedAt: expect.any(Number) },
    });
    expect(renamed).not.toHaveProperty('nextAt');
    for (const [body, status, field] of [
      [{ timeZone: 'Moon' }, 422, 'timeZone'],
      [{ name: ' ' }, 422, 'plans[0].name'],
      [{ instruction: 'x'.repeat(100_000) }, 413, expect.stringContaining('instruction')],
    ] as const) {
      const answer = await gateway.request(`${path}/once`, body, { method: 'PATCH' });
      const { error } = (await answer.json()) as { error: { details: { path: string } } };
      expect([answer.status, error.details.path]).toEqual([status, field]);
    }
    // With a schedule it fires again.
    expect(await patch({ after: 1 })).toMatchObject({ id: before.id, name: 'Renamed', nextAt: expect.any(Number) });
    await expect.poll(fired).toBe(2);
  });

  it('[O6] a plan with a fixed time keeps its time zone until another one is given', async () => {
    await using gateway = await startTestGateway({ ...(await settings()), agents });
    const path = `/api/agents/${await idOf(gateway)}/plans`;
    await gateway.api(path, { ...daily, cron: undefined, at: '2090-01-01T09:00:00', timeZone: 'Europe/Berlin' });
    const dueAt = async (change: object) => {
      const { nextAt } = await gateway.api(`${path}/report`, change, { method: 'PATCH' });
      return new Date(nextAt).toISOString();
    };
    expect(await dueAt({ at: '2090-01-01T10:00:00' })).toBe('2090-01-01T09:00:00.000Z');
    expect(await dueAt({ timeZone: 'Asia/Tokyo' })).toBe('2090-01-01T09:00:00.000Z');
    expect(await dueAt({ at: '2090-01-01T10:00:00' })).toBe('2090-01-01T01:00:00.000Z');
    expect(await gateway.api(`${path}/report`, { cron: '0 9 * * *' }, { method: 'PATCH' })).toMatchObject({
      timeZone: 'Asia/Tokyo',
    });
  });

  it('[O6] a plan is also changed and deleted by a key in the body and in the query', async () => {
    await using gateway = await startTestGateway({ ...(await settings()), agents });
    const path = `/api/agents/${await idOf(gateway)}/plans`;
    // A key that needs to be encoded in a path.
    const made = await gateway.api(path, { ...daily, key: 'a/b ü' });
    const body = { key: made.key, cron: '0 10 * * *' };
    expect(await gateway.api(path, body, { method: 'PATCH' })).toMatchObject({ id: made.id, cron: '0 10 * * *' });
    const status = async (method: string, to: string, sent?: object) =>
      (await gateway.request(to, sent, { method })).status;
    expect(await status('PATCH', path, { name: 'No key' })).toBe(422);
    expect(await status('PATCH', path, { key: 'none', name: 'No such key' })).toBe(404);
    expect(await status('DELETE', path)).toBe(422);
    expect(await status('DELETE', `${path}?key=none`)).toBe(404);
    const named = `${path}?key=${encodeURIComponent(made.key)}`;
    expect(await gateway.api(named, undefined, { method: 'DELETE' })).toEqual({ key: made.key });
    expect((await gateway.api(path)).items).toEqual([]);
  });

  it('[O6] bad input is refused with the reason, and nothing is changed', async () => {
    await using gateway = await startTestGateway({ ...(await settings()), agents });
    const path = `/api/agents/${await idOf(gateway)}/plans`;
    const refused = async (body: object, to = path, method = 'POST') => {
      const answer = await gateway.request(to, body, { method });
      return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
    };
    expect(await refused({ ...daily, cron: 'sometimes' })).toEqual([422, expect.stringContaining('cannot be parsed')]);
    expect(await refused({ ...daily, at: '2030-01-01T00:00:00Z' })).toEqual([
      422,
      expect.stringContaining('exactly one'),
    ]);
    expect(await refused({ ...daily, timeZone: 'Moon' })).toEqual([422, expect.stringContaining('not known')]);
    expect(await refused(daily, '/api/agents/none/plans')).toEqual([404, expect.any(String)]);
    expect(await refused({ name: 'x' }, `${path}/none`, 'PATCH')).toEqual([404, 'There is no plan "none".']);
    expect((await gateway.api(path)).items).toEqual([]);
  });

  it('[O6] the agent sees who set a plan, and can neither change nor delete it', async () => {
    const model = scriptedModel([
      [
        {
          toolName: 'set_plans',
          input: { plans: [{ key: 'report', name: 'Mine', instruction: 'Rest.', after: 'P1D' }] },
        },
        { toolName: 'delete_plans', input: { keys: ['report'] } },
        {
          toolName: 'set_plans',
          input: { plans: [{ key: 'mine', name: 'Mine', instruction: 'Rest.', after: 'P1D' }] },
        },
      ],
      'Done.',
    ]);
    await using gateway = await startTestGateway({ ...(await settings()), model, agents });
    const id = await idOf(gateway);
    await gateway.api(`/api/agents/${id}/plans`, daily);
    await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
    await expect.poll(() => model.requests.length).toBe(2);
    expect(JSON.stringify(model.requests[0]?.prompt.at(-1))).toMatch(
      /report \(Report\)[^\n]*, set by an operator: Write/,
    );
    const results = JSON.stringify(model.requests[1]?.prompt.filter(({ role }) => role === 'tool'));
    expect(results.match(/you cannot change or delete it/g)).toHaveLength(2);
    const { items } = await gateway.api(`/api/agents/${id}/plans`);
    expect(items.toSorted((one: Plan, other: Plan) => one.key.localeCompare(other.key))).toMatchObject([
      { key: 'mine', setBy: 'agent' },
      { key: 'report', name: 'Report', setBy: 'operator' },
    ]);
  });
});

describe('plans of the configuration file', () => {
  it('[O6] exist after each start, keep their next time, follow the file, and leave all others', async () => {
    const home = await scratchFolder('plans');
    const plans = [{ agent: 'Clerk', key: 'report', instruction: 'Write it.', cron: '0 9 * * *' }];
    const listed = async (
      config: object,
      before?: (path: string, api: (path: string, body: object) => unknown) => unknown,
    ) => {
      await using gateway = await startTestGateway({ home, agents, ...config });
      const path = `/api/agents/${await idOf(gateway)}/plans`;
      await before?.(path, gateway.api);
      return (await gateway.api(path)).items as { key: string; nextAt: number; updatedAt: number }[];
    };
    const [first] = await listed({ plans });
    expect(first).toMatchObject({ key: 'report', name: 'report', setBy: 'file', cron: '0 9 * * *' });
    expect(await listed({ plans }, (path, api) => api(path, { ...daily, key: 'own' }))).toMatchObject([
      { key: 'report', updatedAt: first?.updatedAt },
      { key: 'own', setBy: 'operator' },
    ]);
    const changed = await listed({ plans: [{ ...plans[0], cron: '0 10 * * *' }] });
    expect(changed.find(({ key }) => key === 'report')).toMatchObject({ cron: '0 10 * * *' });
    expect((await listed({ plans: [] })).map(({ key }) => key)).toEqual(['own']);
  });

  it('[O6] a plan keeps its next time whatever name of its time zone and however its key the file writes', async () => {
    const home = await scratchFolder('plan-zones');
    const starts = async (plan: object) => {
      const seed = { agent: 'Clerk', key: 'report', instruction: 'Write it.', cron: '0 9 * * *', ...plan };
      await using gateway = await startTestGateway({ home, agents, plans: [seed] });
      return (await gateway.api(`/api/agents/${await idOf(gateway)}/plans`)).items as Plan[];
    };
    for (const timeZone of ['Asia/Kolkata', 'Europe/Kyiv', 'US/Eastern', 'utc']) {
      const first = await starts({ timeZone });
      expect(first).toMatchObject([{ key: 'report', setBy: 'file' }]);
      expect(await starts({ timeZone })).toEqual(first);
      expect(await starts({ timeZone, key: ' report ' })).toEqual(first);
      expect(await starts({ timeZone, key: ' report ' })).toEqual(first);
    }
    await expect(starts({ timeZone: 'Moon' })).rejects.toThrow('The plan "report" of the configuration');
  });

  it('[O6] a plan is deleted together with its agent in the file, although the agent is kept', async () => {
    const home = await scratchFolder('plans-of-renamed');
    const starts = async (name: string) => {
      const plans = [{ agent: name, key: 'report', instruction: 'Write it.', cron: '0 9 * * *' }];
      await using gateway = await startTestGateway({ home, agents: [{ name, instructions: 'Work.' }], plans });
      const { items } = (await gateway.api('/api/agents')) as { items: { id: string; name: string }[] };
      const clerk = items.find((one) => one.name === 'Clerk')?.id;
      const of = async (id?: string): Promise<[string, string][]> =>
        (await gateway.api(`/api/agents/${id}/plans`)).items.map(({ key, setBy }: Plan) => [key, setBy]);
      if (name === 'Clerk') await gateway.api(`/api/agents/${clerk}/plans`, { ...daily, key: 'own' });
      return Object.fromEntries(await Promise.all(items.map(async (one) => [one.name, await of(one.id)])));
    };
    const own = ['own', 'operator'];
    expect(await starts('Clerk')).toEqual({ Clerk: [['report', 'file'], own] });
    // The agent was renamed in the file: the report must not be written twice.
    expect(await starts('Scribe')).toEqual({ Clerk: [own], Scribe: [['report', 'file']] });
  });

  it('[O6] an agent that has as many plans as it may have gets one with another key when the file renames it', async () => {
    const home = await scratchFolder('renamed-plan');
    const limited = [{ name: 'Clerk', instructions: 'Work.', limits: { maxPlans: 1 } }];
    const plan = { agent: 'Clerk', instruction: 'Write the report.', cron: '0 9 * * *' };
    await (await startTestGateway({ home, agents: limited, plans: [{ ...plan, key: 'report' }] })).stop();
    await using gateway = await startTestGateway({ home, agents: limited, plans: [{ ...plan, key: 'daily-report' }] });
    const { items } = await gateway.api(`/api/agents/${await idOf(gateway)}/plans`);
    expect(items.map(({ key }: Plan) => key)).toEqual(['daily-report']);
  });

  it('[O6] an unknown agent, a key twice or a wrong schedule stops the start with its place', async () => {
    const plan = { agent: 'Clerk', key: 'report', instruction: 'Write it.', cron: '0 9 * * *' };
    const start = (...plans: object[]) => startTestGateway({ agents, plans: plans as never });
    await expect(start({ ...plan, agent: 'Clark' })).rejects.toThrow(ConfigError);
    await expect(start({ ...plan, agent: 'Clark' })).rejects.toThrow('plans[0].agent is not an agent');
    await expect(start(plan, plan)).rejects.toThrow('plans[1].key is "report" a second time');
    await expect(start({ ...plan, cron: 'sometimes' })).rejects.toThrow('The plan "report" of the configuration');
  });

  it('[O6] plans of operators and of the file have the limits that the configuration gives to all agents', async () => {
    const limits = { agent: { maxPlans: 60, noteLength: 30 } };
    await using gateway = await startTestGateway({ agents, limits });
    const path = `/api/agents/${await idOf(gateway)}/plans`;
    const add = async (key: string, instruction: string = daily.instruction) =>
      (await (await gateway.request(path, { ...daily, key, instruction })).json()) as { error: { message: string } };
    // More than an agent may have by default.
    for (let count = 1; count <= 60; count++) expect(await add(`p${count}`)).toMatchObject({ setBy: 'operator' });
    expect((await add('p61')).error.message).toContain('The limit is 60 plans.');
    const long = 'Write the report about everything that happened.';
    expect((await add('long', long)).error.message).toContain('must be 30 characters or less');
    const changed = await gateway.request(`${path}/p1`, { instruction: long }, { method: 'PATCH' });
    expect(changed.status).toBe(413);
    const plans = [{ agent: 'Clerk', key: 'report', instruction: long, cron: '0 9 * * *' }];
    await expect(startTestGateway({ agents, limits, plans })).rejects.toThrow('must be 30 characters or less');
  });
});
