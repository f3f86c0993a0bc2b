import { endOf, type Scenario } from '../scenario.ts';

const DEADLINE_MS = 200;
const TOOL_MS = 800;

export const runDeadline: Scenario = {
  title: 'A deadline for the run, and a deaf tool',
  told:
    `The run is given ${DEADLINE_MS} ms; its tool takes ${TOOL_MS} ms regardless of its signal. Asked without the tool's ` +
    'result, the model says “what I have”.',
  async observe(subject) {
    const start = performance.now();
    const done = Promise.withResolvers<void>();
    const observed = await subject.run({
      model: ({ time }) => (time === 1 ? ['slow'] : 'what I have'),
      deadlineMs: DEADLINE_MS,
      tools: {
        slow: {
          execute: async () => {
            await new Promise((resolve) => setTimeout(resolve, TOOL_MS));
            done.resolve();
            return 'slow done';
          },
        },
      },
    });
    const inTime = performance.now() - start < (DEADLINE_MS + TOOL_MS) / 2;
    await done.promise;
    return `it ends ${inTime ? 'at the deadline' : 'when the tool does'}; ${endOf(observed)}`;
  },
};
