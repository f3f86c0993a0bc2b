import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy for a gateway that disturbs the responses as bad networks do. */
export interface RoughProxy extends AsyncDisposable {
  readonly url: string;
  /** How many connections there have been. */
  readonly connections: number;
  /** Cuts each new connection after this many bytes from the gateway. */
  cutAfter(bytes: (() => number) | undefined): void;
  /** Passes on this many bytes at a time, with a pause in between. */
  trickle(bytes: number | undefined): void;
  /** Open connections stay open, but pass on nothing any more. */
  freeze(): void;
}

export async function startRoughProxy(port: number): Promise<RoughProxy> {
  const sockets = new Set<Socket>();
  const frozen = new WeakSet<Socket>();
  let [connections, pieceBytes, limitOf] = [
    0,
    undefined as number | undefined,
    undefined as (() => number) | undefined,
  ];
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    connections += 1;
    keep(near);
    const far = keep(connect({ host: '127.0.0.1', port }));
    let left = limitOf?.() ?? Number.POSITIVE_INFINITY;
    const pass = async (data: Buffer): Promise<void> => {
      for (let at = 0; at < data.length && left > 0 && !near.destroyed; ) {
        const piece = data.subarray(at, at + Math.min(pieceBytes ?? data.length, left));
        if (!frozen.has(near)) near.write(piece);
        at += piece.length;
        left -= piece.length;
        if (pieceBytes !== undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      if (left <= 0) near.destroySoon();
    };
    let passing = Promise.resolve();
    far.on('data', (data) => {
      passing = passing.then(() => pass(data));
    });
    near.on('data', (data) => far.write(data));
    near.on('close', () => far.destroy());
    far.on('close', () => void passing.then(() => near.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    cutAfter(bytes) {
      limitOf = bytes;
    },
    trickle(bytes) {
      pieceBytes = bytes;
    },
    freeze() {
      for (const socket of sockets) frozen.add(socket);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
