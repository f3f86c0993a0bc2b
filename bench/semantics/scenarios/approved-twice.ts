import { endOf, Notebook, type Scenario, times } from '../scenario.ts';
import { NotSupported } from '../subject.ts';

export const approvedTwice: Scenario = {
  title: 'The same approval, twice at once',
  told: 'A run waits for the approval of `pay`. The approval is delivered twice at the same moment, both times to the run that is in memory.',
  async observe(subject) {
    const book = new Notebook();
    const waiting = await subject.run({
      model: ({ shown }) => (shown.pay === undefined ? ['pay'] : 'paid up'),
      tools: { pay: { approval: true, execute: () => book.note('pay') } },
    });
    const { decide } = waiting;
    if (decide === undefined) throw new NotSupported(`the call does not wait: ${endOf(waiting)}`);
    const both = await Promise.all([decide('approve'), decide('approve')]);
    const ends = both.map(({ end, answer, why }) => (end === 'rejected' ? `rejects (${why})` : `“${answer}”`));
    return `\`pay\` runs ${times(book.times('pay'))}; the deliveries end: ${ends.join(', ')}`;
  },
};
