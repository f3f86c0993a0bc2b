import { endOf, Notebook, type Scenario, shownOf, times } from '../scenario.ts';
import { NotSupported } from '../subject.ts';

export const rejectedBeside: Scenario = {
  title: 'A rejection beside a call that needs no approval',
  told: 'One reply calls `pay`, which needs approval, and `note`, which does not. `pay` is rejected.',
  async observe(subject) {
    const book = new Notebook();
    const waiting = await subject.run({
      model: ({ shown }) => (shown.pay === undefined ? ['pay', 'note'] : 'finished'),
      tools: {
        pay: { approval: true, execute: () => book.note('pay') },
        note: { execute: () => book.note('note') },
      },
    });
    if (waiting.decide === undefined) throw new NotSupported(`the call does not wait: ${endOf(waiting)}`);
    const before = book.times('note');
    const observed = await waiting.decide('reject');
    const after = book.times('note') - before;
    const note = `\`note\` runs ${times(before)} before and ${times(after)} after the decision`;
    const pay = `\`pay\` runs ${times(book.times('pay'))}`;
    return `${note}; ${pay}; ${shownOf(observed, 'pay')}; ${shownOf(observed, 'note')}; ${endOf(observed)}`;
  },
};
