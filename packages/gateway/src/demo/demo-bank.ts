import { appendFileSync, existsSync, readFileSync } from 'node:fs';

interface BankAnswer {
  /** How many payments the bank has booked under this key: one. */
  readonly entries: number;
  /** How often it was asked with this key. */
  readonly requests: number;
}

/** A bank outside of the gateway, which books each idempotency key once. */
export interface DemoBank {
  pay(key: string): BankAnswer;
}

/** `file`: the bank's book, which survives a crash of the gateway. Without it the book is in memory. */
export function openDemoBank(file?: string): DemoBank {
  const memory: string[] = [];
  return {
    pay(key) {
      if (file === undefined) memory.push(key);
      else appendFileSync(file, `${key}\n`);
      const asked = file === undefined || !existsSync(file) ? memory : readFileSync(file, 'utf8').split('\n');
      const requests = asked.filter((one) => one === key).length;
      return { entries: Math.min(1, requests), requests };
    },
  };
}
