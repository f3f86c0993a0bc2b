import { setTimeout as wait } from 'node:timers/promises';
import { endOf, type Scenario, shownOf } from '../scenario.ts';
import { inOrder } from '../subject.ts';

const TIMEOUT_MS = 50;
const TOOL_MS = 400;

export const deafTool: Scenario = {
  title: 'A tool deaf to its timeout, and its late write',
  told:
    `\`slow\` may take ${TIMEOUT_MS} ms, takes ${TOOL_MS} ms regardless of its signal, and then writes to the state that the ` +
    'library passes to its tools.',
  async observe(subject) {
    const start = performance.now();
    const done = Promise.withResolvers<void>();
    let refused = false;
    const observed = await subject.run({
      model: inOrder(['slow'], 'finished'),
      tools: {
        slow: {
          timeoutMs: TIMEOUT_MS,
          execute: async ({ write }) => {
            await wait(TOOL_MS);
            try {
              write('late');
            } catch {
              refused = true;
            }
            done.resolve();
            return 'slow done';
          },
        },
      },
    });
    const cutOff = performance.now() - start < TOOL_MS ? 'it is cut off' : 'the run waits for it';
    await done.promise;
    const late = observed.written() === 'late' ? 'its late write lands' : 'its late write does not land';
    return `${cutOff}; ${shownOf(observed, 'slow')}; ${late}${refused ? ' (it throws)' : ''}; ${endOf(observed)}`;
  },
};
