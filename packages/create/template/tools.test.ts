import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispatchCall } from '@lastcall/core';
import { look_up_order, refund_order } from './tools.ts';

const tools = { look_up_order, refund_order };

test('an order is found by its id', async () => {
  const { outcome } = await dispatchCall({ tools, call: { toolName: 'look_up_order', input: { orderId: 'A-17' } } });
  assert.deepEqual(outcome.status === 'ok' && outcome.value, { article: 'lamp', euros: 40 });
});

test('an order that is not there is an error that the model can read', async () => {
  const { outcome } = await dispatchCall({ tools, call: { toolName: 'look_up_order', input: { orderId: 'B-1' } } });
  assert.equal(outcome.status, 'error');
  assert.match(outcome.text, /There is no order B-1\./);
});

test('nothing is paid back before a person has approved it', async () => {
  const { outcome } = await dispatchCall({ tools, call: { toolName: 'refund_order', input: { orderId: 'A-17' } } });
  assert.equal(outcome.status, 'pending');
});
