import { endOf, Notebook, type Scenario, shownOf } from '../scenario.ts';
import { inOrder } from '../subject.ts';

export const firstFails: Scenario = {
  title: 'The first of three calls fails',
  told: 'One reply calls `one`, `two` and `three`. `one` throws after 20 ms; each notes when it starts and ends.',
  async observe(subject) {
    const book = new Notebook();
    const plain = (name: string) => ({
      execute: async () => {
        book.note(`${name} starts`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (name === 'one') {
          book.note('one fails');
          throw new Error('broken');
        }
        return book.note(`${name} ends`);
      },
    });
    const observed = await subject.run({
      model: inOrder(['one', 'two', 'three'], 'finished'),
      tools: { one: plain('one'), two: plain('two'), three: plain('three') },
    });
    const after = ['two', 'three'].filter((name) => book.times(`${name} starts`) > 0);
    const together = after.filter((name) => book.notes.indexOf(`${name} starts`) < book.notes.indexOf('one fails'));
    const how = together.length > 0 ? 'beside it' : 'after it';
    const ran = after.length === 0 ? 'the others do not run' : `\`${after.join('`, `')}\` run ${how}`;
    return `${ran}; ${shownOf(observed, 'one')}; ${endOf(observed)}`;
  },
};
