import { endOf, Notebook, type Scenario } from '../scenario.ts';
import { inOrder } from '../subject.ts';

export const callAfterStop: Scenario = {
  title: 'A call after a stop tool in the same reply',
  told: 'The model calls `answer`, whose result ends the run, and `later` in one reply.',
  async observe(subject) {
    const book = new Notebook();
    const observed = await subject.run({
      model: inOrder(['answer', 'later'], 'asked again'),
      tools: {
        answer: { stop: true, execute: () => book.note('answer') },
        later: { execute: () => book.note('later') },
      },
    });
    const later = book.times('later') > 0 ? '`later` runs' : '`later` does not run';
    return `${later}; ${endOf(observed)}`;
  },
};
