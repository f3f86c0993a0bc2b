import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Payment {
  readonly key: string;
  readonly invoice: string;
  readonly euros: number;
  readonly receipt: string;
}

/** A bank outside of the gateway. Like a real bank, it pays each idempotency key once and answers slowly. */
export class Bank implements AsyncDisposable {
  readonly payments: Payment[] = [];
  /** How many requests it got, with any key. */
  requests = 0;
  /** Resolves when the first payment is made. The bank has not answered that request yet. */
  readonly firstPaid: Promise<Payment>;
  readonly #paid: (payment: Payment) => void;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Payment>();
    this.firstPaid = promise;
    this.#paid = resolve;
  }

  async open(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const order = (await json(request)) as Omit<Payment, 'receipt'>;
    this.requests++;
    const known = this.payments.find(({ key }) => key === order.key);
    if (known !== undefined) {
      response.end(JSON.stringify(known));
      return;
    }
    const payment = { ...order, receipt: `R-${this.payments.length + 1}` };
    this.payments.push(payment);
    // The answer to the first payment never comes: the gateway dies while it waits for it.
    if (this.payments.length === 1) this.#paid(payment);
    else response.end(JSON.stringify(payment));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    await promise;
  }
}
