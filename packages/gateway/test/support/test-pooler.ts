import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { serialize } from 'pg-protocol';

/** A pooler in front of a PostgreSQL server. */
export interface Pooler extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
}

export interface PoolerOptions {
  readonly mode?: 'transaction' | 'session';
  /** How many connections of the server all clients share. */
  readonly connections?: number;
}

/**
 * A connection pooler for tests: real sockets, a real server behind it, and the rules of PgBouncer 1.18.
 *
 * 1. In transaction mode a client has a connection of the server from its first message until the server says that no transaction is open.
 *    Then it goes to the end of the queue, so that a client's next transaction runs on another one, if there is another.
 * 2. Nothing of a session is carried over or reset: settings, prepared statements and LISTEN stay on the connection of the server.
 * 3. Connections with parameters that it does not know are refused.
 * 4. A client whose server breaks gets the error 08P01 and is disconnected. If a client leaves within a transaction, its server connection ends.
 * 5. Process ids and keys are its own. Passwords of clients are not checked.
 */
export async function startTestPooler(
  serverUrl: string,
  { mode = 'transaction', connections = 4 }: PoolerOptions,
): Promise<Pooler> {
  const lines = new Map<string, Line>();
  const clients = new Set<Socket>();
  const listening = createServer({ noDelay: true }, (socket) => {
    clients.add(socket.on('close', () => clients.delete(socket)));
    new PoolerClient(socket, mode, (database) => {
      const line = lines.get(database) ?? new Line(serverUrl, database, mode === 'session' ? 1_000 : connections);
      lines.set(database, line);
      return line;
    });
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    name: 'the pooler of the tests',
    port: (listening.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of clients) socket.destroy();
      for (const line of lines.values()) line.end();
      listening.close();
      await once(listening, 'close');
    },
  };
}

const SSL_REQUEST = 80_877_103;
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(['user', 'database', 'client_encoding', 'application_name']);
const [QUERY, SYNC, TERMINATE, READY, IDLE] = [...Buffer.from('QSXZI')];

class PoolerClient {
  readonly #socket: Socket;
  readonly #mode: 'transaction' | 'session';
  #line: Line | undefined;
  #server: Server | undefined;
  #isWaiting = false;
  #rest = Buffer.alloc(0);
  /** Messages that wait for a server. */
  #unsent: Buffer[] = [];
  /** How many Sync and Query messages are not answered yet. */
  #open = 0;

  constructor(socket: Socket, mode: 'transaction' | 'session', lineOf: (database: string) => Line) {
    this.#socket = socket;
    this.#mode = mode;
    socket.on('error', () => {}).on('close', () => this.#leave());
    socket.on('data', (data: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, data]);
      if (this.#line === undefined) this.#greet(lineOf);
      if (this.#line !== undefined) for (const message of this.#messages()) this.#take(message);
    });
  }

  #greet(lineOf: (database: string) => Line): void {
    if (this.#rest.length < 8 || this.#rest.length < this.#rest.readInt32BE(0)) return;
    const greeting = this.#rest.subarray(0, this.#rest.readInt32BE(0));
    this.#rest = this.#rest.subarray(greeting.length);
    if (greeting.readInt32BE(4) === SSL_REQUEST) {
      this.#socket.write('N');
      return;
    }
    const words = greeting.subarray(8).toString().split('\0');
    const names = words.filter((_word, at) => at % 2 === 0);
    const unknown = names.find((name) => name !== '' && !KNOWN_PARAMETERS.has(name));
    if (unknown !== undefined) {
      this.#socket.end(failure(`unsupported startup parameter: ${unknown}`));
      return;
    }
    this.#line = lineOf(words[words.indexOf('database') + 1] ?? '');
    const key = Buffer.alloc(8, 0x7f);
    this.#socket.write(
      Buffer.concat([message('R', Buffer.alloc(4)), message('K', key), message('Z', Buffer.from('I'))]),
    );
  }

  *#messages(): Generator<Buffer> {
    while (this.#rest.length >= 5 && this.#rest.length > this.#rest.readInt32BE(1)) {
      const size = this.#rest.readInt32BE(1) + 1;
      yield this.#rest.subarray(0, size);
      this.#rest = this.#rest.subarray(size);
    }
  }

  #take(sent: Buffer): void {
    if (sent[0] === TERMINATE) {
      this.#socket.end();
      return;
    }
    if (sent[0] === QUERY || sent[0] === SYNC) this.#open++;
    if (this.#server !== undefined) this.#server.socket.write(sent);
    else this.#unsent.push(sent);
    if (this.#server === undefined && !this.#isWaiting) void this.#borrow();
  }

  async #borrow(): Promise<void> {
    this.#isWaiting = true;
    const server = await this.#line?.take().catch(() => undefined);
    this.#isWaiting = false;
    if (server === undefined) this.#socket.end(failure('server login failed'));
    else if (this.#socket.destroyed) this.#line?.give(server);
    else this.#link(server);
  }

  #link(server: Server): void {
    this.#server = server;
    server.onMessage = (said) => this.#answer(said);
    server.onEnd = () => {
      this.#server = undefined;
      this.#socket.end(failure('server conn crashed?'));
    };
    server.socket.write(Buffer.concat(this.#unsent.splice(0)));
  }

  #answer(said: Buffer): void {
    this.#socket.write(said);
    if (said[0] !== READY) return;
    this.#open--;
    if (this.#mode === 'session' || this.#open > 0 || said[5] !== IDLE || this.#server === undefined) return;
    const server = this.#server;
    this.#server = undefined;
    this.#line?.give(server);
  }

  #leave(): void {
    this.#server?.socket.destroy();
    this.#server = undefined;
  }
}

interface Server {
  readonly socket: Socket;
  onMessage: (message: Buffer) => void;
  onEnd: () => void;
}

/** The connections of the server to one database. */
class Line {
  readonly #url: URL;
  readonly #most: number;
  readonly #all = new Set<Server>();
  readonly #idle: Server[] = [];
  readonly #waiting: PromiseWithResolvers<Server>[] = [];

  constructor(serverUrl: string, database: string, most: number) {
    this.#url = new URL(serverUrl);
    this.#url.pathname = `/${database}`;
    this.#most = most;
  }

  /** The one that was idle for longest. Two are opened before one is used again. */
  async take(): Promise<Server> {
    const idle = this.#all.size >= Math.min(2, this.#most) ? this.#idle.shift() : undefined;
    if (idle !== undefined) return idle;
    if (this.#all.size < this.#most) return await this.#open();
    const waiting = Promise.withResolvers<Server>();
    this.#waiting.push(waiting);
    return await waiting.promise;
  }

  give(server: Server): void {
    server.onMessage = () => {};
    server.onEnd = () => {};
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(server);
    else next.resolve(server);
  }

  end(): void {
    for (const { socket } of this.#all) socket.destroy();
  }

  async #open(): Promise<Server> {
    const ready = Promise.withResolvers<void>();
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    const server: Server = { socket, onMessage: (said) => this.#logIn(socket, said, ready), onEnd: ready.reject };
    this.#all.add(server);
    let rest = Buffer.alloc(0);
    socket.on('error', () => {}).on('close', () => this.#lose(server));
    socket.on('data', (data: Buffer) => {
      rest = Buffer.concat([rest, data]);
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const size = rest.readInt32BE(1) + 1;
        server.onMessage(rest.subarray(0, size));
        rest = rest.subarray(size);
      }
    });
    const { username: user, pathname } = this.#url;
    socket.write(serialize.startup({ user, database: pathname.slice(1) }));
    await ready.promise;
    return server;
  }

  #logIn(socket: Socket, said: Buffer, ready: PromiseWithResolvers<void>): void {
    const asksForPassword = said.toString('latin1', 0, 1) === 'R' && said.readInt32BE(5) === 3;
    if (asksForPassword) socket.write(serialize.password(this.#url.password));
    if (said[0] === READY) ready.resolve();
  }

  #lose(server: Server): void {
    this.#all.delete(server);
    const at = this.#idle.indexOf(server);
    if (at >= 0) this.#idle.splice(at, 1);
    server.onEnd();
    const next = this.#waiting.shift();
    if (next !== undefined) this.#open().then(next.resolve, next.reject);
  }
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const failure = (text: string): Buffer => message('E', Buffer.from(`SFATAL\0C08P01\0M${text}\0\0`));
