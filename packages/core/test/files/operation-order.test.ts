import { expect, test } from 'vitest';
import { createOperationOrder } from '../../src/files/operation-order.ts';

test('a write waits for all reads before it, a read for the write before it, and reads run in parallel', async () => {
  const order = createOperationOrder();
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const operation = (name: string) => async (): Promise<void> => {
    log.push(`${name} begins`);
    await new Promise<void>((resolve) => gates.set(name, resolve));
    log.push(`${name} ends`);
  };
  const all = [
    order.read(operation('read 1')),
    order.read(operation('read 2')),
    order.write(operation('write 1')),
    order.write(operation('write 2')),
    order.read(operation('read 3')),
  ];
  for (const name of ['read 2', 'read 1', 'write 1', 'write 2', 'read 3']) {
    await turnOfTheLoop();
    gates.get(name)?.();
  }
  await Promise.all(all);
  expect(log).toEqual([
    'read 1 begins',
    'read 2 begins',
    'read 2 ends',
    'read 1 ends',
    'write 1 begins',
    'write 1 ends',
    'write 2 begins',
    'write 2 ends',
    'read 3 begins',
    'read 3 ends',
  ]);
});

test('an operation that fails does not stop those after it', async () => {
  const order = createOperationOrder();
  const failing = order.write(() => Promise.reject(new Error('no'))).catch(() => 'failed');
  const reading = order.read(() => Promise.reject(new Error('no'))).catch(() => 'failed');
  expect([await failing, await reading, await order.write(async () => 'done')]).toEqual(['failed', 'failed', 'done']);
});

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
