// Run it with "npx lastcall eval" while the gateway runs: each case is a conversation with the clerk.
import { calledTools, contains, evaluate } from '@lastcall/core/eval';

await evaluate({
  agent: 'Clerk',
  cases: [
    { name: 'a lamp', input: 'What did I order with A-17?', expected: 'lamp' },
    { name: 'a desk', input: 'What did I order with A-18?', expected: 'desk' },
  ],
  scores: { answer: contains(), looked: calledTools(['look_up_order']) },
});
