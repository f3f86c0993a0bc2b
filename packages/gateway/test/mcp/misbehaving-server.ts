import { appendFileSync, readFileSync } from 'node:fs';

/** A received JSON-RPC message. */
export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: unknown;
  readonly params?: Record<string, unknown> & {
    readonly name?: string;
    readonly arguments?: Record<string, unknown>;
    readonly _meta?: { readonly progressToken?: number | string };
  };
}

type Send = (message: object) => unknown;

/** The file in which a server records its requests, and the file from which it reads its behaviour. */
export interface Files {
  readonly log: string;
  readonly state: string;
}

/** The behaviour that a test sets while the server runs. */
export interface State {
  readonly description?: string;
  readonly keysReversed?: boolean;
  readonly listFails?: boolean;
}

/** The logic of a server of the 2025 handshake that does everything that servers should not do. */
export class MisbehavingServer {
  readonly #files: Files;
  #grown = 0;
  #isCancelled = false;
  readonly #waiting = new Map<unknown, Send>();
  readonly #asked = new Map<unknown, (answer: unknown) => void>();

  constructor(files: Files) {
    this.#files = files;
  }

  async handle({ id, method, params, result: answer }: Message, send: Send): Promise<void> {
    if (method === undefined) return this.#asked.get(id)?.(answer);
    const result = (value: object): unknown => send({ jsonrpc: '2.0', id, result: value });
    switch (method) {
      case 'initialize':
        this.#note('initialize');
        return void result({
          protocolVersion: '2025-06-18',
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'misbehaving', version: '1' },
        });
      case 'tools/list':
        if (this.#state().listFails !== true) return void result({ tools: this.#tools() });
        this.#note('list refused');
        return void send({ jsonrpc: '2.0', id, error: { code: -32603, message: 'not now' } });
      case 'tools/call':
        return await this.#call(String(params?.name), { id, params, send, result });
      case 'notifications/cancelled':
        this.#isCancelled = true;
        return this.#note(`cancelled ${String(params?.requestId)}`);
      case 'notifications/initialized':
        return;
      default:
        if (id !== undefined) send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown method' } });
    }
  }

  #note(line: string): void {
    appendFileSync(this.#files.log, `${line}\n`);
  }

  #state(): State {
    try {
      return JSON.parse(readFileSync(this.#files.state, 'utf8')) as State;
    } catch {
      return {};
    }
  }

  #tools(): readonly object[] {
    const { description = 'Says it again.', keysReversed = false } = this.#state();
    const properties = { text: { type: 'string' } };
    const plain = keysReversed ? { properties, type: 'object' } : { type: 'object', properties };
    const many = Array.from({ length: this.#grown }, (_, index) => ({ name: `grown-${index}`, inputSchema: plain }));
    return [
      { name: 'echo', description, inputSchema: plain },
      { name: 42, description: 'A tool whose name is no text.' },
      { name: 'no-schema', description: 'A tool without a schema.' },
      { name: 'remote-ref', inputSchema: { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/x' } } } },
      { name: 'env', inputSchema: plain },
      { name: 'wait', inputSchema: plain },
      { name: 'die', inputSchema: plain },
      { name: 'die-once', inputSchema: plain, annotations: { idempotentHint: true, readOnlyHint: true } },
      { name: 'grow', inputSchema: plain },
      { name: 'huge', inputSchema: plain },
      { name: 'flood', inputSchema: plain },
      { name: 'endless', inputSchema: plain },
      { name: 'secrets', description: `Knows ${process.env.API_KEY}.`, inputSchema: plain },
      { name: 'refuse', inputSchema: plain },
      { name: 'ask', inputSchema: plain },
      { name: 'visit', inputSchema: plain },
      { name: 'visit-first', inputSchema: plain },
      { name: 'break', inputSchema: plain },
      { name: 'picture', inputSchema: plain },
      { name: 'lie', inputSchema: plain, outputSchema: { type: 'object', properties: { n: { type: 'number' } } } },
      {
        name: 'pattern',
        inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
        outputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
      },
      { name: 'an odd name, and far too long for what the providers of models accept as names', inputSchema: plain },
      ...many,
    ];
  }

  async #call(
    name: string,
    call: { id: Message['id']; params: Message['params']; send: Send; result: (value: object) => unknown },
  ): Promise<void> {
    const { id, params, send, result } = call;
    const say = (text: string, more: object = {}): unknown => result({ content: [{ type: 'text', text }], ...more });
    const progressToken = params?._meta?.progressToken;
    const progress = (done: number, message?: string): unknown =>
      send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: done, ...(message === undefined ? {} : { message }) },
      });
    const { text = '' } = (params?.arguments ?? {}) as { text?: string };
    this.#note(`call ${name} ${String(id)}`);
    switch (name) {
      case 'echo':
        return void say(text);
      case 'env':
        return void say(JSON.stringify(process.env));
      case 'wait':
        this.#waiting.set(id, send);
        return void progress(1);
      case 'die':
        return this.die();
      case 'die-once':
        if (readFileSync(this.#files.log, 'utf8').match(/call die-once/g)?.length === 1) return this.die();
        return void say('alive');
      case 'grow':
        this.#grown += 1;
        send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        return void say('grown');
      case 'flood':
        await this.#flood(Number(text), progress);
        return void say('flooded');
      case 'endless':
        for (; !this.#isCancelled; await new Promise((resolve) => setTimeout(resolve, 1)))
          await this.#flood(100, progress);
        return;
      case 'secrets':
        progress(1, process.env.API_KEY);
        await new Promise((resolve) => setTimeout(resolve, 100));
        return void say(`It is ${process.env.API_KEY}.`);
      case 'refuse':
        return void send({ jsonrpc: '2.0', id, error: { code: -32602, message: `No, ${process.env.API_KEY}.` } });
      case 'ask':
        return void say(JSON.stringify(await this.#ask(send, FORM)));
      case 'visit':
        return void say(
          JSON.stringify(await this.#ask(send, { mode: 'url', message: 'Sign in.', elicitationId: '1', url: text })),
        );
      case 'visit-first': {
        const data = { elicitations: [{ mode: 'url', message: 'Sign in.', elicitationId: '1', url: text }] };
        return void send({ jsonrpc: '2.0', id, error: { code: -32042, message: 'Sign in first.', data } });
      }
      case 'break':
        return void say('It broke.', { isError: true });
      case 'picture':
        return void result({
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image', mimeType: 'image/png', data: PIXEL },
            { type: 'audio', mimeType: 'audio/wav', data: 'AAAA'.repeat(100) },
            { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
            {
              type: 'resource',
              resource: { uri: 'file:///b.bin', mimeType: 'text/html', blob: 'BBBB'.repeat(100) },
            },
            { type: 'resource_link', uri: 'file:///c', name: 'c' },
          ],
        });
      case 'huge':
        return void say('x'.repeat(50_000_000));
      case 'lie':
        return void say('n', { structuredContent: { n: 'no number' } });
      case 'pattern':
        return void say('ok', { structuredContent: { text: `${'a'.repeat(40)}!` } });
      default:
        return void say(`called ${name}`);
    }
  }

  async #ask(send: Send, params: object): Promise<unknown> {
    const id = `question-${this.#asked.size + 1}`;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#asked.set(id, resolve);
    send({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
    this.#note('asked');
    return await promise;
  }

  async #flood(count: number, progress: (done: number) => unknown): Promise<void> {
    for (let done = 1; done <= count; done++) {
      progress(done);
      if (done % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  die(): void {
    process.exit(1);
  }
}

const FORM = {
  mode: 'form',
  message: 'Which size?',
  requestedSchema: {
    type: 'object',
    properties: { size: { type: 'integer', minimum: 1 }, gift: { type: 'boolean', default: false } },
    required: ['size'],
  },
};

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
