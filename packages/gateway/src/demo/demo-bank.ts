import { appendFileSync, existsSync, readFileSync } from 'node:fs';

interface BankAnswer {
  /** How many payments the bank has booked under this key. */
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
  const book = (): readonly string[] => {
    if (file === undefined) return memory;
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  };
  const write = (line: string): void => {
    if (file === undefined) memory.push(line);
    else appendFileSync(file, `${line}\n`);
  };
  const count = (line: string): number => book().filter((one) => one === line).length;
  return {
    pay(key) {
      write(`asked ${key}`);
      if (count(`paid ${key}`) === 0) write(`paid ${key}`);
      return { entries: count(`paid ${key}`), requests: count(`asked ${key}`) };
    },
  };
}
