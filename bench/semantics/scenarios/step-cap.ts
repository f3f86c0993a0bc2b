import { endOf, Notebook, type Scenario, times } from '../scenario.ts';

const CAP = 3;

export const stepCap: Scenario = {
  title: 'The step cap',
  told: `The model calls a tool whenever it is asked; the run may take ${CAP} steps.`,
  async observe(subject) {
    const book = new Notebook();
    const observed = await subject.run({
      model: () => ['more'],
      maxSteps: CAP,
      tools: { more: { execute: () => book.note('more') } },
    });
    return `the tool runs ${times(book.times('more'))}; ${endOf(observed)}`;
  },
};
