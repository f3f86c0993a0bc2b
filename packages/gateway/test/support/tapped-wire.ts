import { createServer, connect as openSocket, type Socket } from 'node:net';

/**
 * What happens to a command that goes through a tapped wire: it passes, is spoilt, or takes the connection down with it. With `lose server`
 * it is done, and then the wire says what PgBouncer says when its server is gone.
 */
type Tap = 'pass' | 'spoil' | 'cut before' | 'cut after' | 'lose server';

/** A proxy for a PostgreSQL server that can tamper with single commands. */
export interface TappedWire {
  /** The URL of the same database, through the proxy. */
  readonly url: string;
  /** What happens to commands of this name (begin, commit) from here on. */
  tap(command: 'begin' | 'commit', tap: Tap): void;
  /** New connections are not answered from here on, or closed. Resolves with the first of them. */
  stopConnecting(how: 'hang' | 'refuse'): Promise<void>;
  close(): void;
}

export async function tapWire(serverUrl: string): Promise<TappedWire> {
  const taps = new Map<'begin' | 'commit', Tap>();
  const sockets: Socket[] = [];
  let connecting: 'pass' | 'hang' | 'refuse' = 'pass';
  const stopped = Promise.withResolvers<void>();
  const wire = createServer((client) => {
    if (connecting !== 'pass') {
      sockets.push(client.on('error', () => {}));
      if (connecting === 'refuse') client.destroy();
      stopped.resolve();
      return;
    }
    const { hostname, port } = new URL(serverUrl);
    const server = openSocket(Number(port), hostname);
    sockets.push(client, server);
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', cut);
    let isDeaf = false;
    let isLost = false;
    client.on('data', (sent) => {
      const [command, tap] = [...taps].find(([name]) => find(sent, name) >= 0) ?? ['begin', 'pass'];
      if (tap === 'cut before') return cut();
      if (tap === 'spoil') sent.write('x', find(sent, command) + 1);
      if (tap === 'cut after') isDeaf = true;
      if (tap === 'lose server') isLost = true;
      server.write(sent);
    });
    server.on('data', (said) => {
      if (isLost) client.end(SERVER_LOST);
      else if (isDeaf) cut();
      else client.write(said);
    });
    function cut(): void {
      client.destroy();
      server.destroy();
    }
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  wire.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = wire.address();
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: url.href,
    tap: (command, tap) => void taps.set(command, tap),
    stopConnecting(how) {
      connecting = how;
      return stopped.promise;
    },
    close() {
      wire.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * The place where a command is run: the name of its prepared statement, which its Bind message ends with. Behind a pooler it has no name, and
 * its text is sent each time.
 */
function find(sent: Buffer, command: keyof typeof TEXTS): number {
  const named = sent.lastIndexOf(`\0lastcall_${command}\0`);
  return named >= 0 ? named : sent.lastIndexOf(`\0${TEXTS[command]}\0`);
}

const TEXTS = { begin: 'begin isolation level read committed read write', commit: 'commit' };

/** An ErrorResponse as PgBouncer writes it. */
const SERVER_LOST: Buffer = errorResponse({ S: 'FATAL', C: '08P01', M: 'server conn crashed?' });

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(fields).map(([type, value]) => `${type}${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
