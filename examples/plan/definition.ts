// An agent that publishes releases by a plan. main.ts runs it with the library, and agent.ts as an agent of a gateway.
import { requires, slice, tool } from '@lastcall/core';
import { planningSection, prompt, section } from '@lastcall/core/prompt';
import { defineAgent } from '@lastcall/gateway';
import { z } from 'zod';

const published = slice('published', {
  initial: [] as readonly string[],
  on: { Published: (versions, { version }: { type: 'Published'; version: string }) => [...versions, version] },
});

const run_tests = tool({
  description: 'Runs the tests.',
  inputSchema: z.object({}),
  effects: 'none',
  execute: () => 'All tests pass.',
});

const publish = tool({
  description: 'Publishes a version.',
  inputSchema: z.object({ version: z.string() }),
  effects: 'session',
  slices: [published],
  execute({ version }, { session }) {
    session.dispatch({ type: 'Published', version });
    return `Published so far: ${session.read(published).join(', ')}.`;
  },
});

const releases = section({
  key: 'releases',
  title: 'Releases',
  visibility: 'summary',
  summary: 'How to publish a release.',
  template: 'Run the tests before you publish. Ask before you publish.',
  tools: { run_tests, publish },
  policies: [requires({ publish: ['run_tests'] })],
});

export const planner = defineAgent({
  instructions: prompt({
    ns: 'demo',
    key: 'planner',
    sections: [releases, planningSection({ strategy: 'plan_act_reflect' })],
  }),
});
