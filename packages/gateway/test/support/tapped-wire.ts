import { createServer, connect as openSocket, type Socket } from 'node:net';

/** What happens to a command that goes through a tapped wire: it passes, is spoilt, or takes the connection down with it. */
type Tap = 'pass' | 'spoil' | 'cut before' | 'cut after';

/** A way to a PostgreSQL server on which single commands can be tampered with. */
export interface TappedWire {
  /** Of the same database, by way of the wire. */
  readonly url: string;
  /** What happens to commands of this name (begin, commit) from here on. */
  tap(command: string, tap: Tap): void;
  close(): void;
}

export async function tapWire(serverUrl: string): Promise<TappedWire> {
  const taps = new Map<string, Tap>();
  const sockets: Socket[] = [];
  const wire = createServer((client) => {
    const { hostname, port } = new URL(serverUrl);
    const server = openSocket(Number(port), hostname);
    sockets.push(client, server);
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', cut);
    let isDeaf = false;
    client.on('data', (sent) => {
      const [command, tap] = [...taps].find(([name]) => find(sent, name) >= 0) ?? ['', 'pass'];
      if (tap === 'cut before') return cut();
      if (tap === 'spoil') sent.write('x', find(sent, command) + 1);
      if (tap === 'cut after') isDeaf = true;
      server.write(sent);
    });
    server.on('data', (said) => (isDeaf ? cut() : client.write(said)));
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
    close() {
      wire.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The place where a command is run: the name of its prepared statement, which its Bind message ends with. */
function find(sent: Buffer, command: string): number {
  return sent.lastIndexOf(`\0lastcall_${command}\0`);
}
