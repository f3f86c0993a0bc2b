import type { LanguageModelV4 } from '@ai-sdk/provider';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { createAgent } from '../../src/domain/agents/create-agent.ts';
import { createProject, updateProject } from '../../src/domain/projects/project.ts';
import { createTool } from '../../src/domain/tools/change-tool.ts';
import { nextDay } from '../../src/domain/usage/usage-row.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { call, chatApi, fixedTool } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { untilQuiet, usageOf, withoutUsage } from '../usage/usage-of.ts';

const PRICES = { m: { input: 1_000, output: 0 } };
const priced = (model: LanguageModelV4): LanguageModelV4 => ({ ...model, provider: 'acme', modelId: 'm' });

describeWorlds(
  'runs of projects',
  (openAny) => {
    const open = withoutUsage(openAny);
    let count = 0;
    const newProject = async (world: World, spend?: { readonly perDay: number }): Promise<string> =>
      (await world.in((tx) => createProject(tx, { id: `r${++count}`, spend }))).id;
    const agentIn = async (world: World, project: string, config: object): Promise<string> =>
      (await world.in((tx) => createAgent(tx, { project, config: { name: 'Bot', instructions: '', ...config } }))).id;

    test('[O1] agents of two projects with equal configurations call the tools of their own project', async () => {
      const metrics = createMetrics();
      const model = scriptedModel(({ prompt }) => (prompt.at(-1)?.role === 'user' ? call('look') : 'Done.'));
      const world = await open({ models: { default: model }, metrics });
      const api = await chatApi(world);
      for (const [index, project] of ['default', await newProject(world), await newProject(world)].entries()) {
        await world.in((tx) =>
          createTool(tx, fixedTool('look', `seen by ${index}`), { project, isTaken: () => false }),
        );
        const agent = await agentIn(world, project, { tools: ['look'] });
        const { body } = await api.call('POST', '/chat', { body: { agent, message: 'Look.' } });
        expect(JSON.stringify(body.generated_messages)).toContain(`seen by ${index}`);
      }
      // Everyone may read the metrics: they do not show the tools of projects.
      const rendered = await metrics.render();
      expect(rendered).toContain('tool="look",outcome="ok"');
      expect(rendered).toMatch(/_count\{tool="look",outcome="ok"\} 1\n/);
      expect(rendered).toMatch(/_count\{tool="project",outcome="ok"\} 2\n/);
    });

    test('[K12] the agents of a project stop when together they have spent its daily limit, and continue when the limit is raised', async () => {
      const model = scriptedModel(() => ({ text: 'Yes.', usage: usageOf(1_000, 10) }));
      const metrics = createMetrics();
      const world = await open({ models: { default: priced(model) }, prices: PRICES, metrics });
      const project = await newProject(world, { perDay: 2 });
      const [one, two] = [await agentIn(world, project, {}), await agentIn(world, project, {})];
      const other = await world.agent();
      const tell = async (agentId: string): Promise<void> => {
        const api = await chatApi(world);
        await api.done('POST', `/api/agents/${agentId}/events`, { source: 's', name: 'n' });
        await untilQuiet(world);
      };
      const waitingOf = async (agentId: string) =>
        await world.store.db
          .selectFrom('inbox_events')
          .select(['status', 'available_at'])
          .where('thread_id', '=', agentId)
          .where('status', '=', 'pending')
          .execute();
      await tell(one);
      await tell(two);
      await tell(one);
      expect(model.requests).toHaveLength(2);
      await expect.poll(() => waitingOf(one)).toEqual([{ status: 'pending', available_at: nextDay(Date.now()) }]);
      // The other agent of the project stops without starting a run.
      await tell(two);
      await expect.poll(() => waitingOf(two)).toEqual([{ status: 'pending', available_at: nextDay(Date.now()) }]);
      await tell(other);
      expect(model.requests).toHaveLength(3);
      const errors = world.logs.filter(({ level }) => level === 'error');
      expect(errors.map(({ message }) => message)).toEqual([
        expect.stringContaining(`Project ${project} has spent 2 of 2 USD of today`),
      ]);
      expect(await metrics.render()).toContain('lastcall_spend_limits_reached_total{scope="project"} 1');
      await world.in((tx) => updateProject(tx, project, { spend: { perDay: 10 } }));
      await untilQuiet(world);
      await expect.poll(() => model.requests.length).toBe(5);
    });

    test('[K12] events wait for a limit of the project quietly, although a limit of the agent was raised that day', async () => {
      const model = scriptedModel(() => ({ text: 'Yes.', usage: usageOf(1_000, 10) }));
      const world = await open({ models: { default: priced(model) }, prices: PRICES });
      const project = await newProject(world, { perDay: 2 });
      const agent = await agentIn(world, project, { limits: { spend: { perDay: 1 } } });
      const api = await chatApi(world);
      const tell = async (): Promise<void> =>
        void (await api.done('POST', `/api/agents/${agent}/events`, { source: 's', name: 'n' }));
      const waiting = async () =>
        (await world.store.db.selectFrom('inbox_events').selectAll().where('thread_id', '=', agent).execute())
          .filter(({ status }) => status === 'pending')
          .map(({ available_at }) => available_at);
      const tomorrow = nextDay(Date.now());
      await tell();
      await expect.poll(() => model.requests.length).toBe(1);
      await untilQuiet(world);
      await tell();
      await expect.poll(waiting).toEqual([tomorrow]);
      await api.done('PATCH', `/api/agents/${agent}`, { limits: { spend: { perDay: 10 } } });
      await expect.poll(() => model.requests.length).toBe(2);
      await expect.poll(waiting).toEqual([]);
      await tell();
      await expect.poll(waiting).toEqual([tomorrow]);
      await tell();
      await expect.poll(waiting).toEqual([tomorrow, tomorrow]);
      await tell();
      await expect.poll(waiting).toEqual([tomorrow, tomorrow, tomorrow]);
      expect(model.requests).toHaveLength(2);
    });
  },
  databases,
);
