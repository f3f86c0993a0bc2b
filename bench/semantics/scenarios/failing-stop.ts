import { endOf, type Scenario, shownOf } from '../scenario.ts';
import { inOrder } from '../subject.ts';

export const failingStop: Scenario = {
  title: 'A stop tool that throws',
  told: 'The model calls `answer`, which throws; asked again, it says “recovered”.',
  async observe(subject) {
    const observed = await subject.run({
      model: inOrder(['answer'], 'recovered'),
      tools: {
        answer: {
          stop: true,
          execute: () => {
            throw new Error('no paper left');
          },
        },
      },
    });
    const shown = observed.asked > 1 ? `${shownOf(observed, 'answer')}; ` : '';
    return `${shown}${endOf(observed)}`;
  },
};
