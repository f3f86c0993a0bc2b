// An evaluation of the support desk: the same tasks before and after a change of its model, scored, and compared.
import { calledTools, compareReports, contains, type EvalReport, evaluate } from '@lastcall/core/eval';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { createMachine, runMachine } from '@lastcall/machines';
import { desk } from '../support-desk/charter.ts';

const orders = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6'];

/** A model that opens a refund for the customer, or that only talks about it. */
function model(opensRefund: boolean) {
  return scriptedModel(({ prompt }): ScriptedReply => {
    const [order = ''] = /A-\d+/.exec(JSON.stringify(prompt)) ?? [];
    const isOpen = prompt.some(({ role }) => role === 'tool');
    if (opensRefund && !isOpen) return { toolName: 'transition_refund', input: { orderId: order } };
    return isOpen ? `I opened a refund for ${order}.` : 'Please write to the shop.';
  });
}

async function evaluateDesk(opensRefund: boolean): Promise<EvalReport> {
  return await evaluate({
    name: 'support desk',
    cases: orders.map((order) => ({ name: order, input: `I want my money back for order ${order}.`, expected: order })),
    async run(input) {
      const machine = createMachine(desk, { root: 'triage' });
      const settlements = [];
      let response = '';
      for await (const step of runMachine(machine, { model: model(opensRefund), input: [input] })) {
        settlements.push(...step.settlements);
        response = step.response ?? response;
      }
      return { response, settlements };
    },
    scores: { names_order: contains(), opens_refund: calledTools(['transition_refund']) },
  });
}

const [before, after] = [await evaluateDesk(false), await evaluateDesk(true)];
for (const [name, { mean, low, high, n }] of Object.entries(after.scores))
  console.log(`${name}: ${mean}, between ${low.toFixed(2)} and ${high.toFixed(2)} (${n} cases)`);
for (const [name, { mean, p, verdict }] of Object.entries(compareReports(before, after).scores))
  console.log(`${name}: changed by ${mean}, ${verdict} (p ${p.toFixed(2)})`);
